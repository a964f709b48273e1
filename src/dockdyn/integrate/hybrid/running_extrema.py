"""Peaks and integrals of quantities along steps, by the cubics through their values and rates at both ends.

Units: times s, quantities in those of the model, integrals times s.
Source: cubic Hermite interpolation (Hairer, Nørsett and Wanner 1993, section II.6).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.hybrid import cubic
from dockdyn.integrate.hybrid.mesh_point import MeshPoint
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.vector import once


class RunningExtrema(NamedTuple):
    """Peaks and integrals of the monitored quantities since the last logged moment."""

    peaks: Float[Array, "monitored"]
    peak_times: Float[Array, "monitored"]
    integrals: Float[Array, "monitored"]

    @staticmethod
    def fresh(size: int) -> RunningExtrema:
        return RunningExtrema(jnp.full(size, -jnp.inf), jnp.zeros(size), jnp.zeros(size))


def monitored(extrema: RunningExtrema, point: MeshPoint, at: MeshPoint, step: Scalar) -> RunningExtrema:
    """Peaks and integrals with the step from `point` to `at` added."""
    if not point.outputs.monitored:
        return extrema
    a, b = jnp.stack(point.outputs.monitored), jnp.stack(at.outputs.monitored)
    da, db = jnp.stack(point.slopes.monitored) * step, jnp.stack(at.slopes.monitored) * step
    _, high = once(cubic.extremes(a, b, da, db))
    inside = (high > 0) & (high < 1)
    peaks, times = extrema.peaks, extrema.peak_times
    for value, when in (
        (a, point.time),
        (jnp.where(inside, cubic.value(high, a, b, da, db), -jnp.inf), point.time + high * step),
        (b, at.time),
    ):
        times = jnp.where(value > peaks, when, times)
        peaks = jnp.maximum(value, peaks)
    return RunningExtrema(peaks, times, extrema.integrals + step * cubic.integral(a, b, da, db))
