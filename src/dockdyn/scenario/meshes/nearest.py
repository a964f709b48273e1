"""Exact signed distances of points from a closed mesh, in machine code.

Units: m.
Source: Bærentzen and Aanæs 2005, IEEE Transactions on Visualization and Computer Graphics 11:243.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from dockdyn.contact.bound_tree import read_row, walk_tree
from dockdyn.deferred import Array, Float, Int, PyTree, jax, jnp
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.scenario.meshes.box_tree import FACES, box_tree, larger_of, read_corners

POINTS = 1 << 14  # at once
SLACK = 1e-12  # of the mesh's largest coordinate: what a bound from the point before may be too small by
PARTS = 7  # of a face: inside, edges after its corners, corners


class Nearest(NamedTuple):
    """The places of a mesh nearest to points."""

    distances: Float[np.ndarray, "n"]  # m, negative inside the solid
    offsets: Float[np.ndarray, "n 3"]  # m, from there to the point
    faces: Int[np.ndarray, "n"]  # on which they are


class MeshDistance:
    """Finds the nearest point of a mesh by a tree of boxes.

    The sign is that of the pseudonormal of the face, edge or vertex on which the nearest point lies: exact for a mesh that is
    closed and does not cross itself.
    """

    def __init__(self, vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]):
        triangles = vertices[faces]
        tree = box_tree(triangles)
        self.order = tree.order
        normals = pseudonormals(vertices, faces)[tree.order]
        self.table = np.zeros((FACES, 9 + 3 * PARTS))
        self.table[: len(faces), :9] = triangles[tree.order].reshape(-1, 9)
        self.table[: len(faces), 9:] = normals.reshape(-1, 3 * PARTS)
        self.tree = tree.boxes, tree.children
        self.slack = SLACK * float(np.abs(vertices).max())

    def signed_distances(self, points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n"]:
        """Return distances (m) of points (m): negative inside the solid."""
        return self.nearest(points).distances

    def nearest(self, points: Float[np.ndarray, "n 3"]) -> Nearest:
        """Return what is nearest to points (m); quicker where each is near to the one before."""
        parts = [points[at : at + POINTS] for at in range(0, len(points), POINTS)]
        if not parts:
            return Nearest(np.zeros(0), np.zeros((0, 3)), np.zeros(0, int))
        first = self._of_part(parts[0])  # which makes the program, before threads ask for it
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = np.concatenate([first, *pool.map(self._of_part, parts[1:])])
        return Nearest(found[:, 0], found[:, 1:4], self.order[found[:, 4].astype(int)])

    def _of_part(self, points: np.ndarray) -> np.ndarray:
        given = np.zeros((POINTS, 3))
        given[: len(points)] = points
        return np.asarray(_nearest(self.tree, self.table, given, len(points), self.slack))[: len(points)]


@Program
def _nearest(tree: PyTree, table: Array, points: Array, count: Array, slack: Array) -> Array:
    """Return signed distance (m), offset (m) and face of the tree for the first `count` of the points."""

    def turn(given: PyTree) -> PyTree:
        place, before, known, found = given
        point = Vector(*read_row(points, place, 0, 3))
        reach = (known + (point - before).norm()) * (1 + 1e-9) + slack
        squared, offset, normal, face = _nearest_to(tree, table, point, reach * reach)
        distance = jnp.sqrt(squared)
        signed = jnp.where(offset.dot(normal) >= 0, distance, -distance)
        row = jnp.stack([signed, offset.x, offset.y, offset.z, face.astype(float)])
        return place + 1, point, distance, jax.lax.dynamic_update_slice(found, row[None], (place, 0))

    start = jnp.array(0), Vector(*jnp.zeros(3)), jnp.array(1e100), jnp.zeros((POINTS, 5))
    return jax.lax.while_loop(lambda given: given[0] < count, turn, start)[-1]


def _nearest_to(tree: PyTree, table: Array, point: Vector, bound: Array) -> tuple[Array, Vector, Vector, Array]:
    """Return the squared distance (m²), below the `bound` (m²), of the nearest face from a point, the offset (m) from there,
    the pseudonormal there and the face."""

    def key(box: list[Array]) -> Array:
        beyond = [
            larger_of(low - at, at - high, jnp.zeros(()))
            for low, high, at in zip(box[:3], box[3:], (point.x, point.y, point.z), strict=True)
        ]
        return sum((part * part for part in beyond), jnp.zeros(()))

    def take(face: Array, best: PyTree) -> PyTree:
        offset, part = offset_from(point, read_corners(table, face))
        squared = offset.dot(offset)
        return _nearer((squared, offset, face, part), best)

    start = bound, Vector(*jnp.zeros(3)), jnp.array(0), jnp.array(0)
    squared, offset, face, part = walk_tree(tree, key, lambda best: best[0], take, start)
    return squared, offset, Vector(*read_row(table, face, 9 + 3 * part, 3)), face


def offset_from(point: Vector, corners: list[Vector]) -> tuple[Vector, Array]:
    """Return what leads to a point from the nearest point of a triangle, and on which part that lies: 0 inside the face, 1 to 3
    on the edge after that corner, 4 to 6 at that corner.

    A plane's distance is taken from the nearest point of an edge, so that a slender face's normal, which is not known well, is
    multiplied by lengths of the face's width only.
    """
    normal = (corners[1] - corners[0]).cross(corners[2] - corners[0])
    best, inside = None, jnp.array(True)
    for number, corner in enumerate(corners):
        after = (number + 1) % 3
        edge, offset = corners[after] - corner, point - corner
        share = jnp.clip(offset.dot(edge) / edge.dot(edge), 0.0, 1.0)
        way = offset - edge * share
        part = jnp.where(share == 0, 4 + number, jnp.where(share == 1, 4 + after, 1 + number))
        found = way.dot(way), way, part
        best = found if best is None else _nearer(found, best)
        inside &= edge.cross(offset).dot(normal) >= 0
    assert best is not None
    _, way, part = best
    straight = normal * (way.dot(normal) / normal.dot(normal))
    return jax.tree.map(lambda one, other: jnp.where(inside, one, other), (straight, jnp.array(0)), (way, part))


def _nearer(one: PyTree, other: PyTree) -> PyTree:
    """Return that of two trees whose first number is smaller."""
    nearer = one[0] < other[0]
    return jax.tree.map(lambda new, old: jnp.where(nearer, new, old), one, other)


def pseudonormals(vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]) -> Float[np.ndarray, "m 7 3"]:
    """Return directions out of the solid: of each face, of the edges after its corners, at its corners."""
    triangles = vertices[faces]
    ways = np.roll(triangles, -1, axis=1) - triangles
    normals = np.cross(ways[:, 0], ways[:, 1])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    edges = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2), axis=2)  # those after the corners
    _, numbers = np.unique(edges[..., 0] * len(vertices) + edges[..., 1], return_inverse=True)
    numbers = numbers.reshape(-1, 3)
    back = -np.roll(ways, 1, axis=1)
    angles = np.arctan2(np.linalg.norm(np.cross(ways, back), axis=2), np.einsum("ijk,ijk->ij", ways, back))
    of_edges, of_vertices = np.zeros((numbers.max() + 1, 3)), np.zeros((len(vertices), 3))
    np.add.at(of_edges, numbers, normals[:, None])
    np.add.at(of_vertices, faces, angles[..., None] * normals[:, None])
    return np.concatenate([normals[:, None], of_edges[numbers], of_vertices[faces]], axis=1)
