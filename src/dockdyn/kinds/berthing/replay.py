"""The scene of a berthing: spacecraft, arm and payload from the instant they touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.report.replay import frames
from dockdyn.report.replay.arms import SLENDER, Placing, placing, stick, tree_parts
from dockdyn.report.replay.bus import bus_of
from dockdyn.report.replay.cameras import seen_from, seen_whole
from dockdyn.report.replay.colours import BESIDE, FORCE, HOLD, SIDES
from dockdyn.report.replay.events import events
from dockdyn.report.replay.gear import sampled_part
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Frame, Motion, Part, Scene, Signal, View
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.results.plan import jit_once
from dockdyn.scenario.tables.tree import GRIP

if TYPE_CHECKING:
    from dockdyn.contact.surfaces.surface import Surface
    from dockdyn.kinds.berthing.model import Berthing
    from dockdyn.kinds.berthing.schema import BerthingSection
    from dockdyn.kinds.berthing.schema_touch import TouchSection

WAYS = 9  # frames of a run that an overview holds
LASTS = 0.02  # share of a run for which the arrow of an impact stands


def scene(dataset: xr.Dataset, content: BerthingSection) -> Scene:
    """The scene, in inertial axes."""
    end = float(dataset.time[-1])
    hits = dataset.impact_time.values
    time, dwell = frames.chosen(dataset, [*hits, *(min(t + LASTS * end, end) for t in hits)])
    dwell &= np.isin(time, hits) | ~np.isin(time, np.minimum(hits + LASTS * end, end))
    model = _model(content)
    chaser = _of_chaser(dataset, content, time)
    target = _of_target(dataset, model.sides[1].tree.layout.names, time)
    reach = _span(dataset, content)
    grip = (content.contact.chaser, content.contact.chaser_position)
    parts = tree_parts("chaser", content.chaser, chaser, SIDES[True], reach, grip)
    parts += tree_parts("target", content.target, target, SIDES[False], reach)
    place = target.motions[GRIP] if GRIP in target.motions else chaser.motions[GRIP]
    parts += touched(content, target, place, reach, "depth" in dataset)
    first, second = (m.motions[s.link[0].name] for m, s in ((chaser, content.chaser), (target, content.target)))
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=parts,
        frames=[Frame("chaser", first, 0.22 * reach), Frame("target", second, 0.18 * reach)],
        arrows=arrows(dataset, np.asarray(model.normal), time, chaser.motions[GRIP], target, content, reach),
        events=events(dataset),
        signals=signals(dataset),
        views=views(content, chaser, reach, parts),
    )


@jit_once
def _model(content: BerthingSection) -> Berthing:
    """The model at the impact, without control."""
    return content.uncontrolled()


@Program
def _solid(touch: TouchSection) -> Surface | None:
    return touch.solid()


def _span(dataset: xr.Dataset, content: BerthingSection) -> float:
    """Return how far the links reach at the start (m); where all begin at one place, how large the largest is by its mass."""
    start = dataset.outline.values[0].reshape(-1, 3)
    start = start[np.isfinite(start).all(axis=1)]
    if (span := float(np.ptp(start, axis=0).max())) > 0:
        return span
    sizes = [1.0]  # m, of points without size
    for link in (*content.chaser.link, *content.target.link):
        if link.mass is not None and np.any(link.inertia):
            sizes.append(float(np.ptp(bus_of(link.mass, np.asarray(link.inertia), []).mesh().vertices)))
    return sizes[0] if len(sizes) == 1 else max(sizes[1:])


def _of_chaser(dataset: xr.Dataset, content: BerthingSection, time: np.ndarray) -> Placing:
    def at(name: str) -> np.ndarray:
        return frames.at(time, dataset.time.values, dataset[name].values)

    balls = dataset.ball_attitude.values
    q = (
        at("base_position")[:, 0],
        frames.attitudes_at(time, dataset.time.values, dataset.base_attitude.values[:, 0]),
        at("joint_angle"),
        frames.attitudes_at(time, dataset.time.values, balls) if balls.shape[1] else np.zeros((len(time), 0, 4)),
        at("modal_coordinate"),
    )
    grip = (content.contact.chaser, content.contact.chaser_position)
    return placing(content.chaser, content.flexible, content.planar, q, grip)


def _of_target(dataset: xr.Dataset, names: Sequence[str], time: np.ndarray) -> Placing:
    """A target that is one rigid body by its pose; of others the origins of links by name, which a result holds."""
    when = dataset.time.values
    base = frames.motion_at(time, when, dataset.base_position.values[:, 1], dataset.base_attitude.values[:, 1])
    origins = frames.at(time, when, dataset.outline.values[:, 1, : len(names)])
    motions = {name: Motion(origins[:, i], base.attitude) for i, name in enumerate(names)}
    return Placing(motions | {names[0]: base}, {})


def touched(content: BerthingSection, target: Placing, grip: Motion, reach: float, again: bool) -> list[Part]:
    """What the target is touched at: the surface that can be touched again, and a post to the place that was."""
    link = target.motions[content.contact.target]
    local = grip.position[0] - link.position[0]
    w, x, y, z = link.attitude[0]
    back = Motion(np.zeros((1, 3)), np.array([[w, -x, -y, -z]]))
    found = [Part("target/post", stick(back.points(local)[0], SLENDER * reach), SIDES[False], link, flat=False)]
    solid = _solid(content.contact) if again else None
    if solid is not None:
        found.append(sampled_part("target/surface", solid, 0.12 * reach, link))
    return found


def arrows(
    dataset: xr.Dataset,
    normal: np.ndarray,
    time: np.ndarray,
    grip: Motion,
    target: Placing,
    content: BerthingSection,
    reach: float,
) -> list[Arrow]:
    """Impulses of impacts, the force that holds the two together, the normal force of a compliant contact."""
    thick = 0.012 * reach
    found = []
    turned = np.broadcast_to(normal, (len(time), 3))
    solid = _solid(content.contact) if "depth" in dataset else None
    if solid is not None:
        link = target.motions[content.contact.target]
        rows = (grip.position, link.position, link.attitude)
        turned = in_pieces(lambda *rows: _normals(solid, *rows), *rows)
    impulse = np.zeros((len(time), 3))
    for when, size in zip(dataset.impact_time.values, dataset.impact_normal_impulse.values, strict=True):
        rows = (time >= when) & (time <= when + LASTS * float(dataset.time[-1]))
        impulse[rows] = size * turned[rows]
    if len(dataset.impact_time):
        scale = arrow_scale([impulse], 0.25 * reach)
        found.append(Arrow("impulse", grip.position, impulse, FORCE, "N s", scale, thick))
    held = frames.at(time, dataset.time.values, dataset.hold_force.values)
    if np.abs(held).max(initial=0) > 0:
        scale = arrow_scale([held], 0.25 * reach)
        found.append(Arrow("holding force", grip.position, held, HOLD, "N", scale, thick))
    if "normal_force" in dataset and float(dataset.normal_force.max()) > 0:
        force = frames.at(time, dataset.time.values, dataset.normal_force.values)
        for peak, when in zip(dataset.episode_peak_force.values, dataset.episode_peak_time.values, strict=True):
            row = int(np.abs(time - when).argmin())
            force[row] = max(force[row], peak)
        pushing = force[:, None] * turned
        scale = arrow_scale([pushing], 0.25 * reach)
        found.append(Arrow("normal force", grip.position, pushing, BESIDE, "N", scale, thick))
    return found


@Program
def _normals(
    surface: Surface,
    points: Float[Array, "frames 3"],
    positions: Float[Array, "frames 3"],
    attitudes: Float[Array, "frames 4"],
) -> Float[Array, "frames 3"]:
    """Normals out of the target's surface at points, where its link is at the poses; all inertial."""

    def one(point: Float[Array, "3"], position: Float[Array, "3"], attitude: Float[Array, "4"]) -> Float[Array, "3"]:
        turn = Quaternion.of(attitude).matrix()
        local = turn.transposed_times(Vector.of(point) - Vector.of(position))
        return (turn @ surface.distance_and_normal(local)[1]).array()

    return over_rows(one, points, positions, attitudes)


