"""Where in a step a guard first rises through zero, on the discrete path itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.integrate import cubic
from dockdyn.integrate.mechanical import Mechanical, Numbers, Point, Row, velocities
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.integrate.variational import Newton, Start, Step, linearised, residual, step
from dockdyn.mechanics.dense import solved
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


def guard_rates(model: Mechanical, t: Scalar, at: Point, v: Row) -> Float[Array, "guards"]:
    """Time derivatives of the guards at velocities v."""
    rise = lambda t, x: model.guards(t, moved(model.attitudes, at.q, x), at.mode)  # noqa: E731
    return jax.jvp(rise, (t, jnp.zeros_like(v)), (jnp.ones(()), v))[1]


def depth_at(
    model: Mechanical, start: Start, length: Scalar, guard: Int[Array, ""], guess: Row, newton: Newton
) -> tuple[Scalar, Scalar, Step]:
    """Depth of a guard at the end of a step of this length, its derivative by the length, and the step.

    This is the bordered system of step and event with the step's equations eliminated.
    """
    found = step(model, start, length, guess, newton)
    unknown = jnp.concatenate([found.v, found.impulses])
    _, factors = linearised(model, start, length, unknown)
    _, shift = jax.jvp(lambda h: residual(model, start, h, unknown)[0], (length,), (jnp.ones(()),))
    change = -solved(factors, shift)[: found.v.shape[0]]

    def depth(h: Scalar, v: Row) -> Scalar:
        return model.guards(start.t + h, moved(model.attitudes, start.at.q, h * v), start.at.mode)[guard]

    value, slope = jax.jvp(depth, (length, found.v), (jnp.ones(()), change))
    return value, slope, found


def earliest(
    model: Mechanical,
    start: Start,
    length: Scalar,
    tried: Step,
    depths: Float[Array, "guards"],
    end: Point,
    rates: Float[Array, "guards"],
    free: Bool[Array, "guards"],
    newton: Newton,
) -> Found:
    """The first event among the guards that are `free`, inside a step that ends with `depths`; `rates` are at its start."""
    before = model.guards(start.t, start.at.q, start.at.mode)
    v, _ = velocities(model, start.t + length, end)
    after = guard_rates(model, start.t + length, end, v)

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
            depth, slope, found = depth_at(model, start, at, guard, tried.v, newton)
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
