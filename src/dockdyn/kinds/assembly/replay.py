"""The scene of an assembly: bodies with what they touch with, and the forces of their contacts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.elements import Bushing, Cable, ElementGroup, ForceElement, Magnet, Strut
from dockdyn.kinds.assembly.replay_beams import BentLink, bent_links
from dockdyn.kinds.assembly.replay_forces import parted_forces
from dockdyn.kinds.assembly.replay_latch import latch_parts, told_latch
from dockdyn.kinds.assembly.schema.bodies import kind_of
from dockdyn.kinds.assembly.schema.features import Ball, Capsule, CircleRing, CloudSection
from dockdyn.kinds.assembly.shown_surface import is_single_ball
from dockdyn.mechanism.mounts import ties_among
from dockdyn.programs import Program
from dockdyn.report.drawing import COLOURS, SERIES, pair_labels, short_label
from dockdyn.report.replay import frames
from dockdyn.report.replay.bus import FLAT, PANEL, bus_of
from dockdyn.report.replay.cameras import from_the_bus, seen_whole
from dockdyn.report.replay.colours import ARROWS, BESIDE, BODIES, HOLD, METAL
from dockdyn.report.replay.events import events_of_run
from dockdyn.report.replay.gear import axes_length, surface_part
from dockdyn.report.replay.looks import apply_look, touched_mesh
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Frame, Mesh, Scene, SceneLine, SceneMotion, ScenePart, SceneView, Signal
from dockdyn.report.replay.shapes import ball_mesh, capsule_mesh, join_meshes, torus_mesh
from dockdyn.report.sampled_surface import plain_components
from dockdyn.scenario.made import made, model_of
from dockdyn.scenario.tables.mesh import MeshSection

if TYPE_CHECKING:
    from dockdyn.kinds.assembly.schema.assembly import AssemblySection
    from dockdyn.kinds.assembly.schema.bodies import BodySection
    from dockdyn.kinds.assembly.schema.several import SeveralBodiesSection

THIN = 0.004  # of what matters: the radius in which points and sharp edges are drawn
ELEMENT = COLOURS["muted"]
BEAM = 7.0  # pixels: width of the centre line of a beam
ROOT = 0.03  # of a beam's length: radius of what is drawn at its root, at most


def assembly_scene(dataset: Dataset, content: AssemblySection) -> Scene:
    """Return the scene, in inertial axes."""
    time, dwell = frames.frames_of_run(dataset, [float(dataset.capture_time)] if "capture_time" in dataset else [])
    motions = {
        str(name): frames.motion_at(
            time, dataset.time.values, dataset.position.values[:, i], dataset.attitude.values[:, i]
        )
        for i, name in enumerate(dataset.body.values)
    }
    reach, bent = reach_of(content), bent_links(dataset, content, time, motions)
    parts, hulls, beams = [], [], []
    for index, body in enumerate(content.body):
        colour, link = BODIES[index % len(BODIES)], bent.get(body.name)
        drawn = body_parts(body, content, colour, motions[body.name], reach, link)
        hulls.append((body, drawn[0]))
        parts += drawn
        if link is not None and link.line is not None:
            beams.append(SceneLine(f"{body.name}/beam", link.line, colour, BEAM))
    parts += latch_parts(dataset, content, time, motions)
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=[_without_beam(part, content, bent) for part in parts],
        views=_scene_views(parts, motions, content, reach),
        lines=[*beams, *_element_lines(content, motions, bent), *_ball_paths(dataset, content, time, motions, bent)],
        arrows=_force_arrows(dataset, content, time, motions, bent, reach),
        frames=[
            Frame(body.name, motions[body.name], axes_length(hull.mesh, _gear_of_body(body, content)))
            for body, hull in hulls
        ],
        events=events_of_run(dataset, pair_labels(dataset) if dataset.sizes["contact"] else ()),
        signals=_replay_signals(dataset),
    )


def _gear_of_body(body: BodySection, content: SeveralBodiesSection) -> list[np.ndarray]:
    """Return where a body touches or carries, m, body axes: the middles of its features, bodies that are on it, and its
    surfaces' reference points."""
    middles = [_member_points(feature).mean(axis=0) for feature in body.feature]
    middles += [np.array(one.position, float) for one in content.body if one.on == body.name and one.position]
    return middles + [plain_components(made(section).reference()) for section in body.surface]


