"""The scene of a mechanism: bodies with what they touch with, what acts between them, and the forces of their contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.deferred import xp
from dockdyn.docking.linked_trees import arm_of
from dockdyn.docking.schema.bodies import kind_of
from dockdyn.docking.schema.features import Ball as BallMember
from dockdyn.docking.schema.features import Capsule, CircleRing, CloudSection, EdgeSection
from dockdyn.docking.views.scene_beams import BentLink, bent_links
from dockdyn.docking.views.scene_latch import latch_parts, told_latch
from dockdyn.docking.views.scene_tanks import tank_parts
from dockdyn.elements import Bushing, Cable, ElementGroup, ForceElement, Latch, Magnet, Strut
from dockdyn.mechanism.mounts import ties_among
from dockdyn.programs import Program
from dockdyn.report.drawing import pair_labels
from dockdyn.report.sampled_surface import plain_components
from dockdyn.report.scene.bus import bus_box, way_out
from dockdyn.report.scene.looks import look_parts, touched_mesh
from dockdyn.report.scene.scene import End, Focus, RunScene, ShownForce, ShownMotion, ShownPart, ShownTie, ShownTrail
from dockdyn.report.scene.solids import BallSolid, BoxSolid, PlateSolid, RingSolid, ShownSolid, TubeSolid
from dockdyn.report.scene.surfaces import surface_solid
from dockdyn.report.scene.times import shown_times
from dockdyn.scenario.made import made, model_of
from dockdyn.scenario.tables.mesh import MeshSection

if TYPE_CHECKING:
    from dockdyn.dataset import Dataset
    from dockdyn.docking.schema.bodies import BodySection
    from dockdyn.docking.schema.mechanism import MechanismSection
    from dockdyn.docking.schema.multibody import SeveralBodiesSection
    from dockdyn.scenario.tables.part import Shape

THIN = 0.004  # of what matters: the radius in which points and sharp edges are drawn
STEM = 0.8  # of a ball's radius: that of the rod which it is on
LINK = 0.025  # of the longest link: the radius of all, which a scenario does not say
SHORT = 0.3  # of its own length, the most that it may be
ROD = 0.02  # of what matters: the radius of struts
SMALL = 1e-9  # m


class Gear(NamedTuple):
    """What bodies touch with, as numbers, and where links are held."""

    members: list[list[list[BallMember | Capsule | CircleRing]]]  # by body and feature; none of clouds
    joints: list[
        list[Any]
    ]  # by body: where it is held (m, its axes), and where in axes of what it is on; none of a root


def mechanism_scene(dataset: Dataset, content: MechanismSection) -> RunScene:
    """Return the scene of a run."""
    time, at = shown_times(dataset)
    motions = {
        str(name): ShownMotion(at(dataset.position.values[:, i]), at.attitudes(dataset.attitude.values[:, i]))
        for i, name in enumerate(dataset.body.values)
    }
    gear = gear_of(content)
    reach = reach_of(content, gear)
    modes = at(dataset.modal_coordinate.values) if "modal_coordinate" in dataset else np.zeros((len(time), 0))
    bent = bent_links(content, modes, motions)
    ties = _ties(dataset, content, motions, bent, reach, at)
    mounts: dict[str, list[np.ndarray]] = {}
    for tie in ties:
        for name, motion in motions.items():
            mounts.setdefault(name, []).extend(one.place for one in (tie.first, tie.second) if one.motion is motion)
    parts: list[ShownPart] = []
    for body in content.body:
        parts += body_parts(
            body, content, gear, motions[body.name], reach, mounts.get(body.name, []), bent.get(body.name)
        )
    parts += latch_parts(dataset, content, motions, at)
    parts += tank_parts(content, motions)
    seen_from, focus = focus_of(content, gear, motions, bent, reach)
    return RunScene(
        title=str(dataset.attrs["title"]),
        time=time,
        bodies=motions,
        parts=parts,
        focus=focus,
        ties=ties,
        beams=[link.beam for link in bent.values() if link.beam is not None],
        trails=_trails(dataset, content, motions, bent, at),
        forces=_forces(dataset, content, motions, bent, at),
        seen_from=seen_from,
    )


@Program
def gear_of(content: SeveralBodiesSection) -> Gear:
    """Return what bodies touch with, and where links are held."""
    held: list[list[Any]] = []
    for body in content.body:
        if body.joint is None:
            held.append([])
        else:
            pose = body.start()[0]
            held.append([-arm_of(body).array() + xp.zeros(3), body.joint.place(pose).array() + xp.zeros(3)])
    return Gear(
        [[[] if isinstance(one, CloudSection) else one.members() for one in body.feature] for body in content.body],
        held,
    )


def reach_of(content: SeveralBodiesSection, gear: Gear) -> float:
    """Return how far (m) the gear of a body extends from its middle, the largest of all bodies."""
    found = [0.1]
    for body, features in zip(content.body, gear.members, strict=True):
        for feature, members in zip(body.feature, features, strict=True):
            points = _cloud_points(feature) if isinstance(feature, CloudSection) else _points_of(members)
            wide = max((float(one.major_radius) for one in members if isinstance(one, CircleRing)), default=0.0)
            found.append(float(np.linalg.norm(points - points.mean(axis=0), axis=1).max()) + wide)
    extents = [made(section).extent(max(found)) for body in content.body for section in drawn_surfaces(body, content)]
    return max([*found, *(float(extent.radius) for extent in extents if extent.whole)])


def drawn_surfaces(body: BodySection, content: SeveralBodiesSection) -> list[Shape]:
    """Return the surfaces of a body that are drawn: all, but where a look shows its shape only those that a contact, a latch or
    an approach names.

    Parts from CAD carry surfaces that nothing touches, some of them endless: they would hide the part.
    """
    if body.look is None:
        return list(body.surface)
    approach = getattr(content, "approach", None)
    named: set[Any] = {name for contact in content.contacts for name in contact.between}
    named |= {getattr(one, "surface", None) for one in content.elements}
    named |= {getattr(approach, "of", None), getattr(approach, "to", None)}
    return [one for one in body.surface if named & {one.name, f"{body.name}.{one.name}"}]


def _cloud_points(feature: CloudSection) -> np.ndarray:
    """Return the corners of a cloud's mesh (n, 3), m, body axes."""
    return touched_mesh(feature).vertices


