"""What decides every evaluation of a design: the scenario with its table `[design]`, read and checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from dockdyn.scenario.axis import Axis, Sweep, axis_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.load import Scenario, content_at
from dockdyn.scenario.tables.design import DesignSection
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.cases.sampling import Sampled, sample
from dockdyn.studies.design.goals import (
    Constraint,
    Goal,
    Outcome,
    Slack,
    constraints_of,
    goal_of,
    goal_unit,
    outcome_of,
    part_of,
    reached,
    slack_of,
)

DECADE = 10.0  # a range of positive numbers that is wider is searched by its logarithm


@dataclass(frozen=True)
class Variable:
    """A number that is sought."""

    axis: Axis
    key: str  # in one way

    @property
    def by_logarithm(self) -> bool:
        return self.axis.low > 0 and self.axis.high >= DECADE * self.axis.low

    def at(self, share: float) -> float:
        """The number (SI) at a share of the range."""
        low, high = self.axis.low, self.axis.high
        value = low * (high / low) ** share if self.by_logarithm else low + (high - low) * share
        return min(max(value, low), high)

    def share(self, value: float) -> float:
        """Where in the range a number (SI) is."""
        low, high = self.axis.low, self.axis.high
        return math.log(value / low) / math.log(high / low) if self.by_logarithm else (value - low) / (high - low)

    def own_share(self) -> float:
        """Where in the range the scenario's own number is; the middle where it states none within."""
        now = self.axis.now
        return self.share(now) if now is not None and self.axis.low <= now <= self.axis.high else 0.5


@dataclass(frozen=True)
class Evaluation:
    """What became of one design.

    Attributes:
        values: of the variables (SI).
        goal: what is minimised or maximised; None where no run has it.
        slacks: by constraint, in the order written.
        failed: how many of its runs failed.
        reason: why the first of them did.
    """

    values: tuple[float, ...]
    goal: float | None
    slacks: tuple[Slack, ...]
    failed: int = 0
    reason: str = ""

    @property
    def missed(self) -> float:
        """By how much constraints are missed, all together."""
        return sum(max(-one.slack, 0.0) for one in self.slacks)

    @property
    def feasible(self) -> bool:
        return self.goal is not None and not self.missed


