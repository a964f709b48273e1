"""A figure as a differentiable function of a scenario's numbers: `dockdyn.objective`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, ArrayLike, DifferentiableFunction, Float, is_traced, jnp
from dockdyn.results.control.coupling import refuse_coupled
from dockdyn.results.drive import Progress
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import name_from, number_from
from dockdyn.scenario.language.keys import constraint_on, number_at, value_at
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.objectives.derivatives import derivatives_of, figure_in_full, value_of
from dockdyn.studies.objectives.figure import Figure, figure_of
from dockdyn.studies.objectives.sampled import Estimate, sampled_estimate

SPREAD = 0.05  # of a number: what a probability is smoothed over where nothing is stated


class Gradient(NamedTuple):
    """A figure at some numbers of its scenario, and its derivatives there.

    Attributes:
        value: in the figure's unit.
        slopes: its derivative by each key, in the figure's unit by the key's; NaN where it is not known.
        value_error: standard error of the value; 0 of one run.
        slope_errors: standard error of each derivative; 0 of one run.
        runs: how many runs this is from.
        failed: how many of them failed or do not have the figure.
        unknown: why a derivative is not known, by its key.
    """

    value: float
    slopes: dict[str, float]
    value_error: float
    slope_errors: dict[str, float]
    runs: int
    failed: int
    unknown: dict[str, str]


@dataclass(frozen=True, eq=False)
class Objective:
    """A figure of a scenario as a function of a dictionary of its numbers, by their dotted keys, in SI units.

    `objective({"contact.spring.normal.stiffness": 2e4})` is an array that `jax.grad`, `jax.value_and_grad`, `jax.jvp` and
    `jax.jacfwd` differentiate once; numbers that are not in the dictionary are the scenario's own. It runs programs of its
    own, so it cannot be inside `jax.jit` or be mapped by `jax.vmap`. Made by `objective`.
    """

    scenario: Scenario
    figure: Figure
    runs: int
    seed: int
    smoothing: float

    @property
    def unit(self) -> str:
        """The figure's unit; empty where it has none."""
        return self.figure.unit

    def __call__(self, numbers: Mapping[str, ArrayLike]) -> Array:
        """The figure, which JAX may differentiate by the numbers.

        Raises ScenarioError: a key that is no number of the scenario, a number that is not allowed, a run without the figure;
        TypeError inside `jax.jit` and `jax.vmap`.
        """
        numbers = self._in_si(numbers)
        values = [jnp.asarray(value, float) for value in numbers.values()]
        return _evaluate_figure(self, tuple(numbers), jnp.stack(values) if values else jnp.zeros(0))

    def value_and_gradient(self, numbers: Mapping[str, float], progress: Progress | None = None) -> Gradient:
        """Return the figure, its derivative by each of the numbers, and their standard errors.

        A derivative that differences to either side do not confirm is not known. Raises ScenarioError as a call does.
        """
        numbers = self._in_si(numbers)
        found = self.estimate(dict(numbers), progress)
        unknown = {
            key: verdict.reason for key, verdict in zip(numbers, found.verdicts, strict=True) if verdict.holds is False
        }
        slopes = dict(zip(numbers, found.slopes, strict=True)) | dict.fromkeys(unknown, float("nan"))
        errors = dict(zip(numbers, found.slope_errors, strict=True))
        return Gradient(found.value, slopes, found.value_error, errors, found.runs, found.failed, unknown)

    def value(self, numbers: Mapping[str, float]) -> float:
        """Return the figure alone. Raises ScenarioError as a call does."""
        if self.figure.over or self.smoothing:
            return self.estimate(dict(numbers)).value
        return value_of(self._at(self._in_si(numbers)), self.figure.name)

    def _in_si(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return numbers in SI units, those too that are texts with a unit. Raises ScenarioError for other texts."""
        if not any(isinstance(value, str) for value in numbers.values()):
            return dict(numbers)
        places = self._places(self.scenario, numbers)
        return {
            key: number_from(f"{self.scenario.name}: {key}", value, place.unit, "a number")
            if isinstance(value, str)
            else value
            for (key, value), place in zip(numbers.items(), places, strict=True)
        }

    def _at(self, numbers: Mapping[str, float]) -> Scenario:
        """Return the scenario with other numbers."""
        places = self._places(self.scenario, numbers)
        values = [float(value) for value in numbers.values()]
        written: dict[str, float] = {}
        for place, value in zip(places, values, strict=True):
            written |= place.written(value)
        return replace(self.scenario, content=self.scenario.at(written).content) if written else self.scenario

    def _places(self, scenario: Scenario, numbers: Mapping[str, Any]) -> list[Place]:
        return chosen_places(scenario, places_of(scenario), list(numbers), "objective:")

    def estimate(self, numbers: Mapping[str, float], progress: Progress | None = None) -> Estimate:
        """Return the figure and its derivatives at the numbers, and whether these hold. Raises ScenarioError as a call does."""
        numbers = self._in_si(numbers)
        refuse_coupled(self.scenario, "an FMU has no derivatives; must be a law of dockdyn or one in Python")
        case = self._at(numbers)
        places = self._places(case, numbers)
        if self.figure.over or self.smoothing:
            return sampled_estimate(case, self.figure, places, self.runs, self.seed, self.smoothing, progress)
        value, slopes, verdicts = derivatives_of(case, [self.figure.name], places, progress)[self.figure.name]
        return Estimate(value, tuple(slopes), 0.0, (0.0,) * len(slopes), 1, 0, tuple(verdicts))


@partial(DifferentiableFunction, constant=(0, 1))
def _evaluate_figure(objective: Objective, keys: tuple[str, ...], values: Float[Array, "keys"]) -> Array:
    """Return the figure at numbers by their keys."""
    return jnp.asarray(objective.value(_plain_numbers(keys, values)))


@_evaluate_figure.defjvp
def _evaluated_jvp(
    objective: Objective, keys: tuple[str, ...], primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    """Return the figure and its derivative along a change of the numbers: linear in that, so that JAX may go backwards, too.

    What is not known is NaN, and a warning says why.
    """
    found = objective.value_and_gradient(_plain_numbers(keys, primals[0]))
    for key, reason in found.unknown.items():
        warnings.warn(f"{objective.scenario.name}: {objective.figure.text} by {key}: {reason}", stacklevel=2)
    return jnp.asarray(found.value), jnp.asarray(list(found.slopes.values())) @ tangents[0]


def _plain_numbers(keys: tuple[str, ...], values: Array) -> dict[str, float]:
    """Return numbers by their keys, where JAX knows them."""
    if is_traced(values):
        raise TypeError(
            "an objective runs programs of its own and is differentiated once: it cannot be inside jax.jit or jax.vmap, "
            "nor be differentiated twice"
        )
    return dict(zip(keys, np.asarray(values).tolist(), strict=True))


def chosen_places(scenario: Scenario, places: list[Place], keys: list[str], option: str) -> list[Place]:
    """Return the places that keys name; ScenarioError for one that names none, or one twice."""
    known = {place.key: place for place in places}
    known |= {value_at(scenario.content, twin, scenario.name).key: place for place in places for twin in place.keys[1:]}
    found: dict[str, Place] = {}
    for key in keys:
        number = number_at(scenario, key)
        if number.key not in known:
            where = f"{scenario.name}: {option} {key}"
            if whole := constraint_on(number.key):
                raise ScenarioError(f"{where}: cannot change alone, as part of {whole}; must be another key")
            words = "has no part in the motion, or is computed with before it"
            raise ScenarioError(f"{where}: {words}; must be a number of the bodies, contacts or loop")
        place = known[number.key]
        if place.key in found:
            raise ScenarioError(f"{scenario.name}: {option} {key}: given twice; must be different keys")
        found[place.key] = place
    return list(found.values())


def objective(
    scenario: Scenario | str | Path,
    figure: str,
    *,
    runs: int | None = None,
    seed: int | None = None,
    smoothing: float | None = None,
) -> Objective:
    """Return a figure of a scenario as a function of a dictionary of its numbers, which JAX can differentiate.

    Args:
        scenario: of any setup, or its file or preset.
        figure: a number of the summary by its dotted name, `peak_force_N` or `impacts.0.energy_loss_J`; one of the
            margins `growth_rate_1_s`, `critical_delay_s`, `delay_margin_s`; or over the scenario's distributions
            "95 % of" a figure, "mean of" one, "probability of" a yes or no.
        runs: cases that are drawn, those of `[campaign]` by default.
        seed: of the cases, that of `[campaign]` by default; every call has the same ones.
        smoothing: how far the numbers are spread, as a share of each, where a derivative would not exist: 0.05 for a
            probability by default, else 0.

    Raises ScenarioError for a figure that cannot be read or that no such scenario has; what only a run tells, such as how many
    contacts there are, when it is called.
    """
    return named_objective(scenario_from(scenario), figure, "figure", runs, seed, smoothing)


def named_objective(
    scenario: Scenario, figure: str, argument: str, runs: int | None, seed: int | None, smoothing: float | None
) -> Objective:
    """Return what `objective` does; its ScenarioErrors call the figure by the `argument` in which the user gave it."""
    text, where = name_from(argument, figure), f"{scenario.name}: {argument}"
    found = figure_of(text, where)
    found = replace(found, name=figure_in_full(scenario, found.name, where))
    if smoothing is None:
        smoothing = SPREAD if found.over == "probability" else 0.0
    if not 0 <= smoothing < 1:
        raise ScenarioError(f"{scenario.name}: smoothing = {smoothing:g}: must be at least 0 and below 1")
    campaign = scenario.campaign
    return Objective(
        scenario,
        found,
        campaign.runs if runs is None else int(runs),
        campaign.seed if seed is None else int(seed),
        float(smoothing),
    )
