"""The statistics of campaigns: intervals of shares and percentiles against their own definitions, influence against
functions known in closed form."""

import numpy as np
import pytest
from scipy import stats

from dockdyn.studies.campaign.influence import influence_of_keys
from dockdyn.studies.cases.statistics import (
    _binomial_quantile,
    mean_ranks,
    percentile_interval,
    rank_correlation,
    wilson_interval,
)

# --- shares and percentiles


@pytest.mark.parametrize("runs", [1, 7, 100, 12345])
def test_interval_of_a_share_is_wilsons(runs):
    for successes in {0, 1, runs // 3, runs - 1, runs}:
        expected = stats.binomtest(successes, runs).proportion_ci(0.95, "wilson")
        assert np.allclose(wilson_interval(successes, runs), (expected.low, expected.high), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9, 0.99])
def test_interval_of_a_share_holds_it(share):
    successes = np.arange(501)
    low, high = wilson_interval(successes, 500)
    inside = (low <= share) & (share <= high)
    # coverage summed over every outcome, not sampled; near the ends Wilson's is known to dip (Brown et al., fig. 5)
    assert 0.92 < stats.binom.pmf(successes, 500, share)[inside].sum() < 0.98


@pytest.mark.parametrize(
    "draw", [stats.norm, stats.lognorm(1.0), stats.expon], ids=["normal", "log-normal", "exponential"]
)
@pytest.mark.parametrize(("runs", "share"), [(30, 0.5), (200, 0.9), (200, 0.95), (1000, 0.99)])
def test_interval_of_a_percentile_holds_it(draw, runs, share):
    samples = np.sort(draw.rvs(size=(2000, runs), random_state=3), axis=1)
    truth = draw.ppf(share)
    ends = [percentile_interval(sample, share) for sample in samples]
    inside = [(low is None or low <= truth) and (high is None or truth <= high) for low, high in ends]
    assert 0.94 < np.mean(inside) < 0.985  # discrete: at least 0.95, less what 2000 samples scatter


def test_interval_of_a_percentile_is_that_of_resampling_where_resampling_is_right():
    sample = np.sort(np.random.default_rng(2).gamma(3.0, size=2000))
    resampled = stats.bootstrap(
        (sample,), lambda x, axis: np.percentile(x, 90, axis=axis), n_resamples=4000, method="percentile", rng=4
    ).confidence_interval
    low, high = percentile_interval(sample, 0.90)
    width = resampled.high - resampled.low
    assert abs(low - resampled.low) < 0.15 * width and abs(high - resampled.high) < 0.15 * width


def test_ends_that_few_runs_cannot_give_are_none():
    for runs, known in ((367, False), (368, True)):  # Wilks: 1 − 0.99ⁿ ≥ 0.975
        assert (1 - 0.99**runs >= 0.975) == known
        assert (percentile_interval(np.arange(runs, dtype=float), 0.99)[1] is not None) == known
    assert percentile_interval(np.zeros(1), 0.5) == (None, None)
    assert percentile_interval(np.empty(0), 0.5) == (None, None)


# --- influence


def unit_cube(runs: int, keys: int, seed: int = 0) -> dict[str, np.ndarray]:
    return {f"x{key}": column for key, column in enumerate(np.random.default_rng(seed).random((runs, keys)).T, 1)}


def test_first_order_indices_of_ishigamis_function():
    x = {key: np.pi * (2 * values - 1) for key, values in unit_cube(20_000, 4).items()}
    a, b = 7.0, 0.1
    found = influence_of_keys(x, np.sin(x["x1"]) + a * np.sin(x["x2"]) ** 2 + b * x["x3"] ** 4 * np.sin(x["x1"]))
    variance = a**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 0.5  # Ishigami and Homma 1990
    expected = {"x1": (1 + b * np.pi**4 / 5) ** 2 / 2 / variance, "x2": a**2 / 8 / variance, "x3": 0.0, "x4": 0.0}
    for key, index in expected.items():
        assert abs(found[key].first_order - index) < 0.012, key
        assert found[key].significant == (index > 0)
    assert abs(found["x2"].rank_correlation) < 0.02  # symmetric: no correlation shows it


