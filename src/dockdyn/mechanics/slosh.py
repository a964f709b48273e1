"""Liquid in a tank as Abramson's equivalent mechanical model: a mass that stays with the tank, and one a mode that sloshes.

An ideal liquid with a small wave moves in modes φ_n of ω_n² = κ_n a, a being the acceleration that presses it on the bottom.
What it does to the tank is what masses m_n do that slide across the axis on springs m_n ω_n², at heights H_n from the centre
of mass of the liquid, and a mass m_0 with an inertia that is rigid. Hung as pendulums of the length 1/κ_n below hinges at
H_n + 1/κ_n they do the same under the acceleration itself.

Units: SI: kg, m, kg m²; κ 1/m; heights along the axis, from the bottom to the free surface.
Source: Abramson (editor) 1966, The Dynamic Behavior of Liquids in Moving Containers, NASA SP-106, chapters 2 and 6; Dodge 2000,
The New "Dynamic Behavior of Liquids in Moving Containers", Southwest Research Institute, chapters 1 and 3.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, xp

FLAT_ROOTS = 24  # of the sum for the inertia, whose terms fall as λ⁻⁵
POINTS = 256  # of Bessel's integral, exact to rounding for arguments well below as many


class SloshingMass(NamedTuple):
    """What sloshes in one mode."""

    mass: Float[Array, ""]  # kg
    height: Float[Array, ""]  # m, from the liquid's centre of mass
    wave_number: Float[Array, ""]  # κ = ω²/a, 1/m; as a pendulum it is 1/κ long
    wave: Float[Array, ""]  # rise of the free surface at the wall, m per m that the mass slides


class Liquid(NamedTuple):
    """A liquid as the masses that stand for it; at rest their mass, centre and inertia are those of the liquid."""

    mass: Float[Array, ""]  # kg, of all of it
    centre: Float[Array, ""]  # m, its centre of mass above the bottom
    sloshing: tuple[SloshingMass, ...]
    rigid_mass: Float[Array, ""]  # kg, what stays with the tank
    rigid_height: Float[Array, ""]  # m, of that, from the liquid's centre of mass
    across: Float[Array, ""]  # kg m², its moment of inertia across the axis, about its own centre
    about: Float[Array, ""]  # kg m², about the axis


def liquid_in_cylinder(
    radius: Float[Array, ""], depth: Float[Array, ""], mass: Float[Array, ""], modes: int, ideal: bool
) -> Liquid:
    """Return the model of a liquid of a `mass` (kg) that fills an upright circular cylinder of a `radius` (m) to a `depth` (m),
    with so many `modes`, also from traced numbers.

    An `ideal` liquid slides along the wall, and turns less than if it were frozen: not at all about the axis. Masses and
    frequencies: SP-106, table 6.1; inertia: as its section 6.2, from the potential ψ = x z + Σ A_n J₁(λ_n r/R) cos θ sinh(λ_n
    z/R) of a closed tank that turns.
    """
    sloshing = []
    for root in surface_roots()[:modes]:
        x = root * depth / radius
        share = 2.0 * xp.tanh(x) / (x * (root**2 - 1.0))
        height = depth / 2.0 - 2.0 * radius / root * xp.tanh(x / 2.0)
        wave_number = root / radius * xp.tanh(x)
        # of x = Σ 2 R/((λ²−1) J₁(λ)) J₁(λ r/R) cos θ: the shape of a mode is 2 R/(λ² − 1) at the wall
        wave = wave_number * 2.0 * radius / (root**2 - 1.0)
        sloshing.append(SloshingMass(share * mass, height, wave_number, wave))
    if ideal:
        roots = surface_roots()
        terms = xp.tanh(xp.asarray(roots) * depth / (2.0 * radius)) / (roots**3 * (roots**2 - 1.0))
        across = mass * (depth**2 / 12.0 - 0.75 * radius**2 + 16.0 * radius**3 / depth * xp.sum(terms))
        about = 0.0 * mass
    else:
        across, about = mass * (depth**2 / 12.0 + radius**2 / 4.0), mass * radius**2 / 2.0
    return _with_rigid_rest(mass, depth / 2.0, tuple(sloshing), across, about)


def _with_rigid_rest(
    mass: Float[Array, ""],
    centre: Float[Array, ""],
    sloshing: tuple[SloshingMass, ...],
    across: Float[Array, ""],
    about: Float[Array, ""],
) -> Liquid:
    """Return a liquid whose masses have its mass, centre and moments of inertia (kg m², about its centre of mass) together."""
    rigid = mass - sum(one.mass for one in sloshing)
    height = -sum(one.mass * one.height for one in sloshing) / rigid
    rest = across - rigid * height**2 - sum(one.mass * one.height**2 for one in sloshing)
    return Liquid(mass, centre, sloshing, rigid, height, rest, about)


@cache
def surface_roots() -> Float[np.ndarray, "roots"]:
    """Return the first roots λ of J₁'(λ) = 0, by Newton's method from McMahon's expansion (DLMF 10.21.20).

    J₁ is Bessel's integral (DLMF 10.9.2), by the trapezoidal rule.
    """
    angles = np.arange(POINTS) * 2 * np.pi / POINTS

    def bessel(order: int, x: Float[np.ndarray, "roots"]) -> Float[np.ndarray, "roots"]:
        return np.cos(order * angles - x[:, None] * np.sin(angles)).mean(axis=1)

    first = (np.arange(1, FLAT_ROOTS + 1) - 0.25) * np.pi
    found = first - 7.0 / (8.0 * first)
    for _ in range(8):
        j1 = bessel(1, found)
        slope = bessel(0, found) - j1 / found
        found = found + slope / ((1.0 - 1.0 / found**2) * j1 + slope / found)
    return found
