"""Which of the numbers that were varied decides a figure, from the sample that there is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import fdtrc

from dockdyn.deferred import Float, Int
from dockdyn.records import record
from dockdyn.studies.cases.statistics import mean_ranks, rank_correlation

FEWEST = 20  # runs; of fewer there is nothing to say
MOST = 100_000  # runs looked at: more of them would move no index by as much as is printed
MOST_CLASSES = 50
DOUBT = 0.05  # probability that a campaign shows any influence, on one figure, where there is none


@record
class Influence:
    """What one key does to one figure."""

    first_order: float  # share of the figure's variance that the key explains alone; about 0 for none, so also below 0
    rank_correlation: float  # −1 … 1: whether the figure rises or falls with the key; NaN for a key that was not varied
    doubt: float  # how probable as much is by chance, were there no influence
    significant: bool


def influence_of_keys(
    inputs: Mapping[str, Float[np.ndarray, "runs"]], figure: Float[np.ndarray, "runs"]
) -> dict[str, Influence]:
    """Return the influence of every key on a figure, the largest first; nothing where the figure is constant or runs are few.

    Runs without the figure (NaN) are left out, and those behind the first `MOST`. A key is significant when chance alone
    would make one of all the keys look as influential with a probability below `DOUBT` (Bonferroni), by the better of two
    tests on ranks: of the correlation ratio and of Spearman's rank correlation.

    Spearman, The proof and measurement of association between two things, Am. J. Psychol. 15 (1904) 72–101.
    """

    there = np.flatnonzero(np.isfinite(figure))[:MOST]
    figure = figure[there]
    if figure.size < FEWEST or not np.ptp(figure) > 0:
        return {}
    ranks = mean_ranks(figure)
    found = {}
    for key, values in inputs.items():
        given = values[there]
        if not np.ptp(given) > 0:
            found[key] = Influence(0.0, np.nan, 1.0, False)
            continue
        group = _value_classes(given)
        index, _ = _correlation_ratio(group, figure)
        correlation, chance = rank_correlation(given, ranks)
        doubt = min(1.0, 2 * min(chance, _correlation_ratio(group, ranks)[1]))
        found[key] = Influence(index, correlation, doubt, doubt * len(inputs) < DOUBT)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1].significant, -pair[1].first_order)))


def _value_classes(values: Float[np.ndarray, "runs"]) -> Int[np.ndarray, "runs"]:
    """Return the class of each value: about √runs of them, as many runs in each, at most `MOST_CLASSES`; equals together."""
    count = min(int(np.sqrt(values.size)), MOST_CLASSES)
    distinct = np.unique(values)
    if distinct.size > count:
        distinct = np.unique(np.quantile(values, np.arange(1, count) / count, method="inverted_cdf"))
        return np.unique(np.searchsorted(distinct, values), return_inverse=True)[1]
    return np.searchsorted(distinct, values)


def _correlation_ratio(group: Int[np.ndarray, "runs"], figure: Float[np.ndarray, "runs"]) -> tuple[float, float]:
    """Return the first-order index of a key whose `group` each run is in, and how probable as much is by chance.

        S = Var E[Y | X] / Var Y,  estimated by  ε² = 1 − (SSW / (n − K)) / (SST / (n − 1))

    with the sums of squares within K classes (SSW) and about the mean of all (SST). The plain ratio 1 − SSW / SST finds
    (K − 1) / (n − 1) where there is none; ε² finds zero on average. Chance by the F test of one-way analysis of variance,
    which asks of `figure` to be about normal, or ranks. Keys that depend on each other share what they explain.

    Kelley, An unbiased correlation ratio measure, Proc. Natl. Acad. Sci. 21 (1935) 554–559.
    Plischke, Borgonovo, Smith, Global sensitivity measures from given data, Eur. J. Oper. Res. 226 (2013) 536–550.
    Conover, Iman, Rank transformations as a bridge …, Am. Stat. 35 (1981) 124–129.
    """

    counts = np.bincount(group)
    runs, number = figure.size, counts.size
    away = figure - figure.mean()
    total = float(away @ away)
    between = float(np.sum(np.bincount(group, away) ** 2 / counts))
    within = max(total - between, 0.0)
    if number < 2 or number >= runs or not total > 0:
        return 0.0, 1.0
    index = 1 - (within / (runs - number)) / (total / (runs - 1))
    if within <= 1e-12 * total:
        return index, 0.0
    ratio = (between / (number - 1)) / (within / (runs - number))
    return index, float(fdtrc(number - 1, runs - number, ratio))
