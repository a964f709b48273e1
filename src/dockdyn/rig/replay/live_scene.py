"""What the live view of a driven rig begins with: one sample of what the computer has and where the robot is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.views.live_bodies import body_parts, reach_of
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay.cameras import seen_from, seen_whole
from dockdyn.report.replay.colours import BODIES, FORCE, HOLD, METAL
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import (
    Arrow,
    Frame,
    Mesh,
    Scene,
    SceneLine,
    SceneMotion,
    ScenePart,
    still_motion,
)
from dockdyn.report.replay.shapes import box_mesh, coil_points
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.rig.scene import COMPUTED, WITHOUT, carried_poses, port_group
from dockdyn.rig.schema import RigContent, way_in

MODEL, ROBOT, IDEAL = COLOURS["sky"], COLOURS["blue"], COLOURS["green"]
GHOST = 0.3  # opacity
LANES = {COMPUTED: ("position", MODEL), "robot": ("robot_position", ROBOT)}


def scene_of_rig(dataset: Dataset, content: RigContent) -> Scene:
    """Return the scene of a rig on a line, or of its mock-ups in space."""
    return scene_of_line(dataset, content) if content.axes == 1 else scene_of_mock_ups(dataset, content)


def scene_of_line(dataset: Dataset, content: RigContent) -> Scene:
    """Return a line: two blocks side by side, each before its spring, in the robot's place the ghost of its ideal
    motion; overlap is to the right of the wall's face."""
    time, way = dataset.time.values, way_in(content)
    travel = {name: way * dataset[key].values[:, 0] for name, (key, _) in LANES.items()}
    ideal = way * dataset.ideal_position.values[:, 0]
    size = max(float(np.abs(values).max()) for values in (*travel.values(), ideal)) or 1.0
    wall, apart = 3.0 * size, 2.1 * size
    parts, lines, motions = [], [], []
    always = bool(dataset.attrs["bilateral"])
    for lane, (name, along) in enumerate(travel.items()):
        offset = apart * (0.5 - lane)
        motion = still_motion(len(time), [0.0, offset, 0.0])
        motion.position[:, 0] = along
        motions.append(motion)
        opacity = None if name == "robot" else 0.7
        parts.append(ScenePart(name, _block_mesh(size, 1.0), LANES[name][1], motion, opacity=opacity, body=name))
        start = along if always else np.maximum(along, 0.0)
        base = still_motion(len(time), [0.0, offset, 0.0])
        base.position[:, 0] = start
        wound = coil_points() * [1.0, 0.3 * size, 0.3 * size]
        lines.append(SceneLine(f"spring of {name}", wound, METAL, width=2.5, carrier=base, stretch=wall - start))
    ghost = still_motion(len(time), [0.0, motions[-1].position[0, 1], 0.0])
    ghost.position[:, 0] = ideal
    parts.append(ghost_of(ScenePart(WITHOUT, _block_mesh(size, 1.15), IDEAL, ghost), IDEAL, WITHOUT))
    plate = box_mesh([wall, -1.1 * apart, -0.9 * size], [wall + 0.25 * size, 1.1 * apart, 0.9 * size])
    standing = content.rig.against
    parts.append(ScenePart(standing, plate, COLOURS["muted"], still_motion(len(time)), body=standing))
    arrows = []
    shown = {"contact force": ("contact_force", FORCE, 1), "force on the model": ("total_force", HOLD, 0)}
    forces = {name: dataset[key].values[:, 0] for name, (key, _, _) in shown.items()}
    vectors = {name: force[:, None] * np.array([way, 0.0, 0.0]) for name, force in forces.items()}
    scale = arrow_scale(list(vectors.values()), 3 * size)
    for name, (_, colour, lane) in shown.items():
        place = motions[lane].position + np.array([0.0, 0.0, 0.85 * size])
        arrows.append(Arrow(name, place, vectors[name], colour, "N", scale, 0.07 * size))
    middle, radius = np.array([0.5 * size, 0.0, 0.0]), 4.0 * size
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        parts=parts,
        lines=lines,
        arrows=arrows,
        notes=["behind, the model (computed); in front, the robot; pale green around it, the motion without rig"],
        views=[
            seen_from("overview", [-0.25, -1.0, 0.75], middle, radius),
            seen_from("from above", [0.0, -0.02, 1.0], middle, radius),
            seen_from("side", [0.0, -1.0, 0.05], middle, radius),
            seen_from("contact", [-0.4, -1.0, 0.7], [0.8 * size, 0.0, 0.0], 2.0 * size),
            seen_from("with the robot", [-0.25, -1.0, 0.75], motions[1].position[0], 2.6 * size, motions[1]),
        ],
    )


