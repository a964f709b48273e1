"""Formulas on paper that several tests compare with."""

import math


def least_latching_speed(masses, stiffness, preload, angle, length):
    """Speed (m/s) at which two bodies on one axis latch behind a ramp without friction.

    The spring is pushed aside by y = x tan θ and pushes back with (F₀ + k y) tan θ: its work up to x = l is
    (F₀ l + ½ k l² tan θ) tan θ, and that is ½ m v², m the reduced mass of the two bodies.
    """
    reduced = masses[0] * masses[1] / sum(masses)
    work = (preload * length + stiffness * length**2 * math.tan(angle) / 2) * math.tan(angle)
    return math.sqrt(2 * work / reduced)
