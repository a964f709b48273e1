"""Reduction of the sparse matrices of a model of finite elements: free modes, and what points yield beside them.

Modes below a frequency are those of the full model. Residual attachment modes are what is left of the deflections under a unit
load at each displacement of a point, in equilibrium with the inertia of the whole: with them loads at points find the full
model's compliance.

Units: those of the caller.
Source: MacNeal 1971, Computers & Structures 1:581; Rubin 1975, AIAA J. 13:995; Craig and Kurdila 2006, Fundamentals of
Structural Dynamics, section 17.6; shift and invert, Ericsson and Ruhe 1980, Mathematics of Computation 35:1251.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.scenario.finite_elements.component import Component

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

FIRST = 40  # modes that are looked for at first
SHIFT = 1e-2  # of the square of the highest frequency, below zero: there the shifted stiffness is definite
MORE = 1.5  # times the highest frequency, up to which modes are kept: a choice of fewer is made later
DEPENDENT = 1e-10  # of the largest: residual modes that say nothing new


class Singular(ValueError):
    """A model can move without force in other ways than rigidly."""


class Indefinite(ValueError):
    """A model pushes on where it is bent."""


def reduced_component(
    mass: csc_matrix,
    stiffness: csc_matrix,
    damping: csc_matrix | None,
    rows: np.ndarray,
    moved: np.ndarray,
    highest: float,
) -> tuple[Component, Float[np.ndarray, "full n"]]:
    """Return a full model by its rigid motions, its free modes up to `highest` (rad/s) and residual modes of its points.

    Points have the displacements at `rows`, which rigid motions move as `moved` says (rows × 6). Returns the basis, too.
    Singular where the model is a mechanism, Indefinite where a stiffness is negative.
    """
    from scipy.sparse.linalg import splu

    size = mass.shape[0]
    rigid = np.zeros((size, 6))
    rigid[rows] = moved
    others = np.setdiff1d(np.arange(size), rows)
    try:
        rigid[others] = -splu(stiffness[others][:, others].tocsc()).solve(stiffness[others][:, rows] @ moved)
        held = np.setdiff1d(np.arange(size), rows[:6])
        supported = splu(
            stiffness[held][:, held].tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        raise Singular from None
    symmetric = (supported.perm_r == supported.perm_c).all()
    if symmetric and (supported.U.diagonal() < 0).any():  # Sylvester's law of inertia
        raise Indefinite
    whole = rigid.T @ (mass @ rigid)

    def without_rigid(vectors: np.ndarray) -> np.ndarray:
        return vectors - rigid @ np.linalg.solve(whole, rigid.T @ (mass @ vectors))

    modes = without_rigid(_modes_up_to(mass, stiffness, MORE * highest))
    loads = np.zeros((size, len(rows)))
    loads[rows, np.arange(len(rows))] = 1.0
    loads -= (mass @ rigid) @ np.linalg.solve(whole, rigid.T @ loads)
    yielded = np.zeros_like(loads)
    yielded[held] = supported.solve(loads[held])
    yielded = without_rigid(yielded)
    for _ in range(2):  # once more for what rounding left
        yielded -= modes @ np.linalg.solve(modes.T @ (mass @ modes), modes.T @ (mass @ yielded))
    basis = np.concatenate([rigid, modes, _independent(yielded, mass)], axis=1)
    at_points = basis[rows]

    def seen(matrix: Any) -> np.ndarray:  # noqa: ANN401, sparse
        small = basis.T @ (matrix @ basis)
        return (small + small.T) / 2

    count = basis.shape[1]
    found = Component(
        seen(mass), seen(stiffness), None if damping is None else seen(damping), at_points, np.eye(count, 6)
    )
    return found, basis


def _modes_up_to(mass: csc_matrix, stiffness: csc_matrix, highest: float) -> Float[np.ndarray, "full modes"]:
    """Return the elastic modes up to a frequency (rad/s), and those next above that were found with them."""
    from scipy.sparse.linalg import eigsh

    size, count = mass.shape[0], FIRST
    start = np.random.default_rng(0).standard_normal(size)  # so that each time the same is found
    while True:
        count = min(count, size - 1)
        squares, vectors = eigsh(stiffness, k=count, M=mass, sigma=-SHIFT * highest**2, which="LM", v0=start, tol=0)
        if squares.max() > highest**2 or count == size - 1:
            break
        count *= 2
    order = np.argsort(squares)[6:]
    found: Float[np.ndarray, "full modes"] = vectors[:, order[squares[order] <= max(highest**2, squares[order[0]])]]
    return found


def _independent(vectors: Float[np.ndarray, "full n"], mass: csc_matrix) -> Float[np.ndarray, "full m"]:
    """Return combinations of vectors that are orthogonal with the mass and of length one, without those that vanish."""
    gram = vectors.T @ (mass @ vectors)
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    sizes, axes = np.linalg.eigh(gram * scale * scale[:, None])
    kept = sizes > DEPENDENT * sizes[-1]
    found: Float[np.ndarray, "full m"] = vectors @ (scale[:, None] * axes[:, kept] / np.sqrt(sizes[kept]))
    return found
