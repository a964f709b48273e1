"""Points spread over a mesh, each with its share of the area, closer together where the mesh has edges.

Units: m.
Source: own rule of how small pieces are where.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from dockdyn.deferred import Bool, Float, Int
from dockdyn.scenario.meshes.box_tree import box_tree
from dockdyn.scenario.meshes.kept import Cloud
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_in_words, length_of
from dockdyn.scenario.meshes.met_places import feature_edges
from dockdyn.scenario.meshes.nearest import MeshDistance, Nearest, pseudonormals
from dockdyn.scenario.meshes.pieces import MeshPieces
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.tables.part import refuse

MOVES = 60  # at most, of points that are too near to a second face
NEAR = 1e-6  # of the radius
LEAST_SLOPE = 1e-4  # a sine squared: between faces of less than 0.6 degrees a ball moves no farther at once
LEAF = 12  # points of a ball that is not divided
SHORTER = 2**0.25  # pieces that are larger than the largest by less are cut together
BESIDE = 1 / 200  # of the mesh's size: as far from an edge pieces are twice as large as in it
FAR = 1 / 20  # of that: from there on they are all of one size
ON_EDGES = 1_000_000  # places at most that stand for all edges


def cloud_in(content: bytes, suffix: str, file: MeshFile, most: int, radius: float) -> Cloud:
    """Return at most so many points of the content of a mesh file, `radius` m inside.

    The faces are cut until there are as many points as the number allows: the pieces are the smaller the nearer they are to an
    edge, where what touches little touches. Nothing is drawn at random.
    """
    mesh = solid_in(content, suffix, length_of(file.unit), file.repair)
    faces, vertices = len(mesh.faces), len(mesh.vertices)
    if faces + vertices > most:
        refuse(
            f"has {faces} faces and {vertices} vertices; count must be at least {faces + vertices}, or the mesh simpler"
        )
    pieces = _cut(mesh, most)
    points, ways, shares = pieces.points()
    points, fits = BallsInside(np.asarray(mesh.vertices), np.asarray(mesh.faces), radius).move(points, ways)
    if not fits.all():
        refuse(f"radius = {length_in_words(radius, file.unit)} is too large for what the mesh is thick")
    order, balls, children = ball_tree(points)
    size = float(np.ptp(mesh.vertices, axis=0).max())
    sides = pieces.longest_edges()[0]
    facts = float(sides.max()), float(sides.min()), size, float(mesh.area)
    return Cloud(points[order], (shares / shares.sum())[order], *facts, balls, children)


def ball_tree(
    points: Float[np.ndarray, "n 3"],
) -> tuple[Int[np.ndarray, "n"], Float[np.ndarray, "balls 4"], Int[np.ndarray, "balls 2"]]:
    """Return the order of points (m) in a tree, balls about all of them beneath, and the children of these."""
    tree = box_tree(points[:, None], len(points), LEAF)
    used = np.flatnonzero(tree.children[:, 1] > 0).max() + 1  # the last box is a leaf
    boxes, children = tree.boxes[:used], tree.children[:used]
    balls = np.column_stack(
        [(boxes[:, :3] + boxes[:, 3:]) / 2, np.linalg.norm(boxes[:, 3:] - boxes[:, :3], axis=1) / 2]
    )
    return tree.order, balls, children


class BallsInside:
    """Moves points of a mesh inwards until a ball about each has room in the solid.

    A ball that is pushed away from a face where it touched another one slides along that one, so that it comes to rest in a
    sharp edge as soon as in a blunt one.
    """

    def __init__(self, vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"], radius: float):
        """All in m."""
        self.radius = radius
        if radius:
            self.exact, self.normals = MeshDistance(vertices, faces), pseudonormals(vertices, faces)[:, 0]

    def move(
        self, points: Float[np.ndarray, "n 3"], ways: Float[np.ndarray, "n 3"]
    ) -> tuple[Float[np.ndarray, "n 3"], Bool[np.ndarray, "n"]]:
        """Return the centres (m) of balls that begin at points (m) of the mesh and move against unit vectors out of it, and
        which of them have room: none has where the solid is thinner than a ball."""
        if not self.radius:
            return points, np.ones(len(points), bool)
        points, moved = points - self.radius * ways, np.arange(len(points))
        before = -ways  # the last way of each
        for _ in range(MOVES):
            found = self.exact.nearest(points[moved])
            lacking = self.radius + found.distances  # inside they are negative
            short = np.flatnonzero(lacking >= NEAR * self.radius)
            moved, before = moved[short], before[short]
            if not len(moved):
                break
            inward = self._ways_inwards(found, short)
            against = np.minimum((inward * before).sum(axis=1), 0)[:, None]  # it would go back into what it has left
            along = inward - against * before
            points[moved] += lacking[short, None] * along / np.maximum(1 - against**2, LEAST_SLOPE)
            before = inward
        fits = np.ones(len(points), bool)
        fits[moved] = False
        return points, fits

    def _ways_inwards(self, found: Nearest, rows: Int[np.ndarray, "n"]) -> Float[np.ndarray, "n 3"]:
        """Return unit vectors from the nearest places of some points into the solid."""
        distances = found.distances[rows]
        on_mesh = np.abs(distances) < NEAR * self.radius
        ways = -found.offsets[rows] / np.where(on_mesh, 1, distances)[:, None]
        ways[on_mesh] = -self.normals[found.faces[rows[on_mesh]]]
        return ways


def _cut(mesh: Any, most: int) -> MeshPieces:  # noqa: ANN401, trimesh's
    """Return the faces of a mesh cut into pieces that have at most so many points, small beside its edges."""
    pieces = MeshPieces(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    size = float(np.ptp(mesh.vertices, axis=0).max())
    beside = BESIDE * size
    places = _on_edges(mesh, beside)
    from_edges = cKDTree(places) if len(places) else None

    def sizes(rows: np.ndarray) -> np.ndarray:
        """Return how large pieces are beside what they may be."""
        lengths = pieces.longest_edges(rows)[0]
        if from_edges is None:
            return lengths
        corners = pieces.corners(rows)
        around = np.concatenate(
            [corners, (corners + np.roll(corners, -1, axis=1)) / 2, corners.mean(axis=1)[:, None]], 1
        )
        distances = from_edges.query(around.reshape(-1, 3))[0].reshape(around.shape[:2]).min(axis=1)
        return lengths / (beside + np.minimum(distances, FAR * size))

    found = sizes(np.arange(len(pieces.faces)))
    while 2 * len(large := np.flatnonzero(found > found.max() / SHORTER)) <= most - pieces.count():
        new = pieces.halve(large)
        found = np.concatenate([found, np.zeros(len(new))])
        changed = np.concatenate([large, new])
        found[changed] = sizes(changed)
    return pieces


def _on_edges(mesh: Any, spacing: float) -> Float[np.ndarray, "n 3"]:  # noqa: ANN401, trimesh's
    """Return places (m) on the sharp convex edges of a mesh, at most so far (m) apart or `ON_EDGES` in all."""
    edges, _, convex = feature_edges(mesh)
    ends = np.asarray(mesh.vertices)[edges[convex]]
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    counts = (
        np.ceil(lengths / max(spacing, lengths.sum() / ON_EDGES)).astype(int) + 1 if len(ends) else np.zeros(0, int)
    )
    rows = np.repeat(np.arange(len(ends)), counts)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (number / (counts[rows] - 1))[:, None]
    return ends[rows, 0] * (1 - share) + ends[rows, 1] * share
