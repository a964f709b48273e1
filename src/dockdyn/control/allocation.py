"""Thrusts that only push: non-negative least squares by an active set.

Units: any; those of the caller.
Source: Lawson and Hanson 1974, Solving Least Squares Problems, chapter 23.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.mechanics.dense import solve_definite

RIDGE = 1e-9  # of the columns' mean square: of all that fit equally well the smallest is taken
FLAT = 1e-12  # of the largest slope at zero: less of it is rounding
ROUNDS = 3  # times as many iterations as unknowns, as the source advises


class ActiveSet(NamedTuple):
    """What one iteration hands to the next."""

    found: Float[Array, "n"]
    free: Bool[Array, "n"]  # the unknowns that are not held at zero
    done: Bool[Array, ""]
    iterations: Int[Array, ""]


def nonnegative_least_squares(matrix: Float[Array, "m n"], right: Float[Array, "m"]) -> Float[Array, "n"]:
    """Return the x ≥ 0 with the least ‖A x − b‖; where several have it, nearly the one of least length."""
    count = matrix.shape[1]
    gram, unit = matrix.T @ matrix, jnp.eye(count)
    gram = gram + RIDGE * jnp.trace(gram) / count * unit
    aim = matrix.T @ right
    flat = FLAT * jnp.max(jnp.abs(aim))

    def iterate(now: ActiveSet) -> ActiveSet:
        free = now.free
        best = solve_definite(jnp.where(free[:, None] & free, gram, unit), jnp.where(free, aim, 0.0))
        # towards the best of the free ones, as far as none becomes negative: what stops the way is held at zero
        falls = free & (best <= 0)
        ways = jnp.where(falls, now.found / jnp.where(falls, now.found - best, 1.0), jnp.inf)
        share = jnp.minimum(jnp.min(ways), 1.0)
        kept = free & (ways > share)
        found = jnp.where(kept, now.found + share * (best - now.found), 0.0)
        inside = ~jnp.any(falls)
        found = jnp.where(inside & free, best, found)
        slope = jnp.where(free, -jnp.inf, aim - gram @ found)
        place = jnp.argmax(slope)
        grows = inside & (slope[place] > flat)
        return ActiveSet(
            found,
            jnp.where(inside, free, kept).at[place].set(jnp.where(inside, grows | free[place], kept[place])),
            inside & ~grows,
            now.iterations + 1,
        )

    start = ActiveSet(jnp.zeros(count), jnp.zeros(count, bool), jnp.asarray(False), jnp.zeros((), int))
    return jax.lax.while_loop(lambda now: ~now.done & (now.iterations < ROUNDS * count), iterate, start).found
