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
from dockdyn.integrate.hybrid.step_control import UNRESOLVED
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.vector import once


class RunningExtrema(NamedTuple):
    """Peaks and integrals of the monitored quantities `since` the last logged moment (s)."""

    peaks: Float[Array, "monitored"]
    peak_times: Float[Array, "monitored"]
    integrals: Float[Array, "monitored"]
    since: Scalar

    @staticmethod
    def fresh(size: int, since: Scalar) -> RunningExtrema:
        return RunningExtrema(jnp.full(size, -jnp.inf), jnp.zeros(size), jnp.zeros(size), since)

    def peaks_until(self, time: Scalar) -> Float[Array, "monitored"]:
        """Return the peaks since the last logged moment; none (-inf) where `time` (s) is that moment but for rounding.

        Events that are one instant, such as three latches that tighten at once, are logged one by one: what a quantity is
        while some have fired and others have not lasts for no time and is no peak.
        """
        lasting = time - self.since > UNRESOLVED * jnp.maximum(1.0, time)
        return jnp.where(lasting, self.peaks, -jnp.inf)


def monitored(extrema: RunningExtrema, point: MeshPoint, at: MeshPoint, step: Scalar) -> RunningExtrema:
    """Peaks and integrals with the step from `point` to `at` added.

    A step of no length, which an event is followed by, adds nothing: it begins with what was before all events of its instant
    had fired.
    """
    if not point.outputs.monitored:
        return extrema
    a, b = jnp.stack(point.outputs.monitored), jnp.stack(at.outputs.monitored)
    da, db = jnp.stack(point.slopes.monitored) * step, jnp.stack(at.slopes.monitored) * step
    _, high = once(cubic.extremes(a, b, da, db))
    inside = (high > 0) & (high < 1)
    peaks, times, lasts = extrema.peaks, extrema.peak_times, step > 0
    for value, when in (
        (a, point.time),
        (jnp.where(inside, cubic.value(high, a, b, da, db), -jnp.inf), point.time + high * step),
        (b, at.time),
    ):
        value = jnp.where(lasts, value, -jnp.inf)
        times = jnp.where(value > peaks, when, times)
        peaks = jnp.maximum(value, peaks)
    integrals = extrema.integrals + step * cubic.integral(a, b, da, db)
    return RunningExtrema(peaks, times, integrals, extrema.since)
