"""What the computer of a rig watches while it drives devices, and the path on which it stops them.

Every command is checked before it goes out: its speed, the change of its speed, and the place where braking from it would
end. One that fails is not sent; the path of braking takes its place in the same cycle. So commands keep their limits at all
times, after a trip as before it: speed only falls, it changes by what is allowed, and the end of braking was checked.

With a speed v, an acceleration a and a period h, braking changes the speed by at most a h in a cycle: it is at rest after
⌈v/(a h)⌉ cycles and covers at most v²/(2 a). Acceleration goes from at most a one way to a the other way within a cycle:
the jerk is at most 2 a/h.

Units: SI: m, rad, m/s, rad/s, m/s², rad/s², N, N m, J; counts are cycles.
Source: own construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.integrate.model import Scalar
from dockdyn.trees import Module

PLACES = 3  # axes that are lengths; those behind them are angles
GENTLY = 0.5  # of the limits, on the way to where a run begins

type Axes = Float[Array, "axes"]
type Count = Int[Array, ""]
type Yes = Bool[Array, ""]


class Cause(IntEnum):
    """Why a rig is stopped; of several in one cycle the first of these."""

    NONE = 0
    SENSOR_INVALID = 1  # a number that is none
    SENSOR_STATUS = 2  # the sensor says so
    SENSOR_STALE = 3
    SENSOR_SATURATED = 4
    SENSOR_FROZEN = 5
    ROBOT_INVALID = 6
    ROBOT_STATUS = 7
    ROBOT_STALE = 8
    FORCE = 9
    TORQUE = 10
    POSITION = 11  # of the robot, by its encoders
    TRACKING = 12  # the robot is not where it is told to be
    LATE = 13  # cycles were missed
    INJECTED_ENERGY = 14  # beyond what the contact gave
    PASSIVITY = 15  # the measured force gives more than it took
    COMMAND = 16  # a number that is none
    SPEED = 17
    ACCELERATION = 18
    WORKSPACE = 19  # braking from the command would end outside
    RELEASED = 20  # hold-to-run
    OPERATOR = 21
    END = 22  # of the run


class Envelope(Module):
    """What axes of one unit may do."""

    lowest: Axes
    highest: Axes
    speed: Scalar
    acceleration: Scalar
    tracking: Scalar  # largest distance between command and encoders


class Limits(Module):
    """All that is watched; None is not."""

    places: Envelope  # m
    turns: Envelope | None  # rad
    force: Scalar  # N
    torque: Scalar | None  # N m
    saturation: Scalar | None  # N, of one axis
    sensor_silence: Count  # cycles without a new reading
    sensor_frozen: Count | None  # new readings with the same numbers
    robot_silence: Count  # cycles without a new pose
    late: Count  # cycles missed at once
    injected_energy: Scalar | None  # J
    passivity: Scalar | None  # J

    def parts(self, rows: Axes) -> Iterator[tuple[Envelope, Axes]]:
        """Yield lengths and angles of the axes, each with its envelope."""
        yield self.places, rows[:PLACES]
        if self.turns is not None:
            yield self.turns, rows[PLACES:]


class Told(NamedTuple):
    """What the devices and the clock say in a cycle.

    Counts are those of the last message; one that stays brings nothing new.
    """

    load: Axes  # N, N m
    load_count: Count
    load_status: Count  # 0: well
    pose: Axes  # m, rad
    pose_count: Count
    pose_status: Count  # 0: well
    late: Count  # cycles missed since the last one


class Watch(NamedTuple):
    """What is remembered of the devices."""

    load: Axes  # N, N m, the last sound one
    load_count: Count
    load_silence: Count  # cycles
    load_same: Count  # readings
    pose: Axes  # m, rad, likewise
    pose_count: Count
    pose_silence: Count  # cycles
    heard: Yes  # whether the robot has said where it is
    measured: Yes  # whether the sensor has


def begin_watch(axes: int) -> Watch:
    """Return the state before anything is heard."""
    none, never = jnp.zeros((), int), jnp.asarray(-1)
    no = jnp.asarray(False)
    return Watch(jnp.zeros(axes), never, none, none, jnp.zeros(axes), never, none, no, no)


def watch_devices(limits: Limits, memory: Watch, told: Told, sent: Axes) -> tuple[Watch, Count]:
    """Return what is known of the devices after a cycle in which the command was `sent` before, and the first cause to stop."""
    new_load, new_pose = told.load_count != memory.load_count, told.pose_count != memory.pose_count
    sound_load = jnp.isfinite(told.load).all() & (told.load_status == 0)
    sound_pose = jnp.isfinite(told.pose).all() & (told.pose_status == 0)
    same = jnp.where(new_load, jnp.where((told.load == memory.load).all(), memory.load_same + 1, 0), memory.load_same)
    after = Watch(
        jnp.where(new_load & sound_load, told.load, memory.load),
        told.load_count,
        jnp.where(new_load, 0, memory.load_silence + 1),
        same,
        jnp.where(new_pose & sound_pose, told.pose, memory.pose),
        told.pose_count,
        jnp.where(new_pose, 0, memory.pose_silence + 1),
        memory.heard | (new_pose & sound_pose),
        memory.measured | (new_load & sound_load),
    )
    forces = after.load[:PLACES]
    false = jnp.asarray(False)
    inside = [((e.lowest <= p) & (p <= e.highest)).all() for e, p in limits.parts(after.pose)]
    near = [_vector_length(d) <= e.tracking for e, d in limits.parts(after.pose - sent)]
    cause = _first_cause(
        (Cause.SENSOR_INVALID, ~jnp.isfinite(told.load).all()),
        (Cause.SENSOR_STATUS, told.load_status != 0),
        (Cause.SENSOR_STALE, after.load_silence > limits.sensor_silence),
        (Cause.SENSOR_SATURATED, false if limits.saturation is None else (jnp.abs(forces) >= limits.saturation).any()),
        (Cause.SENSOR_FROZEN, false if limits.sensor_frozen is None else same > limits.sensor_frozen),
        (Cause.ROBOT_INVALID, ~jnp.isfinite(told.pose).all()),
        (Cause.ROBOT_STATUS, told.pose_status != 0),
        (Cause.ROBOT_STALE, after.pose_silence > limits.robot_silence),
        (Cause.FORCE, ~(_vector_length(forces) <= limits.force)),
        (Cause.TORQUE, false if limits.torque is None else ~(_vector_length(after.load[PLACES:]) <= limits.torque)),
        (Cause.POSITION, ~jnp.stack(inside).all()),
        (Cause.TRACKING, ~jnp.stack(near).all()),
        (Cause.LATE, told.late > limits.late),
    )
    return after, cause


def check_energy(limits: Limits, injected: Scalar, given: Scalar) -> Count:
    """Return the cause to stop in the energy (J) that delays have `injected`, and in what the measured force has `given` in
    all."""
    false = jnp.asarray(False)
    return _first_cause(
        (
            Cause.INJECTED_ENERGY,
            false if limits.injected_energy is None else ~(injected <= limits.injected_energy),
        ),
        (Cause.PASSIVITY, false if limits.passivity is None else ~(given <= limits.passivity)),
    )


def check_command(limits: Limits, sent: Axes, rate: Axes, wanted: Axes, period: Scalar) -> Count:
    """Return the cause to stop in a command that is `wanted` (m, rad) behind one that was `sent` with a `rate` (m/s, rad/s)."""
    fast, sudden, far = [], [], []
    rows = zip(*(limits.parts(part) for part in (sent, rate, wanted)), strict=True)
    for (envelope, last), (_, before), (_, place) in rows:
        speed = (place - last) / period
        fast.append(_vector_length(speed) <= envelope.speed)
        sudden.append(_vector_length(speed - before) <= envelope.acceleration * period * (1 + 1e-9))
        end = place + speed * (_vector_length(speed) / (2 * envelope.acceleration))
        far.append(((envelope.lowest <= end) & (end <= envelope.highest)).all())
    return _first_cause(
        (Cause.COMMAND, ~jnp.isfinite(wanted).all()),
        (Cause.SPEED, ~jnp.stack(fast).all()),
        (Cause.ACCELERATION, ~jnp.stack(sudden).all()),
        (Cause.WORKSPACE, ~jnp.stack(far).all()),
    )


def braking_rate(limits: Limits, rate: Axes, period: Scalar) -> Axes:
    """Return the rate (m/s, rad/s) of the command in the next cycle of braking: slower by what is allowed, in its direction."""
    slower = []
    for envelope, before in limits.parts(rate):
        speed = _vector_length(before)
        kept = jnp.maximum(speed - envelope.acceleration * period, 0.0) / jnp.where(speed > 0, speed, 1.0)
        slower.append(before * kept)
    return jnp.concatenate(slower)


def approach_rate(limits: Limits, sent: Axes, rate: Axes, goal: Axes, period: Scalar) -> Axes:
    """Return the rate (m/s, rad/s) of the next command on a straight way from rest to rest at a `goal` (m, rad).

    It keeps half of the limits. With x = v/(a h) and a distance a h² x (x + 1)/2 left, going on at v leaves a h² x (x − 1)/2,
    where the same law gives x − 1: so it brakes by a in each cycle; in the last two, by at most 9/8 of that.
    """
    found = []
    rows = zip(*(limits.parts(part) for part in (sent, rate, goal)), strict=True)
    for (envelope, place), (_, before), (_, end) in rows:
        way = end - place
        left = _vector_length(way)
        gain = GENTLY * envelope.acceleration * period
        braking = gain * (jnp.sqrt(0.25 + 2 * left / (gain * period)) - 0.5)
        speed = jnp.minimum(
            jnp.minimum(_vector_length(before) + gain, GENTLY * envelope.speed), jnp.minimum(braking, left / period)
        )
        found.append(way * (speed / jnp.where(left > 0, left, 1.0)))
    return jnp.concatenate(found)


def first_cause(causes: Sequence[Count]) -> Count:
    """Return the first of several that is any."""
    found = jnp.asarray(int(Cause.NONE))
    for cause in reversed(causes):
        found = jnp.where(cause != Cause.NONE, cause, found)
    return found


def _first_cause(*checks: tuple[Cause, Yes]) -> Count:
    """Return the first cause whose condition holds."""
    return first_cause([jnp.where(holds, int(cause), int(Cause.NONE)) for cause, holds in checks])


def _vector_length(vector: Axes) -> Scalar:
    """Return the length of a vector."""
    return jnp.sqrt(jnp.sum(vector**2))
