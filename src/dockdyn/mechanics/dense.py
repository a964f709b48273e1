"""Small dense linear systems and Jacobians inside a time loop.

Nothing here calls LAPACK for a small system: one call of it anywhere in a loop's program, even where it is never reached,
keeps XLA from compiling the loop as one piece, which cost 2.6 µs an iteration where a step takes 4.

Units: any; those of the caller.
Source: Golub and Van Loan, Matrix Computations, chapters 3 and 4 (elimination, Cholesky).
"""

from __future__ import annotations

from collections.abc import Callable

from dockdyn import backend
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.programs import trace_once

UNROLLED = 12  # unknowns up to which elimination is written out: LAPACK's call costs more than it

type Factors = list[list[Array]] | tuple[Array, Array]


def factor_matrix(matrix: Float[Array, "n n"]) -> Factors:
    """Return LU factors of a matrix. Small ones without pivoting: for matrices that are nearly symmetric and definite."""
    n = matrix.shape[0]
    if n > UNROLLED:
        return jax.scipy.linalg.lu_factor(matrix)
    return eliminate_scalars([[matrix[i, j] for j in range(n)] for i in range(n)])


def eliminate_scalars(matrix: list[list[Array]]) -> list[list[Array]]:
    """Return LU factors of a matrix of scalars, without pivoting."""
    n = len(matrix)
    rows = [list(row) for row in matrix]
    for k in range(n):
        rows[k][k] = 1 / rows[k][k]
        for i in range(k + 1, n):
            rows[i][k] = rows[i][k] * rows[k][k]
            for j in range(k + 1, n):
                rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]
    return rows


def solve_factored(factors: Factors, right: Float[Array, "n"]) -> Float[Array, "n"]:
    """Return the solution for one right-hand side."""
    if isinstance(factors, tuple):
        return jax.scipy.linalg.lu_solve(factors, right)
    return jnp.stack(substitute_scalars(factors, [right[i] for i in range(len(factors))]))


def substitute_scalars(factors: list[list[Array]], right: list[Array]) -> list[Array]:
    """Return the solution for one right-hand side of scalars."""
    n = len(factors)
    x = list(right)
    for k in range(n):
        for i in range(k + 1, n):
            x[i] = x[i] - factors[i][k] * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = x[k] - factors[k][j] * x[j]
        x[k] = x[k] * factors[k][k]
    return x


@trace_once
def solve_definite(matrix: Float[Array, "n n"], right: Float[Array, "n *columns"]) -> Float[Array, "n *columns"]:
    """Return the solution of a definite system, in a program as small for any n: for what is solved now and then."""
    n = matrix.shape[0]
    if not n:
        return right
    columns = right.reshape(n, -1)

    def eliminate(k: Array, rows: Float[Array, "n all"]) -> Float[Array, "n all"]:
        pivot = rows[k] / rows[k, k]
        return (rows - rows[:, k][:, None] * pivot[None]).at[k].set(pivot)

    found = jax.lax.fori_loop(0, n, eliminate, jnp.concatenate([matrix, columns], axis=1))
    return found[:, n:].reshape(right.shape)


def value_and_jacobian(
    function: Callable[[Float[Array, "n"]], Float[Array, "m"]], at: Float[Array, "n"]
) -> tuple[Float[Array, "m"], Float[Array, "m n"]]:
    """Return the value and Jacobian of a function. Machine code works one column after another, in one short loop, XLA all at
    once."""
    value, along = jax.linearize(function, at)
    directions = jnp.eye(at.shape[0])
    if backend.is_native():
        return value, jax.lax.map(along, directions).T
    return value, jax.vmap(along, out_axes=1)(directions)
