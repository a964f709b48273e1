"""Rightmost roots of delay equations, one or thousands at a time.

Units: roots and errors 1/s, delays s, matrices 1/s.
Source: Breda, Maset and Vermiglio 2005, SIAM J. Sci. Comput. 27:482; Newton's method on det Δ.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dockdyn.deferred import ArrayLike, Complex, Float
from dockdyn.stability.characteristic import characteristic_matrix, characteristic_slope, root_bound
from dockdyn.stability.collocation import DEGREES, collocation_eigenvalues, degree_for
from dockdyn.stability.lanes import LANES, in_parts

SPARE = 2  # eigenvalues refined beyond those asked for: refinement may change their order
NEWTON_STEPS = 6
MOST_ENTRIES = 1 << 24  # of all collocation matrices held at once by a thread
CONVERGED = 1e-6  # last Newton step over the root's size; a double root converges slowly
NEAR = 0.1  # how far, relative to its size, an eigenvalue may lie from its root


def rightmost_roots(
    matrices: ArrayLike,
    delays: ArrayLike,
    count: int = 4,
    errors: bool = False,
) -> Any:  # noqa: ANN401, an array, or two with `errors`
    """Return the rightmost characteristic roots of ẋ(t) = A₀ x(t) + Σ Aᵢ x(t − hᵢ).

    Args:
        matrices: A₀, A₁ ... (1/s), shape (..., delays + 1, n, n); leading axes are systems.
        delays: h₁ ... (s, ≥ 0), shape (..., delays); leading axes broadcast with those of `matrices`.
        count: roots wanted of each system; where there is no delay there are only n, the rest is NaN.
        errors: also return their estimated errors.

    Returns:
        Roots (1/s), complex, shape (..., count), the rightmost first, both of a pair; with `errors` a pair of arrays, the
        second the size of a further Newton step (1/s), or infinity where the collocation could not be made fine enough
        to be sure that no root further right was missed.

    Eigenvalues of a Chebyshev collocation start Newton's method on the characteristic equation. Its degree follows from a
    bound on the modulus of every root as far right as the last one returned, and is raised until it suffices.

    Raises:
        ValueError: shapes that do not fit, negative delays, numbers that are not finite, no root asked for.
    """
    if count < 1:
        raise ValueError(f"count is {count}; must be at least 1")
    matrices, delays = check_delay_equation(matrices, delays)
    batch = np.broadcast_shapes(matrices.shape[:-3], delays.shape[:-1])
    flat = np.broadcast_to(matrices, (*batch, *matrices.shape[-3:])).reshape(-1, *matrices.shape[-3:])
    times = np.broadcast_to(delays, (*batch, delays.shape[-1])).reshape(len(flat), delays.shape[-1])
    found = np.full((len(flat), count), complex(np.nan, 0))
    error = np.full((len(flat), count), np.nan)
    still = times.max(axis=-1, initial=0.0) == 0
    if still.any():
        plain = np.linalg.eigvals(flat[still].sum(axis=1))
        plain = np.take_along_axis(plain, np.argsort(-plain.real, axis=-1), -1)[:, :count]
        found[still, : plain.shape[-1]], error[still, : plain.shape[-1]] = plain, 0.0
    if not still.all():
        found[~still], error[~still] = _resolve_roots(flat[~still], times[~still], count)
    found, error = found.reshape(*batch, count), error.reshape(*batch, count)
    return (found, error) if errors else found


def check_delay_equation(
    matrices: ArrayLike, delays: ArrayLike
) -> tuple[Float[np.ndarray, "*batch terms n n"], Float[np.ndarray, "*batch delays"]]:
    """Return the two as arrays; ValueError when they are not a delay equation."""
    if np.iscomplexobj(matrices) or np.iscomplexobj(delays):
        raise ValueError("matrices and delays must be real")
    stack, times = np.asarray(matrices, float), np.asarray(delays, float)
    if times.ndim == 0:
        times = times[None]
    if stack.ndim < 3 or stack.shape[-1] != stack.shape[-2] or stack.shape[-3] != times.shape[-1] + 1:
        raise ValueError(
            f"matrices have shape {stack.shape} for {times.shape[-1]} delays; must be (..., {times.shape[-1] + 1}, n, n)"
        )
    if not (np.isfinite(stack).all() and np.isfinite(times).all()):
        raise ValueError("matrices and delays must be finite")
    if (times < 0).any():
        raise ValueError(f"a delay is {times.min():g} s; must be at least 0 s")
    return stack, times


def _resolve_roots(
    matrices: Float[np.ndarray, "systems terms n n"], delays: Float[np.ndarray, "systems delays"], count: int
) -> tuple[Complex[np.ndarray, "systems count"], Float[np.ndarray, "systems count"]]:
    """Return roots and errors, each system with a degree that suffices for it."""
    longest = delays.max(axis=-1)
    found = np.full((len(matrices), count), complex(np.nan, 0))
    error = np.full((len(matrices), count), np.inf)
    level = degree_for(root_bound(matrices, delays, np.zeros(len(matrices))), longest)
    open_ = np.arange(len(matrices))
    while len(open_):
        level[open_] = np.minimum(level[open_], len(DEGREES) - 1)
        reached = np.empty(len(open_))
        for index in np.unique(level[open_]):
            here = level[open_] == index
            these = open_[here]
            at_degree = partial(refine_roots, degree=DEGREES[index], count=count)
            size = matrices.shape[-1] * (DEGREES[index] + 1)
            most = min(LANES, max(1, MOST_ENTRIES // size**2))
            found[these], error[these], reached[here] = in_parts(at_degree, (matrices[these], delays[these]), most)
        needed = degree_for(root_bound(matrices[open_], delays[open_], reached), longest[open_])
        unsure = needed >= len(DEGREES)
        error[open_[unsure & (level[open_] == len(DEGREES) - 1)]] = np.inf
        short = np.isnan(found[open_, -1]) & (needed <= level[open_])
        needed[short] = level[open_[short]] + 1
        more = (needed > level[open_]) & (level[open_] < len(DEGREES) - 1)
        level[open_] = np.maximum(level[open_], needed)
        open_ = open_[more]
    return found, error


def refine_roots(
    systems: tuple[Float[np.ndarray, "systems terms n n"], Float[np.ndarray, "systems delays"]], degree: int, count: int
) -> tuple[Complex[np.ndarray, "systems count"], Float[np.ndarray, "systems count"], Float[np.ndarray, "systems"]]:
    """Return the rightmost eigenvalues that Newton's method keeps in place, NaN where there are too few."""
    matrices, delays = systems
    start = collocation_eigenvalues(matrices, delays, degree)[:, : count + SPARE]
    furthest = start[:, :count].real[:, -1]
    start = np.pad(start, ((0, 0), (0, max(0, count - start.shape[1]))), constant_values=np.nan)
    roots, steps = iterate_newton(start, matrices[:, None], delays[:, None])
    size = np.abs(start) + 1 / delays.max(axis=-1, keepdims=True)
    kept = (steps < CONVERGED * size) & (np.abs(roots - start) < NEAR * size)
    order = np.argsort(np.where(kept, -roots.real, np.inf), axis=-1, kind="stable")[:, :count]
    roots = np.take_along_axis(np.where(kept, roots, np.nan), order, -1)
    last = np.nan_to_num(roots[:, -1].real, nan=np.inf)
    return roots, np.take_along_axis(steps, order, -1), np.minimum(furthest, last)


