"""What a mounted sensor reads of a contact's load, and what the computer makes of it.

Units: N, N m, m, rad, s.
Source: as of `hil.mounting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.hil.mounting import Known
from dockdyn.kinds.rig.model.plant import Axes

if TYPE_CHECKING:
    from dockdyn.kinds.rig.model.ages import Sampling
    from dockdyn.kinds.rig.model.rig import Moving, Rig


def known_before(rig: Rig, command: Axes, rate: Axes, ticks: int) -> Float[Array, "axes width"]:
    """What was known, so many `ticks` before t = 0, of a robot whose held commands have long moved on with a `rate`.

    `command` (m, rad) is the one that applies at t = 0. A robot that follows the mean of such steps would begin with a jolt,
    which a tool turns into a force.
    """
    robot, schedule = rig.robot, rig.schedule
    each = schedule.ticks // sum(schedule.holds)
    holds = -(-ticks // each)
    told = command - rate * (rig.hold * holds)
    known = robot.known(robot.in_steps(told, rate, rig.hold), told, rate)
    if (later := holds * each - ticks) == 0 or robot.robot is None:
        return known
    return robot.known((known[:, None, :] * robot.advance(later * rig.tick)).sum(-1), told, rate)


def with_mounting(rig: Rig, begun: Moving) -> Moving:
    """A rig at t = 0 whose robot has long followed commands as they are given then, leads and all, and was read by encoders."""
    plant, robot, schedule = rig.plant, rig.robot, rig.schedule
    pose, still = plant.pose(begun.motion), jnp.zeros(plant.port_axes)
    moves = rig.following * plant.rate(begun.motion)
    port = plant.port(pose, plant.rate(begun.motion))
    asked = rig.asked(begun, jnp.zeros(()), port, rig.unaware(still))
    first = pose + rig.following * (rig.wanted(asked, jnp.zeros(plant.axes))[0] - pose)
    applies = first - moves * (rig.hold * rig.applies_after)
    rows = [known_before(rig, applies, moves, 1 + index) for index in range(schedule.rows)]
    state = begun.state if robot.robot is None else (rows[0][:, None, :] * robot.advance(rig.tick)).sum(-1)
    each, now = schedule.ticks // sum(schedule.asks), robot.reading(jnp.zeros(()))
    assert rig.mounting is not None
    steps = range(1, 1 + rig.mounting.rows)
    return begun._replace(
        state=state,
        past=jnp.stack(rows),
        pending=tuple(first - moves * rig.hold * (1 + jnp.arange(len(waiting)))[:, None] for waiting in begun.pending),
        reading=jnp.zeros(plant.axes),
        encoded=jnp.stack([now.of(known_before(rig, applies, moves, each * step))[0] for step in steps]),
    )


def felt(rig: Rig, moving: Moving, nodes: Sampling, there: tuple[Array, Array], load: Axes) -> Axes:
    """What reaches the sensor in a sample when a contact's `load` (N, N m) does, the robot being `there` at the nodes."""
    mounting, plant = rig.mounting, rig.plant
    if mounting is None:
        return load
    pose, rate = ((nodes.weights[:, None] * part).sum(0) for part in there)
    if mounting.tool is not None:
        assert nodes.change is not None
        rows, change = nodes.change
        acceleration = (moving.past[rows] * (change if change.ndim > 2 else change[:, None])).sum((0, -1))
        load = load + plant.tool_load(mounting.tool, mounting.gravity, Known(pose, rate, acceleration))
    return load if mounting.frame is None else plant.in_sensor(mounting.frame, load, pose)


def understood(rig: Rig, moving: Moving, pose: Axes) -> Moving:
    """The computer, told a `pose` (m, rad) by the encoders, makes a load of what the sensor reads."""
    mounting, plant = rig.mounting, rig.plant
    assert mounting is not None and moving.encoded is not None and moving.reading is not None
    encoded = jnp.concatenate([pose[None], moving.encoded[:-1]])
    known, load = mounting.known(encoded, rig.sensor.delay, rig.step), moving.reading
    if mounting.believed_frame is not None:
        load = plant.from_sensor(mounting.believed_frame, load, known.pose)
    if mounting.believed is not None:
        load = load - plant.tool_load(mounting.believed, mounting.gravity, mounting.still(known))
    return moving._replace(load=load, encoded=encoded)
