"""How far a rig's motion is from that of the contact without rig: amplitude, phase, forces, restitution.

All functions take arrays of NumPy with time and axes (one along a direction, three in space) as their last dimensions;
`motion_measures` takes any before them, lanes of one comparison. NaN is what a motion does not show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dockdyn.deferred import Float

type Series = Float[np.ndarray, "... time axes"]
type Size = Float[np.ndarray, "time"]

SILENT = 1e-6  # of the largest force: less is none
FAINT = 0.02  # likewise, where there is noise
FLICKER = 25  # instants
LEVEL = 1e-9  # of a speed: what changes less from sample to sample is level


@dataclass(frozen=True)
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

    def phase(self, frequency: float) -> float:
        """Return the phase (rad) at the end, unwrapped from the start on; that of the first axis."""
        if frequency not in self.phases:
            angle = np.arctan2(frequency * self.position[:, 0], self.velocity[:, 0])
            step = np.diff(angle)
            turns = np.count_nonzero(step < -np.pi) - np.count_nonzero(step > np.pi)
            self.phases[frequency] = float(angle[-1] + 2 * np.pi * turns)
        return self.phases[frequency]


def recent_force(contact: Series, period: float, late: float) -> Float[np.ndarray, "... time 1"]:
    """Return the largest size of a contact force (N) within the last `late` (s) of each instant, `period` (s) apart.

    Not zero as long as a force that is late can act.
    """
    found = vector_size(contact)
    window, reached = min(1 + math.ceil(late / period - 1e-9), found.shape[-1]), 1
    while reached < window:  # the largest of so many instants, each time of up to twice as many
        back = min(reached, window - reached)
        found = np.concatenate([found[..., :back], np.maximum(found[..., back:], found[..., :-back])], axis=-1)
        reached += back
    return found[..., None]


def vector_size(values: Float[np.ndarray, "time axes"]) -> Size:
    if values.shape[-1] == 1:
        return np.abs(values[..., 0])
    with np.errstate(over="ignore"):  # of a rig that diverges: infinite
        return np.linalg.norm(values, axis=-1)


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
    time: Float[np.ndarray, "time"], ideal: MeasuredMotion, rig: MeasuredMotion, frequency: float, bilateral: bool
) -> dict[str, float]:
    """Return the measures of one lane."""
    last = _last_oscillation(time, ideal, rig, frequency, bilateral)
    speeds = ideal.speed, rig.speed
    fastest = at_last_peak(*speeds, last)
    way = np.eye(1)[0] if bilateral else _into_contact(ideal.force)
    return {
        "amplitude_ratio": share_of(speeds[1][last].max(), speeds[0][last].max()),
        "phase_error_rad": rig.phase(frequency) - ideal.phase(frequency) if bilateral else np.nan,
        "peak_force_error_N": float(rig.load.max() - ideal.load.max()),
        "end_force_error_N": float(vector_size((ideal.force - rig.force)[last]).max()),
        "end_velocity_error_m_s": float(vector_size((ideal.velocity - rig.velocity)[last]).max()),
        "recovery_coefficient": share_of(fastest[1], fastest[0]),
        "apparent_restitution": bounce_restitution(rig, way, bilateral, frequency),
        "ideal_restitution": bounce_restitution(ideal, way, bilateral, frequency),
    }


def share_of(value: float, of: float) -> float:
    return float(value / of) if of > 0 else np.nan


def _last_oscillation(
    time: Float[np.ndarray, "time"], ideal: MeasuredMotion, rig: MeasuredMotion, frequency: float, bilateral: bool
) -> slice:
    """Return the instants of the last oscillation; of a motion that ends in free flight, those after the last push of
    either."""
    length = 2 * np.pi / frequency if np.isfinite(frequency) else (time[-1] - time[0]) / 2
    first = min(int(np.searchsorted(time, time[-1] - length, side="right")), len(time) - 1)
    if bilateral or (pushes := force_is_active(ideal.push))[-1]:
        return slice(first, None)
    either = np.flatnonzero(pushes | force_is_active(rig.push))
    free = min(int(either[-1]) + 1, len(time) - 1) if len(either) else 0
    return slice(max(first, free), None)


def force_is_active(force: Size) -> np.ndarray:
    """Return where a force pushes: above what is none or, where noise hardly ever leaves it at none, above the noise.

    Noise lets a force flicker at its threshold: gaps of up to `FLICKER` instants are then no gaps.
    """
    largest = force.max()
    faint, silent = force <= FAINT * largest, force <= SILENT * largest
    if 2 * silent.sum() >= faint.sum():
        return ~silent
    at = np.flatnonzero(~faint)
    joined = ~faint
    gaps = np.diff(at)
    for row in np.flatnonzero((gaps > 1) & (gaps <= FLICKER)):
        joined[at[row] : at[row + 1]] = True
    return joined


def at_last_peak(speed: Size, other: Size, last: slice) -> tuple[float, float]:
    """Return a speed where it was largest in a cycle for the last time, and another one then; at the end if it has no such
    peak.

    Between samples both are parabolas. In free flight, where all but rounding is level, there is no peak.
    """
    before, now, after = speed[:-2], speed[1:-1], speed[2:]
    peaks = np.flatnonzero((now >= before * (1 - LEVEL)) & (now * (1 - LEVEL) > after)) + 1
    inside = peaks[peaks >= last.start]
    if not len(inside):
        return float(speed[-1]), float(other[-1])
    three = slice(inside[-1] - 1, inside[-1] + 2)
    before, now, after = speed[three]
    late = (before - after) / (2 * (before - 2 * now + after))  # of a step, how much later than the middle one
    weights = np.array([late * (late - 1) / 2, 1 - late**2, late * (late + 1) / 2])
    return float(weights @ speed[three]), float(weights @ other[three])


def _into_contact(force: Float[np.ndarray, "time axes"]) -> Float[np.ndarray, "axes"]:
    """Return the unit vector against the first push of a force; the first axis where nothing pushes."""
    start, end = first_bounce(vector_size(force))
    total = force[start : end + 1].sum(axis=0) if start >= 0 else np.zeros(force.shape[-1])
    whole = np.linalg.norm(total)
    return -total / whole if whole > 0 else np.eye(force.shape[-1])[0]


def first_bounce(force: Size) -> tuple[int, int]:
    """Return the first and last instant of the first push of a force; (−1, −1) without one. It may last to the end."""
    if not force.max() > 0:
        return -1, -1
    pushing = force_is_active(force)
    start = int(np.argmax(pushing))
    after = np.flatnonzero(~pushing[start:])
    return start, start + int(after[0]) - 1 if len(after) else len(force) - 1


def bounce_restitution(
    motion: MeasuredMotion, way: Float[np.ndarray, "axes"], bilateral: bool, frequency: float
) -> float:
    """Return the speed after the first bounce over that before it, along the `way` into contact.

    Of a contact that pulls, too, that at the second zero of the position over that at the first. NaN where the bounce is
    not over within the run.
    """
    if bilateral:
        return _crossing_ratio(motion.position[:, 0], motion.velocity[:, 0], frequency)
    start, end = first_bounce(motion.push)
    if start < 0 or end + 1 >= len(motion.force):
        return np.nan
    before, after = (float(motion.velocity[row] @ way) for row in (max(start - 1, 0), end + 1))
    return -after / before if before else np.nan


def _crossing_ratio(x: Size, v: Size, frequency: float) -> float:
    """Return the speed at the second zero of the position `x` over that at the first.

    √(v² + ω² x²) at the instants around a zero, between which it hardly changes, is the speed there.
    """
    at = np.flatnonzero(x[:-1] * x[1:] < 0)
    swing = np.hypot(v, (frequency if np.isfinite(frequency) else 0.0) * x)
    speeds = [abs(float(v[0]))] if x[0] == 0 else []
    speeds += [float(swing[i] + (swing[i + 1] - swing[i]) * x[i] / (x[i] - x[i + 1])) for i in at[:2]]
    return speeds[1] / speeds[0] if len(speeds) > 1 and speeds[0] > 0 else np.nan
