"""Chebyshev collocation of a delay equation: its rightmost roots as eigenvalues of a matrix.

The history on [−h, 0], h the longest delay, is a polynomial through Chebyshev points (Breda, Maset and Vermiglio, SIAM J.
Sci. Comput. 27, 2005). A root s is resolved once the degree exceeds |s| h / 2 by a few.

Units: times in longest delays, roots 1/s.
Source: as named above; barycentric weights, Berrut and Trefethen 2004, SIAM Review 46:501.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Int

from dockdyn.stability.characteristic import Delays, Matrices

DEGREES = (8, 12, 16, 22, 32, 48, 72, 108, 160)


def chebyshev(
    degree: int,
) -> tuple[Float[np.ndarray, "points"], Float[np.ndarray, "points"], Float[np.ndarray, "points points"]]:
    """Points on [−1, 0] from 0 on, barycentric weights, and the differentiation matrix."""
    angle = np.pi * np.arange(degree + 1) / degree
    points = (np.cos(angle) - 1) / 2
    weights = (-1.0) ** np.arange(degree + 1)
    weights[[0, -1]] /= 2
    # the difference of two points by a product of sines, which keeps its digits
    gap = -np.sin((angle[:, None] + angle) / 2) * np.sin((angle[:, None] - angle) / 2)
    matrix = weights / weights[:, None] / np.where(gap == 0, 1, gap)
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return points, weights, matrix


def interpolation(
    points: Float[np.ndarray, "points"], weights: Float[np.ndarray, "points"], at: Float[Array, ""]
) -> Float[Array, "points"]:
    """The row that takes values at the points to the value at `at`."""
    distance = at - points
    on_point = jnp.abs(distance) < 1e-14
    terms = weights / jnp.where(on_point, 1.0, distance)
    return jnp.where(jnp.any(on_point), on_point.astype(float), terms / terms.sum())


def eigenvalues(matrices: Matrices, delays: Delays, degree: int) -> Complex[Array, "eigenvalues"]:
    """Eigenvalues of the collocation matrix (1/s): the resolved ones, rightmost first, then the rest, which are no roots."""
    points, weights, derivative = chebyshev(degree)
    order = matrices.shape[-1]
    longest = jnp.max(delays)
    # without a delay the history has no length; one much shorter than anything else stands for it
    longest = jnp.where(longest > 0, longest, 1e-9 / (1e-300 + jnp.sum(jnp.abs(matrices))))
    top = jnp.zeros((order, degree + 1, order)).at[:, 0, :].set(matrices[0])
    for matrix, delay in zip(matrices[1:], delays, strict=True):
        row = interpolation(points, weights, -delay / longest)
        top += matrix[:, None, :] * row[None, :, None]
    below = np.kron(derivative[1:], np.eye(order))
    whole = jnp.concatenate([longest * top.reshape(order, -1), below])
    found = jnp.linalg.eigvals(whole)
    resolved = jnp.abs(found) / 2 <= REACH[DEGREES.index(degree)]  # the others are far from any root
    return found[jnp.argsort(jnp.where(resolved, -found.real, jnp.inf))] / longest


# |s| h / 2 up to which a degree resolves roots. A Chebyshev series of exp(z x) on [−1, 1] sets in to converge at a degree
# of |z|, faster than any power; a few degrees more bring the eigenvalue within reach of Newton's method.
REACH = np.interp(DEGREES, (z := np.linspace(0, 200, 4001)) + 2 * np.cbrt(z) + 4, z)


def degree_for(bound: Float[np.ndarray, "*batch"], longest: Float[np.ndarray, "*batch"]) -> Int[np.ndarray, "*batch"]:
    """Index in `DEGREES` that resolves roots up to `bound` (1/s) under a `longest` delay (s).

    Past the last index if none does.
    """
    return np.searchsorted(REACH, bound * longest / 2)
