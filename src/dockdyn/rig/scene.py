"""The scene of a rig: what the computer has, where the robot is, and what would be without rig."""

from __future__ import annotations

from functools import partial

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, jnp
from dockdyn.docking.views.scene import body_parts, focus_of, gear_of, reach_of
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.rigid_body import Pose
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
from dockdyn.rig.measures import contact_spans
from dockdyn.rig.model.in_space import PlantInSpace, carried_at, reference_of
from dockdyn.rig.model.on_line import PlantOnLine
from dockdyn.rig.model.plant import Axes
from dockdyn.rig.schema import RigContent, way_in
from dockdyn.scenario.made import model_of

COMPUTED, WITHOUT = "model (computed)", "without rig"
CONTACT, ON_MODEL = "contact force", "force on the model"
FORCES = {CONTACT: "contact_force", ON_MODEL: "total_force"}  # what of a run they are of; the second is shown on a line
type Placed = tuple[Float[Array, "n 3"], Float[Array, "n 4"]]  # positions (m) and attitudes
LANES = {COMPUTED: 1.0, "robot": -1.0, WITHOUT: -1.0}  # on a line, how far aside, times half of what is between two


def scene_of_rig(dataset: Dataset, content: RigContent) -> RunScene:
    """Return the scene of a rig on a line, or of its mock-ups in space."""
    return scene_of_line(dataset, content) if content.axes == 1 else scene_of_mock_ups(dataset, content)


def shown_bodies(content: RigContent) -> dict[str, str | None]:
    """Return the bodies of a rig's scene, and what of a run says where each is: axes of the robot; None where it stands."""
    if content.axes == 1:
        return {COMPUTED: "position", "robot": "robot_position", WITHOUT: "ideal_position"}
    carried, standing = content.mock_ups
    return {carried: "robot_pose", standing: None, COMPUTED: "model_pose", WITHOUT: "ideal_pose"}


def shown_forces(content: RigContent) -> list[str]:
    """Return the names of a scene's forces."""
    return [CONTACT, ON_MODEL] if content.axes == 1 else [CONTACT]