def _points_of(members: list[BallMember | Capsule | CircleRing]) -> np.ndarray:
    """Return places of members (n, 3), m, body axes."""
    found: list[Any] = []
    for one in members:
        found += list(one.ends) if isinstance(one, Capsule) else [one.centre]
    return np.array(found, float).reshape(-1, 3)


def body_parts(
    body: BodySection,
    content: SeveralBodiesSection,
    gear: Gear,
    motion: ShownMotion,
    reach: float,
    mounts: list[np.ndarray] = [],  # noqa: B006, never changed
    bent: BentLink | None = None,
) -> list[ShownPart]:
    """Return what a body is drawn as: its bus, or as a link its tube, what it touches with, its surfaces.

    A single ball is on a rod, as a probe is. What is on a flexible link moves with it, where it is `bent`.
    """

    def carrier(kind: str, name: str) -> ShownMotion:
        return motion if bent is None else bent.seats.get((kind, body.name, name), motion)

    number = [one.name for one in content.body].index(body.name)
    features = list(zip(body.feature, gear.members[number], strict=True))
    alone = body.on is not None and body.joint is None and bool(body.feature)
    box = _bus_of(body, content, [members for _, members in features], mounts, bent)
    parts: list[ShownPart] = []
    if body.look is not None:
        parts += look_parts(body.name, body.look, motion, box)
    elif (link := _link_solids(number, content, gear)) and (bent is None or bent.beam is None):
        parts.append(ShownPart(f"{body.name}/link", link, motion, "link", body.name))
    elif not alone and not _is_ball(features) and (bent is None or bent.beam is None):
        parts.append(ShownPart(f"{body.name}/bus", [box], motion, "bus", body.name))
    if ring := mount_ring(mounts, THIN * reach):
        parts.append(ShownPart(f"{body.name}/mounts", [ring], motion, "gear", body.name))
    stem = None if bent is not None or alone else np.zeros(3) if body.look is not None else box
    parts += [
        ShownPart(
            f"{body.name}/{section.name}",
            [*_feature_solids(section, members, THIN * reach), *_stem_solids(members, stem, THIN * reach)],
            carrier("feature", section.name),
            "gear",
            body.name,
        )
        for section, members in features
        if not _is_surface(section, body)
    ]
    for section in drawn_surfaces(body, content):
        found = _surface_solid(section, reach)
        parts.append(
            ShownPart(f"{body.name}/{section.name}", [found], carrier("surface", section.name), "surface", body.name)
        )
    return parts