@pytest.mark.parametrize("runs", [200, 1000, 10_000])
def test_indices_of_a_sum(runs):
    x = {key: stats.norm.ppf(values) for key, values in unit_cube(runs, 3).items()}
    weights = {"x1": 1.0, "x2": 2.0, "x3": 4.0}
    found = influence_of_keys(x, sum(weight * x[key] for key, weight in weights.items()))
    assert list(found) == ["x3", "x2", "x1"]
    for key, weight in weights.items():
        index = weight**2 / 21
        # the scatter of a squared correlation, and that of √n classes without influence (F test)
        scatter = 2 * np.sqrt(index / runs) * (1 - index) + (1 - index) * np.sqrt(2 * np.sqrt(runs)) / runs
        assert abs(found[key].first_order - index) < 4 * scatter
        ranked = 6 / np.pi * np.arcsin(np.sqrt(index) / 2)  # Pearson 1907, of two normal variables
        assert abs(found[key].rank_correlation - ranked) < 4 / np.sqrt(runs)


@pytest.mark.full_cases("normal", "rare", "yes or no")
@pytest.mark.parametrize("sort", ["normal", "heavy", "yes or no", "rare"])
def test_no_influence_is_zero_on_average_and_seldom_shown(sort):
    generator = np.random.default_rng(5)
    draws = {
        "normal": generator.standard_normal,
        "heavy": lambda n: np.exp(2 * generator.standard_normal(n)),
        "yes or no": lambda n: (generator.random(n) < 0.4).astype(float),
        "rare": lambda n: (generator.random(n) < 0.02).astype(float),
    }
    indices, shown, trials = [], 0, 300
    for trial in range(trials):
        found = influence_of_keys(unit_cube(300, 4, trial), draws[sort](300))
        indices += [influence.first_order for influence in found.values()]
        shown += any(influence.significant for influence in found.values())
    assert abs(np.mean(indices)) < 4 * np.std(indices) / np.sqrt(len(indices))
    assert shown / trials < 0.05 + 3 * np.sqrt(0.05 * 0.95 / trials)


def test_influence_of_a_choice_and_of_nothing():
    generator = np.random.default_rng(0)
    method = generator.integers(0, 3, 500).astype(float)
    figure = np.array([3.0, 1.0, 2.0])[method.astype(int)] + 0.1 * generator.standard_normal(500)
    found = influence_of_keys({"method": method, "still": np.ones(500)}, figure)
    share = np.var([3.0, 1.0, 2.0]) / (np.var([3.0, 1.0, 2.0]) + 0.01)
    assert found["method"].significant and abs(found["method"].first_order - share) < 0.01
    assert not found["still"].significant and found["still"].first_order == 0
    assert influence_of_keys({"method": method}, np.ones(500)) == {}
    assert influence_of_keys({"method": method[:10]}, figure[:10]) == {}


def test_quantiles_and_ranks_are_those_of_scipy():
    """SciPy's own take a second to load, so that a campaign computes them by its special functions."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        level, trials, share = rng.uniform(1e-4, 1 - 1e-4), int(rng.integers(1, 5000)), rng.uniform(0.001, 0.999)
        assert _binomial_quantile(level, trials, share) == stats.binom.ppf(level, trials, share)
    for _ in range(100):
        one, other = (rng.integers(0, 12, 60) * rng.uniform(0.5, 2) for _ in range(2))  # with ties
        np.testing.assert_array_equal(mean_ranks(one), stats.rankdata(one))
        expected = stats.spearmanr(one, other)
        np.testing.assert_allclose(rank_correlation(one, other), (expected.statistic, expected.pvalue), rtol=1e-10)
