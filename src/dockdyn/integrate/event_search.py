"""Where in a step a guard first rises through zero, on the discrete path itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.integrate import cubic
from dockdyn.integrate.mechanical import Mechanical, Numbers, Row
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.integrate.variational import Newton, Start, Step, step
from dockdyn.mechanics.retraction import moved

TOUCH = 1e-13  # m: depths below it are rounding
ROOT = 1e-14  # m: depth at which an event is found
ATTEMPTS = 60


class Found(NamedTuple):
    """An event: the step that ends there."""

    exists: Flag
    guard: Int[Array, ""]
    length: Scalar  # s
    v: Row
    q: Numbers
    p: Row
    force: Row


def guard_rates(model: Mechanical, t: Scalar, q: Numbers, v: Row, mode: Any) -> Float[Array, "guards"]:
    """Time derivatives of the guards at velocities v."""
    rise = lambda t, x: model.guards(t, moved(model.attitudes, q, x), mode)  # noqa: E731
    return jax.jvp(rise, (t, jnp.zeros_like(v)), (jnp.ones(()), v))[1]


def earliest(
    model: Mechanical,
    start: Start,
    length: Scalar,
    tried: Step,
    v: Row,
    before: Float[Array, "guards"],
    depths: Float[Array, "guards"],
    free: Bool[Array, "guards"],
    newton: Newton,
) -> Found:
    """The first event among the guards that are `free`, inside a step that starts with velocities v.

    Depths are `before` and `depths` at its ends. Velocities at the end of a step are twice those along it less those at its
    start, to second order; that is enough for slopes of Newton's method.
    """
    mode = start.at.mode
    rates = guard_rates(model, start.t, start.at.q, v, mode)
    after = guard_rates(model, start.t + length, tried.q, 2 * tried.v - v, mode)

    def search(guard: Int[Array, ""]) -> Found:
        a, b, da, db = before[guard], depths[guard], rates[guard] * length, after[guard] * length
        low, high = cubic.extremes(a, b, da, db)
        through = b > TOUCH
        grazes = ~through & (high > 0) & (high < 1)
        possible = free[guard] & (through | grazes)
        top = jnp.where(through, 1.0, high) * length
        bottom = jnp.where((low > 0) & (low * length < top), low, 0.0) * length
        _, root = cubic.rising_root(a, b, da, db)
        guess = jnp.where(through & (root > 0), root * length, top)

        def going(carry: Any) -> Flag:
            return ~carry[-1] & (carry[-2] < ATTEMPTS)

        def attempt(carry: Any) -> Any:
            low, high, at, _, _, count, _ = carry
            found = step(model, start, at, tried.v, newton)
            depth = model.guards(start.t + at, found.q, mode)[guard]
            slope = guard_rates(model, start.t + at, found.q, 2 * found.v - v, mode)[guard]
            # a grazing contact is looked at where it is deepest, and left alone where it does not touch there
            passes = grazes & (count == 0) & (depth <= TOUCH)
            hit = jnp.abs(depth) <= ROOT + 4e-16 * jnp.abs(slope * start.t)
            low, high = jnp.where(depth > 0, low, at), jnp.where(depth > 0, at, high)
            better = at - depth / jnp.where(slope == 0, 1.0, slope)
            fits = (better > low) & (better < high) & (slope > 0)
            following = jnp.where(fits, better, 0.5 * (low + high))
            over = passes | hit | (high - low <= 1e-16 * length)
            return low, high, jnp.where(over, at, following), found, hit | (over & ~passes), count + 1, over

        carry = (bottom, top, guess, tried, jnp.asarray(False), jnp.zeros((), int), ~possible)
        _, _, at, found, hit, _, _ = jax.lax.while_loop(going, attempt, carry)
        return Found(hit & possible, guard, at, found.v, found.q, found.p, found.force)

    all_found = jax.lax.map(search, jnp.arange(depths.shape[0]))
    first = jnp.argmin(jnp.where(all_found.exists, all_found.length, jnp.inf))
    return jax.tree.map(lambda leaf: leaf[first], all_found)
