"""What a sample says of what it was taken from: shares, percentiles, and how sure that is."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrik, ndtri, stdtr

from dockdyn.deferred import Float

CONFIDENCE = 0.95


def wilson_interval(
    successes: float | np.ndarray, runs: float | np.ndarray, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of a share: `successes` of `runs` (numbers or arrays, runs > 0).

    The shares p that the score test does not reject: |p̂ − p| ≤ z √(p (1 − p) / n). It keeps its confidence, on average,
    near 0 and 1 and for few runs, where p̂ ± z √(p̂ (1 − p̂) / n) does not.

    Wilson, Probable inference, the law of succession, and statistical inference, J. Am. Stat. Assoc. 22 (1927) 209–212.
    Brown, Cai, DasGupta, Interval estimation for a binomial proportion, Stat. Sci. 16 (2001) 101–133.
    """

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    share = np.asarray(successes) / np.asarray(runs)
    middle = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * runs)) / runs) / (1 + z2 / runs)
    # at the ends the formula is exact, its rounding is not
    return np.where(share == 0, 0.0, middle - half), np.where(share == 1, 1.0, middle + half)


def percentile_interval(
    values: Float[np.ndarray, "runs"], share: float, confidence: float = CONFIDENCE
) -> tuple[float | None, float | None]:
    """Return both ends of the interval of the percentile that `share` (0 … 1) of all runs lie below; `values` in order.

    None is an end that so few runs cannot give: the 99th percentile of less than 368 runs may lie above them all.

    The bootstrap without its resampling. To test whether the percentile is q, resample from the sample reweighted so that
    it is: the number of resampled values up to q is then binomial, with `runs` trials of probability `share`, whatever
    was sampled. An end is the first q that the test rejects, an order statistic. The plain bootstrap, which resamples the
    sample as it is, gives the same in the middle of the distribution, and in its tail intervals that are too short, for
    it never goes beyond the largest value.

    Efron, Nonparametric standard errors and confidence intervals, Can. J. Stat. 9 (1981) 139–172 (tilting).
    Thompson, On confidence ranges for the median, Ann. Math. Stat. 7 (1936) 122–128 (order statistics).
    """

    runs = values.size
    if not runs:
        return None, None
    tail = (1 - confidence) / 2
    low = _binomial_quantile(tail, runs, share)  # as many values may lie below, but hardly fewer
    high = _binomial_quantile(1 - tail, runs, share)
    return float(values[low - 1]) if low > 0 else None, float(values[high]) if high < runs else None


def _binomial_quantile(level: float, trials: int, share: float) -> int:
    """Return the least number of successes that so many trials do not exceed with a probability of `level`."""
    above = int(np.ceil(bdtrik(level, trials, share)))
    return above - 1 if above > 0 and bdtr(above - 1, trials, share) >= level else above


def mean_ranks(values: Float[np.ndarray, "runs"]) -> Float[np.ndarray, "runs"]:
    """Return the ranks of values, from 1; equal ones share the mean of theirs."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[index]


def rank_correlation(one: Float[np.ndarray, "runs"], other: Float[np.ndarray, "runs"]) -> tuple[float, float]:
    """Return Spearman's rank correlation of values that vary, and how probable one at least as large is by chance (Student's
    t)."""
    found = float(np.corrcoef(mean_ranks(one), mean_ranks(other))[0, 1])
    freedom, rest = one.size - 2, max((1 + found) * (1 - found), 0.0)
    return found, float(2 * stdtr(freedom, -abs(found) * np.sqrt(freedom / rest))) if rest else 0.0


def logarithmic_milestones(runs: int, most: int = 40) -> list[int]:
    """Return numbers of runs, evenly spaced on a logarithmic axis, the last one `runs`."""
    if runs < 2:
        return [1] * runs
    return sorted({round(count) for count in np.geomspace(min(10, runs / 2), runs, most)})