def _bus_of(
    body: BodySection,
    content: SeveralBodiesSection,
    features: Sequence[list[BallMember | Capsule | CircleRing]],
    mounts: list[np.ndarray],
    bent: BentLink | None,
) -> BoxSolid:
    """Return the box of a body, whose faces its gear stands on; balls that are alone stand out from it."""
    stems = [
        np.asarray(members[0].centre, float)
        for members in features
        if len(members) == 1 and isinstance(members[0], BallMember) and bent is None
    ]
    points = [_points_of(members) for members in features if len(members) > 1 or (members and not stems)]
    points += [plain_components(made(section).reference())[None] for section in drawn_surfaces(body, content)]
    points += [place[None] for place in mounts]
    sized = content.as_heavy(body)
    return bus_box(sized.mass, np.asarray(sized.inertia), stems, points, flat=body.on is not None)


def _surface_solid(section: Shape, reach: float) -> ShownSolid:
    """Return a contact surface: a mesh as it is in its file, any other by its dimensions."""
    if isinstance(section, MeshSection):
        return touched_mesh(section)
    return surface_solid(made(section), reach)


def _stem_solids(
    members: Sequence[BallMember | Capsule | CircleRing], base: BoxSolid | np.ndarray | None, least: float
) -> list[ShownSolid]:
    """Return the rod that a single ball is on, from the bus or a place on (m, body axes); none without such a `base`."""
    if base is None or len(members) != 1 or not isinstance(members[0], BallMember):
        return []
    place, radius = np.asarray(members[0].centre, float), float(members[0].radius)
    if float(np.linalg.norm(place)) <= radius:
        return []
    start = way_out(base, place) if isinstance(base, BoxSolid) else base
    return [TubeSolid(start, place, max(STEM * radius, least))]


def _is_ball(features: Sequence[tuple[object, list[Any]]]) -> bool:
    """Return whether a body is a ball: it touches with one around its centre of mass."""
    balls = [one for _, members in features for one in members if isinstance(one, BallMember)]
    return any(float(np.linalg.norm(one.centre)) < float(one.radius) for one in balls)


def mount_ring(mounts: list[np.ndarray], least: float) -> RingSolid | None:
    """Return the ring that mounts stand on, where they are on one circle, four of them at least; None otherwise."""
    if len(mounts) < 4:
        return None
    points = np.array(mounts)
    middle = points.mean(axis=0)
    spread, axes = np.linalg.svd(points - middle)[1:]
    radii = np.linalg.norm(points - middle, axis=1)
    if spread[2] > 1e-3 * spread[1] or np.ptp(radii) > 1e-3 * radii.mean():
        return None
    return RingSolid(middle, axes[2], float(radii.mean()), 3 * least)


def _link_solids(number: int, content: SeveralBodiesSection, gear: Gear) -> list[ShownSolid]:
    """Return tubes from where a link is held to where it holds others, with a ball at its joint; none of what holds none.

    All links of an arm are about as thick.
    """
    ways = _link_ways(number, content, gear)
    if not len(ways):
        return []
    start = np.asarray(gear.joints[number][0], float)
    longest = max(
        float(np.linalg.norm(way)) for one in range(len(content.body)) for way in _link_ways(one, content, gear)
    )
    radius = min(LINK * longest, SHORT * max(float(np.linalg.norm(way)) for way in ways))
    return [BallSolid(start, 1.5 * radius), *(TubeSolid(start, start + way, radius) for way in ways)]


def _link_ways(number: int, content: SeveralBodiesSection, gear: Gear) -> np.ndarray:
    """Return the ways (n, 3) from where a link is held to where it holds others, m, its axes."""
    name, own = content.body[number].name, gear.joints[number]
    if not own:
        return np.zeros((0, 3))
    held = [joint[1] for one, joint in zip(content.body, gear.joints, strict=True) if joint and one.on == name]
    ways = np.array(held, float).reshape(-1, 3) - np.asarray(own[0], float)
    return ways[np.linalg.norm(ways, axis=1) > SMALL]