def iterate_newton(
    s: Complex[np.ndarray, "*batch"],
    matrices: Float[np.ndarray, "*#batch terms n n"],
    delays: Float[np.ndarray, "*#batch delays"],
) -> tuple[Complex[np.ndarray, "*batch"], Float[np.ndarray, "*batch"]]:
    """Return Newton's method on det Δ(s) = 0 from close guesses: the roots and the sizes of the last steps (1/s)."""
    change = np.full(s.shape, np.inf, complex)
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            slope = _relative_slope(
                characteristic_matrix(s, matrices, delays), characteristic_slope(s, matrices, delays)
            )
            change = np.where(np.isfinite(slope), -1 / slope, np.where(np.isnan(s), np.nan, 0.0))
            s = s + change
    return s, np.abs(change)


def _relative_slope(
    whole: Complex[np.ndarray, "*batch n n"], slope: Complex[np.ndarray, "*batch n n"]
) -> Complex[np.ndarray, "*batch"]:
    """Return (det Δ)′ / det Δ = tr(Δ⁻¹ Δ′); not finite where Δ is singular to the last bit, at a root."""
    try:
        return np.trace(np.linalg.solve(whole, slope), axis1=-2, axis2=-1)
    except np.linalg.LinAlgError:
        if whole.ndim == 2:
            return np.asarray(complex(np.inf))
        return np.stack([_relative_slope(a, b) for a, b in zip(whole, slope, strict=True)])
