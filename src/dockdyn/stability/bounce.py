"""The bounce that a delay makes of a conservative contact.

Units: delay s, stiffness N/m, mass kg; restitution dimensionless.
Source: residue at the rightmost root; own derivation, checked against simulation.
"""

from __future__ import annotations

import numpy as np

from dockdyn.stability.roots import rightmost_roots

SHORT = 1e-9  # radians of the undamped motion: a delay that the first order, 1 + π/2 of it, gives to all digits


def apparent_restitution(delay: float, stiffness: float, effective_mass: float) -> float:
    """Return the rebound speed over approach speed of a mass on an undamped spring whose force comes `delay` (s) late.

    From onset on, d(t) = 2 Re[v₀ exp(s t) / Δ′(s)] with Δ(s) = s² + (k/m) exp(−s h) and s its rightmost root: the
    response to a velocity without history, but for roots that have died away long before the release. The bounce ends
    when the last delayed force has acted, at release + h. Above one, the delay has put energy in. NaN for a delay so long
    that the root cannot be told from a real one.
    """
    late = delay * np.sqrt(stiffness / effective_mass)  # delay in radians of the undamped motion
    if late < SHORT:
        return 1.0 + np.pi / 2 * late
    matrices = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [-1.0, 0.0]]])
    s = rightmost_roots(matrices, np.array([late]), count=1)[0]
    s = complex(s.real, abs(s.imag))
    if s.imag == 0:
        return float("nan")
    residue = 1 / (2 * s - late * np.exp(-s * late))
    release = (np.pi / 2 - np.angle(residue)) / s.imag
    return float(-2 * (residue * s * np.exp(s * (release + late))).real)
