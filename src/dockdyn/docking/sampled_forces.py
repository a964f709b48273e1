"""How far off the forces of clouds are, since points stand for a face: beside pieces made smaller where they touch.

Units: m, N.
Source: comparison with the same integral over finer pieces; own construction.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.contact.contact_modes import gated_force
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.pairs import BallOnSurface
from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, Int, jax, jnp
from dockdyn.docking.schema.features import CloudSection
from dockdyn.mechanics import Pose, Twist
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.report.drawing import scenario_content
from dockdyn.report.mesh_table import SETTLED, errors_by_contact
from dockdyn.report.wording import format_significant
from dockdyn.scenario.made import model_of
from dockdyn.scenario.meshes.kept import Solid, solid_of
from dockdyn.scenario.meshes.mesh_file import MeshFile
from dockdyn.scenario.meshes.pieces import MeshPieces

if TYPE_CHECKING:
    from dockdyn.scenario.meshes.cloud import BallsInside

ROWS = 1 << 12  # points at once
STEEP = 1.5  # metres that a surface's distance may change over a metre: spline, or law of several surfaces
MOST = 200_000  # pieces; with more no further halving is begun
FIRST = 3_000  # pieces for all that touches, at most, before the first halving
HALVINGS = 12
OFF = 0.1  # of the force: by more a run is warned of


class SampledForce(NamedTuple):
    """The largest normal force of a cloud in a run, without damping: by its points, and as it is."""

    time: float  # s
    by_points: float  # N
    true: float  # N
    uncertainty: float  # share of the true one by which the last halving of the pieces has changed it

    def error(self) -> float:
        """Return by how much of the true force the one by points is off, with its sign."""
        return self.by_points / self.true - 1


def sampling_summary(dataset: Dataset) -> dict[str, Any]:
    """Return what a summary says of clouds: by how much (a share) the largest force of each contact is off, and to what share
    that is known, null of those without a cloud; nothing where there is none."""
    if '"cloud"' not in dataset.attrs["scenario"] or (content := scenario_content(dataset)) is None:
        return {}
    found = sampled_forces(dataset, content)
    if not any(found):
        return {}
    return {
        "sampling_error": [None if one is None else one.error() for one in found],
        "sampling_uncertainty": [None if one is None else one.uncertainty for one in found],
    }


def sampling_doubts(dataset: Dataset, summary: dict[str, Any]) -> list[str]:
    """Return a warning for every contact whose largest force is far off since its cloud has too few points."""
    found = []
    for name, error, known in errors_by_contact(dataset, summary):
        if known > OFF:
            found.append(
                f"contact {name!r}: how far its largest force is off is not known: more than {MOST} pieces of its "
                f"cloud's mesh touch, and their last halving still changes it by {format_significant(100 * known, 2)} %"
            )
        elif abs(error) > OFF + known:
            off = f"{format_significant(100 * abs(error), 2)} % too {'large' if error > 0 else 'small'}"
            found.append(
                f"contact {name!r}: its largest force is {off}, as its cloud has too few points; a count four to ten times as "
                f"large takes most of it away"
            )
    return found


def sampled_forces(dataset: Dataset, content: Any) -> list[SampledForce | None]:  # noqa: ANN401, a mechanism's section
    """Return for each contact the force of its cloud at the kept moment where it is largest, or where none of its points ever
    touches, where these are nearest; None of one without a cloud, or whose mesh does not touch then."""
    return [
        _sampled_force(dataset, number, content.sides(contact)[0][1], group)
        for number, (contact, group) in enumerate(zip(content.contacts, model_of(content).groups, strict=True))
    ]


def _sampled_force(dataset: Dataset, number: int, feature: Any, group: Any) -> SampledForce | None:  # noqa: ANN401, sections
    """Return that of one contact."""
    if not isinstance(feature, CloudSection) or not isinstance(group, ContactGroup):
        return None
    assert feature.sample is not None
    forces, depths = (np.nan_to_num(dataset[name].values[:, number]) for name in ("normal_force", "depth"))
    felt, bodies = forces.max() > 0, (group.first, group.second)
    at = int((forces if felt else depths).argmax())
    if max(bodies) >= dataset.position.shape[1] or not (felt or depths[at] > -STEEP * feature.sample.spacing):
        return None
    poses = [np.concatenate([dataset[name].values[at, body] for name in ("position", "attitude")]) for body in bodies]
    try:
        force = _force_at(group, feature, np.array(poses))
    except (OSError, PydanticCustomError):  # the mesh is no longer there, or it is another one
        return None
    return None if force is None else SampledForce(float(dataset.time.values[at]), *force)


def _force_at(
    group: ContactGroup, cloud: CloudSection, poses: Float[np.ndarray, "2 7"]
) -> tuple[float, float, float] | None:
    """Return the force (N) of a group by its points, and by pieces halved where they may touch until it stays, with the share
    by which the last halving has changed it.

    The `poses` are those of its bodies: place (m) and quaternion.
    """
    assert cloud.sample is not None
    ball = group.members
    assert isinstance(ball, BallOnSurface)
    weights = np.asarray(group.weights)
    felt = _forces(group, poses, np.asarray(ball.centre), weights)[1]
    file = Path(cloud.file)
    solid = solid_of(MeshFile(file, file.stat().st_mtime_ns, cloud.unit, cloud.repair))
    pieces, balls = MeshPieces(solid.vertices[solid.faces]), _balls_inside(solid, cloud.radius)
    areas = weights[felt > 0] * cloud.sample.area  # m², that touch
    # as long as a piece that touches; longer where faces lie on each other, so that there is room for halving
    length = float(np.sqrt(max(np.median(areas), areas.sum() / FIRST))) if len(areas) else cloud.sample.finest
    origin = cloud.placed(np.zeros((1, 3)))[0]
    turn = cloud.placed(np.eye(3)) - origin
    shift = np.asarray(ball.centre)[0] - (origin + cloud.sample.points[0] @ turn)

    def felt_by(points: np.ndarray, ways: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return depth (m) and force (N) of balls beneath points of the mesh; where none has room nothing touches."""
        centres, parts = balls.move(points, ways)
        found = _forces(group, poses, origin + shift + centres @ turn, shares * parts)
        return np.column_stack(found)

    def halve_where_they_may_touch() -> bool:
        """Keep the pieces that may touch, and halve them while they are longer; return whether there was room for all."""
        while True:
            middles, ways, _ = pieces.middles()
            reach = np.linalg.norm(pieces.triangles - middles[:, None], axis=2).max(axis=1)
            depths = felt_by(middles, ways, np.zeros(len(reach)))[:, 0]
            pieces.keep(np.flatnonzero(depths > -STEEP * reach))
            long = np.flatnonzero(pieces.longest_edges()[0] > length)
            if not len(long) or len(pieces.triangles) > MOST:
                return not len(long)
            pieces.halve(long)

    forces: list[float] = []
    for _ in range(HALVINGS):
        if not halve_where_they_may_touch() and forces and forces[-1] > 0:
            break  # what was found before is known better
        points, ways, areas = pieces.points()
        forces.append(float(felt_by(points, ways, areas / cloud.sample.area)[:, 1].sum()))
        length /= 2
        if len(pieces.triangles) > MOST or _settled(forces):
            break
    before, force = [float(felt.sum()), *forces][-2:]  # where there was room for no second halving: that by the points
    return (float(felt.sum()), force, abs(force - before) / force) if force > 0 else None


