"""A tree of boxes over the faces of a mesh, or over points.

Units: m.
Source: binned surface-area heuristic, Wald 2007, IEEE Symposium on Interactive Ray Tracing, p. 33.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.contact.bound_tree import read_row
from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.mechanics.vector import Vector
from dockdyn.scenario.meshes.contents import MOST

LEAF = 4  # faces of a box that is not divided
BINS = 16  # along each axis, at whose sides a box may be divided
DEEPEST = 40  # divisions by the heuristic; from there on into halves, so that the stack of a walk suffices
FACES = 1 << (MOST - 1).bit_length()  # room for as many faces as a mesh may have


class BoxTree(NamedTuple):
    """Boxes, each of two smaller ones or of a few faces, in arrays with room for the largest mesh.

    So that one program serves every mesh; what is beyond the mesh is never touched, and takes no memory.
    """

    boxes: Float[np.ndarray, "boxes 6"]  # m, lowest and highest corner
    children: Int[
        np.ndarray, "boxes 2"
    ]  # of an inner box the first of two neighbours, and 0; of a leaf first face, faces
    order: Int[np.ndarray, "faces"]  # the number in the mesh of each face of the tree


def box_tree(triangles: Float[np.ndarray, "faces corners 3"], room: int = FACES, leaf: int = LEAF) -> BoxTree:
    """Return the tree over triangles (m), or other things with corners, divided where surfaces times their numbers are least.

    It has room for so many of them; a box of at most `leaf` of them is not divided.
    """
    lows, highs = triangles.min(axis=1), triangles.max(axis=1)
    centres, order = (lows + highs) / 2, np.arange(len(triangles))
    boxes, children = np.zeros((2 * room, 6)), np.zeros((2 * room, 2), np.int64)
    starts, ends, places, made = np.array([0]), np.array([len(triangles)]), np.array([0]), 1
    level = 0
    while len(places):
        level += 1
        boxes[places, :3], boxes[places, 3:] = _extremes(lows, highs, order, starts, ends)
        small = ends - starts <= leaf
        children[places[small]] = np.stack([starts[small], (ends - starts)[small]], axis=1)
        starts, ends, places = starts[~small], ends[~small], places[~small]
        if not len(places):
            break
        middles = _divide(lows, highs, centres, order, starts, ends, halves=level > DEEPEST)
        first = made + 2 * np.arange(len(places))
        children[places, 0] = first
        made += 2 * len(places)
        starts, ends = np.stack([starts, middles], axis=1).ravel(), np.stack([middles, ends], axis=1).ravel()
        places = np.stack([first, first + 1], axis=1).ravel()
    return BoxTree(boxes, children, order)


def _extremes(
    lows: np.ndarray, highs: np.ndarray, order: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the boxes around stretches of the order, one after another and without an empty one."""
    faces, firsts = _stretches(order, starts, ends)
    return np.minimum.reduceat(lows[faces], firsts), np.maximum.reduceat(highs[faces], firsts)


def _stretches(order: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what is in stretches of the order, one after another, and where each begins there."""
    counts = ends - starts
    firsts = np.cumsum(counts) - counts
    return order[np.arange(counts.sum()) + np.repeat(starts - firsts, counts)], firsts


def _divide(
    lows: np.ndarray,
    highs: np.ndarray,
    centres: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    halves: bool,
) -> np.ndarray:
    """Return where each stretch of the order is divided, and sort the order by the sides."""
    faces, firsts = _stretches(order, starts, ends)
    counts = ends - starts
    owners = np.repeat(np.arange(len(starts)), counts)
    low = np.minimum.reduceat(centres[faces], firsts)
    width = np.maximum.reduceat(centres[faces], firsts) - low
    scale = np.divide(BINS, width, out=np.zeros_like(width), where=width > 0)
    bins = np.minimum(((centres[faces] - low[owners]) * scale[owners]).astype(np.int64), BINS - 1)
    costs = np.stack([_costs(lows[faces], highs[faces], owners, bins[:, axis], len(starts)) for axis in range(3)], 1)
    best = costs.reshape(len(starts), -1).argmin(axis=1)
    axes, cuts = np.divmod(best, BINS - 1)
    usable = np.isfinite(costs.reshape(len(starts), -1)[np.arange(len(starts)), best]) & (not halves)
    right = bins[np.arange(len(faces)), axes[owners]] > cuts[owners]
    within = np.arange(len(faces)) - firsts[owners]
    right = np.where(usable[owners], right, within >= counts[owners] // 2)
    order[np.arange(len(faces)) + (starts - firsts)[owners]] = faces[np.argsort(2 * owners + right, kind="stable")]
    return ends - np.bincount(owners, right, len(starts)).astype(np.int64)


def _costs(lows: np.ndarray, highs: np.ndarray, owners: np.ndarray, bins: np.ndarray, many: int) -> np.ndarray:
    """Return what each side of a bin (many, BINS - 1) costs: surfaces times numbers; infinite with none on one side."""
    keys = owners * BINS + bins
    numbers = np.bincount(keys, minlength=many * BINS).reshape(many, BINS)
    low, high = np.full((many * BINS, 3), np.inf), np.full((many * BINS, 3), -np.inf)
    for axis in range(3):
        np.minimum.at(low[:, axis], keys, lows[:, axis])
        np.maximum.at(high[:, axis], keys, highs[:, axis])
    lowest, highest = low.reshape(many, BINS, 3), high.reshape(many, BINS, 3)
    before = np.cumsum(numbers, axis=1)[:, :-1]
    after = numbers.sum(axis=1, keepdims=True) - before
    left = _surfaces_up_to(lowest, highest)[:, :-1]
    right = _surfaces_up_to(lowest[:, ::-1], highest[:, ::-1])[:, ::-1][:, 1:]
    with np.errstate(invalid="ignore"):
        return np.where((before > 0) & (after > 0), before * left + after * right, np.inf)


def _surfaces_up_to(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return half the surface (m²) of the boxes around the first bin, the first two, and so on."""
    with np.errstate(invalid="ignore"):  # of a bin with nothing in it
        x, y, z = np.moveaxis(np.maximum.accumulate(high, axis=1) - np.minimum.accumulate(low, axis=1), -1, 0)
        return x * y + y * z + z * x


def read_corners(array: Array, place: Array, column: int = 0) -> list[Vector]:
    """Return three points of one row of an array, from a column on."""
    numbers = read_row(array, place, column, 9)
    return [Vector(*numbers[at : at + 3]) for at in (0, 3, 6)]


def larger_of(one: Array, *others: Array) -> Array:
    """Return the largest of numbers; quicker than what also looks whether one is none."""
    for other in others:
        one = jnp.where(one > other, one, other)
    return one


def smaller_of(one: Array, *others: Array) -> Array:
    """Return the smallest of numbers; as quick."""
    for other in others:
        one = jnp.where(one < other, one, other)
    return one
