"""Accelerations of a system some of whose velocities are held.

Units: those of the rows given: accelerations and forces in SI.
Source: Lagrange multipliers, e.g. Featherstone 2008, Rigid Body Dynamics Algorithms, section 3.2.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Float


def constrained(
    mass: Float[Array, "n n"],
    rows: Float[Array, "rows n"],
    drift: Float[Array, "rows columns"],
    loads: Float[Array, "n columns"],
) -> tuple[Float[Array, "n columns"], Float[Array, "rows columns"]]:
    """v̇ and f of M v̇ = load + Aᵀ f with A v̇ + drift = 0, for several loads at once.

    Rows of A must be independent: no finite number comes out otherwise.
    """
    solved = cho_solve(cho_factor(mass), jnp.concatenate([rows.T, loads], axis=1))
    held, free = solved[:, : rows.shape[0]], solved[:, rows.shape[0] :]
    if not rows.shape[0]:
        return free, jnp.zeros_like(drift)
    force = -jnp.linalg.solve(rows @ held, rows @ free + drift)
    return free + held @ force, force
