"""Bodies as they look when nothing better is known: boxes of uniform density, probes, surfaces that guide them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dockdyn.report.replay.bus import bus_of
from dockdyn.report.replay.cameras import from_the_bus
from dockdyn.report.replay.colours import METAL, PANEL, RING, SIDES, SURFACE
from dockdyn.report.replay.looks import dressed, touched_mesh
from dockdyn.report.replay.scene import Mesh, Motion, Part, View, turned
from dockdyn.report.replay.shapes import ball, joined, placed, rod, surface_around_axis
from dockdyn.report.sampled_surface import coordinates
from dockdyn.scenario.made import made
from dockdyn.scenario.tables.mesh import MeshSection

if TYPE_CHECKING:
    from dockdyn.scenario.tables.look import LookSection
    from dockdyn.scenario.tables.part import Shape

DECORATION = "panels (decoration)"
NEAR = 0.5  # of what matters of a surface: a reference point closer than that to the centre of mass needs no stand
THIN = 0.035  # radius of a probe that is a point, as a share of its length
MARGIN = 1.25  # of what is shown of a surface beyond where it is met


class Tip(Protocol):
    """What is asked of the section of a feature."""

    @property
    def position(self) -> Sequence[float]: ...

    @property
    def radius(self) -> float: ...


class Body(Protocol):
    """What is asked of the section of a body."""

    @property
    def mass(self) -> float: ...

    @property
    def inertia(self) -> Sequence[Sequence[float]]: ...

    @property
    def look(self) -> LookSection | None: ...

    @property
    def feature(self) -> Sequence[Tip]: ...

    @property
    def surface(self) -> Sequence[Shape]: ...


class TwoBodies(Protocol):
    """What is asked of the content of a scenario with two bodies."""

    @property
    def chaser(self) -> Body: ...

    @property
    def target(self) -> Body: ...

    @property
    def contact(self) -> Sequence[Any]: ...

    @property
    def pair(self) -> Callable[[Any], tuple[Tip, Shape, bool]]: ...


def gear_places(body: Body) -> list[np.ndarray]:
    """Where a body's (section's) docking gear is, m, body axes: its features and its surfaces' reference points."""
    surfaces = [made(section) for section in body.surface]
    places = [np.asarray(one.position, float) for one in body.feature]
    return places + [coordinates(surface.reference()) for surface in surfaces]


def body_parts(name: str, body: Body, chaser: bool, motion: Motion, reach: float, panels: bool = False) -> list[Part]:
    """The bus of a body (its section) and its features with what carries them; with `panels` those of a spacecraft."""
    features = [(np.asarray(one.position, float), float(one.radius)) for one in body.feature]
    gear = gear_places(body)
    bus = bus_of(body.mass, np.asarray(body.inertia), gear)
    hull = Part(f"{name}/body", bus.mesh(), SIDES[chaser], motion, opacity=0.9, body=name)
    parts = dressed(hull, body.look)
    away = [place for place in gear if np.linalg.norm(place) > NEAR * reach]  # else it is around the body's own centre
    if away and (body.look is None or parts[0].missing):
        rings = joined(*(bus.ring(place) for place in away))
        parts.append(Part(f"{name}/rings", rings, RING, motion))
        if panels:
            upright = turned(motion.attitude[0] * [1.0, -1.0, -1.0, -1.0], np.array([0.0, 0.0, 1.0]))
            mesh = bus.panels(away[0], upright)
            parts.append(Part(f"{name}/panels", mesh, PANEL, motion, opacity=0.55, layer=DECORATION))
    for index, (place, radius) in enumerate(features):
        parts.append(Part(f"{name}/feature {index + 1}", probe(place, radius, reach), METAL, motion, flat=False))
    for section in body.surface:
        place = coordinates(made(section).reference())
        if np.linalg.norm(place) > NEAR * reach:
            parts.append(Part(f"{name}/stand of {section.name}", _stand(place, reach), METAL, motion, flat=False))
    return parts


