"""What is kept of a rig at an instant.

Units: SI: m, m/s, N, J.
Source: definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockdyn.deferred import Array
from dockdyn.rig.model.plant import Axes

if TYPE_CHECKING:
    from dockdyn.rig.model.delayed_reads import Ages
    from dockdyn.rig.model.rig import Answer, Rig, RigState


def observe_instant(rig: Rig, moving: RigState, ages: Ages, load: Axes, answer: Answer) -> dict[str, Array]:
    """Return named quantities at an instant, its command given."""
    plant = rig.plant
    forces = plant.port_axes
    position, velocity = plant.port(plant.pose(moving.motion), plant.rate(moving.motion))
    pose, rate = ages.now.of(moving.past[0])
    robot_position, robot_velocity = plant.port(pose, rate)
    found = {
        "position": position,
        "velocity": velocity,
        "robot_position": robot_position,
        "robot_velocity": robot_velocity,
        "contact_force": plant.load(pose, rate, None, moving.contacts)[:forces],
        "measured_force": load[:forces],
        "virtual_force": answer.virtual[:forces],
        "compensation_force": answer.compensation,
        "total_force": answer.total[:forces],
        "gain": moving.action.gain,
        "kinetic_energy": plant.kinetic_energy(moving.motion),
        "port_work": moving.port_work,
        "port_energy": plant.stored_energy(pose, rate, moving.contacts),
    }
    if moving.contact_work is not None:
        found["contact_work"] = moving.contact_work
    if plant.axes > 1:
        found["model_pose"], found["robot_pose"] = plant.pose(moving.motion), pose
    found |= plant.observe(moving.motion)
    return found | ({} if rig.compensator is None else rig.compensator.report(moving.memory))
