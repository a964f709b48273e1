"""Any numbers of a scenario from a measured log of what it describes, by least squares.

    minimise over θ:  Σ over columns c of the log  Σ over samples i  ((y_c(tᵢ; θ) − measured_c,i) / σ_c)²

The run y and its derivatives are those of `dockdyn.objective`'s figures: forward mode through the run's events. Between its
samples y goes straight; they come closer until that moves no number by a tenth of its standard error. The noise σ_c
of a column is what the fit leaves of it, found together with θ. Standard errors are those of the linearised problem,
(JᵀJ)⁻¹ with J the derivatives over σ. Of a number that these do not tell, the sum of squares is looked at itself, all other
numbers refitted (profile likelihood): where it does not rise by 3.84, the 95 % point of χ² with one degree of freedom, the log
does not bound the number.

Seber and Wild, Nonlinear Regression (1989), chapters 2 and 5. Venzon and Moolgavkar, J. R. Stat. Soc. C 37 (1988) 87–94.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from dockdyn.api import simulate
from dockdyn.dataset import Dataset
from dockdyn.deferred import Bool, Float
from dockdyn.records import record
from dockdyn.results.drive import Progress
from dockdyn.results.exchange.measured_log import MeasuredLog, read_measured, run_columns
from dockdyn.results.linearised import Numbers, slopes_along
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import names_from, path_from
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.objectives.objective import chosen_places

ROUNDS = 6  # of noise and numbers, at most
SETTLED = 1e-3  # relative change of the noise that ends them
UNSURE = 0.5  # standard error over the number: more of it, and the sum of squares is looked at itself
SINGULAR = 1e-7  # smallest over largest singular value: a direction that the log says nothing of
RISE = 3.84  # of the sum of squares over the noise: the 95 % point of chi-squared with one degree of freedom
FARTHEST = 10.0  # times a number, and its share, that the profile is looked at
HALVINGS = 8  # of the bracket of a profile's end
MEMORY = 0.3  # correlation of one residual with the next: more is no noise
DIFFERENCE = 1e-5  # of a number: how far it is changed to confirm derivatives
AGREE = 1e-2  # of the size of a derivative: differences this near confirm it, besides what rounding leaves
ROUNDING = 3e-10  # relative error of a run
UNKNOWN = (
    "{}: how the run changes with it is not known here: its derivative is not what differences give (a contact about to "
    "appear or ends at a sample, or an edge); it has no standard error, its interval is that of the fit itself"
)
EXACT = 1e-9  # of a column's range: less is no noise, but rounding
MOVED = 0.1  # of its standard error: what samples that are too far apart may move a number by
MOST_SAMPLES = 200_000  # of a run
ON_SAMPLE = 1e-6  # of the samples' distance: a time this near to one is at it
type Row = Float[np.ndarray, "n"]


@record
class Identified:
    """One number of a scenario from a log.

    Attributes:
        start: where the search began (SI), the scenario's own number.
        value: what fits best.
        error: its standard error; infinite where the log says nothing of it.
        interval: ends of its 95 % interval; of a number with a profile those of the profile, None where it does not end.
        profiled: whether the interval is that of the profile.
    """

    key: str
    unit: str
    start: float
    value: float
    error: float
    interval: tuple[float | None, float | None]
    profiled: bool

    @property
    def bounded(self) -> bool:
        """Whether the log bounds the number to both sides."""
        return None not in self.interval


@record
class Fit:
    """A scenario fitted to a log."""

    scenario: Scenario  # with what fits best
    log: MeasuredLog
    parameters: tuple[Identified, ...]
    correlation: Float[np.ndarray, "keys keys"]
    noise: dict[str, float]  # root mean square of what is left, by column, in its unit
    percent: dict[str, float]  # of a column's variation that the run explains
    simulated: dict[str, Row]  # at the log's times, by column
    time: Row  # s, of the samples within the run
    runs: int
    warnings: list[str]


def identify_parameters(
    scenario: Scenario | str | Path,
    log: str | Path,
    keys: Sequence[str] | str,
    *,
    shift: float = 0.0,
    columns: dict[str, str | None] | None = None,
    units: dict[str, str] | None = None,
    period: float | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return numbers of a scenario, by their dotted `keys`, from a log of what the scenario describes.

    `log` has columns of the run by their names (`dockdyn report --log`), each of which counts by its own noise; `shift`,
    `columns`, `units` and `period` are those of the log as `read_measured` takes them. The search begins at the scenario's
    own numbers and keeps within what each may be.

    Raises ScenarioError: keys that name no number, a log that cannot be read, a scenario that does not run at its start.
    """
    scenario = replace(scenario_from(scenario), dispersions=(), requirements=())
    asked = list(names_from("key", keys))
    chosen_places(scenario, places_of(scenario), asked, "--key")
    measured = read_measured(path_from("log", log), simulate(scenario), shift, columns, units, period)
    sampled, start, runs = _sampled_as(scenario, measured), None, 0
    while True:
        places = chosen_places(sampled, places_of(sampled), asked, "--key")
        problem = _Problem(sampled, measured, places, progress, runs)
        values, noise = problem.fitted(start)
        closer = problem.closer_samples(values, noise)
        if closer is None:
            return problem.answer(values, noise, scenario)
        sampled, start, runs = _sampled_every(sampled, closer), values, problem.runs