def _stand(place: np.ndarray, reach: float) -> Mesh:
    """What carries a surface, from the body's centre of mass to its reference point."""
    length = float(np.linalg.norm(place))
    thick = min(THIN * length, 0.1 * reach)
    return placed(rod(length, 1.5 * thick, thick), np.zeros(3), place / length)


def probe(place: np.ndarray, radius: float, reach: float) -> Mesh:
    """A rod from the body's centre of mass to the feature, and its ball."""
    length = float(np.linalg.norm(place))
    tip = radius if radius > 0 else min(0.02 * length, 0.05 * reach) or 0.02 * reach
    if length <= tip:
        return ball(tip, place)
    thick = min(0.6 * tip if radius > 0 else tip, THIN * length)
    direction = place / length
    # the neck is slender, what carries it is stout
    neck = placed(rod(0.35 * length, thick), place - 0.35 * length * direction, direction)
    stem = placed(rod(0.65 * length, 2.2 * thick, 1.6 * thick), np.zeros(3), direction)
    return joined(ball(tip, place), neck, stem)


def surface_part(name: str, section: Shape, reach: float, motion: Motion) -> Part:
    """The contact surface of a section: a mesh as it is in its file, any other as `sampled_part` shows it."""
    if isinstance(section, MeshSection):
        return Part(name, touched_mesh(section), SURFACE, motion)
    return sampled_part(name, made(section), reach, motion)


def sampled_part(name: str, surface: Any, reach: float, motion: Motion) -> Part:  # noqa: ANN401, its extent is of numbers
    """A contact surface, as far as it says that it matters where it is met within `reach` (m) of its reference point."""
    extent = surface.extent(reach)
    mesh = surface_around_axis(surface, float(extent.radius), float(extent.low), float(extent.high))
    return Part(name, mesh, SURFACE, motion, opacity=0.3 if extent.hollow else None, flat=False)


def reach_with_wholes(content: TwoBodies, reach: float) -> float:
    """`reach` (m), or the radius of the widest surface that is worth showing whole."""
    sections = [section for name in ("chaser", "target") for section in getattr(content, name).surface]
    extents = [made(section).extent(reach) for section in sections]
    return max([reach, *(float(extent.radius) for extent in extents if extent.whole)]) or 0.5


def docking_place(
    content: TwoBodies, motions: list[Motion], reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Motion]:
    """Where the first contact is to be looked for: the surface's reference point and a place before it (m), the docking
    axis, all at the first frame, and what carries them; `motions` of chaser and target."""
    _, section, on_chaser = content.pair(content.contact[0])
    carrier = motions[1 if on_chaser else 0]
    surface = made(section)
    middle, own = map(coordinates, surface.docking_frame())
    reference = coordinates(surface.reference())
    depth = max(float((middle - reference) @ own), 0.0)
    place, axis = carrier.points(reference)[0], turned(carrier.attitude[:1], own[None])[0]
    return place, place + max(0.6 * depth, 0.6 * reach if not depth else 0.0) * axis, axis, carrier


def along_the_axis(content: TwoBodies, parts: list[Part], chaser: Motion, reach: float) -> View:
    """The view along the docking axis from the chaser's bus, of the gear that its first contact touches with."""
    feature, section, on_chaser = content.pair(content.contact[0])
    place = np.asarray(feature.position, float) if on_chaser else coordinates(made(section).reference())
    bus = [part for part in parts if part.name.startswith(("chaser/body", "chaser/rings"))]
    return from_the_bus("along the axis", bus, chaser, place, reach)


def axes_length(mesh: Mesh, gear: list[np.ndarray]) -> float:
    """How long (m) the axes of a body are drawn: out of its hull, but not into its docking gear, of a plate by its width."""
    reach = 0.75 * float(np.median(np.ptp(mesh.vertices, axis=0)))
    return min([reach, *(0.6 * float(np.linalg.norm(place)) for place in gear if np.any(place))])