def _is_surface(feature: object, body: BodySection) -> bool:
    """Return whether a feature is a cloud of the very mesh that is a surface of the body, in the same place."""

    def place(one: CloudSection | MeshSection) -> tuple[object, ...]:
        return one.file, one.unit, one.point, one.attitude

    return isinstance(feature, CloudSection) and any(
        isinstance(one, MeshSection) and place(one) == place(feature) for one in body.surface
    )


def _feature_solids(
    feature: object, members: list[BallMember | Capsule | CircleRing], least: float
) -> list[ShownSolid]:
    """Return a feature as it touches; points and sharp edges `least` (m) thick, clouds as their meshes, petals as plates
    between their edges."""
    if isinstance(feature, CloudSection):
        return [touched_mesh(feature)]
    found: list[ShownSolid] = []
    for one in members:
        radius = max(float(one.radius), least)
        if isinstance(one, BallMember):
            found.append(BallSolid(np.asarray(one.centre, float), radius))
        elif isinstance(one, Capsule):
            ends = np.asarray(one.ends, float)
            found.append(TubeSolid(ends[0], ends[1], radius, round_ends=True))
        else:
            centre, axis = np.asarray(one.centre, float), np.asarray(one.axis, float)
            found.append(RingSolid(centre, axis, float(one.major_radius), radius))
    if isinstance(feature, EdgeSection):
        found += [PlateSolid(outline, least) for outline in _plates_between(feature, members)]
    return found


def _plates_between(feature: EdgeSection, members: list[Any]) -> list[np.ndarray]:
    """Return outlines (n, 3) of what edges run around: of four points and more in a plane, and strips between two lines."""
    pieces = len(feature.points) - 1
    ends = np.array([np.asarray(one.ends, float) for one in members])
    lines = [np.concatenate([one[:, 0], one[-1:, 1]]) for one in ends.reshape(-1, pieces, 2, 3)]
    if feature.width is not None:
        half = len(lines) // 2
        return [
            np.stack([one[i], one[i + 1], other[i + 1], other[i]])
            for one, other in zip(lines[:half], lines[half:], strict=True)
            for i in range(pieces)
        ]
    if pieces < 3:
        return []

    def flat(line: np.ndarray) -> bool:
        spread = np.linalg.svd(line - line.mean(axis=0), compute_uv=False)
        return bool(spread[2] < 1e-3 * spread[1] and spread[1] > 1e-3 * spread[0])

    return [line for line in lines if flat(line)]


def _motion_at(
    what: tuple[str, ...], body: str, motions: dict[str, ShownMotion], bent: dict[str, BentLink]
) -> ShownMotion:
    """Return how a body moves where something sits on it."""
    return bent[body].seats.get(what, motions[body]) if body in bent else motions[body]


def _ties(
    dataset: Dataset,
    content: MechanismSection,
    motions: dict[str, ShownMotion],
    bent: dict[str, BentLink],
    reach: float,
    at: Any,  # noqa: ANN401, of `shown_times`
) -> list[ShownTie]:
    """Return what acts between two bodies, from mount to mount; latches only while they hold."""
    found: list[ShownTie] = []
    latches = 0
    for section, tie in zip(content.ties(), ties_among(model_of(content).elements), strict=True):
        first, second = (_motion_at(("element", section.name, body), body, motions, bent) for body in section.between)
        kind, ends = _element_ends(tie.element)
        for own, other in ends:
            shown = latch = None
            if kind == "latch":
                if "latch_held" not in dataset or latches >= dataset.sizes["latch"]:
                    continue
                shown = at(dataset.latch_held.values[:, latches].astype(float))
                latch, latches = latches, latches + 1
            thick = ROD * reach * {"cable": 0.25, "latch": 0.7, "spring": 1.5}.get(kind, 1.0)
            found.append(ShownTie(section.name, kind, End(first, own), End(second, other), thick, shown, latch))
    return found


def _element_ends(element: ForceElement) -> tuple[Any, list[tuple[np.ndarray, np.ndarray]]]:
    """Return what an element is drawn as, and where its members are fixed on the first body and on the second, m, body axes."""
    members = element.members if isinstance(element, ElementGroup) else element

    def pairs(own: Any, other: Any) -> list[tuple[np.ndarray, np.ndarray]]:  # noqa: ANN401, arrays of numbers
        return list(zip(*(np.asarray(places, float).reshape(-1, 3) for places in (own, other)), strict=True))

    for kind, one in (("strut", Strut), ("cable", Cable), ("magnet", Magnet)):
        if isinstance(members, one):
            return kind, pairs(members.anchors.own, members.anchors.other)
    if isinstance(members, Latch):
        return "latch", pairs(members.striker, members.seat)
    if isinstance(members, Bushing) and not isinstance(element, ElementGroup):
        return "spring", [
            (plain_components(members.own_frame.position), plain_components(members.other_frame.position))
        ]
    return "spring", []


