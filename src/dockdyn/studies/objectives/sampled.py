"""A figure over many cases and its derivatives, with error bars: drawn cases, numbers that are spread, or both.

The cases are drawn once, by the seed: two designs are judged by the same ones (common random numbers), and the derivative
is that of the very sample. Where the figure of a case varies smoothly, a mean is differentiated case by case (pathwise),
and a percentile in the cases that it lies between. A yes or no, or a figure that jumps, is smoothed: the numbers themselves
are spread normally about their values, and the derivative is that of the mean over cases and spread,

    ∂E f(θ + σ z) / ∂θ = E [ (f(θ + σ z) − f(θ − σ z)) z ] / (2 σ),

which needs no derivative of f (score function, in antithetic pairs).

Glasserman, Monte Carlo Methods in Financial Engineering (2004), chapter 7. Nesterov and Spokoiny, Random gradient-free
minimization of convex functions, Found. Comput. Math. 17 (2017) 527–566.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import batched
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dockdyn.deferred import Bool, Float
from dockdyn.results.drive import Progress
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario
from dockdyn.studies.cases.batch import Cases
from dockdyn.studies.cases.lanes import thread_pool
from dockdyn.studies.cases.sampling import Sampled, random_cube, sample
from dockdyn.studies.objectives.derivatives import evaluate_rows, slopes_of
from dockdyn.studies.objectives.figure import Figure
from dockdyn.studies.objectives.verdict import Verdict, judge_derivatives

RESAMPLED = 400  # times that cases are drawn from the cases, for standard errors
ZERO = 1e-2  # SI units: in place of a number that is zero, of which its spread is a share

type Values = Float[np.ndarray, "cases"]
type Slopes = Float[np.ndarray, "cases places"]


class Estimate(NamedTuple):
    """A figure over cases, and its derivatives, in the order of the places.

    Attributes:
        value: in the figure's unit, a share of the cases for a probability.
        slopes: its derivatives, in the figure's unit by that of the number.
        value_error: standard error of the value.
        slope_errors: of the derivatives.
        runs: how many runs this is from.
        failed: how many of them failed, or do not have the figure; they are left out, but of a probability.
        verdicts: whether each derivative was found to be right, and why not; of one from differences nothing is said.
    """

    value: float
    slopes: tuple[float, ...]
    value_error: float
    slope_errors: tuple[float, ...]
    runs: int
    failed: int
    verdicts: tuple[Verdict, ...]


def sampled_estimate(
    scenario: Scenario,
    figure: Figure,
    places: Sequence[Place],
    runs: int,
    seed: int,
    smoothing: float,
    progress: Progress | None = None,
) -> Estimate:
    """Return a figure over the cases of a scenario, and its derivatives by the numbers of the places.

    Raises ScenarioError: nothing distributed, a number that is drawn itself, no case with the figure, a percentile that is
    to be smoothed, a probability that is not.
    """
    cases = _sampled_cases(scenario, figure, places, runs, seed)
    if smoothing:
        return _smoothed_derivatives(scenario, figure, places, cases, runs, seed, smoothing)
    if figure.over == "probability":
        words = "a yes or no does not vary smoothly in a case; must have a smoothing above 0, such as 0.05"
        raise ScenarioError(f"{scenario.name}: {figure.text}: {words}")
    values, slopes = _pathwise_derivatives(scenario, figure.name, places, cases, progress)
    kept = np.isfinite(values)
    if not kept.any():
        raise ScenarioError(f"{scenario.name}: {figure.text}: no case has it; must be a figure that happens")
    drawn = np.concatenate([values[kept, None], slopes[kept]], axis=1)
    own = _statistic_of_columns(figure, drawn)
    spread = np.random.default_rng(seed)
    again = np.array(
        [_statistic_of_columns(figure, drawn[spread.integers(len(drawn), size=len(drawn))]) for _ in range(RESAMPLED)]
    )
    errors = again.std(axis=0, ddof=1)
    verdicts = judge_derivatives(
        partial(_statistic_of_rows, scenario, figure, cases, kept), {figure.text: own[1:].tolist()}, places
    )
    return Estimate(
        float(own[0]),
        tuple(own[1:].tolist()),
        float(errors[0]),
        tuple(errors[1:].tolist()),
        len(values),
        int((~kept).sum()),
        tuple(verdicts[figure.text]),
    )


def _statistic_of_rows(
    scenario: Scenario,
    figure: Figure,
    cases: Sampled,
    kept: Bool[np.ndarray, "cases"],
    keys: Sequence[str],
    rows: Float[np.ndarray, "rows keys"],
) -> Cases:
    """Return the statistic over the cases that are `kept`, with the dotted `keys` set to each row."""
    drawn = cases.values[kept]
    every = [np.concatenate([np.tile(row, (len(drawn), 1)), drawn], axis=1) for row in rows]
    bare = replace(scenario, dispersions=(), requirements=())
    found = evaluate_rows(bare, [figure.name], [*keys, *cases.keys], np.concatenate(every))
    values = found.figures.get(figure.name, np.full(len(rows) * len(drawn), np.nan)).reshape(len(rows), len(drawn))
    reasons = [next((one for one in part if one), "") for part in batched(found.reasons, len(drawn))]
    return Cases({figure.text: np.array([_statistic_of_columns(figure, row[:, None])[0] for row in values])}, reasons)


def _statistic_of_columns(figure: Figure, drawn: Float[np.ndarray, "cases columns"]) -> Float[np.ndarray, "columns"]:
    """Return the mean of all columns, or of each what it is where the first one has its percentile."""
    if figure.over == "mean":
        return drawn.mean(axis=0)
    order = np.argsort(drawn[:, 0], kind="stable")
    at = figure.share * (len(order) - 1)
    low = int(at)
    high = min(low + 1, len(order) - 1)
    return drawn[order[low]] * (1 - (at - low)) + drawn[order[high]] * (at - low)


def _sampled_cases(scenario: Scenario, figure: Figure, places: Sequence[Place], runs: int, seed: int) -> Sampled:
    """Return the cases of a figure over cases; of a figure of the run alone the run, again and again."""
    if not figure.over:
        return Sampled((), (), np.zeros((runs, 0)))
    cases = sample(scenario, runs, seed, scenario.campaign.sampling)
    for place in places:
        named = (value_at(scenario.content, key, scenario.name).key for key in place.keys)
        if drawn := set(named) & set(cases.keys):
            words = "is drawn anew in every case; must be a number that is not"
            raise ScenarioError(f"{scenario.name}: {', '.join(sorted(drawn))}: {words}")
    return cases


def _pathwise_derivatives(
    scenario: Scenario, of: str, places: Sequence[Place], cases: Sampled, progress: Progress | None
) -> tuple[Values, Slopes]:
    """Return the figure of every case, and its derivatives there; NaN of those that fail or do not have it."""
    bare = replace(scenario, dispersions=(), requirements=())
    count, done = len(cases.values), 0

    def one(row: list[float]) -> tuple[float, list[float]]:
        nonlocal done
        try:
            case = bare.at(dict(zip(cases.keys, row, strict=True)))
            own = {place.key: place for place in places_of(case)}
            slopes, whys = slopes_of(case, [of], [own[place.key] for place in places])
            found = slopes[of] if not whys else (float("nan"), [float("nan")] * len(places))
        except ScenarioError as error:
            if not row or (done == 0 and "no such figure" in str(error)):
                raise
            found = float("nan"), [float("nan")] * len(places)
        done += 1
        if progress is not None:
            progress(done / count)
        return found

    rows = cases.values.tolist()
    first = [one(row) for row in rows[:1]]  # has everything compiled
    workers = os.cpu_count() or 1
    later = list((thread_pool(workers).map if workers > 1 else map)(one, rows[1:]))
    values, slopes = zip(*first, *later, strict=True)
    return np.array(values), np.array(slopes).reshape(count, len(places))


def _smoothed_derivatives(
    scenario: Scenario,
    figure: Figure,
    places: Sequence[Place],
    cases: Sampled,
    runs: int,
    seed: int,
    smoothing: float,
) -> Estimate:
    """Return the mean over cases and over a normal spread of the numbers, and its derivatives by the numbers' means."""

    if figure.over == "percentile":
        words = "a percentile is differentiated in the cases that it lies between; must be without smoothing"
        raise ScenarioError(f"{scenario.name}: {figure.text}: {words}")
    own = np.array([place.value for place in places])
    sizes = smoothing * np.where(own == 0, ZERO, np.abs(own))
    z = ndtri(random_cube(len(places), runs, seed + 1, 0, runs))
    keys = [key for place in places for key in place.keys]
    signs = np.concatenate([place.signs for place in places])
    repeats = [len(place.keys) for place in places]
    rows = np.concatenate(
        [
            np.concatenate([signs * np.repeat(own + side * z * sizes, repeats, axis=1), cases.values], axis=1)
            for side in (1, -1)
        ]
    )
    bare = replace(scenario, dispersions=(), requirements=())
    found = evaluate_rows(bare, [figure.name], [*keys, *cases.keys], rows)
    if figure.name not in found.figures:
        reason = next((one for one in found.reasons if one), "no case has it")
        raise ScenarioError(f"{scenario.name}: {figure.text}: {reason}")
    values = np.where([not reason for reason in found.reasons], found.figures[figure.name], np.nan)
    lost = ~np.isfinite(values)
    if figure.over == "probability":
        values = np.where(lost, 0.0, values)
    up, down = values.reshape(2, runs)
    kept = np.isfinite(up) & np.isfinite(down)
    if not kept.any():
        raise ScenarioError(f"{scenario.name}: {figure.text}: no case has it; must be a figure that happens")
    middle = (up + down)[kept] / 2
    slopes = (up - down)[kept, None] / 2 * z[kept] / sizes
    errors = [part.std(axis=0, ddof=1) / np.sqrt(len(middle)) for part in (middle, slopes)]
    return Estimate(
        float(middle.mean()),
        tuple(slopes.mean(axis=0).tolist()),
        float(errors[0]),
        tuple(np.ravel(errors[1]).tolist()),
        len(values),
        int(lost.sum()),
        (Verdict(None),) * len(places),
    )
