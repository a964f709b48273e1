"""The scene of a rig: what the computer has, where the robot is, and what would be without rig."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from dockdyn.integrate.model import over_rows
from dockdyn.kinds.rig.model.in_space import carried_at, reference_of
from dockdyn.kinds.rig.model.plant import Axes
from dockdyn.kinds.rig.schema import RigBodiesSection, RigSpaceContent
from dockdyn.programs import Program
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay import frames
from dockdyn.report.replay.cameras import beside, seen_from, seen_whole
from dockdyn.report.replay.colours import FORCE, HOLD, METAL
from dockdyn.report.replay.gear import (
    MARGIN,
    along_the_axis,
    body_parts,
    docking_place,
    reach_with_wholes,
    surface_part,
)
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Event, Frame, Line, Mesh, Motion, Part, Scene, Signal, still, turned
from dockdyn.report.replay.shapes import box, coil
from dockdyn.report.sampled_surface import coordinates, in_pieces
from dockdyn.scenario.made import made

MODEL, ROBOT, IDEAL = COLOURS["sky"], COLOURS["blue"], COLOURS["green"]
COMPUTED, WITHOUT = "model (computed)", "without rig"
GHOST = 0.3  # opacity
SHOWN = 300  # contacts marked on the time line at most
LANES = {COMPUTED: ("position", MODEL), "robot": ("robot_position", ROBOT)}


def touching(dataset: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Spans (n, 2) in which the measured contact pushes, and the times of its largest force in each (s)."""
    force = np.linalg.norm(dataset.contact_force.values, axis=1)
    time = dataset.time.values
    on = np.concatenate([[False], force > 0, [False]])
    edges = np.flatnonzero(np.diff(on.astype(int))).reshape(-1, 2)
    if dataset.attrs["bilateral"] or not len(edges):
        return np.zeros((0, 2)), np.zeros(0)
    spans = np.stack([time[edges[:, 0]], time[np.minimum(edges[:, 1], len(time) - 1)]], axis=1)
    peaks = np.array([time[a + int(force[a:b].argmax())] for a, b in edges])
    return spans, peaks


def events(dataset: xr.Dataset) -> list[Event]:
    force = np.linalg.norm(dataset.contact_force.values, axis=1)
    spans, peaks = touching(dataset)
    rows = np.searchsorted(dataset.time.values, peaks)
    found = [
        Event("contact", f"contact {i + 1}, peak {force[row]:.4g} N", float(a), float(b))
        for i, ((a, b), row) in enumerate(zip(spans, rows, strict=True))
    ]
    return found[:SHOWN]


