"""Faces of a closed mesh that are crossed by others, or that do not have the solid behind them and nothing before.

Units: m.
Source: definition; the winding number along a ray, with edge functions that two faces share bit for bit (Woop, Benthin and
Wald 2013, Journal of Computer Graphics Techniques 2(1):65).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from dockdyn.contact.bound_tree import read_row, walk_tree
from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.scenario.meshes.box_tree import (
    FACES,
    BoxTree,
    box_tree,
    larger_of,
    read_corners,
    smaller_of,
)

DEPTH = 1e-9  # of the largest extent: what is nearer is not told apart
WIDTH = 1e-6  # of the largest extent: from the middle of a more slender face no ray is sent
RAY = np.array([0.3526, 0.4871, 0.7990])  # along no edge or face that a person would draw
GRAZING = 1e-3  # cosine between ray and normal
FACES_AT_ONCE = 1 << 14
ROOM = 21  # numbers of a face: corners, normal, corners as the ray sees them


class FaceFaults(NamedTuple):
    """What is wrong with the faces of a closed mesh."""

    crossed: Bool[np.ndarray, "faces"]  # an edge of another goes through it
    before: Int[np.ndarray, "faces"]  # how often what is before it is inside: 0 before a solid
    sure: Bool[np.ndarray, "faces"]  # of that: not of slender faces, and of those on which others lie
    covered: Bool[np.ndarray, "faces"]  # another face lies on its middle

    @property
    def wrong(self) -> Bool[np.ndarray, "faces"]:
        """Whether before a face is not the outside, or behind it not the solid."""
        return self.sure & (self.before != 0)


def look_at_faces(vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]) -> FaceFaults:
    """Return what is wrong with the faces of a closed and evenly wound mesh (m)."""
    size = float(np.ptp(vertices, axis=0).max())
    tree, triangles = _tightest(vertices[faces])
    triangles = triangles[tree.order]
    doubled = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(doubled, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        normals = np.nan_to_num(doubled / area[:, None])
    table = np.zeros((FACES, ROOM))
    table[: len(faces), :9] = triangles.reshape(-1, 9)
    table[: len(faces), 9:12] = normals
    table[: len(faces), 12:] = _shear(triangles).reshape(-1, 9)
    length = float(np.sqrt(RAY @ RAY))

    def of_part(first: int) -> np.ndarray:
        count = min(FACES_AT_ONCE, len(faces) - first)
        found = _look(tree[:2], table, first, first + count, DEPTH * size)
        return np.asarray(found)[:count]

    starts = range(0, len(faces), FACES_AT_ONCE)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = np.concatenate([of_part(0), *pool.map(of_part, starts[1:])])
    crossed, unclear, winding = found.T
    slope = normals @ RAY / length
    longest = np.linalg.norm(np.roll(triangles, 1, axis=1) - triangles, axis=2).max(axis=1)
    fit = (abs(slope) > GRAZING) & (area > WIDTH * size * longest)
    before = np.where(slope > 0, winding, winding - 1)
    back = np.argsort(tree.order)
    sure, covered = fit & (unclear == 0), fit & (unclear != 0)
    return FaceFaults(crossed[back] != 0, before[back], sure[back], covered[back])


def _tightest(triangles: np.ndarray) -> tuple[BoxTree, np.ndarray]:
    """Return the tree over triangles in those axes in which their boxes are smaller, and the triangles there.

    The axes are the file's, or the main axes of all corners, along which long faces may lie.
    """
    corners = triangles.reshape(-1, 3) - triangles.reshape(-1, 3).mean(axis=0)
    _, axes = np.linalg.eigh(corners.T @ corners)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    turned = triangles @ axes
    tight = min((triangles, turned), key=_surface_of_boxes)
    return box_tree(tight), tight


def _surface_of_boxes(triangles: np.ndarray) -> float:
    """Return half the surface (m²) of the boxes around triangles together."""
    x, y, z = np.ptp(triangles, axis=1).T
    return float((x * y + y * z + z * x).sum())


def _shear(points: np.ndarray) -> np.ndarray:
    """Return points in coordinates of which only the third changes along the ray."""
    along = points[..., 2] / RAY[2]
    return np.stack([points[..., 0] - along * RAY[0], points[..., 1] - along * RAY[1], along], axis=-1)


@Program
def _look(tree: PyTree, table: Array, first: Array, last: Array, depth: Array) -> Array:
    """Return for faces of the tree whether they are crossed, whether the ray from their middle is unclear, and how often it
    leaves the solid more than it enters it."""

    def turn(given: PyTree) -> PyTree:
        face, found = given
        crossed = _is_crossed(tree, table, face, depth)
        unclear, winding = _winding(tree, table, face, depth)
        row = jnp.stack([crossed.astype(int), unclear.astype(int), winding])
        return face + 1, jax.lax.dynamic_update_slice(found, row[None], (face - first, 0))

    start = first, jnp.zeros((FACES_AT_ONCE, 3), int)
    return jax.lax.while_loop(lambda given: given[0] < last, turn, start)[-1]


def _is_crossed(tree: PyTree, table: Array, face: Array, depth: Array) -> Array:
    """Return whether an edge of another face goes through this one, `depth` (m) beyond on both sides and inside its edges."""
    corners, normal = read_corners(table, face), Vector(*read_row(table, face, 9, 3))
    sides = [[getattr(corner, axis) for corner in corners] for axis in "xyz"]
    low, high = ([choose(*side) for side in sides] for choose in (smaller_of, larger_of))

    def key(box: list[Array]) -> Array:
        apart = [(box[axis] > high[axis]) | (box[axis + 3] < low[axis]) for axis in range(3)]
        return jnp.where(apart[0] | apart[1] | apart[2], 1.0, 0.0)

    def take(other: Array, found: Array) -> Array:
        ends = read_corners(table, other)
        heights = [(end - corners[0]).dot(normal) for end in ends]
        below, above = smaller_of(*heights), larger_of(*heights)
        through = (below < 0) & (above > 0) & (other != face)
        return jax.lax.cond(through, compare, lambda other, found: found, other, found)

    def compare(other: Array, found: Array) -> Array:
        ends = read_corners(table, other)
        heights = [_height(end, corners, normal) for end in ends]
        for number in range(3):
            after = (number + 1) % 3
            one, two = heights[number], heights[after]
            place = ends[number] + (ends[after] - ends[number]) * (one / (one - two))
            inside = [
                normal.cross(end - start).dot(place - start) > depth * (end - start).norm()
                for start, end in zip(corners, corners[1:] + corners[:1], strict=True)
            ]
            apart = ((one > depth) & (two < -depth)) | ((one < -depth) & (two > depth))
            found |= apart & inside[0] & inside[1] & inside[2]
        return found

    return walk_tree(tree, key, lambda found: jnp.where(found, -1.0, 0.5), take, jnp.array(False))


def _height(point: Vector, corners: list[Vector], normal: Vector) -> Array:
    """Return the height (m) of a point over a plane, from the nearest of its corners: a slender face's normal is not known
    well."""
    ways = [point - corner for corner in corners]
    squares = [way.dot(way) for way in ways]
    heights = [way.dot(normal) for way in ways]
    least = smaller_of(*squares)
    return jnp.where(squares[0] == least, heights[0], jnp.where(squares[1] == least, heights[1], heights[2]))


def _winding(tree: PyTree, table: Array, face: Array, depth: Array) -> tuple[Array, Array]:
    """Return whether the ray from the middle of a face meets another within a `depth` (m), and how often it leaves the solid
    more than it enters it."""
    start = sum(read_corners(table, face), Vector.zero()) * (1 / 3)
    seen = sum(read_corners(table, face, 12), Vector.zero()) * (1 / 3)

    def key(box: list[Array]) -> Array:
        near, far = jnp.array(0.0), jnp.array(jnp.inf)
        for axis, at in enumerate((start.x, start.y, start.z)):
            near = larger_of(near, (box[axis] - depth - at) * (1 / RAY[axis]))
            far = smaller_of(far, (box[axis + 3] + depth - at) * (1 / RAY[axis]))
        return jnp.where(near <= far, 0.0, 1.0)

    def take(other: Array, found: PyTree) -> PyTree:
        a, b, c = read_corners(table, other, 12)
        shares = [_edge_function(seen, *ends) for ends in ((b, c), (c, a), (a, b))]
        leaves = (shares[0] > 0) & (shares[1] > 0) & (shares[2] > 0)
        enters = (shares[0] < 0) & (shares[1] < 0) & (shares[2] < 0)
        height = shares[0] * (a.z - seen.z) + shares[1] * (b.z - seen.z) + shares[2] * (c.z - seen.z)
        whole = shares[0] + shares[1] + shares[2]
        ahead = height * jnp.where(enters, -1, 1) > depth * jnp.abs(whole)
        behind = height * jnp.where(enters, -1, 1) < -depth * jnp.abs(whole)
        met = (leaves | enters) & (other != face)
        unclear, winding = found
        turns = jnp.where(leaves, 1, -1)
        return unclear | (met & ~ahead & ~behind), winding + jnp.where(met & ahead, turns, 0)

    return walk_tree(tree, key, lambda found: jnp.array(0.5), take, (jnp.array(False), jnp.array(0)))


def _edge_function(point: Vector, start: Vector, end: Vector) -> Array:
    """Return twice the area between a point and an edge, as the ray sees them: exactly its negative from end to start."""
    return (start.x - point.x) * (end.y - point.y) - (start.y - point.y) * (end.x - point.x)
