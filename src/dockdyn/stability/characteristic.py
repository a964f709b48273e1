"""The characteristic matrix of a retarded delay equation and what follows from it.

The equation is ẋ(t) = A₀ x(t) + Σ Aᵢ x(t − hᵢ); its matrix Δ(s) = s I − A₀ − Σ Aᵢ exp(−s hᵢ), its roots those of det Δ.

Units: roots 1/s, delays s, matrices 1/s.
Source: Michiels and Niculescu 2014, Stability, Control, and Computation for Time-Delay Systems.
"""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Complex, Float

type Matrices = Float[np.ndarray, "*batch delays+1 n n"]  # A₀, A₁ ... (1/s)
type Delays = Float[np.ndarray, "*batch delays"]  # h₁ ... (s)
type Number = complex | Complex[np.ndarray, "*batch"]


def delay_factors(s: Number, delays: Delays) -> Complex[np.ndarray, "*batch delays+1"]:
    """Return the factors of A₀, A₁ ... in the characteristic matrix."""
    return np.exp(-np.asarray(s)[..., None] * _with_zero(delays))


def _with_zero(delays: Delays) -> Float[np.ndarray, "*batch delays+1"]:
    """Return the delays of A₀, A₁ ..., that of A₀ zero."""
    return np.concatenate([np.zeros_like(delays[..., :1]), delays], axis=-1)


def characteristic_matrix(s: Number, matrices: Matrices, delays: Delays) -> Complex[np.ndarray, "*batch n n"]:
    """Return Δ(s)."""
    whole = np.einsum("...i,...ijk->...jk", delay_factors(s, delays), matrices)
    return np.asarray(s)[..., None, None] * np.eye(matrices.shape[-1]) - whole


def characteristic_slope(s: Number, matrices: Matrices, delays: Delays) -> Complex[np.ndarray, "*batch n n"]:
    """Return dΔ/ds."""
    factors = _with_zero(delays) * delay_factors(s, delays)
    return np.eye(matrices.shape[-1]) + np.einsum("...i,...ijk->...jk", factors, matrices)


def root_slopes(
    s: complex, matrices: Float[np.ndarray, "terms n n"], delays: Float[np.ndarray, "delays"]
) -> tuple[complex, tuple[Complex[np.ndarray, "terms n n"], Complex[np.ndarray, "delays"]]]:
    """Return the simple root s, and how it changes with every number of the matrices and with every delay (1/s²).

    With w, v where wᴴ Δ(s) = 0 and Δ(s) v = 0 the change is −wᴴ ∂Δ v / (wᴴ Δ′(s) v) (implicit function theorem).
    """
    by_matrix, by_delay = joint_root_slopes(s, matrices, delays, 1)
    return s, (by_matrix[0, 0], by_delay[0, 0])


def joint_root_slopes(
    s: complex, matrices: Float[np.ndarray, "terms n n"], delays: Float[np.ndarray, "delays"], count: int
) -> tuple[Complex[np.ndarray, "count count terms n n"], Complex[np.ndarray, "count count delays"]]:
    """Return how so many roots that are one, s, change with every number of the matrices and with every delay (1/s²).

    With all w, v where Wᴴ Δ(s) = 0 and Δ(s) V = 0 the changes are the eigenvalues of −(Wᴴ Δ′(s) V)⁻¹ Wᴴ ∂Δ V, of which the
    entries are returned (Michiels and Niculescu 2014). Not finite of roots that have fewer motions, nor where Δ(s) is not.
    """
    whole = characteristic_matrix(s, matrices, delays)
    if not np.isfinite(whole).all():
        unknown = complex(np.nan)
        return np.full((count, count, *matrices.shape), unknown), np.full((count, count, *delays.shape), unknown)
    left, _, right = np.linalg.svd(whole)
    w, v = left[:, -count:].conj().T, right[-count:].conj()
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = w @ characteristic_slope(s, matrices, delays) @ v.T
        w = w / slope if count == 1 else np.linalg.pinv(slope) @ w
        by_matrix = delay_factors(s, delays)[:, None, None] * np.einsum("aj,bk->abjk", w, v)[:, :, None]
        return by_matrix, -s * np.einsum("abijk,ijk->abi", by_matrix, matrices)[..., 1:]


def root_bound(
    matrices: Float[np.ndarray, "*batch terms n n"],
    delays: Float[np.ndarray, "*batch delays"],
    abscissa: Float[np.ndarray, "*batch"],
) -> Float[np.ndarray, "*batch"]:
    """Return the upper bound (1/s) on |s| over all roots with Re s ≥ `abscissa`; leading axes are batch axes.

    Such a root is an eigenvalue of A₀ + Σ Aᵢ exp(−s hᵢ), so |s| is at most the spectral radius of
    |A₀| + Σ |Aᵢ| exp(−abscissa hᵢ), which no choice of units for the states can change.
    """
    exponent = np.minimum(-abscissa[..., None] * delays, 700.0)
    factors = np.concatenate([np.ones((*delays.shape[:-1], 1)), np.exp(exponent)], axis=-1)
    total = np.einsum("...i,...ijk->...jk", factors, np.abs(matrices))
    return np.abs(np.linalg.eigvals(total)).max(axis=-1)