def _member_points(feature: object) -> np.ndarray:
    """Return places of the members of a feature (n, 3), m, body axes."""
    found = []
    for one in made_members(feature):
        found += [one.centre] if isinstance(one, Ball | CircleRing) else list(one.ends)
    return np.array(found, float)


@Program
def made_members(feature: object) -> list[Ball | Capsule | CircleRing]:
    """Return the members of a feature."""
    return feature.members()  # type: ignore[attr-defined]


def reach_of(content: SeveralBodiesSection) -> float:
    """Return how far (m) the gear of a body extends from its middle, the largest of all bodies."""
    found = [0.1]
    for body in content.body:
        for feature in body.feature:
            points = _member_points(feature)
            wide = max(
                (float(one.major_radius) for one in made_members(feature) if isinstance(one, CircleRing)), default=0.0
            )
            found.append(float(np.linalg.norm(points - points.mean(axis=0), axis=1).max()) + wide)
    extents = [made(section).extent(max(found)) for body in content.body for section in body.surface]
    return max([*found, *(float(extent.radius) for extent in extents if extent.whole)])


def body_parts(
    body: BodySection,
    content: SeveralBodiesSection,
    colour: str,
    motion: SceneMotion,
    reach: float,
    bent: BentLink | None = None,
) -> list[ScenePart]:
    """Return the hull of a body, its features and its surfaces; one on another body that touches is its features alone.

    A single ball of a body is on a rod, as a probe is. What is on a flexible link moves with it, where it is `bent`.
    """

    def motion_of(kind: str, name: str) -> SceneMotion:
        return motion if bent is None else bent.carries((kind, body.name, name), motion)

    drawn = [feature for feature in body.feature if not _is_surface(feature, body)]
    features = [_feature_mesh(feature, THIN * reach) for feature in drawn]
    alone = body.on is not None and bool(features) and bent is None
    features = [
        join_meshes(mesh, *_stem_meshes(feature, THIN * reach))
        if bent is None and (alone or len(made_members(feature)) == 1)
        else mesh
        for mesh, feature in zip(features, drawn, strict=True)
    ]
    sized = content.as_heavy(body)
    hull = join_meshes(*features) if alone else bus_of(
        sized.mass, np.asarray(sized.inertia), _gear_of_body(body, content), PANEL if body.on else FLAT
    ).mesh()  # fmt: skip
    opacity = None if body.on else 0.9
    parts = apply_look(ScenePart(f"{body.name}/body", hull, colour, motion, opacity=opacity, body=body.name), body.look)
    if not alone:
        parts += [
            ScenePart(f"{body.name}/{section.name}", mesh, METAL, motion_of("feature", section.name), flat=False)
            for section, mesh in zip(drawn, features, strict=True)
        ]
    parts += [
        surface_part(f"{body.name}/{section.name}", section, reach, motion_of("surface", section.name))
        for section in body.surface
    ]
    return parts


def _without_beam(part: ScenePart, content: SeveralBodiesSection, bent: dict[str, BentLink]) -> ScenePart:
    """Return the part or, of the hull of a beam, which would be straight, what is at its root."""
    name, _, what = part.name.rpartition("/")
    link = bent.get(name)
    if what != "body" or link is None or link.line is None or content.named(name).look is not None:
        return part
    thick = 0.5 * float(np.ptp(part.mesh.vertices, axis=0).min())
    motion = SceneMotion(link.line[:, 0], part.motion.attitude)
    return replace(part, mesh=ball_mesh(min(thick, ROOT * link.length())), motion=motion, flat=False)


def _is_surface(feature: object, body: BodySection) -> bool:
    """Return whether a feature is a cloud of the very mesh that is a surface of the body, in the same place."""

    def place(one: CloudSection | MeshSection) -> tuple[object, ...]:
        return one.file, one.unit, one.point, one.attitude

    return isinstance(feature, CloudSection) and any(
        isinstance(one, MeshSection) and place(one) == place(feature) for one in body.surface
    )


