"""Bodies as the live view of a driven rig draws them, with their features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockdyn.docking.schema.features import Ball, Capsule, CircleRing, CloudSection
from dockdyn.programs import Program
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay.bus import FLAT, PANEL, bus_of
from dockdyn.report.replay.colours import METAL
from dockdyn.report.replay.gear import surface_part
from dockdyn.report.replay.looks import apply_look, touched_mesh
from dockdyn.report.replay.scene import Mesh, SceneMotion, ScenePart
from dockdyn.report.replay.shapes import ball_mesh, capsule_mesh, join_meshes, torus_mesh
from dockdyn.report.sampled_surface import plain_components
from dockdyn.scenario.made import made
from dockdyn.scenario.tables.mesh import MeshSection

if TYPE_CHECKING:
    from dockdyn.docking.schema.bodies import BodySection
    from dockdyn.docking.schema.multibody import SeveralBodiesSection

THIN = 0.004  # of what matters: the radius in which points and sharp edges are drawn
ELEMENT = COLOURS["muted"]
BEAM = 7.0  # pixels: width of the centre line of a beam
ROOT = 0.03  # of a beam's length: radius of what is drawn at its root, at most


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
        found.append(np.atleast_2d(one.centre) if isinstance(one, Ball | CircleRing) else one.ends)
    return np.concatenate(found)


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
) -> list[ScenePart]:
    """Return the hull of a body, its features and its surfaces; one on another body that touches is its features alone.

    A single ball of a body is on a rod, as a probe is.
    """

    drawn = [feature for feature in body.feature if not _is_surface(feature, body)]
    features = [_feature_mesh(feature, THIN * reach) for feature in drawn]
    alone = body.on is not None and bool(features)
    features = [
        join_meshes(mesh, *_stem_meshes(feature, THIN * reach)) if (alone or len(made_members(feature)) == 1) else mesh
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
            ScenePart(f"{body.name}/{section.name}", mesh, METAL, motion, flat=False)
            for section, mesh in zip(drawn, features, strict=True)
        ]
    parts += [surface_part(f"{body.name}/{section.name}", section, reach, motion) for section in body.surface]
    return parts


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