def _motions(content: RigContent, at: Sampler, dataset: Dataset, count: int) -> dict[str, ShownMotion]:
    """Return where the bodies of a scene are at so many times."""
    still = np.zeros((count, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    place = partial(in_pieces, partial(carried_poses, content))
    return {
        name: ShownMotion(*(still if key is None else place(at(dataset[key].values))))
        for name, key in shown_bodies(content).items()
    }


def _force(
    dataset: Dataset, content: RigContent, at: Sampler, name: str, place: np.ndarray, on: ShownMotion
) -> ShownForce:
    """Return a force at a place (m) of what it acts on."""
    vector = at(dataset[FORCES[name]].values) @ axes_in_scene(content)
    return ShownForce(name, np.tile(place, (len(vector), 1)), vector, on, "contact" if name == CONTACT else "hold")


def scene_of_line(dataset: Dataset, content: RigContent) -> RunScene:
    """Return a line: two blocks side by side, each before its spring, in the robot's place the ghost of its ideal
    motion; overlap is to the right of the wall's face."""
    time, at = shown_times(dataset, contact_spans(dataset)[1].tolist())
    bodies = _motions(content, at, dataset, len(time))
    size = max(float(np.abs(motion.position).max()) for motion in bodies.values()) or 1.0
    wall, apart = 3.0 * size, 2.1 * size
    free = None if dataset.attrs["bilateral"] else wall
    parts, ties = [], []
    forces: list[ShownForce] = []
    for (name, motion), force in zip(bodies.items(), (ON_MODEL, CONTACT, None), strict=True):
        aside, wide = np.array([0.0, 0.5 * apart * LANES[name], 0.0]), 1.15 if name == WITHOUT else 1.0
        role: Role = "gear" if name == "robot" else "ghost"
        parts.append(ShownPart(f"{name}/block", [_block(size, wide, aside)], motion, role, name))
        if force is None:
            continue
        ends = End(motion, aside), End(None, aside + np.array([wall, 0.0, 0.0]))
        ties.append(ShownTie(f"contact of {name}", "spring", *ends, radius=0.12 * size, free=free))
        above = aside + np.array([0.0, 0.0, 0.85 * size])
        forces.insert(0, _force(dataset, content, at, force, above, motion))
    low, high = np.array([wall, -1.1 * apart, -0.9 * size]), np.array([wall + 0.25 * size, 1.1 * apart, 0.9 * size])
    parts.append(ShownPart(content.rig.against, [BoxSolid(low, high, np.eye(3))], None, "ground", None))
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


def _block(size: float, wide: float, aside: np.ndarray) -> BoxSolid:
    """Return a block (m) whose face is at the origin, moved `aside`, so many times as wide as the robot's."""
    corner = np.array([0.0, 0.7 * wide * size, 0.6 * wide * size])
    return BoxSolid(np.array([-1.4 * size, 0.0, 0.0]) - corner + aside, corner + aside, np.eye(3))


def scene_of_mock_ups(dataset: Dataset, content: RigContent) -> RunScene:
    """Return the two mock-ups in axes of the laboratory, in which that of the second stands still."""
    time, at = shown_times(dataset, contact_spans(dataset)[1].tolist())
    bodies, gear = _motions(content, at, dataset, len(time)), gear_of(content)
    carried, standing = content.mock_ups
    reach = reach_of(content, gear)
    parts = [
        part
        for name in content.mock_ups
        for part in body_parts(content.named(name), content, gear, bodies[name], reach)
    ]
    for name in (COMPUTED, WITHOUT):
        parts += [
            ShownPart(f"{name}/{part.name.rpartition('/')[2]}", part.solids, part.motion, "ghost", name)
            for part in body_parts(content.named(carried), content, gear, bodies[name], reach)
            if part.role != "bus"
        ]
    port = port_group(content)
    touching = bodies[carried if port.first == content.mounted_bodies()[0] else standing]
    place = np.asarray(port.place, float)
    return RunScene(
        title=str(dataset.attrs["title"]),
        time=time,
        bodies=bodies,
        parts=parts,
        focus=focus_of(content, gear, bodies, {}, reach)[1],
        trails=[ShownTrail("path of the tip", touching.position + rotate(touching.attitude, place), None)],
        forces=[_force(dataset, content, at, CONTACT, place, touching)],
        notes=["mock-ups in the laboratory; pale blue, the carried one in the computer; pale green, without rig"],
    )


def port_group(content: RigContent) -> ContactGroup:
    """Return the contact in which the port touches."""
    group = model_of(content).groups[content.port_contact()]
    assert isinstance(group, ContactGroup)
    return group


def axes_in_scene(content: RigContent) -> np.ndarray:
    """Return the axes (axes, 3) of what is measured, in those of the scene."""
    return np.eye(3) if content.axes > 1 else way_in(content) * np.eye(3)[:1]


@Program
def carried_poses(content: RigContent, pose: Float[Array, "n axes"]) -> Placed:
    """Return positions (m) and attitudes, in the scene, of the mock-up that is carried, at rest, from the robot's axes; on a
    line from where it touches."""
    if content.axes == 1:
        return _on_line(pose, axes_in_scene(content))
    return _in_space(content.mounted_starts(), pose)


@partial(Program, static=("bodies", "forces"))
def show_rig(
    plant: PlantOnLine | PlantInSpace,
    axes: Float[Array, "axes 3"],
    run: dict[str, Array],
    bodies: tuple[str | None, ...],
    forces: tuple[str, ...],
) -> dict[str, Array]:
    """Return what a scene shows of a run on a rig, by name, over its instants: positions (bodies, 3) and attitudes (bodies, 4)
    as `carried_poses` has them, forces (forces, 3), N.

    `axes` are those of `axes_in_scene`; bodies and forces are told by what of the `run` they are of.
    """
    rows = len(run[forces[0]])
    still = jnp.zeros((rows, 3)), _level(rows)
    placed = [
        still if key is None
        else _in_space(plant.starts(), run[key]) if isinstance(plant, PlantInSpace)
        else _on_line(run[key], axes)
        for key in bodies
    ]  # fmt: skip
    position, attitude = (jnp.stack(found, axis=1) for found in zip(*placed, strict=True))
    vectors = jnp.stack([run[key] @ axes for key in forces], axis=1)
    return {"position": position, "attitude": attitude, "force": vectors}


def _on_line(place: Float[Array, "n 1"], axes: Float[Array, "1 3"] | np.ndarray) -> Placed:
    """Return positions and attitudes of what is on a line."""
    return place * axes, _level(len(place))


def _level(rows: int) -> Float[Array, "n 4"]:
    """Return attitudes of what does not turn."""
    return jnp.tile(jnp.array([1.0, 0.0, 0.0, 0.0]), (rows, 1))


def _in_space(starts: tuple[Pose, Pose], pose: Float[Array, "n 6"]) -> Placed:
    """Return positions and attitudes of what is carried, from poses of both mock-ups at t = 0."""
    reference = reference_of(starts)

    def place(axes: Axes) -> tuple[Array, Array]:
        carried = carried_at(reference, axes, jnp.zeros(6)).pose
        return carried.position.array(), carried.attitude.array()

    return over_rows(place, pose)