def _stem_meshes(feature: object, thick: float) -> list[Mesh]:
    """Return rods from the centre of mass of a body to its balls."""
    if isinstance(feature, CloudSection):
        return []
    places = [one.centre for one in made_members(feature) if isinstance(one, Ball) and np.linalg.norm(one.centre) > 0]
    return [capsule_mesh(np.zeros(3), place, thick) for place in places]


def _feature_mesh(feature: object, least: float) -> Mesh:
    """Return a feature as it touches; points and sharp edges `least` (m) thick, clouds as their meshes."""
    if isinstance(feature, CloudSection):
        return touched_mesh(feature)
    meshes = []
    for one in made_members(feature):
        radius = max(float(one.radius), least)
        if isinstance(one, Ball):
            meshes.append(ball_mesh(radius, one.centre))
        elif isinstance(one, Capsule):
            meshes.append(capsule_mesh(one.ends[0], one.ends[1], radius))
        else:
            meshes.append(torus_mesh(float(one.major_radius), radius, one.centre, one.axis))
    return join_meshes(*meshes)


def _element_lines(
    content: AssemblySection, motions: dict[str, SceneMotion], bent: dict[str, BentLink]
) -> list[SceneLine]:
    """Return elements as lines: between anchors, and from a bushing's place to the middle of the body that it holds."""
    found = []
    for section, tie in zip(content.ties(), ties_among(model_of(content).elements), strict=True):
        first, second = (_motion_at(("element", section.name, body), body, motions, bent) for body in section.between)
        for number, (own, other) in enumerate(_element_ends(tie.element)):
            points = np.stack([first.points(own), second.points(other)], axis=1)
            found.append(SceneLine(f"{section.name}/{number + 1}", points, ELEMENT, 3.0))
    return found


def _ball_paths(
    dataset: Dataset,
    content: AssemblySection,
    time: np.ndarray,
    motions: dict[str, SceneMotion],
    bent: dict[str, BentLink],
) -> list[SceneLine]:
    """Return the path of each single ball over the surface that it may touch, in axes of the body with the surface."""
    found = []
    for index, contact in enumerate(content.contact):
        (_, feature), (carrier, section) = content.sides(contact)
        if kind_of(section) == "surface" and is_single_ball(feature):
            reference = plain_components(made(section).reference())
            path = (
                frames.interpolate_samples(time, dataset.time.values, dataset.feature_position.values[:, index])
                + reference
            )
            colour = SERIES[(index + 2) % len(SERIES)]
            found.append(
                SceneLine(
                    f"path/{index}",
                    path,
                    colour,
                    carrier=_motion_at(("surface", carrier, section.name), carrier, motions, bent),
                    grows=True,
                )
            )
    return found


def _motion_at(
    what: tuple[str, ...], body: str, motions: dict[str, SceneMotion], bent: dict[str, BentLink]
) -> SceneMotion:
    """Return how a body moves where something sits on it."""
    return bent[body].carries(what, motions[body]) if body in bent else motions[body]


