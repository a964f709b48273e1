"""A tree of boxes over the faces of a mesh, and the one way in which programs walk through it.

Units: m.
Source: binned surface-area heuristic, Wald 2007, IEEE Symposium on Interactive Ray Tracing, p. 33.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, Int, PyTree, jax, jnp
from dockdyn.mechanics.vector import Vector
from dockdyn.scenario.meshes.contents import MOST

LEAF = 4  # faces of a box that is not divided
BINS = 16  # along each axis, at whose sides a box may be divided
DEEPEST = 40  # divisions by the heuristic; from there on into halves, so that the stack suffices
STACK = 96  # boxes that wait at most: less than DEEPEST + log2(MOST)
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


def box_tree(triangles: Float[np.ndarray, "faces 3 3"]) -> BoxTree:
    """Return the tree over triangles (m), divided where surfaces times numbers of faces are least."""
    lows, highs = triangles.min(axis=1), triangles.max(axis=1)
    centres, order = (lows + highs) / 2, np.arange(len(triangles))
    boxes, children = np.zeros((2 * FACES, 6)), np.zeros((2 * FACES, 2), np.int64)
    starts, ends, places, made = np.array([0]), np.array([len(triangles)]), np.array([0]), 1
    level = 0
    while len(places):
        level += 1
        boxes[places, :3], boxes[places, 3:] = _extremes(lows, highs, order, starts, ends)
        small = ends - starts <= LEAF
        children[places[small]] = np.stack([starts[small], (ends - starts)[small]], axis=1)
        starts, ends, places = starts[~small], ends[~small], places[~small]
        if not len(places):
            break
        middles = _divided(lows, highs, centres, order, starts, ends, halves=level > DEEPEST)
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


def _divided(
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


def walk_tree(
    tree: PyTree,
    key: Callable[[list[Array]], Array],
    limit: Callable[[PyTree], Array],
    take: Callable[[Array, PyTree], PyTree],
    state: PyTree,
) -> PyTree:
    """Return the `state` after all faces have been taken that may matter, by a program.

    `tree` is a `BoxTree`'s boxes and children. Of two boxes that with the smaller `key`, of its six numbers, comes first; none
    is looked into whose key is not below the `limit` of the state. `take` makes the state after a face of the tree, by its
    number.
    """
    boxes, children = tree
    nothing = (
        jnp.array(-1),
        jnp.array(0.0),
        jnp.array(-1),
        jnp.array(0.0),
    )  # boxes to look into next and later, their keys

    def keyed(box: Array) -> Array:
        return key(read_row(boxes, box, 0, 6))

    def look_inside(box: Array, state: PyTree) -> PyTree:
        first, count = read_row(children, box, 0, 2)
        return jax.lax.cond(count > 0, take_leaf, descend, first, count, state)

    def take_leaf(first: Array, count: Array, state: PyTree) -> PyTree:
        _, state = jax.lax.while_loop(
            lambda given: given[0] < first + count,
            lambda given: (given[0] + 1, take(given[0], given[1])),
            (first, state),
        )
        return *nothing, state

    def descend(first: Array, count: Array, state: PyTree) -> PyTree:
        one, other, bound = keyed(first), keyed(first + 1), limit(state)
        near, far = jnp.where(other < one, first + 1, first), jnp.where(other < one, first, first + 1)
        nearest, farthest = jnp.minimum(one, other), jnp.maximum(one, other)
        return (
            jnp.where(nearest < bound, near, -1),
            nearest,
            jnp.where(farthest < bound, far, -1),
            farthest,
            state,
        )

    def skip(box: Array, state: PyTree) -> PyTree:
        return *nothing, state

    def turn(carried: PyTree) -> PyTree:
        *place, waiting, state = carried
        *found, state = jax.lax.cond(place[1] < limit(state), look_inside, skip, place[0], state)
        return *_next_box(found, waiting), state

    stack = jnp.array(0), jnp.zeros(STACK, int), jnp.zeros(STACK)
    start = jnp.array(0), keyed(jnp.array(0)), stack, state
    return jax.lax.while_loop(lambda given: given[2][0] >= 0, turn, start)[-1]


def _next_box(found: list[Array], stack: PyTree) -> tuple[Array, Array, PyTree]:
    """Return the box to look into next, its key, and the boxes that wait: their number, below 0 after the last, and their keys.

    `found` is the nearer box, its key, the farther one and its key; below 0 where there is none.
    """
    box, own, later, its = found
    waiting, boxes, keys = stack
    boxes = jax.lax.dynamic_update_slice(boxes, later[None], (waiting,))
    keys = jax.lax.dynamic_update_slice(keys, its[None], (waiting,))
    ended = box < 0
    waiting = waiting + (later >= 0) - ended
    top = jnp.maximum(waiting, 0)
    box = jnp.where(ended, jax.lax.dynamic_slice(boxes, (top,), (1,))[0], box)
    own = jnp.where(ended, jax.lax.dynamic_slice(keys, (top,), (1,))[0], own)
    return box, own, (waiting, boxes, keys)


def read_row(array: Array, place: Array, column: Array | int, count: int) -> list[Array]:
    """Return `count` numbers of one row of an array, from a column on."""
    found = jax.lax.dynamic_slice(array, (place, column), (1, count))[0]
    return [found[number] for number in range(count)]


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
