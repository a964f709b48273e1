"""How far a rig's motion is from that of the contact without rig: amplitude, phase, forces, restitution.

All functions take arrays of NumPy, or those of a program that is traced, with time and axes (one along a direction, three in
space) as their last dimensions; `motion_measures` takes any before them, lanes of one comparison. NaN is what a motion does
not show.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float, jax, jnp
from dockdyn.records import record

# arrays of NumPy, or traced
type Series = Any  # (..., time, axes)
type Size = Any  # (time,)
type Sizes = Any  # (..., time)
type Axes = Any  # (axes,)
type Flags = Any  # (time,)
type Value = Any  # a number
type Place = Any  # an index over time

SILENT = 1e-6  # of the largest force: less is none
FAINT = 0.02  # likewise, where there is noise
FLICKER = 25  # instants
LEVEL = 1e-9  # of a speed: what changes less from sample to sample is level


def _library_of(values: object) -> Any:  # noqa: ANN401, a module
    """Return what computes with values: NumPy, or JAX of those that are traced."""
    return np if isinstance(values, np.ndarray | float) else jnp


@record
class MeasuredMotion:
    """A motion: position (m), velocity (m/s), force on the moving mass (N), and what tells that there is contact (N).

    On a rig the last is not the force: that is noisy, and a compensator may cancel it for a while.
    """

    position: Series
    velocity: Series
    force: Series
    contact: Series | None = None  # where it is the force

    def parts(self) -> list[Series]:
        return [self.position, self.velocity, self.force, self.force if self.contact is None else self.contact]

    @cached_property
    def lanes(self) -> list[MeasuredMotion]:
        """Its lanes one by one, each of which finds what it shows by itself once, however many rigs stand beside it."""
        shape = np.broadcast_shapes(*(values.shape[:-2] for values in self.parts()))
        parts = (
            np.broadcast_to(values, (*shape, *values.shape[-2:])).reshape(-1, *values.shape[-2:])
            for values in self.parts()
        )
        return [MeasuredMotion(*each) for each in zip(*parts, strict=True)]

    @cached_property
    def places(self) -> np.ndarray:
        """The number of each lane in `lanes`, in the shape of what stands before time."""
        shape = np.broadcast_shapes(*(values.shape[:-2] for values in self.parts()))
        return np.arange(len(self.lanes)).reshape(shape)

    @cached_property
    def speed(self) -> Size:
        """Size of the velocity (m/s)."""
        return vector_size(self.velocity)

    @cached_property
    def load(self) -> Size:
        """Size of the force (N)."""
        return vector_size(self.force)

    @cached_property
    def push(self) -> Size:
        """Size (N) of the contact."""
        return self.load if self.contact is None else vector_size(self.contact)

    @cached_property
    def phases(self) -> dict[float, float]:
        """The phase (rad) at its end, unwrapped from the start on, by the frequency (rad/s) that was asked."""
        return {}

    def phase(self, frequency: Value) -> Value:
        """Return the phase (rad) at the end, unwrapped from the start on; that of the first axis."""
        if not isinstance(frequency, float):
            return self._phase_at_end(frequency)
        if frequency not in self.phases:
            self.phases[frequency] = float(self._phase_at_end(frequency))
        return self.phases[frequency]

    def _phase_at_end(self, frequency: Value) -> Value:
        xp = _library_of(self.position)
        angle = xp.arctan2(frequency * self.position[:, 0], self.velocity[:, 0])
        step = xp.diff(angle)
        return angle[-1] + 2 * np.pi * (xp.sum(step < -np.pi) - xp.sum(step > np.pi))


def recent_force(contact: Series, period: Value, late: Value) -> Series:
    """Return the largest size of a contact force (N) within the last `late` (s) of each instant, `period` (s) apart.

    Not zero as long as a force that is late can act.
    """
    xp, found = _library_of(contact), vector_size(contact)
    doubled, at = found, xp.arange(found.shape[-1])
    most = found.shape[-1] - 1
    before = xp.minimum(xp.ceil(late / period - 1e-9), most).astype(int)  # instants before each that count
    reach, reached = 1, before * 0 + 1  # instants that `doubled` and that `found` are of
    for _ in range((int(before) if xp is np else most).bit_length()):  # the largest of 1, 2, 4 …, of those that add up
        takes = before // reach % 2 == 1
        if xp is not np or takes:
            earlier = xp.where(takes & (at >= reached), doubled[..., xp.maximum(at - reached, 0)], found)
            found, reached = xp.maximum(found, earlier), reached + xp.where(takes, reach, 0)
        later = xp.maximum(doubled[..., reach:], doubled[..., :-reach])
        doubled = xp.concatenate([doubled[..., :reach], later], axis=-1)
        reach *= 2
    return found[..., None]


def vector_size(values: Series) -> Sizes:
    if values.shape[-1] == 1:
        return abs(values[..., 0])
    with np.errstate(over="ignore"):  # of a rig that diverges: infinite
        return _library_of(values).linalg.norm(values, axis=-1)


def motion_measures(
    time: Float[np.ndarray, "time"],
    ideal: MeasuredMotion,
    rig: MeasuredMotion,
    frequency: Float[np.ndarray, "..."] | float,
    bilateral: bool,
) -> dict[str, Float[np.ndarray, "..."]]:
    """Return all measures of a rig's motion beside the ideal one, by the names that a summary gives them.

    `frequency` (rad/s) is that of the contact's oscillation; NaN where it has none: its last oscillation is then the
    second half of the run. A `bilateral` contact (one axis) swings, any other is left again.
    """
    shape = np.broadcast_shapes(ideal.places.shape, rig.places.shape, np.shape(frequency))
    each = (
        np.broadcast_to(values, shape).ravel() for values in (ideal.places, rig.places, np.asarray(frequency, float))
    )
    rows = [
        measures_of_lane(time, ideal.lanes[one], rig.lanes[other], float(rate), bilateral)
        for one, other, rate in zip(*each, strict=True)
    ]
    return {name: np.array([row[name] for row in rows]).reshape(shape) for name in rows[0]}


def measures_of_lane(
    time: Size,
    ideal: MeasuredMotion,
    rig: MeasuredMotion,
    frequency: Value,
    bilateral: bool,
) -> dict[str, Value]:
    """Return the measures of one lane."""
    xp, first = _library_of(rig.position), _last_oscillation(time, ideal, rig, frequency, bilateral)
    last = xp.arange(len(time)) >= first

    def largest(sizes: Size) -> Value:
        return xp.where(last, sizes, 0.0).max()

    speeds = ideal.speed, rig.speed
    fastest = at_last_peak(*speeds, first)
    way = np.eye(1)[0] if bilateral else _into_contact(ideal.force)
    return {
        "amplitude_ratio": share_of(largest(speeds[1]), largest(speeds[0])),
        "phase_error_rad": rig.phase(frequency) - ideal.phase(frequency) if bilateral else np.nan,
        "peak_force_error_N": rig.load.max() - ideal.load.max(),
        "end_force_error_N": largest(vector_size(ideal.force - rig.force)),
        "end_velocity_error_m_s": largest(vector_size(ideal.velocity - rig.velocity)),
        "recovery_coefficient": share_of(fastest[1], fastest[0]),
        "apparent_restitution": bounce_restitution(rig, way, bilateral, frequency),
        "ideal_restitution": bounce_restitution(ideal, way, bilateral, frequency),
    }


def share_of(value: Value, of: Value) -> Value:
    xp = _library_of(of)
    return xp.where(of > 0, value / xp.where(of > 0, of, 1.0), np.nan)


def _last_oscillation(
    time: Size,
    ideal: MeasuredMotion,
    rig: MeasuredMotion,
    frequency: Value,
    bilateral: bool,
) -> Place:
    """Return the first instant of the last oscillation; of a motion that ends in free flight, that after the last push of
    either."""
    xp, end = _library_of(rig.position), len(time) - 1
    length = xp.where(xp.isfinite(frequency), 2 * np.pi / frequency, (time[-1] - time[0]) / 2)
    late = time > time[-1] - length
    first = xp.where(late.any(), xp.argmax(late), end)
    if bilateral:
        return first
    pushes = force_is_active(ideal.push)
    either = pushes | force_is_active(rig.push)
    free = xp.where(either.any(), xp.minimum(end - xp.argmax(either[::-1]) + 1, end), 0)
    return xp.where(pushes[-1], first, xp.maximum(first, free))


def force_is_active(force: Size) -> Flags:
    """Return where a force pushes: above what is none or, where noise hardly ever leaves it at none, above the noise.

    Noise lets a force flicker at its threshold: gaps of up to `FLICKER` instants are then no gaps.
    """
    xp, largest = _library_of(force), force.max()
    faint, silent = force <= FAINT * largest, force <= SILENT * largest
    few = 2 * silent.sum() < faint.sum()
    if xp is np and not few:
        return ~silent
    last, after = (_last_place(~row) for row in (faint, faint[::-1]))
    after = len(force) - 1 - after[::-1]  # where it pushes next
    joined = (last >= 0) & (after < len(force)) & (after - last <= FLICKER)
    return xp.where(few, joined, ~silent)


def _last_place(holds: Flags) -> Size:
    """Return where something has held last, at each instant; −1 before it first does."""
    xp = _library_of(holds)
    places = xp.where(holds, xp.arange(len(holds)), -1)
    return np.maximum.accumulate(places) if xp is np else jax.lax.cummax(places)


def at_last_peak(speed: Size, other: Size, first: Place) -> tuple[Value, Value]:
    """Return a speed where it was largest in a cycle for the last time from instant `first` on, and another one then; at the
    end if it has no such peak.

    Between samples both are parabolas. In free flight, where all but rounding is level, there is no peak.
    """
    xp = _library_of(speed)
    before, now, after = speed[:-2], speed[1:-1], speed[2:]
    peaks = (now >= before * (1 - LEVEL)) & (now * (1 - LEVEL) > after) & (xp.arange(1, len(speed) - 1) >= first)
    if not peaks.size:
        return speed[-1], other[-1]
    known = peaks.any()
    three = len(peaks) - 1 - xp.argmax(peaks[::-1]) + xp.arange(3)
    before, now, after = speed[three]
    bend = xp.where(known, 2 * (before - 2 * now + after), 1.0)
    late = (before - after) / bend  # of a step, how much later than the middle one
    weights = xp.stack([late * (late - 1) / 2, 1 - late**2, late * (late + 1) / 2])
    return tuple(xp.where(known, weights @ values[three], values[-1]) for values in (speed, other))


def _into_contact(force: Series) -> Axes:
    """Return the unit vector against the first push of a force; the first axis where nothing pushes."""
    xp, at = _library_of(force), np.arange(len(force))
    start, end = first_bounce(vector_size(force))
    total = xp.where(((start >= 0) & (at >= start) & (at <= end))[:, None], force, 0.0).sum(axis=0)
    whole = xp.linalg.norm(total)
    return xp.where(whole > 0, -total / xp.where(whole > 0, whole, 1.0), np.eye(force.shape[-1])[0])


def contact_spans(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return spans (n, 2) in which the measured contact pushes, and the times of its largest force in each (s)."""
    force = np.linalg.norm(dataset.contact_force.values, axis=1)
    time = dataset.time.values
    on = np.concatenate([[False], force > 0, [False]])
    edges = np.flatnonzero(np.diff(on.astype(int))).reshape(-1, 2)
    if dataset.attrs["bilateral"] or not len(edges):
        return np.zeros((0, 2)), np.zeros(0)
    spans = np.stack([time[edges[:, 0]], time[np.minimum(edges[:, 1], len(time) - 1)]], axis=1)
    peaks = np.array([time[a + int(force[a:b].argmax())] for a, b in edges])
    return spans, peaks