def _sampled_as(scenario: Scenario, log: MeasuredLog) -> Scenario:
    """Return the scenario with samples no farther apart than the log's."""
    apart = float(np.median(np.diff(log.time))) if len(log.time) > 1 else math.inf
    stated = scenario.content.output.interval
    if not 0 < apart < (stated or math.inf) or apart >= scenario.content.duration:
        return scenario
    return _sampled_every(scenario, apart)


def _sampled_every(scenario: Scenario, interval: float) -> Scenario:
    """Return the scenario with samples so far (s) apart."""
    return replace(scenario, content=scenario.at({"output.interval": interval}).content)


class _Problem:
    """Least squares over the numbers of some places: residuals and derivatives by column of the log."""

    def __init__(
        self, scenario: Scenario, log: MeasuredLog, places: list[Place], progress: Progress | None, runs: int = 0
    ):
        ends = [f"{one.path}.ends_run" for one in scenario.content.ties() if getattr(one, "ends_run", False)]
        # what was measured goes on after a capture, and so do the runs that are held against it
        whole = scenario.at(dict.fromkeys(ends, False)) if ends else scenario
        self.scenario, self.log, self.places, self.progress = whole, log, places, progress
        end = scenario.content.duration
        inside = (log.time >= 0) & (log.time <= end * (1 + 1e-12))
        self.time = log.time[inside]
        self.measured = {name: values[inside] for name, values in log.columns.items()}
        self.sizes = np.array([abs(place.value) or 1.0 for place in places])
        self.known: dict[bytes, tuple[dict[str, Row], dict[str, Float[np.ndarray, "n keys"]]]] = {}
        self.runs = runs

    def at(self, values: Row, scenario: Scenario | None = None) -> Scenario:
        """Return the scenario, by default that of the runs, with these numbers."""
        own: dict[str, float] = {}
        for place, value in zip(self.places, values, strict=True):
            own |= place.written(float(value))
        scenario = scenario or self.scenario
        return replace(scenario, content=scenario.at(own).content)

    def signals(self, dataset: Dataset) -> dict[str, Row]:
        """Return the log's columns as a run has them, at the log's times."""
        found = run_columns(dataset)
        return {
            name: np.interp(self.time, dataset.time.values, found[name].values.astype(float)) for name in self.measured
        }

    def evaluated(self, values: Row) -> tuple[dict[str, Row], dict[str, Float[np.ndarray, "n keys"]]]:
        """Return columns of a run, and their derivatives by the numbers."""
        name = values.tobytes()
        if name not in self.known:
            case = self.at(values)
            run, own = setup_named(case.setup).linearised(case), Numbers.of(case.content)
            slopes: list[dict[str, Row]] = []
            signals: dict[str, Row] = {}
            for place in self.places:
                signals, slope = slopes_along(run, own.values, place.direction(len(own.values)), self.signals)
                slopes.append(slope)
                self.runs += 1
            jacobian = {name: np.stack([one[name] for one in slopes], axis=1) for name in signals}
            if len(self.known) > 4:
                self.known.clear()
            self.known[name] = signals, jacobian
            if self.progress is not None:
                self.progress(1 - 1 / (1 + self.runs / (8 * len(self.places))))
        return self.known[name]

    def residuals(self, values: Row, noise: dict[str, float]) -> Row:
        """Return all columns less the log, over their noise."""
        signals, _ = self.evaluated(values)
        return np.concatenate([(signals[name] - self.measured[name]) / noise[name] for name in noise])

    def jacobian(self, values: Row, noise: dict[str, float]) -> Float[np.ndarray, "n keys"]:
        """Return their derivatives by the numbers."""
        _, slopes = self.evaluated(values)
        return np.concatenate([slopes[name] / noise[name] for name in noise])

    def solved(self, start: Row, noise: dict[str, float], held: dict[int, float]) -> tuple[Row, float]:
        """Return the numbers that fit best with some `held`, and the sum of squares."""
        free = [index for index in range(len(self.places)) if index not in held]
        whole = start.copy()
        whole[list(held)] = list(held.values())
        if not free:
            return whole, float(np.sum(self.residuals(whole, noise) ** 2))
        lower, upper = (np.array([ends[index] for index in free]) for ends in self._bounds())
        sizes = self.sizes[free]

        def spread(x: Row) -> Row:
            values = whole.copy()
            values[free] = np.clip(x * sizes, lower, upper)
            return values

        def residuals(x: Row) -> Row:
            try:
                return self.residuals(spread(x), noise)
            except ScenarioError:
                if np.array_equal(x, first):
                    raise
                return np.full(sum(map(len, self.measured.values())), 1e6)  # not there: a shorter step is tried

        first = np.clip(whole[free], lower, upper) / sizes
        found = least_squares(
            residuals,
            first,
            lambda x: self.jacobian(spread(x), noise)[:, free] * sizes,
            bounds=(lower / sizes, upper / sizes),
            x_scale="jac",
            xtol=1e-10,
            ftol=1e-12,
            gtol=1e-12,
            max_nfev=60,
        )
        return spread(found.x), float(2 * found.cost)

    def _bounds(self) -> tuple[Row, Row]:
        """Return what the numbers may be; bounds that are excluded by a little."""
        lower, upper = [], []
        for place, size in zip(self.places, self.sizes, strict=True):
            limits = place.limits
            lower.append(max(limits.least, limits.above + 1e-9 * size))
            upper.append(min(limits.most, limits.below - 1e-9 * size))
        return np.array(lower), np.array(upper)

    def fitted(self, start: Row | None = None) -> tuple[Row, dict[str, float]]:
        """Return the numbers that fit best, and the noise of every column; the search begins at `start`, by default the
        scenario's own numbers."""
        values = np.array([place.value for place in self.places]) if start is None else start
        spans = {name: float(np.ptp(column)) for name, column in self.measured.items()}
        noise = {name: span or 1.0 for name, span in spans.items()}
        for _ in range(ROUNDS):
            values, _ = self.solved(values, noise, {})
            signals, _ = self.evaluated(values)
            before = noise
            share = math.sqrt(len(self.time) / max(len(self.time) - len(self.places) / len(spans), 1.0))
            noise = {
                name: max(share * _root_mean_square(signals[name] - self.measured[name]), EXACT * (span or 1.0))
                for name, span in spans.items()
            }
            if len(noise) == 1 or all(abs(noise[name] - before[name]) <= SETTLED * before[name] for name in noise):
                break
        return values, noise

    def closer_samples(self, values: Row, noise: dict[str, float]) -> float | None:
        """Return how far apart (s) samples of the run should be where those it has move a number by more than `MOVED`; None
        where they do not, and where it would have too many.

        What straight lines between samples lose falls with the square of their distance: a run with twice as many tells it.
        """
        run = simulate(self.at(values))
        if len(run.time) < 2:
            return None
        apart = float(run.time[1] - run.time[0])
        places = self.time / apart
        if np.abs(places - np.round(places)).max() < ON_SAMPLE:
            return None
        finer = simulate(_sampled_every(self.at(values), apart / 2))
        if finer.time[1] > 0.75 * apart:  # a rig has nothing to tell between its cycles
            return None
        own, halved = self.signals(run), self.signals(finer)
        lost = np.concatenate([4 / 3 * (halved[name] - own[name]) / noise[name] for name in noise])
        covariance, _, _ = self._covariance(values, noise)
        moved = covariance @ (self.jacobian(values, noise) * self.sizes).T @ lost
        deviations = np.sqrt(np.diag(covariance))
        share = float(np.max(np.abs(moved) / np.where(deviations > 0, deviations, math.inf)))
        closer = apart / 2 ** math.ceil(max(math.log2(share / MOVED) / 2, 1.0)) if share > MOVED else apart
        closer = max(closer, self.scenario.content.duration / MOST_SAMPLES)
        return closer if closer < apart else None

    def _covariance(
        self, values: Row, noise: dict[str, float]
    ) -> tuple[Float[np.ndarray, "keys keys"], Float[np.ndarray, "ways keys"], Bool[np.ndarray, "ways"]]:
        """Return the covariance of the numbers over their sizes, the directions in them, and which of these the log tells."""
        _, singular, ways = np.linalg.svd(self.jacobian(values, noise) * self.sizes, full_matrices=False)
        seen = singular > SINGULAR * singular[0]
        return (ways[seen].T / singular[seen] ** 2) @ ways[seen], ways, seen

    def answer(self, values: Row, noise: dict[str, float], stated: Scenario) -> Fit:
        """Return the fit at the numbers that were found; its scenario is the one that the user `stated`, with these."""
        covariance, ways, seen = self._covariance(values, noise)
        lost = (np.abs(ways[~seen]) > 0.1).any(axis=0) if not seen.all() else np.zeros(len(values), bool)
        unknown = self.unconfirmed(values, noise)
        errors = np.where(lost | unknown, math.inf, np.sqrt(np.diag(covariance)) * self.sizes)
        deviations = np.sqrt(np.diag(covariance))
        correlation = covariance / np.where(np.outer(deviations, deviations) > 0, np.outer(deviations, deviations), 1.0)
        signals, _ = self.evaluated(values)
        signals = dict(signals)
        parameters = [self._identify_number(index, values, float(error), noise) for index, error in enumerate(errors)]
        left = {name: signals[name] - self.measured[name] for name in signals}
        warnings = [
            *self.log.remarks(),
            *(UNKNOWN.format(one.key) for one, doubted in zip(parameters, unknown, strict=True) if doubted),
            *_parameter_doubts(parameters, left, noise, {n: float(np.ptp(v)) for n, v in self.measured.items()}),
        ]
        spreads = {name: _root_mean_square(column - column.mean()) or 1.0 for name, column in self.measured.items()}
        return Fit(
            self.at(values, stated),
            self.log,
            tuple(parameters),
            correlation,
            {name: _root_mean_square(one) for name, one in left.items()},
            {name: 100 * (1 - _root_mean_square(left[name]) / spreads[name]) for name in left},
            signals,
            self.time,
            self.runs,
            warnings,
        )

    def unconfirmed(self, values: Row, noise: dict[str, float]) -> Bool[np.ndarray, "keys"]:
        """Return which derivatives of the columns are not those that differences to both sides give; ScenarioError never.

        A number at its limit has one side; there it is that of the differences of first order.
        """
        slopes, own = self.jacobian(values, noise), self.residuals(values, noise)
        lower, upper = self._bounds()
        found = np.zeros(len(values), bool)
        for index, size in enumerate(self.sizes):
            step = DIFFERENCE * size * np.eye(len(values))[index]
            ends = [np.clip(values + side * step, lower, upper) for side in (-1, 1)]
            try:
                sides = [own if np.array_equal(end, values) else self._residuals_alone(end, noise) for end in ends]
            except ScenarioError:
                continue
            apart = (sides[1] - sides[0]) / (ends[1] - ends[0])[index] - slopes[:, index]
            rounding = ROUNDING * np.linalg.norm(own + self._measured_columns(noise)) / (DIFFERENCE * size)
            found[index] = np.linalg.norm(apart) > AGREE * np.linalg.norm(slopes[:, index]) + rounding
        return found

    def _residuals_alone(self, values: Row, noise: dict[str, float]) -> Row:
        """Return the residuals of a run without its derivatives."""
        signals = self.signals(simulate(self.at(values)))
        return np.concatenate([(signals[name] - self.measured[name]) / noise[name] for name in noise])

    def _measured_columns(self, noise: dict[str, float]) -> Row:
        """Return all columns of the log, over their noise."""
        return np.concatenate([self.measured[name] / noise[name] for name in noise])

    def _identify_number(self, index: int, values: Row, error: float, noise: dict[str, float]) -> Identified:
        """Return one number with its error and its interval, that of its profile where the error does not tell."""
        place, value = self.places[index], float(values[index])
        half = math.sqrt(RISE) * error
        if error <= UNSURE * abs(value):
            interval: tuple[float | None, float | None] = (value - half, value + half)
            return Identified(place.key, place.unit, place.value, value, error, interval, False)
        least = float(np.sum(self.residuals(values, noise) ** 2))
        ends = tuple(self._end(index, side, values, error, noise, least + RISE) for side in (-1, 1))
        return Identified(place.key, place.unit, place.value, value, error, (ends[0], ends[1]), True)

    def _end(
        self, index: int, side: int, values: Row, error: float, noise: dict[str, float], limit: float
    ) -> float | None:
        """Return where the profile of a number rises above a limit to one side; None where it does not as far as is looked."""
        value = float(values[index])
        size = abs(value) or self.sizes[index]
        lowest, highest = (float(ends[index]) for ends in self._bounds())
        reach = min(error if math.isfinite(error) else size, FARTHEST * size)
        inner, start = value, values
        while True:
            outer = min(max(value + side * reach, lowest), highest)
            try:
                found, squares = self.solved(start, noise, {index: outer})
            except ScenarioError:
                break
            if squares > limit:
                break
            if outer in (lowest, highest) or reach >= FARTHEST * size:
                return None
            inner, start, reach = outer, found, 2 * reach
        for _ in range(HALVINGS):
            middle = (inner + outer) / 2
            try:
                found, squares = self.solved(start, noise, {index: middle})
            except ScenarioError:
                outer = middle
                continue
            if squares > limit:
                outer = middle
            else:
                inner, start = middle, found
        return (inner + outer) / 2


