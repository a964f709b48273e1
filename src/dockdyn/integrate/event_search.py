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
SHORTEST = 1e-17  # of a step: the way to an event at its very start


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

    def later(at: Scalar) -> Scalar:
        """`at`, or the shortest way where it is shorter, with the derivative of `at`."""
        return at + jax.lax.stop_gradient(jnp.maximum(SHORTEST * length - at, 0.0))

    def search(guard: Int[Array, ""]) -> Found:
        a, b, da, db = before[guard], depths[guard], rates[guard] * length, after[guard] * length
        low, high = cubic.extremes(a, b, da, db)
        through = b > TOUCH
        grazes = ~through & (high > 0) & (high < 1)
        possible = free[guard] & (through | grazes)
        top = jnp.where(through, 1.0, high) * length
        bottom = jnp.where((low > 0) & (low * length < top), low, 0.0) * length
        _, root = cubic.rising_root(a, b, da, db)
        guess = later(jnp.where(through, root * length, top))

        def going(carry: Any) -> Flag:
            *_, count, _, over = carry
            return ~over & (count < ATTEMPTS)

        def attempt(carry: Any) -> Any:
            low, high, at, _, _, count, polished, _ = carry
            found = step(model, start, at, tried.v, newton)
            depth = model.guards(start.t + at, found.q, mode)[guard]
            slope = guard_rates(model, start.t + at, found.q, 2 * found.v - v, mode)[guard]
            # a grazing contact is looked at where it is deepest, and left alone where it does not touch there
            passes = grazes & (count == 0) & (depth <= TOUCH)
            close = jnp.abs(depth) <= ROOT + 4e-16 * jnp.abs(slope * start.t)
            # derivatives of a run pass through the corrections, not through a guess: two of them leave nothing of it
            steep = jnp.abs(depth) < 1e-3 * length * slope
            hit = close & ((polished > 1) | ~steep)
            low, high = jnp.where(depth > 0, low, at), jnp.where(depth > 0, at, high)
            better = at - depth / jnp.where(slope == 0, 1.0, slope)
            fits = (better > low) & (better < high) & (slope > 0) | (close & steep)
            following = later(jnp.where(fits, better, 0.5 * (low + high)))
            polished = jnp.where(fits, polished + 1, 0)
            over = passes | hit | (~close & (high - low <= 1e-16 * length))
            return low, high, jnp.where(over, at, following), found, hit | (over & ~passes), count + 1, polished, over

        zero = jnp.zeros((), int)
        carry = (bottom, top, guess, tried, jnp.asarray(False), zero, zero, ~possible)
        _, _, at, found, hit, _, _, _ = jax.lax.while_loop(going, attempt, carry)
        return Found(hit & possible, guard, at, found.v, found.q, found.p, found.force)

    all_found = jax.lax.map(search, jnp.arange(depths.shape[0]))
    first = jnp.argmin(jnp.where(all_found.exists, all_found.length, jnp.inf))
    return jax.tree.map(lambda leaf: leaf[first], all_found)
