"""What a sample says of what it was taken from: shares, percentiles, and how sure that is."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

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
    low = int(binom.ppf(tail, runs, share))  # as many values may lie below, but hardly fewer
    high = int(binom.ppf(1 - tail, runs, share))
    return float(values[low - 1]) if low > 0 else None, float(values[high]) if high < runs else None


def logarithmic_milestones(runs: int, most: int = 40) -> list[int]:
    """Return numbers of runs, evenly spaced on a logarithmic axis, the last one `runs`."""
    if runs < 2:
        return [1] * runs
    return sorted({round(count) for count in np.geomspace(min(10, runs / 2), runs, most)})
