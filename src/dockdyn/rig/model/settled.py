"""A rig at t = 0 whose robot has long followed the approach, by commands as they are given in a run: held, led, late.

A robot that began as if its commands had been continuous would swing into the motion that held ones keep up: a velocity
that is wrong for some time constants, and a jolt, which a tool turns into a force.

Units: m, rad, m/s, rad/s, s; ticks and holds are whole numbers.
Source: own construction: the periodic solution of the robot's map from command to command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.hil.robot import RobotAxes
from dockdyn.integrate.model import Scalar
from dockdyn.rig.model.plant import Axes
from dockdyn.rig.model.schedule import RigSchedule

if TYPE_CHECKING:
    from dockdyn.rig.model.rig import Rig, RigState


def settled_rig(rig: Rig, begun: RigState) -> RigState:
    """Return the rig at t = 0, of which virtual bodies and delays are known, with a robot that has long followed them.

    A robot that is not `following` has long stood where they begin. The compensator's leads count, as it gives them at t = 0
    without contact; its memory begins with where the robot is, and how fast on average.
    """
    plant, robot, schedule = rig.plant, rig.robot, rig.schedule
    pose, rate = plant.pose(begun.motion), plant.rate(begun.motion)
    moves = rig.following * rate
    model = plant.port(pose, rate)
    if rig.compensator is not None:
        begun = begun._replace(memory=rig.compensator.init(*model))
    asked = rig.asked(begun, jnp.zeros(()), model, rig.unaware(jnp.zeros(plant.port_axes)))
    meant = pose + rig.following * (rig.wanted(asked, jnp.zeros(plant.axes))[0] - pose)
    first = meant - moves * (rig.tick * schedule.late)
    rows = known_before(rig, first, moves, np.arange(1 + schedule.rows))
    there, _ = robot.reading(jnp.zeros(())).of(rows[0])
    place, speed = plant.port(there, moves)
    begun = begun._replace(
        state=rows[0, :, :-1],
        past=rows[1:],
        recorded=_recorded_commands(rig, meant, moves) if schedule.late else (),
        touched=place,
        memory=None if rig.compensator is None else rig.compensator.init(place, speed),
        pending=_pending_commands(rig, first, moves) if rig.applies_after else (),
    )
    if rig.mounting is None:
        return begun
    each = schedule.ticks // sum(schedule.asks)
    known = known_before(rig, first, moves, each * (1 + np.arange(rig.mounting.rows)))
    encoded = jax.vmap(lambda one: robot.reading(jnp.zeros(())).of(one)[0])(known)
    return begun._replace(reading=jnp.zeros(plant.axes), encoded=encoded)


def known_before(rig: Rig, first: Axes, rate: Axes, ticks: np.ndarray) -> Float[Array, "ticks axes width"]:
    """Return what was known, so many `ticks` before t = 0, of a robot whose held commands have long moved on with a `rate`.

    `first` (m, rad) is the command that is taken at t = 0.
    """
    robot, schedule = rig.robot, rig.schedule
    each = schedule.ticks // sum(schedule.holds)
    holds = -(-ticks // each)
    applied = holds + rig.applies_after
    told = _earlier_commands(rig, first, rate, applied)
    known = jax.vmap(lambda command: robot.known(robot.in_steps(command, rate, rig.hold), command, rate))
    if robot.robot is None:
        return known(told)
    even = known(first - rate * (rig.hold * applied)[:, None])[..., :-1]
    early = _ticks_ahead(schedule)
    if early.any():
        ripple = _hold_ripple(robot, rig.hold, rig.tick * np.roll(early, rig.applies_after))
        even = even + rate[:, None] * ripple[-holds % len(early)].reshape(len(holds), -1, robot.order)
    before = jnp.concatenate([even, told[..., None]], axis=-1)
    later = jax.vmap(robot.advance)(rig.tick * jnp.arange(each))[holds * each - ticks]
    grown = (before[:, :, None, :] * later.reshape(len(ticks), -1, *later.shape[-2:])).sum(-1)
    return jnp.concatenate([grown, told[..., None]], axis=-1)


def _recorded_commands(rig: Rig, meant: Axes, rate: Axes) -> tuple[Float[Array, "late axes"], ...]:
    """Return the commands that were meant at the ticks before t = 0, when `meant` is, as a `RigState` has them."""
    places = meant - rate * (rig.tick * (1 + jnp.arange(rig.schedule.late)))[:, None]
    return places, jnp.broadcast_to(rate, places.shape)


def _pending_commands(rig: Rig, first: Axes, rate: Axes) -> tuple[Float[Array, "holds axes"], ...]:
    """Return the commands that do not apply yet before the one of t = 0, `first`, as a `RigState` has them."""
    places = _earlier_commands(rig, first, rate, 1 + np.arange(rig.applies_after))
    return (places,) if rig.robot.robot is not None else (places, jnp.broadcast_to(rate, places.shape))


def _earlier_commands(rig: Rig, first: Axes, rate: Axes, holds: np.ndarray) -> Float[Array, "holds axes"]:
    """Return the commands (m, rad) that were taken so many `holds` before the one of t = 0."""
    early = _ticks_ahead(rig.schedule)
    return first + rate * (rig.tick * early[-holds % len(early)] - rig.hold * holds)[:, None]


def _ticks_ahead(schedule: RigSchedule) -> Float[np.ndarray, "holds"]:
    """Return by how many ticks the virtual bodies are ahead of the clock at each hold of a cycle.

    Digital dynamics go a whole step ahead at once; where a hold falls between two steps, it takes where they will be.
    """
    asks, holds = np.array(schedule.asks), np.flatnonzero(schedule.holds)
    if not schedule.hyperperiod.steps:
        return np.zeros(len(holds))
    return (np.cumsum(asks) - asks)[holds] * (schedule.ticks / asks.sum()) - holds


def _hold_ripple(robot: RobotAxes, hold: Scalar, early: Float[Array, "holds"]) -> Float[Array, "holds *axes order"]:
    """Return by how much the state differs, at each hold of a cycle, from that under evenly spaced commands of unit rate.

    `early` (s) are the times by which each command is ahead of those.
    """
    advance = robot.advance(hold)
    own, drive = advance[..., :-1], advance[..., -1]

    def step(state: Array, ahead: Scalar) -> tuple[Array, Array]:
        return (own * state[..., None, :]).sum(-1) + drive * ahead, state

    none = jnp.zeros_like(drive)
    forced, _ = jax.lax.scan(step, none, early)
    whole = jnp.linalg.matrix_power(own, len(early))
    first = jnp.linalg.solve(jnp.eye(robot.order) - whole, forced[..., None])[..., 0]
    return jax.lax.scan(step, first, early)[1]
