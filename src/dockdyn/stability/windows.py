"""Delays for which a delay equation is stable: critical delay, crossing frequencies and later windows.

Units: delays s, frequencies rad/s.
Source: frequency sweep, Gu, Kharitonov and Chen 2003, Stability of Time-Delay Systems, section 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import ArrayLike, Bool, Complex, Float
from dockdyn.stability.characteristic import root_bound, root_slopes
from dockdyn.stability.linearise import balancing_scales
from dockdyn.stability.roots import check_delay_equation, rightmost_roots

GRID = 1500  # frequencies of the sweep, spread evenly in ratio; as many again, or more, evenly in difference
PER_TURN = 24  # frequencies while the longest fixed delay turns by a radian
FEW = 30  # states, up to which one solution a frequency takes no longer than to load what does with less
NARROW = 0.2  # a gain whose logarithm comes as near to zero as this between two frequencies is looked at more closely
MOST_TURNS = 200  # of the fastest crossing frequency
NO_TURN = 1e-12  # rad: a phase within rounding of zero, that of a loop which is on the edge without any delay
AT_ONCE, MOST_FURTHER = 8, 96  # intervals that are judged together, and at most, behind the one that holds a delay
SAME = 1e-9  # of a frequency: crossings as close as this are at one
MARGINAL = 1e-12  # of the bound on all roots: a real part below this is zero
SLOW = 1e-6  # of that bound: a root below this is one at zero
SPARE = 8  # more rightmost roots that are looked for where some stay on the axis


class Windows(NamedTuple):
    """Stable intervals of one delay, and where roots cross the imaginary axis."""

    stable: list[tuple[float, float]]  # s, up to `longest`
    crossings: list[tuple[float, float]]  # (delay in s, frequency in rad/s) up to `longest`, in the order of the delay
    longest: float  # s; infinity where no root ever crosses

    @property
    def critical_delay(self) -> float:
        """Delay (s) that ends the first stable window: zero if the loop is unstable for the smallest delay already."""
        return self.stable[0][1] if self.stable and self.stable[0][0] == 0 else 0.0

    @property
    def crossing_frequency(self) -> float | None:
        """Frequency (rad/s) at the critical delay, None if nothing crosses there."""
        return next((w for h, w in self.crossings if h == self.critical_delay), None)


def stable_windows(
    matrices: ArrayLike, delays: ArrayLike, varied: int = 0, longest: float | None = None, around: float | None = None
) -> Windows:
    """Return values of one delay for which ẋ(t) = A₀ x(t) + Σ Aᵢ x(t − hᵢ) is stable, the other delays fixed.

    Args:
        matrices: A₀, A₁ ... (1/s), shape (delays + 1, n, n).
        delays: h₁ ... (s); the value of the varied one is ignored.
        varied: which delay varies, 0 for h₁.
        longest: longest delay looked at (s); by default two turns of the slowest crossing frequency, or
            200 of the fastest if that is less.
        around: a delay (s) behind which the first unstable interval is looked for, and none further; with many numbers,
            whose roots take long. `longest` of the answer is how far it was looked.

    A root jω crosses where an eigenvalue of (jω I − A₀ − Σ′ Aᵢ exp(−jω hᵢ))⁻¹ Aₖ, the sum over the fixed delays, has the
    modulus one; its argument is ω hₖ. These are all frequencies up to the bound on the roots, found by a sweep of the
    eigenvalues' moduli. Between successive crossings the rightmost root tells stable from unstable, those left out that
    `stay_on_axis`.

    Raises:
        ValueError: shapes that do not fit, negative delays, numbers that are not finite.
    """
    stack, times = check_delay_equation(matrices, delays)
    if varied not in range(len(times)):
        raise ValueError(f"varied is {varied}; must be a delay's index, 0 to {len(times) - 1}")
    if longest is not None and not longest > 0:
        raise ValueError(f"longest is {longest:g} s; must be > 0 s")
    bound = float(root_bound(stack, np.zeros_like(times), np.zeros(())))
    if bound == 0:
        return Windows([], [], np.inf if longest is None else longest)  # nothing moves
    frequencies, turns = _unit_gains(stack, times, varied, bound)
    longest = _two_slow_turns(frequencies) if longest is None else longest
    crossings = _crossings_up_to(longest, frequencies, turns)
    edges = [0.0, *(h for h, _ in crossings)]
    ends = [*edges[1:], longest]
    middles = [(a + b) / 2 if np.isfinite(b) else a + 1 / bound for a, b in zip(edges, ends, strict=True)]

    def growth_with(some: list[float]) -> np.ndarray:
        """Return real part of the rightmost root with each of some delays."""
        trials = np.repeat(times[None], len(some), axis=0)
        trials[:, varied] = some
        return rightmost_growth(np.broadcast_to(stack, (len(some), *stack.shape)), trials, varied)

    if around is None:
        rightmost = growth_with(middles)
    else:
        own = int(np.searchsorted(edges, around, side="right"))
        rightmost = _growth_until_unstable(growth_with, middles, own, -MARGINAL * bound)
        if len(rightmost) < len(middles):  # behind the last middle it is not known
            ends[len(rightmost) - 1] = longest = middles[len(rightmost) - 1]
            crossings = [(h, w) for h, w in crossings if h <= longest]
    stable = (
        (start, end)
        for start, end, real in zip(edges, ends, rightmost, strict=False)
        if real < -MARGINAL * bound and end > start
    )
    return Windows(_join_intervals(stable), crossings, longest)


def rightmost_growth(
    matrices: Float[np.ndarray, "systems terms n n"], delays: Float[np.ndarray, "systems delays"], varied: int = 0
) -> Float[np.ndarray, "systems"]:
    """Return the real part (1/s) of the rightmost root of each system, those left out that `stay_on_axis`."""
    found = rightmost_roots(matrices, delays, count=1)[:, 0].real
    for row in np.flatnonzero(np.abs(found) <= MARGINAL * root_bound(matrices, np.zeros_like(delays), np.zeros(()))):
        found[row] = moved_roots(matrices[row], delays[row], 1, varied)[0][0].real
    return found


def moved_roots(
    matrices: Float[np.ndarray, "terms n n"], delays: Float[np.ndarray, "delays"], count: int, varied: int = 0
) -> tuple[Complex[np.ndarray, "count"], Float[np.ndarray, "count"], int]:
    """Return `rightmost_roots` (1/s) and their errors, those left out that `stay_on_axis`, and how many these are; all, where
    there are no others."""
    roots, errors = rightmost_roots(matrices, delays, count, errors=True)
    if not stay_on_axis(roots, matrices, delays, varied).any():
        return roots, errors, 0
    roots, errors = rightmost_roots(matrices, delays, count + SPARE, errors=True)
    still = stay_on_axis(roots, matrices, delays, varied)
    kept = ~still if np.isfinite(roots[~still]).any() else np.isfinite(roots)
    return roots[kept][:count], errors[kept][:count], int((~kept & still).sum())


def stay_on_axis(
    roots: Complex[np.ndarray, "roots"],
    matrices: Float[np.ndarray, "terms n n"],
    delays: Float[np.ndarray, "delays"],
    varied: int = 0,
) -> Bool[np.ndarray, "roots"]:
    """Return which `roots` (1/s) lie on the imaginary axis, to rounding, whatever one delay is: undamped motions on which what
    is delayed does not act. A root at zero is none of them."""
    bound = float(root_bound(matrices, np.zeros_like(delays), np.zeros(())))
    found = (np.abs(roots.real) <= MARGINAL * bound) & (np.abs(roots) > SLOW * bound)
    for at in np.flatnonzero(found):
        slope = abs(root_slopes(complex(roots[at]), matrices, delays)[1][1][varied])  # NaN of one that is not known
        found[at] = slope * max(delays[varied], 1 / abs(roots[at])) <= MARGINAL * bound
    return found


def _two_slow_turns(frequencies: np.ndarray) -> float:
    """Return two turns (s) of the slowest crossing frequency (rad/s), or `MOST_TURNS` of the fastest if that is less; infinite
    without any."""
    if not len(frequencies):
        return np.inf
    return 2 * np.pi * float(min(2 / frequencies.min(), MOST_TURNS / frequencies.max()))


def _growth_until_unstable(
    growth_with: Callable[[list[float]], np.ndarray], delays: list[float], own: int, stable: float
) -> np.ndarray:
    """Return the growth (1/s) with the first `own` delays (s), and with as many more as it takes from the last of these to one
    that is not `stable`, but not with all of many."""
    found = growth_with(delays[:own])
    while len(found) < min(len(delays), own + MOST_FURTHER) and (found[own - 1 :] < stable).all():
        found = np.concatenate([found, growth_with(delays[len(found) : len(found) + AT_ONCE])])
    return found


def _crossings_up_to(
    longest: float, frequencies: Float[np.ndarray, "crossings"], turns: Float[np.ndarray, "crossings"]
) -> list[tuple[float, float]]:
    """Return delays (s) up to the `longest`, each with the frequency (rad/s) of the roots that then cross, by the delay."""
    found = sorted(
        (float(angle / w + 2 * np.pi * turn / w), float(w))
        for w, angle in zip(frequencies, turns, strict=True)
        for turn in range(int(max(0.0, longest * w - angle) / (2 * np.pi)) + 1)
    )
    return [(h, w) for h, w in found if h * w > NO_TURN and h <= longest]


def _join_intervals(intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return intervals in order, those that meet as one."""
    joined: list[tuple[float, float]] = []
    for start, end in intervals:
        meets = bool(joined) and joined[-1][1] == start
        joined[-1:] = [(joined[-1][0], end)] if meets else [*joined[-1:], (start, end)]
    return joined


