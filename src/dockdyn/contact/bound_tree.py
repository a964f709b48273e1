"""A walk through a tree of bounds, of boxes or balls, that looks into those alone which may matter.

Units: those of what is bounded.
Source: branch and bound, depth first, the nearer one first.
"""

from __future__ import annotations

from collections.abc import Callable

from dockdyn.deferred import Array, Int, PyTree, Shaped, jax, jnp

STACK = 96  # bounds that wait at most: more than a tree is deep


def walk_tree(
    tree: PyTree,
    key: Callable[[list[Array]], Array],
    limit: Callable[[PyTree], Array],
    take: Callable[[Array, PyTree], PyTree],
    state: PyTree,
) -> PyTree:
    """Return the `state` after all things of a tree have been taken that may matter, by a program.

    `tree` is bounds, a row of numbers for each, and children: of an inner one the first of two neighbours, and 0; of a leaf the
    first of its things, and how many. Of two bounds that with the smaller `key`, of its numbers, comes first; none is looked
    into whose key is not below the `limit` of the state. `take` makes the state after a thing, by its number.
    """
    boxes, children = tree
    nothing = (
        jnp.array(-1),
        jnp.array(0.0),
        jnp.array(-1),
        jnp.array(0.0),
    )  # boxes to look into next and later, their keys

    def keyed(box: Array) -> Array:
        return key(read_row(boxes, box, 0, boxes.shape[1]))

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


def read_row(
    array: Shaped[Array, "rows columns"], place: Int[Array, ""], column: Int[Array, ""] | int, count: int
) -> list[Array]:
    """Return `count` numbers of one row of an array, from a column on."""
    found = jax.lax.dynamic_slice(array, (place, column), (1, count))[0]
    return [found[number] for number in range(count)]
