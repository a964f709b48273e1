"""Small dense linear systems inside a time loop."""

from __future__ import annotations

import jax.numpy as jnp
from jax.scipy.linalg import lu_factor, lu_solve
from jaxtyping import Array, Float

UNROLLED = 8  # unknowns up to which elimination is written out: LAPACK's call costs more than it

Factors = list[list[Array]] | tuple[Array, Array]


def factored(matrix: Float[Array, "n n"]) -> Factors:
    """LU factors of a matrix. Small ones without pivoting: for matrices that are nearly symmetric and definite."""
    n = matrix.shape[0]
    if n > UNROLLED:
        return lu_factor(matrix)
    rows = [[matrix[i, j] for j in range(n)] for i in range(n)]
    for k in range(n):
        rows[k][k] = 1 / rows[k][k]
        for i in range(k + 1, n):
            rows[i][k] = rows[i][k] * rows[k][k]
            for j in range(k + 1, n):
                rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]
    return rows


def solved(factors: Factors, right: Float[Array, "n"]) -> Float[Array, "n"]:
    """The solution for one right-hand side."""
    if isinstance(factors, tuple):
        return lu_solve(factors, right)
    n = len(factors)
    x = [right[i] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            x[i] = x[i] - factors[i][k] * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = x[k] - factors[k][j] * x[j]
        x[k] = x[k] * factors[k][k]
    return jnp.stack(x)