def _unit_gains(
    stack: Float[np.ndarray, "terms n n"], times: Float[np.ndarray, "delays"], varied: int, bound: float
) -> tuple[Float[np.ndarray, "crossings"], Float[np.ndarray, "crossings"]]:
    """Return frequencies (rad/s) at which the varied loop has gain one, and the phase (rad, 0 to 2π) it then needs."""
    order = stack.shape[-1]
    fixed = [index for index in range(len(times)) if index != varied]
    size = balancing_scales(np.abs(stack).sum(axis=0))
    stack = stack * size / size[:, None]
    put, seen = _low_rank_factors(stack[1 + varied])

    answer = _triangular_answer(stack[0], put, seen) if order > FEW and not fixed else None

    def eigenvalues_at(w: np.ndarray) -> np.ndarray:
        """Return eigenvalues at frequencies `w`, by falling modulus; of those that are always zero, none."""
        if answer is not None:
            found = np.linalg.eigvals(answer(w))
            return np.take_along_axis(found, np.argsort(-np.abs(found), axis=-1), -1)
        free = 1j * w[:, None, None] * np.eye(order) - stack[0]
        for index in fixed:
            free = free - np.exp(-1j * w * times[index])[:, None, None] * stack[1 + index]
        found = np.linalg.eigvals(seen @ np.linalg.solve(free, np.broadcast_to(put + 0j, (len(w), *put.shape))))
        return np.take_along_axis(found, np.argsort(-np.abs(found), axis=-1), -1)

    def log_moduli(w: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(np.abs(eigenvalues_at(w)), 1e-300))

    if not put.shape[1]:
        return np.zeros(0), np.zeros(0)
    top = bound * (1 + 1e-9)
    count = GRID + int(PER_TURN * top * max([times[i] for i in fixed], default=0.0))
    w = np.union1d(np.geomspace(1e-7 * top, top, GRID), np.linspace(top / count, top, count))
    level = log_moduli(w)
    # two crossings may hide between neighbours where a curve turns back near zero
    turning = (np.diff(level[:-1], axis=0) * np.diff(level[1:], axis=0) < 0) & (np.abs(level[1:-1]) < NARROW)
    peaks = np.flatnonzero(turning.any(axis=-1)) + 1
    if len(peaks):
        finer = np.linspace(w[peaks - 1], w[peaks + 1], 64).ravel()
        w = np.union1d(w, finer)
        level = log_moduli(w)
    at, which = np.nonzero((level[:-1] > 0) != (level[1:] > 0))
    low, high, rising = w[at], w[at + 1], level[at + 1, which] > 0
    rows = np.arange(len(at))
    for _ in range(60 if len(at) else 0):
        middle = (low + high) / 2
        above = log_moduli(middle)[rows, which] > 0
        low, high = np.where(above == rising, low, middle), np.where(above == rising, middle, high)
    if not len(at):
        return np.zeros(0), np.zeros(0)
    middle = _shared_frequencies((low + high) / 2)
    angle = np.angle(eigenvalues_at(middle)[rows, which]) % (2 * np.pi)
    return middle, angle


