"""Chebyshev collocation of a delay equation: its rightmost roots as eigenvalues of a matrix.

The history on [−h, 0], h the longest delay, is a polynomial through Chebyshev points (Breda, Maset and Vermiglio, SIAM J.
Sci. Comput. 27, 2005): that of the signals alone which are delayed, few beside the states of a body that bends. A root s is
resolved once the degree exceeds |s| h / 2 by a few.

Units: times in longest delays, roots 1/s.
Source: as named above; barycentric weights, Berrut and Trefethen 2004, SIAM Review 46:501.
"""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Complex, Float, Int

DEGREES = (8, 12, 16, 22, 32, 48, 72, 108, 160)


def _chebyshev_points(
    degree: int,
) -> tuple[Float[np.ndarray, "points"], Float[np.ndarray, "points"], Float[np.ndarray, "points points"]]:
    """Return points on [−1, 0] from 0 on, barycentric weights, and the differentiation matrix."""
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


def _interpolation_rows(
    points: Float[np.ndarray, "points"], weights: Float[np.ndarray, "points"], at: Float[np.ndarray, "*batch"]
) -> Float[np.ndarray, "*batch points"]:
    """Return the rows that take values at the points to those at `at`."""
    distance = at[..., None] - points
    on_point = np.abs(distance) < 1e-14
    terms = weights / np.where(on_point, 1.0, distance)
    rows = terms / terms.sum(axis=-1, keepdims=True)
    return np.where(on_point.any(axis=-1, keepdims=True), on_point.astype(float), rows)


def _delayed_factors(
    delayed: Float[np.ndarray, "systems delays n n"],
) -> tuple[Float[np.ndarray, "systems r n"], Float[np.ndarray, "systems delays n r"]]:
    """Return C and Bᵢ, each delayed matrix being Bᵢ C: r is the most signals that any of the systems delays."""
    systems, _, _, order = delayed.shape
    _, sizes, read = np.linalg.svd(delayed.reshape(systems, -1, order), full_matrices=False)
    rank = int((sizes > np.finfo(float).eps * sizes[:, :1]).sum(axis=-1).max(initial=0))
    read = read[:, :rank]
    return read, delayed @ np.swapaxes(read, -1, -2)[:, None]


def collocation_eigenvalues(
    matrices: Float[np.ndarray, "systems terms n n"], delays: Float[np.ndarray, "systems delays"], degree: int
) -> Complex[np.ndarray, "systems eigenvalues"]:
    """Return eigenvalues of the collocation matrices (1/s): the resolved ones, rightmost first, then the rest, which are no
    roots."""
    points, weights, derivative = _chebyshev_points(degree)
    systems, order = len(matrices), matrices.shape[-1]
    longest = delays.max(axis=-1)
    # without a delay the history has no length; one much shorter than anything else stands for it
    longest = np.where(longest > 0, longest, 1e-9 / (1e-300 + np.abs(matrices).sum(axis=(1, 2, 3))))[:, None]
    rows = _interpolation_rows(points, weights, -delays / longest)
    read, put = _delayed_factors(matrices[:, 1:])
    rank = read.shape[1]
    whole = np.zeros((systems, order + rank * degree, order + rank * degree))
    late = np.einsum("sdir,sdp->sipr", put, rows)  # what the signal at each point does to the states
    whole[:, :order, :order] = matrices[:, 0] + late[:, :, 0] @ read
    whole[:, :order, order:] = late[:, :, 1:].reshape(systems, order, -1)
    whole[:, :order] *= longest[..., None]
    now = np.einsum("p,srj->sprj", derivative[1:, 0], read)
    whole[:, order:, :order] = now.reshape(systems, rank * degree, order)
    whole[:, order:, order:] = np.kron(derivative[1:, 1:], np.eye(rank))
    found = np.linalg.eigvals(whole).astype(complex)
    resolved = np.abs(found) / 2 <= REACH[DEGREES.index(degree)]  # the others are far from any root
    order_of = np.argsort(np.where(resolved, -found.real, np.inf), axis=-1, kind="stable")
    return np.take_along_axis(found, order_of, -1) / longest


# |s| h / 2 up to which a degree resolves roots. A Chebyshev series of exp(z x) on [−1, 1] sets in to converge at a degree
# of |z|, faster than any power; a few degrees more bring the eigenvalue within reach of Newton's method.
REACH = np.interp(DEGREES, (z := np.linspace(0, 200, 4001)) + 2 * np.cbrt(z) + 4, z)


def degree_for(bound: Float[np.ndarray, "*batch"], longest: Float[np.ndarray, "*batch"]) -> Int[np.ndarray, "*batch"]:
    """Return the index in `DEGREES` that resolves roots up to `bound` (1/s) under a `longest` delay (s).

    Past the last index if none does.
    """
    return np.searchsorted(REACH, bound * longest / 2)