def _settled(forces: list[float]) -> bool:
    """Return whether the last halving has left the force (N) as it was."""
    return len(forces) > 1 and abs(forces[-1] - forces[-2]) < SETTLED * forces[-1]


def _balls_inside(solid: Solid, radius: float) -> BallsInside:
    from dockdyn.scenario.meshes.cloud import BallsInside

    return BallsInside(solid.vertices, solid.faces, radius)


def _forces(
    group: ContactGroup,
    poses: Float[np.ndarray, "2 7"],
    points: Float[np.ndarray, "n 3"],
    weights: Float[np.ndarray, "n"],
) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n"]]:
    """Return depths (m) of balls about points of the first body, of the group's radius, and their forces (N)."""
    radius = group.members.radius
    radius = np.zeros(()) if radius is None else np.asarray(radius)[0]
    found = []
    for at in range(0, len(points), ROWS):
        part = np.zeros((2, ROWS, 3))
        part[0, : len(points[at : at + ROWS])] = points[at : at + ROWS]
        part[1, : len(points[at : at + ROWS]), 0] = weights[at : at + ROWS]
        rows = min(ROWS, len(points) - at)
        given = group.surface, group.law, radius, poses, part[0], part[1, :, 0], rows
        found.append(np.asarray(_depths_and_forces(*given))[:rows])
    both = np.concatenate(found) if found else np.zeros((0, 2))
    return both[:, 0], both[:, 1]


@Program
def _depths_and_forces(
    surface: Any,  # noqa: ANN401, of any shape
    law: Any,  # noqa: ANN401, of any kind
    radius: Float[Array, ""],
    poses: Float[Array, "2 7"],
    points: Float[Array, "n 3"],
    weights: Float[Array, "n"],
    count: Int[Array, ""],
) -> Float[Array, "n 2"]:
    """Return depth (m) and force (N), without damping, of the first `count` of the points."""
    own, other = (
        Placed.of(Pose(Vector.of(pose[:3]), Quaternion.of(pose[3:])), Twist(Vector.zero(), Vector.zero()))
        for pose in poses
    )

    def one(row: tuple[Array, Array, Array]) -> Array:
        number, point, weight = row

        def near() -> Array:
            touch = BallOnSurface(point, radius, surface).touch(own, other)
            felt = law.along(own.rotation.transposed_times(touch.normal))
            force = gated_force(felt, touch.depth, felt.force(touch.depth, jnp.zeros(())))
            return jnp.stack([touch.depth, weight * force])

        return jax.lax.cond(number < count, near, lambda: jnp.zeros(2))

    return jax.lax.map(one, (jnp.arange(points.shape[0]), points, weights))
