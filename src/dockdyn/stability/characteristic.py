"""The characteristic matrix of a retarded delay equation and what follows from it.

The equation is ẋ(t) = A₀ x(t) + Σ Aᵢ x(t − hᵢ); its matrix Δ(s) = s I − A₀ − Σ Aᵢ exp(−s hᵢ), its roots those of det Δ.

Units: roots 1/s, delays s, matrices 1/s.
Source: Michiels and Niculescu 2014, Stability, Control, and Computation for Time-Delay Systems.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

Matrices = Float[Array, "delays+1 n n"]  # A₀, A₁ ... (1/s)
Delays = Float[Array, "delays"]  # h₁ ... (s)
Number = Complex[Array, ""]


def weights(s: Number, delays: Delays) -> Complex[Array, "delays+1"]:
    """The factors of A₀, A₁ ... in the characteristic matrix."""
    return jnp.concatenate([jnp.ones(1, complex), jnp.exp(-s * delays)])


def characteristic_matrix(s: Number, matrices: Matrices, delays: Delays) -> Complex[Array, "n n"]:
    """Δ(s)."""
    return s * jnp.eye(matrices.shape[-1]) - jnp.tensordot(weights(s, delays), matrices, 1)


def characteristic_slope(s: Number, matrices: Matrices, delays: Delays) -> Complex[Array, "n n"]:
    """dΔ/ds."""
    factors = jnp.concatenate([jnp.zeros(1), delays]) * weights(s, delays)
    return jnp.eye(matrices.shape[-1]) + jnp.tensordot(factors, matrices, 1)


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
