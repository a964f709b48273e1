"""Peaks and integrals of quantities along steps, by polynomials through their values and rates at both ends.

Units: times s, quantities in those of the model, integrals times s.
Source: cubic Hermite interpolation (Hairer, Nørsett and Wanner 1993, section II.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.integrate.hybrid.mesh_point import MeshPoint, time_tolerance
from dockdyn.integrate.hybrid.step_control import SHORTEST
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics import cubic
from dockdyn.mechanics.vector import once

# phases, lengths over the time in which a quantity turns:
STRAIGHT = 1e-4  # a step so short has a slope that is a straight line, but for 1e-8
UNEVEN = 1e-6  # and where the peak is so near its middle, the line rises as the slope does at the peak


class RunningExtrema(NamedTuple):
    """Peaks and integrals of the monitored quantities `since` the last logged moment (s)."""

    peaks: Float[Array, "monitored"]
    peak_times: Float[Array, "monitored"]
    integrals: Float[Array, "monitored"]
    records: Float[Array, "monitored"]  # the largest since a quantity was zero or less, as an open contact's force is
    since: Scalar

    @staticmethod
    def fresh(size: int, since: Scalar) -> RunningExtrema:
        least = jnp.full(size, -jnp.inf)
        return RunningExtrema(least, jnp.zeros(size), jnp.zeros(size), least, since)

    def restarted(self, time: Scalar) -> RunningExtrema:
        """Return these after a moment logged at `time` (s): all but the records begins anew."""
        return self.fresh(self.peaks.size, time)._replace(records=self.records)

    def peaks_until(self, time: Scalar) -> Float[Array, "monitored"]:
        """Return the peaks since the last logged moment; none (-inf) where `time` (s) is that moment but for rounding.

        Events that are one instant, such as three latches that tighten at once, are logged one by one: what a quantity is
        while some have fired and others have not lasts for no time and is no peak.
        """
        lasting = time - self.since > SHORTEST * jnp.maximum(1.0, time)
        return jnp.where(lasting, self.peaks, -jnp.inf)


def update_extrema(
    extrema: RunningExtrema, point: MeshPoint, at: MeshPoint, step: Scalar, middle: Sequence[Scalar | None] | None
) -> RunningExtrema:
    """Return peaks and integrals with the step from `point` to `at` added, in whose `middle` quantities are these, where known.

    A step of no length, which an event is followed by, adds nothing: it begins with what was before all events of its instant
    had fired.
    """
    if not point.outputs.monitored:
        return extrema
    a, b, da, db = _values_at_ends(point, at, step)
    u, _ = _maxima_in_step(a, b, da, db)
    bend = jnp.zeros(())
    if middle is not None:
        amid = cubic.cubic_value(0.5, a, b, da, db)
        bend = jnp.stack([jnp.zeros(()) if one is None else one - amid[i] for i, one in enumerate(middle)])
    peaks, times, lasts = extrema.peaks, extrema.peak_times, step > 0
    for value, when in (
        (a, point.time),
        (jnp.where((u > 0) & (u < 1), cubic.bent_value(u, a, b, da, db, bend), -jnp.inf), point.time + u * step),
        (b, at.time),
    ):
        value = jnp.where(lasts, value, -jnp.inf)
        times = jnp.where(value > peaks, when, times)
        peaks = jnp.maximum(value, peaks)
    records = jnp.where((a <= 0) & (b <= 0), -jnp.inf, jnp.maximum(extrema.records, peaks))
    areas = cubic.cubic_integral(a, b, da, db) + cubic.BENT_INTEGRAL * bend
    integrals = extrema.integrals + step * areas
    return RunningExtrema(peaks, times, integrals, records, extrema.since)


def by_trapezoids(extrema: RunningExtrema, point: MeshPoint, at: MeshPoint, step: Scalar) -> RunningExtrema:
    """Return peaks and integrals with a step added of which nothing is known but its ends, `point` and `at`."""
    if not point.outputs.monitored:
        return extrema
    a, b = jnp.stack(point.outputs.monitored), jnp.stack(at.outputs.monitored)
    peaks, times = extrema.peaks, extrema.peak_times
    for values, when in ((a, point.time), (b, at.time)):
        values = jnp.where(step > 0, values, -jnp.inf)
        times = jnp.where(values > peaks, when, times)
        peaks = jnp.maximum(values, peaks)
    return extrema._replace(peaks=peaks, peak_times=times, integrals=extrema.integrals + step * (a + b) / 2)


def step_beside_peak(
    extrema: RunningExtrema, point: MeshPoint, tried: MeshPoint, step: Scalar, count: int | None
) -> Scalar:
    """Return the length (s) of the step to try instead, so that the first peak comes to lie amid a short step of its own.

    It is asked of the first `count` quantities, of all for None. Infinite where none has a peak between `point` and `tried`
    that is a new record, or it does lie so.

    The cubic tells the time of a peak with an error that goes with the third power of the step, and the derivative of that
    time, which is that of the slope over the second derivative, with the second; in short steps the error of a step over its
    length comes to it. Amid a step over which the slope is a straight line both are as good as the motion.
    """
    if not point.outputs.monitored:
        return jnp.asarray(jnp.inf)
    a, b, da, db = jax.lax.stop_gradient(_values_at_ends(point, tried, step))
    length = jax.lax.stop_gradient(step)
    u, phase = _maxima_in_step(a, b, da, db)
    new = (u > 0) & (u < 1) & (cubic.cubic_value(u, a, b, da, db) > extrema.records)
    before, after = u * phase, (1 - u) * phase
    apart = (phase > STRAIGHT) | (jnp.abs(after - before) > UNEVEN)
    beside = jnp.clip(after, UNEVEN / 4, STRAIGHT / 4)
    shorter = jnp.where(before > 2 * beside, before - beside, jnp.maximum(2 * before, UNEVEN / 2))
    tried_next = shorter / jnp.where(phase > 0, phase, jnp.inf) * length
    asked = new & apart & (tried_next > time_tolerance(point.time))
    return jnp.min(jnp.where(asked, tried_next, jnp.inf)[:count], initial=jnp.inf)


def _values_at_ends(point: MeshPoint, at: MeshPoint, step: Scalar) -> tuple[Float[Array, "monitored"], ...]:
    """Return the monitored quantities at both ends of a step, and their slopes in its units."""
    a, b = jnp.stack(point.outputs.monitored), jnp.stack(at.outputs.monitored)
    return a, b, jnp.stack(point.slopes.monitored) * step, jnp.stack(at.slopes.monitored) * step


def _maxima_in_step(
    a: cubic.Values, b: cubic.Values, da: cubic.Values, db: cubic.Values
) -> tuple[Float[Array, "monitored"], Float[Array, "monitored"]]:
    """Return where in a step quantities are largest, in its units, outside it where they are not, and the phase that it takes.

    A quantity F turns within the time sqrt(F / F'').
    """
    size = jnp.maximum(jnp.maximum(jnp.abs(a), jnp.abs(b)), 1e-300)
    phase = jnp.sqrt(jax.lax.stop_gradient(jnp.maximum(da - db, 0) / size))
    straight = (da > 0) & (db < 0) & (phase <= STRAIGHT)
    _, high = once(cubic.cubic_extremes(a, b, da, db))
    return jnp.where(straight, da / jnp.where(straight, da - db, 1.0), high), phase
