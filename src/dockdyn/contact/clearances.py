"""What is known of how far the members of a group are from what they touch, kept while both bodies move.

No member comes nearer than both bodies move: one that was a millimetre away need not be looked at before they have moved by
that. So after each step the distances of those alone that may touch are asked anew, and all that is known of the others
stays sure. What a group does depends on none of these: members that are passed over have no force, and sums are in the order
of the members.

Units: m.
Source: triangle inequality; conservative advancement, Mirtich 1996, Impulse-based Dynamic Simulation, section 2.3; own
construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dockdyn.contact.bound_tree import STACK, read_row
from dockdyn.contact.expansions import Expansions
from dockdyn.contact.relative_pose import RelativePose
from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import map_leaves

JUMP = 1000.0  # m: bodies do not move so far within a step
ROUNDING = 1e-15  # of what has closed


class Clearances(NamedTuple):
    """What is known of balls about members, and of members, when the bodies were where they were `seen`."""

    closed: Scalar  # m, by how much any distance may have shrunk since the first time, at most
    nearest: Scalar  # m, of some member then; infinite where none is known
    stride: Scalar  # m, that has closed from one time to the next at most; 0 before the second
    seen: RelativePose
    levels: Float[Array, "balls+members"]  # m: a distance is no less than this less what may have `closed`
    touching: Expansions | None = None  # of members that touch; None where they are few, or their surface has none

    @staticmethod
    def unknown(count: int, touching: Expansions | None = None) -> Clearances:
        """Return it of so many balls and members before anything is known."""
        zero = jnp.zeros(())
        return Clearances(zero, jnp.asarray(jnp.inf), zero, RelativePose.nowhere(), jnp.full(count, -jnp.inf), touching)

    def since(self, now: RelativePose, reach: Scalar, steepest: Scalar) -> tuple[Scalar, Scalar]:
        """Return how much may have closed (m) once the bodies are `now`, and how far (m) the nearest is then at most.

        A distance changes by `steepest` times what its member moves, at most.
        """
        more = steepest * now.motion(self.seen, reach)
        return self.closed + more, self.nearest + more


class MemberBounds(NamedTuple):
    """A tree over members, balls about all beneath each, and how far a ball is at least."""

    balls: Float[Array, "balls 4"]  # m: centre and radius
    children: Int[Array, "balls 2"]  # as those of a `MemberTree`
    centres: Float[Array, "members 3"]  # m
    distance: Callable[[list[Scalar]], Scalar]  # m, of all within a radius of a centre, at least; of a point, exactly

    def renewed(
        self,
        known: Clearances,
        now: RelativePose,
        due: Bool[Array, ""] | bool,
        bounds: tuple[Scalar, Scalar, Scalar],
        brink: Scalar,
    ) -> Clearances:
        """Return what is known once the bodies are `now`, if that is `due`: `bounds` are how much may have closed (m), within
        what (m) some member is, and how far (m) that is asked.

        Anew is what is known of all that may be nearer than both the nearest member and that, or nearer than the `brink` (m)
        once as much again has closed twice. After a `JUMP`, as an attempt may make that is rejected, it is what was known
        before."""
        closed, nearest, far = bounds
        first, more = jnp.isneginf(known.levels[0]), closed - known.closed
        sound = due & jnp.where(first, jnp.isfinite(more), more < JUMP)
        closed = jnp.where(first, 0.0, closed)
        soon = brink + jnp.where(first, 0.0, 2 * more)
        stride = jnp.where(first, 0.0, jnp.maximum(known.stride, more))

        def limit(best: Scalar) -> Scalar:
            return closed + jnp.maximum(jnp.minimum(best, far), soon)

        def turn(given: PyTree) -> PyTree:
            top, stack, levels, best = given
            item = stack[top]
            ends = item < 0  # a ball whose balls have been seen to
            ball = jnp.where(ends, -1 - item, item)
            level, (begin, members) = levels[ball], read_row(self.children, ball, 0, 2)
            leaf, due = members > 0, ~ends & (level < limit(best))
            things = jnp.where(due, jnp.where(leaf, members, 2), 0)
            levels, best, least = self._ask_beneath((begin, things, leaf), levels, best, closed, limit)
            one, other = levels[begin], levels[begin + 1]
            sure = jnp.where(ends, jnp.minimum(one, other), jnp.where(due, least, level))
            levels = levels.at[ball].set(jnp.maximum(level, sure))
            opens = due & ~leaf & (least < limit(best))
            stack = stack.at[top].set(-1 - ball)
            stack = stack.at[top + 1].set(jnp.where(one < other, begin + 1, begin))
            stack = stack.at[top + 2].set(jnp.where(one < other, begin, begin + 1))
            return jnp.where(opens, top + 2, top - 1), stack, levels, best

        start = jnp.where(sound & (first | (more > 0)), 0, -1), jnp.zeros(STACK, int), known.levels, nearest
        *_, levels, best = jax.lax.while_loop(lambda given: given[0] >= 0, turn, start)
        after = known._replace(closed=closed, nearest=best, stride=stride, seen=now, levels=levels)
        kept = {name: getattr(known, name) for name in ("closed", "nearest", "stride", "seen")}
        return after._replace(
            **{name: map_leaves(lambda a, b: jnp.where(sound, a, b), getattr(after, name), kept[name]) for name in kept}
        )

    def _ask_beneath(
        self,
        things: tuple[Int[Array, ""], Int[Array, ""], Bool[Array, ""]],
        levels: Float[Array, "balls+members"],
        best: Scalar,
        closed: Scalar,
        limit: Callable[[Scalar], Scalar],
    ) -> tuple[Float[Array, "balls+members"], Scalar, Scalar]:
        """Return the levels with those of the `things` of a ball (the first, how many, whether they are members) renewed that
        are below the `limit`, the distance (m) of the nearest member, which was `best`, and the least level of these things."""
        begin, many, leaf = things
        count = self.balls.shape[0]

        def look(number: Int[Array, ""], level: Scalar, best: Scalar) -> tuple[Scalar, Scalar]:
            def member() -> list[Scalar]:
                return [*read_row(self.centres, number, 0, 3), jnp.zeros(())]

            found = self.distance(jax.lax.cond(leaf, member, lambda: read_row(self.balls, number, 0, 4)))
            return jnp.maximum(level, found + closed), jnp.where(leaf, jnp.minimum(best, found), best)

        def ask(given: PyTree) -> PyTree:
            turn, levels, best, least = given
            number = begin + turn
            place = jnp.where(leaf, count, 0) + number
            level = levels[place]
            # of a ball whose things are known, the nearest of these says more than the ball
            beneath, members = read_row(self.children, jnp.where(leaf, 0, number), 0, 2)
            unknown = jnp.isneginf(levels[jnp.where(members > 0, count, 0) + beneath])
            level, best = jax.lax.cond(
                (level < limit(best)) & (leaf | unknown), lambda: look(number, level, best), lambda: (level, best)
            )
            return turn + 1, levels.at[place].set(level), best, jnp.minimum(least, level)

        start = jnp.zeros((), int), levels, best, jnp.asarray(jnp.inf)
        *_, levels, best, least = jax.lax.while_loop(lambda given: given[0] < many, ask, start)
        return levels, best, least

    def visit(
        self,
        levels: Float[Array, "balls+members"],
        limit: Callable[[PyTree], Scalar],
        take: Callable[[Array, PyTree], PyTree],
        state: PyTree,
        due: Bool[Array, ""] | bool = True,
    ) -> PyTree:
        """Return the `state` after all members whose level is below its `limit`, in their order, if that is `due`; `take` makes
        the state after one, by its number."""
        count = self.balls.shape[0]

        def turn(given: PyTree) -> PyTree:
            top, stack, state = given
            ball = stack[top]
            first, members = read_row(self.children, ball, 0, 2)
            due = levels[ball] < limit(state)

            def ask(given: PyTree) -> PyTree:
                number, state = given
                below = levels[count + number] < limit(state)
                return number + 1, jax.lax.cond(below, lambda: take(number, state), lambda: state)

            _, state = jax.lax.while_loop(
                lambda given: given[0] < first + jnp.where(due, members, 0), ask, (first, state)
            )
            stack = stack.at[top].set(first + 1).at[top + 1].set(first)
            return jnp.where(due & (members == 0), top + 1, top - 1), stack, state

        start = jnp.where(due, 0, -1), jnp.zeros(STACK, int), state
        return jax.lax.while_loop(lambda given: given[0] >= 0, turn, start)[-1]


def frozen(tree: PyTree) -> PyTree:
    """Return a tree whose numbers have no derivatives."""
    return map_leaves(jax.lax.stop_gradient, tree)