def _root_mean_square(values: Row) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _parameter_doubts(
    parameters: Sequence[Identified], left: dict[str, Row], noise: dict[str, float], spans: dict[str, float]
) -> list[str]:
    """Return what to know before the numbers are used."""
    found = []
    for one in parameters:
        if not one.bounded:
            low, high = one.interval
            side = "to neither side" if low is None and high is None else "from below" if low is None else "from above"
            words = f"{one.key}: not identifiable from this log: the fit is as good however far it is changed"
            if low is None and high is None:
                found.append(f"{words} ({side} bounded)")
            else:
                found.append(f"{one.key}: the log does not bound it {side}")
    for name, rest in left.items():
        if noise[name] <= 2 * EXACT * (spans[name] or 1.0) or len(rest) < 3:
            continue
        memory = float(np.sum(rest[1:] * rest[:-1]) / np.sum(rest**2))
        if memory > MEMORY:
            found.append(
                f"{name}: what is left is no noise (each residual is correlated with the next by {memory:.2f}): the scenario "
                "does not explain all of it, and standard errors are too small"
            )
    return found


def fit_answer(fit: Fit) -> dict[str, Any]:
    """Return a fit, as JSON has it."""

    def plain(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    return {
        "samples": len(fit.time),
        "columns": {name: {"noise": fit.noise[name], "explained_percent": fit.percent[name]} for name in fit.noise},
        "parameters": [
            {
                "key": one.key,
                "unit": one.unit,
                "start": one.start,
                "value": one.value,
                "standard_error": plain(one.error),
                "interval_95": [plain(end) for end in one.interval],
                "by_profile": one.profiled,
                "bounded": one.bounded,
            }
            for one in fit.parameters
        ],
        "correlation": fit.correlation.tolist(),
        "runs": fit.runs,
        "warnings": fit.warnings,
    }
