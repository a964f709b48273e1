"""The characteristic matrix of a retarded delay equation and what follows from it.

The equation is ẋ(t) = A₀ x(t) + Σ Aᵢ x(t − hᵢ); its matrix Δ(s) = s I − A₀ − Σ Aᵢ exp(−s hᵢ), its roots those of det Δ.

Units: roots 1/s, delays s, matrices 1/s.
Source: Michiels and Niculescu 2014, Stability, Control, and Computation for Time-Delay Systems.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

Either = Any  # an array of NumPy or of JAX
Matrices = Float[Either, "*batch delays+1 n n"]  # A₀, A₁ ... (1/s)
Delays = Float[Either, "*batch delays"]  # h₁ ... (s)
Number = Complex[Either, "*batch"]


def _library(*arrays: Either) -> ModuleType:
    """NumPy where all arrays are its own, which compiles nothing; else JAX, which differentiates."""
    return np if all(isinstance(array, np.ndarray) for array in arrays) else jnp


def weights(s: Number, delays: Delays) -> Complex[Either, "*batch delays+1"]:
    """The factors of A₀, A₁ ... in the characteristic matrix."""
    xp = _library(s, delays)
    s = xp.asarray(s)
    return xp.exp(-s[..., None] * _with_zero(delays))


def _with_zero(delays: Delays) -> Float[Either, "*batch delays+1"]:
    """The delays of A₀, A₁ ..., that of A₀ zero."""
    xp = _library(delays)
    return xp.concatenate([xp.zeros_like(delays[..., :1]), delays], axis=-1)


def characteristic_matrix(s: Number, matrices: Matrices, delays: Delays) -> Complex[Either, "*batch n n"]:
    """Δ(s)."""
    xp = _library(s, matrices, delays)
    s = xp.asarray(s)
    whole = xp.einsum("...i,...ijk->...jk", weights(s, delays), matrices)
    return s[..., None, None] * xp.eye(matrices.shape[-1]) - whole


def characteristic_slope(s: Number, matrices: Matrices, delays: Delays) -> Complex[Either, "*batch n n"]:
    """dΔ/ds."""
    xp = _library(s, matrices, delays)
    factors = _with_zero(delays) * weights(s, delays)
    return xp.eye(matrices.shape[-1]) + xp.einsum("...i,...ijk->...jk", factors, matrices)


def null_vectors(s: Number, matrices: Matrices, delays: Delays) -> tuple[Complex[Array, "n"], Complex[Array, "n"]]:
    """Unit vectors w, v with wᴴ Δ(s) = 0 and Δ(s) v = 0 at a simple root s."""
    left, _, right = jnp.linalg.svd(characteristic_matrix(s, matrices, delays))
    return left[:, -1], right[-1].conj()


def root_of(
    s: Number, matrices: Matrices, delays: Delays, left: Complex[Array, "n"], right: Complex[Array, "n"]
) -> Number:
    """The simple root s with its derivative: equal to `s` in value, and differentiable in matrices and delays.

    `s` and its null vectors are taken as constants: s − wᴴ Δ(s) v / (wᴴ Δ′(s) v) is one Newton step, whose derivative is
    that of the root (implicit function theorem).
    """
    here = left.conj() @ characteristic_matrix(s, matrices, delays) @ right
    slope = left.conj() @ characteristic_slope(s, matrices, delays) @ right
    return s - here / slope


def root_bound(
    matrices: Float[np.ndarray, "*batch terms n n"],
    delays: Float[np.ndarray, "*batch delays"],
    abscissa: Float[np.ndarray, "*batch"],
) -> Float[np.ndarray, "*batch"]:
    """Upper bound (1/s) on |s| over all roots with Re s ≥ `abscissa`; leading axes are batch axes.

    Such a root is an eigenvalue of A₀ + Σ Aᵢ exp(−s hᵢ), so |s| is at most the spectral radius of
    |A₀| + Σ |Aᵢ| exp(−abscissa hᵢ), which no choice of units for the states can change.
    """
    exponent = np.minimum(-abscissa[..., None] * delays, 700.0)
    factors = np.concatenate([np.ones((*delays.shape[:-1], 1)), np.exp(exponent)], axis=-1)
    total = np.einsum("...i,...ijk->...jk", factors, np.abs(matrices))
    return np.abs(np.linalg.eigvals(total)).max(axis=-1)