def find_touching_times(dataset: Dataset) -> np.ndarray:
    """Return when (s) a run with or without rig touches first and last; nothing where its contact pulls, too, and so always."""
    forces = [vector_size(dataset[name].values) for name in ("ideal_force", "total_force")]
    if dataset.attrs["bilateral"] or not np.any(forces):
        return np.zeros(0)
    return dataset.time.values[np.maximum(*forces) > 0][[0, -1]]


def find_hardest_time(dataset: Dataset) -> float | None:
    """Return when (s) the measured force of a run is largest; None where it is zero throughout."""
    sizes = vector_size(dataset.measured_force.values)
    hardest = int(np.argmax(sizes))
    return float(dataset.time[hardest]) if sizes[hardest] > 0 else None


def first_bounce(force: Size) -> tuple[Place, Place]:
    """Return the first and last instant of the first push of a force; (−1, −1) without one. It may last to the end."""
    xp = _library_of(force)
    pushing = force_is_active(force) & (force.max() > 0)
    start = xp.argmax(pushing)
    left = ~pushing & (xp.arange(len(force)) >= start)
    end = xp.where(left.any(), xp.argmax(left), len(force)) - 1
    return xp.where(pushing.any(), start, -1), xp.where(pushing.any(), end, -1)


def bounce_restitution(motion: MeasuredMotion, way: Axes, bilateral: bool, frequency: Value) -> Value:
    """Return the speed after the first bounce over that before it, along the `way` into contact.

    Of a contact that pulls, too, that at the second zero of the position over that at the first. NaN where the bounce is
    not over within the run.
    """
    if bilateral:
        return _crossing_ratio(motion.position[:, 0], motion.velocity[:, 0], frequency)
    xp = _library_of(motion.position)
    start, end = first_bounce(motion.push)
    rows = xp.maximum(start - 1, 0), xp.minimum(end + 1, len(motion.force) - 1)
    before, after = (motion.velocity[row] @ way for row in rows)
    known = (start >= 0) & (end + 1 < len(motion.force)) & (before != 0)
    return xp.where(known, -after / xp.where(known, before, 1.0), np.nan)


def _crossing_ratio(x: Size, v: Size, frequency: Value) -> Value:
    """Return the speed at the second zero of the position `x` over that at the first.

    √(v² + ω² x²) at the instants around a zero, between which it hardly changes, is the speed there.
    """
    xp = _library_of(x)
    pace = xp.where(xp.isfinite(frequency), frequency, 0.0)
    crossings, speeds, known = x[:-1] * x[1:] < 0, [abs(v[0])], [x[0] == 0]
    for _ in range(2):
        i, there = xp.argmax(crossings), crossings.any()
        between = xp.where(there, x[i] - x[i + 1], 1.0)
        before, after = (xp.hypot(v[at], pace * x[at]) for at in (i, i + 1))
        speeds.append(before + (after - before) * x[i] / between)
        known.append(there)
        crossings = crossings & (xp.arange(len(crossings)) > i)
    first, second = (xp.where(x[0] == 0, speeds[place], speeds[place + 1]) for place in range(2))
    there = xp.where(x[0] == 0, known[1], known[2]) & (first > 0)
    return xp.where(there, second / xp.where(there, first, 1.0), np.nan)