def _shared_frequencies(found: Float[np.ndarray, "crossings"]) -> Float[np.ndarray, "crossings"]:
    """Return frequencies (rad/s), the same one for those that differ by rounding.

    Eigenvalues that tie in modulus at all frequencies cross together, and by their order are only told from each other where
    all are evaluated at once.
    """
    order = np.argsort(found)
    sorted_ones = found[order]
    begins = np.diff(sorted_ones, prepend=-np.inf) > SAME * sorted_ones
    shared = np.empty_like(found)
    shared[order] = sorted_ones[begins][np.cumsum(begins) - 1]
    return shared


def _triangular_answer(
    state: Float[np.ndarray, "n n"], put: Float[np.ndarray, "n r"], seen: Float[np.ndarray, "r n"]
) -> Callable[[Float[np.ndarray, "frequencies"]], Complex[np.ndarray, "frequencies r r"]]:
    """Return what gives C (jω I − A)⁻¹ B at many frequencies (rad/s), by Schur's form of A: n² each, not n³."""
    import scipy.linalg  # takes long to import, and few bodies bend by many modes

    upper, turn = scipy.linalg.schur(state, output="complex")
    right, left = turn.conj().T @ put, seen @ turn

    def answer(w: Float[np.ndarray, "frequencies"]) -> Complex[np.ndarray, "frequencies r r"]:
        found = np.empty((len(right), len(w), right.shape[1]), complex)
        for row in reversed(range(len(right))):
            known = np.tensordot(upper[row, row + 1 :], found[row + 1 :], axes=1)
            found[row] = (right[row] + known) / (1j * w - upper[row, row])[:, None]
        return np.moveaxis(np.tensordot(left, found, axes=1), 0, 1)

    return answer


def _low_rank_factors(matrix: Float[np.ndarray, "n n"]) -> tuple[Float[np.ndarray, "n r"], Float[np.ndarray, "r n"]]:
    """Return B and C with B C the matrix but for rounding, of as many columns and rows as its rank: X B C has the eigenvalues
    of C X B, and zeros."""
    left, values, right = np.linalg.svd(matrix)
    rank = int(np.sum(values > len(matrix) * np.finfo(float).eps * values[0]))
    return left[:, :rank] * values[:rank], right[:rank]