@dataclass(frozen=True)
class Plan:
    """A design as its scenario states it."""

    scenario: Scenario
    stated: DesignSection
    variables: tuple[Variable, ...]
    goal: Goal
    constraints: tuple[Constraint, ...]

    @property
    def of_cases(self) -> bool:
        """Whether cases are drawn, for the goal or a constraint."""
        return self.goal.of_cases or any(one.share is not None for one in self.constraints)

    @property
    def of_the_run(self) -> bool:
        """Whether the run alone is asked for anything."""
        return self.goal.over == "" or any(one.share is None for one in self.constraints)

    @cached_property
    def cases(self) -> Sampled:
        """The cases that every design is judged by, the same for all."""
        return sample(self.scenario, self.stated.cases, self.stated.seed, self.scenario.campaign.sampling)

    @property
    def fresh_cases(self) -> Sampled:
        """Cases that no design was judged by."""
        campaign = self.scenario.campaign
        return sample(self.scenario, campaign.runs, self.stated.seed + 1, campaign.sampling)

    @property
    def goal_where(self) -> str:
        return f"{self.scenario.name}: design.{'maximise' if self.goal.largest else 'minimise'}"

    def order(self, one: Evaluation) -> tuple[float, float]:
        """What designs are compared by: less is better."""
        goal = math.inf if one.goal is None else -one.goal if self.goal.largest else one.goal
        return one.missed, goal

    def start(self) -> Float[np.ndarray, "variables"]:
        """The scenario's own design as shares of the ranges; the middle of those where it states none within."""
        return np.array([one.own_share() for one in self.variables])

    def values(self, shares: Float[np.ndarray, "designs variables"]) -> Float[np.ndarray, "designs variables"]:
        """The variables (SI) of designs."""
        return np.array(
            [[one.at(float(share)) for one, share in zip(self.variables, row, strict=True)] for row in shares]
        )

    def run(
        self, designs: Float[np.ndarray, "designs variables"], cases: Sampled | None
    ) -> list[tuple[Outcome, Outcome]]:
        """The run alone and the cases of every design, all in one batch; of what is not asked for some of the other."""
        rows, keys = self._rows(cases)
        each, drawn = len(rows), 0 if cases is None else len(cases.values)
        values = np.concatenate([np.concatenate([np.tile(one, (each, 1)), rows], axis=1) for one in designs])
        figures = [] if self.goal.over == "variable" else [self.goal.figure]
        figures += [one.requirement.figure for one in self.constraints]
        bare = replace(self.scenario, requirements=())
        found = run_cases(bare, [*(one.key for one in self.variables), *keys], values, figures=figures)
        runs = outcome_of(found.figures, found.reasons)
        ends = range(each, len(values) + 1, each)
        return [
            (part_of(runs, slice(end - each, end - each + 1)), part_of(runs, slice(end - drawn, end))) for end in ends
        ]

    def evaluate(self, designs: Float[np.ndarray, "designs variables"]) -> list[Evaluation]:
        """What becomes of designs."""
        runs = self.run(designs, self.cases if self.of_cases else None)
        return [self.judge(design, *found) for design, found in zip(designs, runs, strict=True)]

    def judge(self, design: Float[np.ndarray, "variables"], alone: Outcome, of_cases: Outcome) -> Evaluation:
        """What became of a design by its runs."""
        variables = dict(zip((one.key for one in self.variables), map(float, design), strict=True))
        goal = reached(self.goal, of_cases if self.goal.of_cases else alone, variables, self.goal_where)
        slacks = tuple(
            slack_of(
                one, alone if one.share is None else of_cases, f"{self.scenario.name}: design.constraints.{one.name}"
            )
            for one in self.constraints
        )
        runs = of_cases if self.of_cases else alone
        return Evaluation(
            tuple(variables.values()), goal, slacks, int(runs.failed.sum()), next(filter(None, runs.reasons), "")
        )

    def goal_unit(self, names: Mapping[str, Any]) -> str:
        """The unit of the goal, of figures by these names."""
        if self.goal.over == "variable":
            return next(one.axis.unit for one in self.variables if one.key == self.goal.figure)
        return goal_unit(self.goal, names, self.goal_where) if names else ""

    def _rows(self, drawn: Sampled | None) -> tuple[Float[np.ndarray, "runs keys"], tuple[str, ...]]:
        """What is distributed, of every run of a design: nominal in the first, where that is asked for, then drawn."""
        nominal = [value for one in self.scenario.dispersions for value in one.nominal]
        keys = tuple(key for one in self.scenario.dispersions for key in one.keys)
        alone = np.array([nominal], float)
        if drawn is None:
            return alone, keys
        return (np.concatenate([alone, drawn.values]) if self.of_the_run else drawn.values), keys


def plan_design(scenario: Scenario) -> Plan:
    """The design that a scenario states. Raises ScenarioError for what cannot be designed."""
    if scenario.design is None:
        raise ScenarioError(f"{scenario.name}: states no design; must have a table [design]")
    stated = scenario.design
    nominal = scenario.at({})
    variables = tuple(
        _variable(scenario, nominal, one.key, one.low, one.high, place) for place, one in enumerate(stated.variables)
    )
    for place, one in enumerate(variables):
        if one.axis.leaf in [other.axis.leaf for other in variables[:place]]:
            raise ScenarioError(f"{scenario.name}: design.variables.{place}.key: {one.key} is given twice; must differ")
    keys = {name: one.key for one in variables for name in (one.key, one.axis.sweep.key)}
    plan = Plan(scenario, stated, variables, goal_of(scenario, stated, keys), constraints_of(scenario, stated))
    if plan.of_cases:
        _ = plan.cases  # which must be distributed
    return plan


def _variable(scenario: Scenario, nominal: Scenario, key: str, low: object, high: object, place: int) -> Variable:
    """A variable as stated; ScenarioError where its key is no number or distributed, or its ends are not allowed."""
    axis = axis_of(nominal, Sweep(key, low, high, count=2, option=f"design.variables.{place}"))
    content = content_at(nominal.nominal(), {key: axis.high}, scenario.name, scenario.folder)
    found = value_at(content, key, scenario.name).key
    if any(found in one.keys for one in scenario.dispersions):
        words = "is distributed; must be a number that is not"
        raise ScenarioError(f"{scenario.name}: design.variables.{place}.key: {key} {words}")
    return Variable(axis, found)