def _trails(
    dataset: Dataset,
    content: MechanismSection,
    motions: dict[str, ShownMotion],
    bent: dict[str, BentLink],
    at: Any,  # noqa: ANN401, of `shown_times`
) -> list[ShownTrail]:
    """Return the path of each single ball over the surface that it may touch, in axes of the body with the surface."""
    found = []
    for index, contact in enumerate(content.contact):
        (_, feature), (carrier, section) = content.sides(contact)
        if kind_of(section) == "surface" and feature.shape in ("ball", "point") and feature.member_count() == 1:
            points = at(dataset.feature_position.values[:, index]) + plain_components(made(section).reference())
            found.append(
                ShownTrail(
                    f"path of {feature.name}",
                    points,
                    _motion_at(("surface", carrier, section.name), carrier, motions, bent),
                )
            )
    return found


def _forces(
    dataset: Dataset,
    content: MechanismSection,
    motions: dict[str, ShownMotion],
    bent: dict[str, BentLink],
    at: Any,  # noqa: ANN401, of `shown_times`
) -> list[ShownForce]:
    """Return the force of each contact on its first body, where it acts."""
    found = []
    names = pair_labels(dataset) if dataset.sizes["contact"] else []
    force, place = dataset.contact_force.values, np.nan_to_num(dataset.contact_point.values)
    for index, contact in enumerate(content.contact):
        body, touched = content.sides(contact)[1]
        carrier = _motion_at((kind_of(touched), body, touched.name), body, motions, bent)
        rubs = contact.friction is not None
        found.append(ShownForce(names[index], at(place[:, index]), at(force[:, index]), carrier, with_friction=rubs))
    latch = told_latch(dataset, content)
    if latch is not None:
        (one,) = model_of(content).ramps
        pull = at(dataset.hold_force.values + dataset.latch_force.values)
        striker = np.tile(np.asarray(one.latch.striker, float), (len(pull), 1))
        found.append(ShownForce(latch.name, striker, pull, motions[latch.between[0]], "hold"))
    return found


def focus_of(
    content: SeveralBodiesSection, gear: Gear, motions: dict[str, ShownMotion], bent: dict[str, BentLink], reach: float
) -> tuple[str, Focus]:
    """Return the body in whose axes the run is seen, and what is looked at: the second of the first contact."""
    numbers = {body.name: number for number, body in enumerate(content.body)}
    if not content.contact:
        ties = content.ties()
        name = ties[0].between[1] if ties else content.body[-1].name
        return content.root_of(name), Focus(motions[name], np.zeros(3), np.array([1.0, 0.0, 0.0]), reach)
    (other, _), (name, touched) = content.sides(content.contact[0])
    carrier = _motion_at((kind_of(touched), name, touched.name), name, motions, bent)
    axis = None
    if kind_of(touched) == "surface":
        middle, way = made(touched).docking_frame()
        place, axis = plain_components(middle), plain_components(way)
    else:
        body = content.named(name)
        members = gear.members[numbers[name]][[one.name for one in body.feature].index(touched.name)]
        points = _cloud_points(touched) if isinstance(touched, CloudSection) else _points_of(members)
        place = points.mean(axis=0)
        ports = [port.axis for port in body.port if port.axis is not None]
        rings = [np.asarray(one.axis, float) for one in members if isinstance(one, CircleRing)]
        axis = next((np.asarray(one, float) for one in [*ports, *rings]), None)
    if axis is None or not np.any(axis):
        from dockdyn.report.scene.rotation import rotate

        away = motions[other].position[0] - carrier.position[0]
        axis = rotate(carrier.attitude[0] * np.array([1.0, -1.0, -1.0, -1.0]), away)
    size = float(np.linalg.norm(axis))
    axis = axis / size if size > 0 else np.array([1.0, 0.0, 0.0])
    arm = any(content.named(of).joint is not None for one in content.contact for of, _ in content.sides(one))
    return content.root_of(name), Focus(carrier, place, axis, reach, arm)