def signals(dataset: xr.Dataset) -> list[Signal]:
    """Forces, joints, deflections, energy."""
    time = dataset.time.values
    found = []
    held = np.linalg.norm(dataset.hold_force.values, axis=1)
    if held.max(initial=0) > 0:
        found.append(Signal("holding force", "N", time, {"force": held}))
    if "normal_force" in dataset and float(dataset.normal_force.max()) > 0:
        found.append(Signal("normal force", "N", time, {"force": dataset.normal_force.values}))
    if "depth" in dataset:
        found.append(Signal("distance", "mm", time, {"distance": -1e3 * dataset.depth.values}))
    names, units = [str(n) for n in dataset.joint.values], [str(u) for u in dataset.joint_unit.values]
    turning = {
        n: np.degrees(dataset.joint_angle.values[:, i])
        for i, (n, u) in enumerate(zip(names, units, strict=True))
        if u == "rad"
    }
    if turning:
        found.append(Signal("joint angles", "deg", time, turning))
    bent = {
        str(n): 1e3 * dataset.tip_deflection.values[:, i]
        for i, n in enumerate(dataset.link.values)
        if float(dataset.tip_deflection[:, i].max()) > 0
    }
    if bent:
        found.append(Signal("deflection of links' ends", "mm", time, bent))
    return [*found, Signal("kinetic energy", "J", time, {"both": dataset.kinetic_energy.values})]


def views(content: BerthingSection, chaser: Placing, reach: float, parts: list[Part]) -> list[View]:
    """Cameras that see the whole way of both, and some that see a part."""
    rows = np.linspace(0, len(parts[0].motion.position) - 1, WAYS).astype(int).tolist()
    grip = chaser.motions[GRIP].position[0]
    base = chaser.motions[content.chaser.ordered()[0].name]
    slanted = np.array([0.15, -0.45, 0.8]) if content.planar else np.array([0.25, -0.85, 0.5])
    return [
        seen_whole("overview", slanted, parts, rows),
        seen_whole("from above", [0.0, -0.02, 1.0], parts, rows),
        seen_whole("side", [0.0, -1.0, 0.02], parts, rows),
        seen_from("contact", [0.5, -0.9, 0.7], grip, 0.2 * reach, chaser.motions[GRIP]),
        seen_from("with the chaser", slanted, base.position[0], 0.6 * reach, base),
    ]
