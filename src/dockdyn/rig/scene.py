"""The scene of a rig: what the computer has, where the robot is, and what would be without rig."""

from __future__ import annotations

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, jnp
from dockdyn.docking.views.scene import body_parts, focus_of, gear_of, reach_of
from dockdyn.integrate.model import over_rows
from dockdyn.programs import Program
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.report.scene.rotation import rotate
from dockdyn.report.scene.scene import (
    End,
    Focus,
    Role,
    RunScene,
    ShownForce,
    ShownMotion,
    ShownPart,
    ShownTie,
    ShownTrail,
)
from dockdyn.report.scene.solids import BoxSolid
from dockdyn.report.scene.times import Sampler, shown_times
from dockdyn.rig.model.in_space import carried_at, reference_of
from dockdyn.rig.model.plant import Axes
from dockdyn.rig.schema import RigContent, way_in
from dockdyn.scenario.made import model_of

COMPUTED, WITHOUT = "model (computed)", "without rig"
LANES = {COMPUTED: "position", "robot": "robot_position"}


def scene_of_rig(dataset: Dataset, content: RigContent) -> RunScene:
    """Return the scene of a rig on a line, or of its mock-ups in space."""
    return scene_of_line(dataset, content) if content.axes == 1 else scene_of_mock_ups(dataset, content)


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


def _still(count: int, position: np.ndarray | None = None) -> ShownMotion:
    """Return what does not move."""
    place = np.zeros(3) if position is None else position
    return ShownMotion(np.tile(place, (count, 1)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)))


def scene_of_line(dataset: Dataset, content: RigContent) -> RunScene:
    """Return a line: two blocks side by side, each before its spring, in the robot's place the ghost of its ideal
    motion; overlap is to the right of the wall's face."""
    time, at = shown_times(dataset, contact_spans(dataset)[1].tolist())
    way = way_in(content)
    travel = {name: way * at(dataset[key].values[:, 0]) for name, key in LANES.items()}
    ideal = way * at(dataset.ideal_position.values[:, 0])
    size = max(float(np.abs(values).max()) for values in (*travel.values(), ideal)) or 1.0
    wall, apart = 3.0 * size, 2.1 * size
    bodies: dict[str, ShownMotion] = {}
    parts, ties = [], []
    always, ground = bool(dataset.attrs["bilateral"]), _still(len(time))
    for lane, (name, along) in enumerate(travel.items()):
        offset = apart * (0.5 - lane)
        motion, base = _still(len(time), np.array([0.0, offset, 0.0])), _still(len(time), np.array([0.0, offset, 0.0]))
        motion.position[:, 0], base.position[:, 0] = along, along if always else np.maximum(along, 0.0)
        bodies[name] = motion
        role: Role = "gear" if name == "robot" else "ghost"
        parts.append(ShownPart(f"{name}/block", [_block(size, 1.0)], motion, role, name))
        ends = End(base, np.zeros(3)), End(ground, np.array([wall, offset, 0.0]))
        ties.append(ShownTie(f"contact of {name}", "spring", *ends, radius=0.12 * size))
    ghost = _still(len(time), bodies["robot"].position[0] * [0.0, 1.0, 1.0])
    ghost.position[:, 0] = ideal
    bodies[WITHOUT] = ghost
    parts.append(ShownPart(f"{WITHOUT}/block", [_block(size, 1.15)], ghost, "ghost", WITHOUT))
    low, high = np.array([wall, -1.1 * apart, -0.9 * size]), np.array([wall + 0.25 * size, 1.1 * apart, 0.9 * size])
    parts.append(ShownPart(content.rig.against, [BoxSolid(low, high, np.eye(3))], None, "ground", None))
    forces = []
    for name, key, body in (
        ("contact force", "contact_force", "robot"),
        ("force on the model", "total_force", COMPUTED),
    ):
        vector = at(dataset[key].values[:, :1]) * np.array([way, 0.0, 0.0])
        place = bodies[body].position + np.array([0.0, 0.0, 0.85 * size])
        forces.append(ShownForce(name, place, vector, None, "contact" if body == "robot" else "hold"))
    return RunScene(
        title=str(dataset.attrs["title"]),
        time=time,
        bodies=bodies,
        parts=parts,
        focus=Focus(None, np.array([0.8 * size, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), 2.4 * size),
        ties=ties,
        forces=forces,
        notes=["behind, the model (computed); in front, the robot; pale green around it, the motion without rig"],
    )


def _block(size: float, wide: float) -> BoxSolid:
    """Return a block (m) whose face is at the origin, so many times as wide as the robot's."""
    corner = np.array([0.0, 0.7 * wide * size, 0.6 * wide * size])
    return BoxSolid(np.array([-1.4 * size, 0.0, 0.0]) - corner, corner, np.eye(3))


def scene_of_mock_ups(dataset: Dataset, content: RigContent) -> RunScene:
    """Return the two mock-ups in axes of the laboratory, in which that of the second stands still."""
    time, at = shown_times(dataset, contact_spans(dataset)[1].tolist())
    robot, ground = carried_motion(dataset, content, at, "robot_pose"), _still(len(time))
    carried, standing = (content.named(name) for name in content.mock_ups)
    gear = gear_of(content)
    reach = reach_of(content, gear)
    parts = [
        *body_parts(carried, content, gear, robot, reach),
        *body_parts(standing, content, gear, ground, reach),
    ]
    bodies = {carried.name: robot, standing.name: ground}
    for name, key in ((COMPUTED, "model_pose"), (WITHOUT, "ideal_pose")):
        bodies[name] = carried_motion(dataset, content, at, key)
        drawn = body_parts(carried, content, gear, bodies[name], reach)
        parts += [
            ShownPart(f"{name}/{part.name.rpartition('/')[2]}", part.solids, part.motion, "ghost", name)
            for part in drawn
            if part.role != "bus"
        ]
    touching = robot if port_group(content).first == content.mounted_bodies()[0] else ground
    tip = touching.position + rotate(touching.attitude, np.asarray(port_group(content).place, float))
    return RunScene(
        title=str(dataset.attrs["title"]),
        time=time,
        bodies=bodies,
        parts=parts,
        focus=focus_of(content, gear, bodies, {}, reach)[1],
        trails=[ShownTrail("path of the tip", tip, None)],
        forces=[ShownForce("contact force", tip, at(dataset.contact_force.values), None)],
        notes=["mock-ups in the laboratory; pale blue, the carried one in the computer; pale green, without rig"],
    )


def port_group(content: RigContent) -> ContactGroup:
    """Return the contact in which the port touches."""
    group = model_of(content).groups[content.port_contact()]
    assert isinstance(group, ContactGroup)
    return group


def carried_motion(dataset: Dataset, content: RigContent, at: Sampler, name: str) -> ShownMotion:
    """Return the mock-up that is carried, in the laboratory, from the robot's axes of a `name` in the dataset."""
    return ShownMotion(*in_pieces(lambda rows: carried_poses(content, rows), at(dataset[name].values)))


@Program
def carried_poses(content: RigContent, pose: Float[Array, "n 6"]) -> tuple[Float[Array, "n 3"], Float[Array, "n 4"]]:
    """Return positions (m) and attitudes of the mock-up that is carried, at rest, from the robot's axes."""
    reference = reference_of(content.mounted_starts())

    def place(axes: Axes) -> tuple[Array, Array]:
        carried = carried_at(reference, axes, jnp.zeros(6)).pose
        return carried.position.array(), carried.attitude.array()

    return over_rows(place, pose)