def _element_ends(element: ForceElement) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return where the members of an element are fixed on the first body and on the second, m, body axes; none of latches."""
    members = element.members if isinstance(element, ElementGroup) else element
    if isinstance(members, Strut | Cable | Magnet):
        own, other = (
            np.asarray(places, float).reshape(-1, 3) for places in (members.anchors.own, members.anchors.other)
        )
        return list(zip(own, other, strict=True))
    if isinstance(members, Bushing):
        return [(np.zeros(3), plain_components(members.other_frame.position))]
    return []


def _force_arrows(
    dataset: Dataset,
    content: AssemblySection,
    time: np.ndarray,
    motions: dict[str, SceneMotion],
    bent: dict[str, BentLink],
    reach: float,
) -> list[Arrow]:
    """Return the force of each contact on its first body, where its deepest member touches, of a single member in two parts,
    and that of a latch behind a ramp, all to one scale."""
    found = []
    parted = parted_forces(dataset, content, time, [motions[name] for name in content.names()])
    force = frames.interpolate_samples(time, dataset.time.values, dataset.contact_force.values)
    place = frames.interpolate_samples(time, dataset.time.values, dataset.contact_point.values)
    vectors = [parted[index].normal if index in parted else force[:, index] for index in range(len(content.contact))]
    latch = told_latch(dataset, content)
    held = None if latch is None else dataset.hold_force.values + dataset.latch_force.values
    pull = None if held is None else frames.interpolate_samples(time, dataset.time.values, held)
    scale = arrow_scale([*vectors, *([] if pull is None else [pull])], 2 * reach)
    names = pair_labels(dataset) if dataset.sizes["contact"] else []
    for index, contact in enumerate(content.contact):
        label, colour = short_label(names[index]), ARROWS[index % len(ARROWS)]
        if index in parted:
            one = parted[index]
            found.append(Arrow(f"normal force of {label}", one.place, one.normal, colour, "N", scale, 0.02 * reach))
            if one.friction is not None:
                found.append(Arrow(f"friction of {label}", one.place, one.friction, BESIDE, "N", scale, 0.02 * reach))
            continue
        body, touched = content.sides(contact)[1]
        carrier = _motion_at((kind_of(touched), body, touched.name), body, motions, bent)
        at = np.stack([SceneMotion(carrier.position[i : i + 1], carrier.attitude[i : i + 1]).points(place[i, index])[0]
                       for i in range(len(time))])  # fmt: skip
        found.append(Arrow(f"force of {label}", at, vectors[index], colour, "N", scale, 0.02 * reach))
    if latch is not None and pull is not None:
        (one,) = model_of(content).ramps
        at = motions[latch.between[0]].points(np.asarray(one.latch.striker, float))
        found.append(Arrow(latch.name, at, pull, HOLD, "N", scale, 0.03 * reach))
    return found


def _replay_signals(dataset: Dataset) -> list[Signal]:
    """Return the normal force, distance of what touches, energy."""
    time = dataset.time.values
    names = [short_label(name) for name in pair_labels(dataset)] if dataset.sizes["contact"] else []
    force = {name: dataset.normal_force.values[:, i] for i, name in enumerate(names)}
    depth = {name: -1e3 * dataset.depth.values[:, i] for i, name in enumerate(names)}
    found = [Signal("normal force", "N", time, force), Signal("distance", "mm", time, depth)]
    energy = Signal("kinetic energy", "J", time, {"all bodies": dataset.kinetic_energy.values})
    return [*(one for one in found if one.series), energy]


def _scene_views(
    parts: list[ScenePart], motions: dict[str, SceneMotion], content: AssemblySection, reach: float
) -> list[SceneView]:
    """Close on the gear, overview, from the side, along the docking axis of a probe, following the first body."""
    first = [part for part in parts if part.motion is motions[content.body[0].name]]
    gear = [part for part in parts if not part.name.endswith("/body") or _is_gear(part, content)]
    slanted = [0.3, -1.0, 0.5]
    return [
        *([seen_whole("contact", slanted, gear, (0, -1))] if gear else []),
        seen_whole("overview", slanted, parts),
        seen_whole("side", [0.0, -1.0, 0.0], parts),
        *_along_the_axis(parts, motions, content, reach),
        replace(seen_whole(f"with {content.body[0].name}", slanted, first), follow=first[0].motion),
    ]


def _along_the_axis(
    parts: list[ScenePart], motions: dict[str, SceneMotion], content: AssemblySection, reach: float
) -> list[SceneView]:
    """Return the view along the docking axis from the body of the first contact's ball; none without such a contact."""
    for contact in content.contact[:1]:
        (own, feature), (_, partner) = content.sides(contact)
        bus = [part for part in parts if part.name == f"{own}/body"]
        if kind_of(partner) == "surface" and is_single_ball(feature) and np.any(place := _member_points(feature)[0]):
            return [from_the_bus("along the axis", bus, motions[own], place, reach)]
    return []


def _is_gear(part: ScenePart, content: SeveralBodiesSection) -> bool:
    """Return whether a hull is of a body that is on another one and can touch."""
    body = content.named(part.name.rpartition("/")[0])
    return body.on is not None and bool(body.feature or body.surface)