def frame_times(dataset: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    spans, peaks = touching(dataset)
    return frames.frame_times(float(dataset.time[-1]), spans, [float(t) for t in peaks])


def scene_of_line(dataset: xr.Dataset) -> Scene:
    """One direction: two blocks side by side, each before its spring, in the robot's place the ghost of its ideal motion;
    overlap is to the right of the wall's face."""
    time, dwell = frame_times(dataset)
    travel = {name: frames.at(time, dataset.time.values, dataset[key].values[:, 0]) for name, (key, _) in LANES.items()}
    ideal = frames.at(time, dataset.time.values, dataset.ideal_position.values[:, 0])
    size = max(float(np.abs(values).max()) for values in (*travel.values(), ideal)) or 1.0
    wall, apart = 3.0 * size, 2.1 * size
    parts, lines, motions = [], [], []
    always = bool(dataset.attrs["bilateral"])
    for lane, (name, along) in enumerate(travel.items()):
        offset = apart * (0.5 - lane)
        motion = still(len(time), [0.0, offset, 0.0])
        motion.position[:, 0] = along
        motions.append(motion)
        opacity = None if name == "robot" else 0.7
        parts.append(Part(name, _block(size, 1.0), LANES[name][1], motion, opacity=opacity, body=name))
        start = along if always else np.maximum(along, 0.0)
        base = still(len(time), [0.0, offset, 0.0])
        base.position[:, 0] = start
        wound = coil() * [1.0, 0.3 * size, 0.3 * size]
        lines.append(Line(f"spring of {name}", wound, METAL, width=2.5, carrier=base, stretch=wall - start))
    ghost = still(len(time), [0.0, motions[-1].position[0, 1], 0.0])
    ghost.position[:, 0] = ideal
    parts.append(ghost_of(Part(WITHOUT, _block(size, 1.15), IDEAL, ghost), IDEAL, WITHOUT))
    plate = box([wall, -1.1 * apart, -0.9 * size], [wall + 0.25 * size, 1.1 * apart, 0.9 * size])
    parts.append(Part("wall", plate, COLOURS["muted"], still(len(time)), body="wall"))
    arrows = []
    shown = {"contact force": ("contact_force", FORCE, 1), "force on the model": ("total_force", HOLD, 0)}
    forces = {
        name: frames.at(time, dataset.time.values, dataset[key].values[:, 0]) for name, (key, _, _) in shown.items()
    }
    vectors = {name: force[:, None] * np.array([1.0, 0.0, 0.0]) for name, force in forces.items()}
    scale = arrow_scale(list(vectors.values()), 3 * size)
    for name, (_, colour, lane) in shown.items():
        place = motions[lane].position + np.array([0.0, 0.0, 0.85 * size])
        arrows.append(Arrow(name, place, vectors[name], colour, "N", scale, 0.07 * size))
    middle, radius = np.array([0.5 * size, 0.0, 0.0]), 4.0 * size
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=parts,
        lines=lines,
        arrows=arrows,
        events=events(dataset),
        signals=signals(dataset),
        notes=["behind, the model (computed); in front, the robot; pale green around it, the motion without rig"],
        views=[
            seen_from("overview", [-0.25, -1.0, 0.75], middle, radius),
            seen_from("from above", [0.0, -0.02, 1.0], middle, radius),
            seen_from("side", [0.0, -1.0, 0.05], middle, radius),
            seen_from("contact", [-0.4, -1.0, 0.7], [0.8 * size, 0.0, 0.0], 2.0 * size),
            seen_from("with the robot", [-0.25, -1.0, 0.75], motions[1].position[0], 2.6 * size, motions[1]),
        ],
    )


def _block(size: float, wide: float) -> Mesh:
    """A block (m) whose face is at the origin, so many times as wide as the robot's."""
    return box([-1.4 * size, -0.7 * wide * size, -0.6 * wide * size], [0.0, 0.7 * wide * size, 0.6 * wide * size])


def signals(dataset: xr.Dataset) -> list[Signal]:
    """Force, positions, energy, with and without rig."""
    time = dataset.time.values
    axes = [str(axis) for axis in dataset.axis.values]
    size = np.linalg.norm(dataset.contact_force.values, axis=1) if len(axes) > 1 else dataset.contact_force.values[:, 0]
    ideal = np.linalg.norm(dataset.ideal_force.values, axis=1) if len(axes) > 1 else dataset.ideal_force.values[:, 0]
    found = [Signal("contact force", "N", time, {"rig": size, "without rig": ideal})]
    for i, axis in enumerate(axes):
        series = {
            "rig": 1e3 * dataset.robot_position.values[:, i],
            "without rig": 1e3 * dataset.ideal_position.values[:, i],
        }
        found.append(Signal(f"position of the robot{f', {axis}' if len(axes) > 1 else ''}", "mm", time, series))
    series = {"rig": dataset.kinetic_energy.values, "without rig": dataset.ideal_kinetic_energy.values}
    return [*found, Signal("kinetic energy of the model", "J", time, series)]


