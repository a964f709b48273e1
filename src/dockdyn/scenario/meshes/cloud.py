"""Points spread over a mesh, each with its share of the area, closer together where the mesh has edges.

Units: m.
Source: own rule of how small pieces are where.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from dockdyn.deferred import Float, Int
from dockdyn.scenario.meshes.box_tree import box_tree
from dockdyn.scenario.meshes.kept import Cloud
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_in_words, length_of
from dockdyn.scenario.meshes.met_places import feature_edges
from dockdyn.scenario.meshes.nearest import MeshDistance, Nearest, pseudonormals
from dockdyn.scenario.meshes.pieces import POINTS, MeshPieces
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.tables.part import refuse

MOVES = 60  # at most, of points that are too near to a second face
NEAR = 1e-6  # of the radius
LEAST_SLOPE = 1e-4  # a sine squared: between faces of less than 0.6 degrees a ball moves no farther at once
LEAF = 12  # points of a ball that is not divided
SHORTER = 2**0.25  # pieces that are larger than the largest by less are cut together
ALIKE = 0.98  # a cosine: faces that meet at less than 11 degrees are one to a ball that touches both
BESIDE = 1 / 200  # of the mesh's size: as far from an edge pieces are twice as large as in it
FAR = 1 / 50  # of that: from there on they are all of one size
ON_EDGES = 1_000_000  # places at most that stand for all edges


def cloud_in(content: bytes, suffix: str, file: MeshFile, most: int, radius: float) -> Cloud:
    """Return at most so many points of the content of a mesh file, `radius` m inside.

    The faces are cut until there are as many points as the number allows: the pieces are the smaller the nearer they are to an
    edge, where what touches little touches. Nothing is drawn at random.
    """
    mesh = solid_in(content, suffix, length_of(file.unit), file.repair)
    if (least := POINTS * len(mesh.faces)) > most:
        refuse(f"has {len(mesh.faces)} faces; count must be at least {least}, or the mesh simpler")
    pieces = _cut(mesh, most // POINTS)
    points, ways, areas = pieces.points()
    points, parts = BallsInside(np.asarray(mesh.vertices), np.asarray(mesh.faces), radius).move(points, ways)
    if not parts.all():
        refuse(f"radius = {length_in_words(radius, file.unit)} is too large for what the mesh is thick")
    order, balls, children = ball_tree(points)
    size = float(np.ptp(mesh.vertices, axis=0).max())
    sides = pieces.longest_edges()[0]
    facts = float(sides.max()), float(sides.min()), size, float(mesh.area)
    return Cloud(points[order], (parts * areas / areas.sum())[order], *facts, balls, children)


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
    ) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n"]]:
        """Return the centres (m) of balls that begin at points (m) of the mesh and move against unit vectors out of it, and
        which part of the area at its point each stands for: none where the solid is thinner than a ball.

        A ball in an edge touches all faces there, and so do those that came from the others: it stands for as much as
        what presses along the way out of a face is to feel of it, so that they make up that face, and no more.
        """
        parts = np.ones(len(points))
        if not self.radius:
            return points, parts
        points, moved = points - self.radius * ways, np.arange(len(points))
        before = -ways  # the last way of each
        pushed = FacesMet(ways)
        for _ in range(MOVES):
            found = self.exact.nearest(points[moved])
            lacking = self.radius + found.distances  # inside they are negative
            short = np.flatnonzero(lacking >= NEAR * self.radius)
            moved, before = moved[short], before[short]
            if not len(moved):
                break
            inward = self._ways_inwards(found, short)
            pushed.add(moved, -inward)
            against = np.minimum((inward * before).sum(axis=1), 0)[:, None]  # it would go back into what it has left
            along = inward - against * before
            points[moved] += lacking[short, None] * along / np.maximum(1 - against**2, LEAST_SLOPE)
            before = inward
        parts = pushed.parts()
        parts[moved] = 0
        return points, parts

    def _ways_inwards(self, found: Nearest, rows: Int[np.ndarray, "n"]) -> Float[np.ndarray, "n 3"]:
        """Return unit vectors from the nearest places of some points into the solid."""
        distances = found.distances[rows]
        on_mesh = np.abs(distances) < NEAR * self.radius
        ways = -found.offsets[rows] / np.where(on_mesh, 1, distances)[:, None]
        ways[on_mesh] = -self.normals[found.faces[rows[on_mesh]]]
        return ways


class FacesMet:
    """Ways out of the faces that have pushed balls, each of them once, and out of the one where each began."""

    def __init__(self, ways: Float[np.ndarray, "n 3"]):
        self.rows, self.ways = np.arange(len(ways)), ways  # of which ball, and the way
        self.count = len(ways)

    def add(self, balls: Int[np.ndarray, "m"], ways: Float[np.ndarray, "m 3"]) -> None:
        """Note faces that push some balls."""
        place = np.full(self.count, -1)
        place[balls] = np.arange(len(balls))
        own = place[self.rows]
        known = own >= 0
        alike = (self.ways[known] * ways[own[known]]).sum(axis=1) > ALIKE
        new = np.ones(len(balls), bool)
        new[own[known][alike]] = False
        self.rows, self.ways = np.concatenate([self.rows, balls[new]]), np.concatenate([self.ways, ways[new]])

    def parts(self) -> Float[np.ndarray, "n"]:
        """Return the mean of what a unit of area of the face where each began is across the faces that it has met."""
        across = np.maximum((self.ways * self.ways[self.rows]).sum(axis=1), 0)
        return np.bincount(self.rows, across, self.count) / np.bincount(self.rows, minlength=self.count)


def _cut(mesh: Any, most: int) -> MeshPieces:  # noqa: ANN401, trimesh's
    """Return the faces of a mesh cut into so many pieces, small beside its edges."""
    pieces = MeshPieces(np.array(mesh.triangles))
    size = float(np.ptp(mesh.vertices, axis=0).max())
    beside = BESIDE * size
    places = _on_edges(mesh, beside)
    from_edges = cKDTree(places) if len(places) else None

    def sizes(rows: np.ndarray) -> np.ndarray:
        """Return how large pieces are beside what they may be."""
        lengths = pieces.longest_edges(rows)[0]
        if from_edges is None:
            return lengths
        corners = pieces.triangles[rows]
        around = np.concatenate(
            [corners, (corners + np.roll(corners, -1, axis=1)) / 2, corners.mean(axis=1)[:, None]], 1
        )
        distances = from_edges.query(around.reshape(-1, 3))[0].reshape(around.shape[:2]).min(axis=1)
        return lengths / (beside + np.minimum(distances, FAR * size))

    found = sizes(np.arange(len(pieces.triangles)))
    while room := most - len(pieces.triangles):
        large = np.flatnonzero(found > found.max() / SHORTER)
        if len(large) > room:
            large = np.sort(large[np.argsort(-found[large], kind="stable")[:room]])
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