def _block_mesh(size: float, wide: float) -> Mesh:
    """Return a block (m) whose face is at the origin, so many times as wide as the robot's."""
    return box_mesh([-1.4 * size, -0.7 * wide * size, -0.6 * wide * size], [0.0, 0.7 * wide * size, 0.6 * wide * size])


def scene_of_mock_ups(dataset: Dataset, content: RigContent) -> Scene:
    """Return the two mock-ups in axes of the laboratory, in which that of the second stands still."""
    time = dataset.time.values
    robot, ground = carried_motion(dataset, content, time, "robot_pose"), still_motion(len(time))
    carried, standing = (content.named(name) for name in content.mock_ups)
    reach = reach_of(content)
    own = body_parts(carried, content, BODIES[0], robot, reach)
    parts = [*own, *body_parts(standing, content, BODIES[1], ground, reach)]
    ghosts = []
    for name, key, colour in ((COMPUTED, "model_pose", MODEL), (WITHOUT, "ideal_pose", IDEAL)):
        motion = carried_motion(dataset, content, time, key)
        drawn = body_parts(carried.model_copy(update={"name": name}), content, colour, motion, reach)
        ghosts += [ghost_of(part, colour, name) for part in drawn]
    gear = [*own, *(part for part in parts if not part.name.endswith("/body"))]
    tip = touching_motion(content, robot, ground).points(np.asarray(port_group(content).place))
    force = dataset.contact_force.values
    scale, slanted, side = arrow_scale([force], 2 * reach), [0.3, -1.0, 0.5], [0.0, -1.0, 0.0]
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        parts=[*parts, *ghosts],
        lines=[SceneLine("path", tip, COLOURS["gold"], grows=True)],
        arrows=[Arrow("contact force", tip, force, FORCE, "N", scale, 0.03 * reach)],
        frames=[Frame("laboratory", ground, reach), Frame(carried.name, robot, reach)],
        notes=["mock-ups in the laboratory; pale blue, the carried one in the computer; pale green, without rig"],
        views=[
            seen_whole("contact", slanted, gear, (-1,)),
            seen_whole("overview", slanted, parts, (0, -1)),
            seen_whole("side", side, parts, (0, -1)),
            replace(seen_whole(f"with {carried.name}", slanted, own), follow=robot),
        ],
    )


def touching_motion(content: RigContent, robot: SceneMotion, ground: SceneMotion) -> SceneMotion:
    """Return the motion of the mock-up whose feature touches in the port's contact: the `robot`'s, or that of the `ground`."""
    return robot if port_group(content).first == content.mounted_bodies()[0] else ground


def ghost_of(part: ScenePart, colour: str, layer: str) -> ScenePart:
    """Return a part, pale, of what is not in the laboratory."""
    return replace(part, colour=colour, opacity=GHOST, layer=layer, body=layer)


def carried_motion(dataset: Dataset, content: RigContent, time: np.ndarray, name: str) -> SceneMotion:
    """Return the mock-up that is carried, in the laboratory, from the robot's axes of a `name` in the dataset."""
    pose = dataset[name].values
    return SceneMotion(*in_pieces(lambda rows: carried_poses(content, rows), pose))
