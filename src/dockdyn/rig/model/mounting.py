"""What a mounted sensor reads of a contact's load, and what the computer makes of it.

Units: N, N m, m, rad, s.
Source: as of `hil.mounting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockdyn.deferred import Array, jnp
from dockdyn.hil.mounting import Known
from dockdyn.rig.model.plant import Axes

if TYPE_CHECKING:
    from dockdyn.rig.model.delayed_reads import Sampling
    from dockdyn.rig.model.rig import Rig, RigState


def felt_load(rig: Rig, moving: RigState, nodes: Sampling, there: tuple[Array, Array], load: Axes) -> Axes:
    """Return what reaches the sensor in a sample when a contact's `load` (N, N m) does, the robot being `there` at the
    nodes."""
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


def with_sensor_load(rig: Rig, moving: RigState, pose: Axes) -> RigState:
    """Return the motion once the computer, told a `pose` (m, rad) by the encoders, has made a load of what the sensor reads."""
    mounting, plant = rig.mounting, rig.plant
    assert mounting is not None and moving.encoded is not None and moving.reading is not None
    encoded = jnp.concatenate([pose[None], moving.encoded[:-1]])
    known, load = mounting.known(encoded, rig.sensor.delay, rig.step), moving.reading
    if mounting.believed_frame is not None:
        load = plant.from_sensor(mounting.believed_frame, load, known.pose)
    if mounting.believed is not None:
        load = load - plant.tool_load(mounting.believed, mounting.gravity, mounting.still(known))
    return moving._replace(load=load, encoded=encoded)
