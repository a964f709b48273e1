"""Where in a step a guard first rises through zero, on the discrete path itself.

A step that goes too far, or may have touched on its way, is attempted again with its end where the guards' cubics put the
event, and again where Newton's method puts it, kept inside a bracket, until the guard is zero at the end.

Units: times s, guards in those of the model (depths m).
Source: Newton's method inside a bracket; own construction.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.integrate.model import Flag, Scalar, choose_tree
from dockdyn.integrate.variational.mechanical import Mechanical, Numbers, Row
from dockdyn.mechanics import cubic
from dockdyn.mechanics.retraction import retract_configuration

CLOSED = 1e-10  # m: contacts nearer than this touch at the same instant
STILL = 1e-12  # m/s: an approach slower than this is none
TOUCH = 1e-13  # m: depths below it are rounding
ROOT = 1e-14  # m: depth at which an event is found
NARROW = 1e-16  # of the step: a bracket that cannot shrink
SHORTEST = 1e-17  # of the step: the way to an event at its very start

type Guards = Float[Array, "guards"]


class Search(NamedTuple):
    """What is known of an event in the step at hand."""

    length: Scalar  # s, of the next attempt; inf: there is no search
    low: Scalar  # s; nothing touches before
    high: Scalar  # s; something does
    guard: Int[Array, ""]  # aimed at
    grazing: Flag  # the next attempt ends where a guard is deepest that may not touch at all
    clear: Flag  # it did not
    corrections: Int[Array, ""]  # Newton's, in a row
    span: Scalar  # s, of the whole step

    @staticmethod
    def none() -> Search:
        never = jnp.zeros((), bool)
        far = jnp.asarray(jnp.inf)
        return Search(far, jnp.zeros(()), far, jnp.zeros((), int), never, never, jnp.zeros((), int), far)


class AttemptVerdict(NamedTuple):
    """What an attempt shows."""

    found: Flag  # its end is the event of `guard`
    guard: Int[Array, ""]
    goes: Flag  # it may be taken as it is
    search: Search  # else: what follows


class Ends(NamedTuple):
    """Guards and their rates at both ends of an attempt."""

    start: Guards
    end: Guards
    start_rate: Guards
    end_rate: Guards


def guard_rates(model: Mechanical, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> Guards:
    """Return the time derivatives of the guards at velocities v."""
    rise = lambda t, x: model.guards(t, retract_configuration(model.attitudes, q, x), mode)  # noqa: E731
    return jax.jvp(rise, (t, jnp.zeros_like(v)), (jnp.ones(()), v))[1]


def at_least_shortest(at: Scalar, length: Scalar) -> Scalar:
    """Return `at`, or the shortest way where it is shorter, with the derivative of `at`."""
    return at + jax.lax.stop_gradient(jnp.maximum(SHORTEST * length - at, 0.0))


def judge_attempt(
    search: Search, time: Scalar, length: Scalar, ends: Ends, free: Bool[Array, "guards"]
) -> AttemptVerdict:
    """Return what the attempt of a step from `time` over `length` shows of the guards that are `free`."""
    searching = jnp.isfinite(search.length)
    return choose_tree(
        searching, search_again(search, time, length, ends, free), search_first(search, length, ends, free)
    )


def search_first(search: Search, length: Scalar, ends: Ends, free: Bool[Array, "guards"]) -> AttemptVerdict:
    """Return the search over the whole step, by the cubics through the guards and their rates."""
    a, b, da, db = ends.start, ends.end, ends.start_rate * length, ends.end_rate * length
    low, high = cubic.cubic_extremes(a, b, da, db)
    through = free & (b > TOUCH)
    # what begins to part is not struck again by what presses it for the first part of the step
    parts = (a >= -CLOSED) & (jnp.abs(ends.start_rate) <= STILL)
    grazes = free & ~through & ~parts & (high > 0) & (high < 1) & ~search.clear
    _, root = cubic.rising_root(a, b, da, db)
    # the deepest of those that may graze comes first: if it does not touch, none does
    crest = jnp.argmax(jnp.where(grazes, cubic.cubic_value(high, a, b, da, db), -jnp.inf))
    aim = jnp.where(jnp.any(grazes), crest, jnp.argmin(jnp.where(through, root, jnp.inf)))
    share = jnp.where(jnp.any(grazes), high[aim], root[aim])
    dips = (low[aim] > 0) & (low[aim] < share)
    bottom = jnp.where(dips, low[aim], 0.0) * length
    none = jnp.zeros((), int)
    start = at_least_shortest(share * length, length)
    following = Search(start, bottom, length, aim, jnp.any(grazes), search.clear, none, length)
    goes = ~jnp.any(through | grazes)
    return AttemptVerdict(jnp.zeros((), bool), aim, goes, choose_tree(goes, Search.none(), following))


def search_again(
    search: Search, time: Scalar, length: Scalar, ends: Ends, free: Bool[Array, "guards"]
) -> AttemptVerdict:
    """Return the search after an attempt to end at the event."""
    depth, rate = ends.end, ends.end_rate
    exact = ROOT + 4e-16 * jnp.abs(rate) * time
    over = free & (depth > exact)
    newton = length - depth / jnp.where(rate > 0, rate, 1.0)
    newton = jnp.where(rate > 0, newton, -1.0)
    aim = jnp.where(jnp.any(over), jnp.argmin(jnp.where(over, newton, jnp.inf)), search.guard)
    missed = search.grazing & ~jnp.any(free & (depth > TOUCH))
    low = jnp.where(jnp.any(over), search.low, length)
    high = jnp.where(jnp.any(over), length, search.high)
    close = (jnp.abs(depth[aim]) <= exact[aim]) & ~jnp.any(over)
    steep = jnp.abs(depth[aim]) < 1e-3 * search.span * rate[aim]
    fits = ((newton[aim] > low) & (newton[aim] < high)) | (close & steep)
    guess = at_least_shortest(jnp.where(fits, newton[aim], 0.5 * (low + high)), search.span)
    # derivatives of a run pass through the corrections, not through the first guess: two leave nothing of that
    exactly = close & ((search.corrections > 1) | ~steep)
    found = (exactly | (~close & (high - low <= NARROW * search.span))) & ~missed
    never, count = jnp.zeros((), bool), jnp.where(fits, search.corrections + 1, 0)
    following = Search(guess, low, high, aim, never, never, count, search.span)
    following = choose_tree(missed, Search.none()._replace(clear=~never), following)
    return AttemptVerdict(found, aim, never, choose_tree(found, Search.none(), following))