def scene_of_bodies(dataset: xr.Dataset, content: RigBodiesSection) -> Scene:
    """Two bodies in axes of the laboratory, in which the target's mock-up stands still."""
    time, dwell = frame_times(dataset)
    poses = {name: carried_motion(dataset, content, time, name) for name in ("robot_pose", "model_pose", "ideal_pose")}
    robot, ground = poses["robot_pose"], still(len(time))
    places = np.linalg.norm(contact_place(content, robot), axis=1)
    force = frames.at(time, dataset.time.values, dataset.contact_force.values)
    pressing = np.linalg.norm(force, axis=1) > 0
    feature, _, on_chaser = content.pair(content.contact[0])
    met = float(places[pressing].max(initial=0))
    reach = reach_with_wholes(content, MARGIN * max(met, 3 * float(feature.radius)))
    parts: list[Part] = []
    for name, motion, chaser in (("chaser", robot, True), ("target", ground, False)):
        body = getattr(content, name)
        parts += body_parts(name, body, chaser, motion, reach)
        parts += [surface_part(f"{name}/{one.name}", one, reach, motion) for one in body.surface]
    model = body_parts(COMPUTED, content.chaser, True, poses["model_pose"], reach)
    gear = [part for part in model if "/feature" in part.name or "/stand" in part.name]
    ghosts = [ghost_of(part, MODEL, COMPUTED) for part in gear]
    without = body_parts(WITHOUT, content.chaser, True, poses["ideal_pose"], reach)
    ghosts += [ghost_of(part, IDEAL, WITHOUT) for part in without]
    surfaces = [
        surface_part(f"{WITHOUT}/{one.name}", one, reach, poses["ideal_pose"]) for one in content.chaser.surface
    ]
    ghosts += [ghost_of(part, IDEAL, WITHOUT) for part in surfaces]
    tip = (robot if on_chaser else ground).points(np.asarray(feature.position, float))
    scale = arrow_scale([force], 2 * reach)
    arrows = [Arrow("contact force", tip, force, FORCE, "N", scale, 0.03 * reach)]
    _, focus, axis, _ = docking_place(content, [robot, ground], reach)
    across, up = beside(axis)
    path = Line("path", tip, COLOURS["gold"], grows=True)
    far = float(np.linalg.norm(robot.position[0]))
    own = [part for part in parts if part.motion is robot]
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=[*parts, *ghosts],
        lines=[path],
        arrows=arrows,
        frames=[Frame("laboratory", ground, 0.3 * far), Frame("chaser", robot, 0.3 * far)],
        events=events(dataset),
        signals=signals(dataset),
        notes=[
            "mock-ups in the laboratory; pale blue, what touches in the computer; pale green, the motion without rig"
        ],
        views=[
            seen_whole("overview", across + 0.55 * up + 0.3 * axis, parts),
            seen_whole("side", across, parts),
            along_the_axis(content, parts, robot, reach),
            seen_from("contact", across + 0.5 * up + 0.25 * axis, focus, 1.2 * reach),
            replace(seen_whole("with the chaser", across + 0.5 * up, own), follow=robot),
        ],
    )


def ghost_of(part: Part, colour: str, layer: str) -> Part:
    """A part, pale, of what is not in the laboratory."""
    return replace(part, colour=colour, opacity=GHOST, layer=layer, body=layer)


def carried_motion(dataset: xr.Dataset, content: RigSpaceContent, time: np.ndarray, name: str) -> Motion:
    """The mock-up that is carried, in the laboratory, from the robot's axes of a `name` in the dataset."""
    pose = frames.at(time, dataset.time.values, dataset[name].values)
    return Motion(*in_pieces(lambda rows: carried_poses(content, rows), pose))


@Program
def carried_poses(
    content: RigSpaceContent, pose: Float[Array, "n 6"]
) -> tuple[Float[Array, "n 3"], Float[Array, "n 4"]]:
    """Positions (m) and attitudes of the mock-up that is carried, at rest, from the robot's axes."""
    reference = reference_of(content.mounted_starts())

    def place(axes: Axes) -> tuple[Array, Array]:
        carried = carried_at(reference, axes, jnp.zeros(6)).pose
        return carried.position.array(), carried.attitude.array()

    return over_rows(place, pose)


def contact_place(content: RigBodiesSection, robot: Motion) -> np.ndarray:
    """The first contact's feature from the surface's reference point (frames, 3), axes of the surface's body."""
    feature, section, on_chaser = content.pair(content.contact[0])
    reference = coordinates(made(section).reference())
    place = np.asarray(feature.position, float)
    ground = still(len(robot.position))
    if on_chaser:
        return robot.points(place) - reference
    back = robot.attitude * [1.0, -1.0, -1.0, -1.0]
    return turned(back, ground.points(place) - robot.position) - reference
