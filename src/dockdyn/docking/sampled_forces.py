"""How far off the forces of clouds are, since points stand for a face: beside pieces made smaller where they touch.

Units: m, N.
Source: comparison with the same integral over finer pieces; own construction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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
from dockdyn.scenario.made import model_of
from dockdyn.scenario.meshes.kept import solid_of
from dockdyn.scenario.meshes.mesh_file import MeshFile
from dockdyn.scenario.meshes.pieces import MeshPieces

ROWS = 1 << 12  # points at once
STEEP = 1.5  # metres that a surface's distance may change over a metre: spline, or law of several surfaces
MOST = 200_000  # pieces; with more no further halving is begun
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
                f"contact {name!r}: how far its largest force is off is not known: the last halving of {MOST} pieces of its "
                f"cloud's mesh still changes it by {100 * known:.2g} %"
            )
        elif abs(error) > OFF + known:
            found.append(
                f"contact {name!r}: its largest force is {100 * abs(error):.2g} % too {'large' if error > 0 else 'small'}, as "
                f"its cloud has too few points; a larger count, four to ten times the points say, takes most of it away"
            )
    return found


def sampled_forces(dataset: Dataset, content: Any) -> list[SampledForce | None]:  # noqa: ANN401, a mechanism's section
    """Return for each contact the force of its cloud at the kept moment where it is largest; None of one without a cloud, or
    that does not touch then."""
    return [
        _sampled_force(dataset, number, content.sides(contact)[0][1], group)
        for number, (contact, group) in enumerate(zip(content.contacts, model_of(content).groups, strict=True))
    ]


def _sampled_force(dataset: Dataset, number: int, feature: Any, group: Any) -> SampledForce | None:  # noqa: ANN401, sections
    """Return that of one contact."""
    if not isinstance(feature, CloudSection) or not isinstance(group, ContactGroup):
        return None
    forces = np.nan_to_num(dataset.normal_force.values[:, number])
    at, bodies = int(forces.argmax()), (group.first, group.second)
    if forces[at] <= 0 or max(bodies) >= dataset.position.shape[1]:
        return None
    poses = [np.concatenate([dataset[name].values[at, body] for name in ("position", "attitude")]) for body in bodies]
    try:
        force = _force_at(group, feature, np.array(poses))
    except OSError:  # the mesh is no longer there
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
    by_points = _forces(group, poses, np.asarray(ball.centre), np.asarray(group.weights))[1].sum()
    if by_points <= 0:
        return None
    file = Path(cloud.file)
    mesh = MeshFile(file, file.stat().st_mtime_ns, cloud.unit, cloud.repair)
    solid, known = solid_of(mesh), 0.0
    pieces = MeshPieces(solid.vertices, solid.faces)
    length = cloud.sample.finest
    origin = cloud.placed(np.zeros((1, 3)))[0]
    turn = cloud.placed(np.eye(3)) - origin
    shift = np.asarray(ball.centre)[0] - (origin + cloud.sample.points[0] @ turn)

    def in_body(points: np.ndarray) -> np.ndarray:
        return origin + shift + points @ turn

    for _ in range(HALVINGS):
        while True:
            corners = pieces.corners()
            middles = corners.mean(axis=1)
            reach = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
            depths = _forces(group, poses, in_body(middles), np.zeros(len(middles)))[0] - cloud.radius
            pieces.keep(np.flatnonzero(depths > -STEEP * (reach + 2 * cloud.radius)))
            long = np.flatnonzero(pieces.longest_edges()[0] > length)
            if not len(long):
                break
            pieces.halve(long)
        points, ways, areas = pieces.points()
        points, ways, areas = (part[areas > 0] for part in (points, ways, areas))
        points = _points_beneath(mesh, points, ways, cloud)
        force = _forces(group, poses, in_body(points), areas / cloud.sample.area)[1].sum()
        change, known, length = abs(force - known), force, length / 2
        if change < SETTLED * force or len(pieces.faces) > MOST:
            break
    return (float(by_points), float(force), float(change / force)) if force > 0 else None


def _points_beneath(mesh: MeshFile, points: np.ndarray, ways: np.ndarray, cloud: CloudSection) -> np.ndarray:
    """Return points (m) of a mesh as deep inside as those of the cloud are."""
    if not cloud.radius:
        return points
    from dockdyn.scenario.meshes.cloud import shrink

    solid = solid_of(mesh)
    return shrink(solid.vertices, solid.faces, points, ways, cloud.radius, cloud.unit)


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
