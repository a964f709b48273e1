"""What decides every evaluation of a design: the scenario with its table `[design]`, read and checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.setups import setup_named
from dockdyn.scenario.tables.design import DesignSection
from dockdyn.studies.cases.cluster import Spread
from dockdyn.studies.cases.sampling import Sampled, sample
from dockdyn.studies.design.goals import (
    Constraint,
    DesignOutcome,
    Goal,
    Slack,
    constraints_of,
    goal_unit,
    goal_value,
    goals_of,
    part_of,
    slack_of,
)
from dockdyn.studies.design.runs import Asked, figures_of_rows, spread_rows
from dockdyn.studies.design.variables import Variable, variables_of

Design = tuple[Any, ...]  # values of the variables, numbers in SI units


@record
class Evaluation:
    """What became of one design.

    Attributes:
        values: of the variables (SI).
        goals: what is minimised or maximised; None where no run has it.
        slacks: by constraint, in the order written.
        failed: how many of its runs failed.
        reason: why the first of them did.
        slopes: by the coordinates of the variables, where they were asked for: of the goal, less being better, and of each
            slack.
    """

    values: Design
    goals: tuple[float | None, ...]
    slacks: tuple[Slack, ...]
    failed: int = 0
    reason: str = ""
    slopes: tuple[tuple[float, ...], ...] = ()

    @property
    def cost(self) -> int:
        """As how many designs it counts: a derivative by each variable takes as long as a run or more."""
        return 1 + (len(self.values) if self.slopes else 0)

    @property
    def missed(self) -> float:
        """By how much constraints are missed, all together."""
        return sum(max(-one.slack, 0.0) for one in self.slacks)

    @property
    def feasible(self) -> bool:
        return None not in self.goals and not self.missed


@record
class Plan:
    """A design as its scenario states it."""

    scenario: Scenario
    stated: DesignSection
    variables: tuple[Variable, ...]
    goals: tuple[Goal, ...]
    constraints: tuple[Constraint, ...]
    spread: Spread | None = None  # what runs elsewhere; None: all in this process

    @property
    def of_cases(self) -> bool:
        """Whether cases are drawn, for a goal or a constraint."""
        return any(one.of_cases for one in self.goals) or any(one.share is not None for one in self.constraints)

    @cached_property
    def cases(self) -> Sampled:
        """The cases that every design is judged by, the same for all."""
        return sample(self.scenario, self.stated.cases, self.stated.seed, self.scenario.campaign.sampling)

    @property
    def fresh_cases(self) -> Sampled:
        """Cases that no design was judged by."""
        campaign = self.scenario.campaign
        return sample(self.scenario, campaign.runs, self.stated.seed + 1, campaign.sampling)

    @cached_property
    def asked(self) -> Asked:
        """The figures that goals and constraints are of, by whether they are of the run alone or of cases."""
        found: tuple[list[str], list[str]] = [], []
        for goal in self.goals:
            if goal.asked is not None:
                found[goal.of_cases].append(goal.asked)
        for one in self.constraints:
            found[one.share is not None].append(one.requirement.figure)
        return Asked(*map(tuple, found))

    def order(self, one: Evaluation) -> tuple[float, ...]:
        """Return what designs are compared by, less is better: by how much constraints are missed, then the goals."""
        return one.missed, *(goal.oriented(value) for goal, value in zip(self.goals, one.goals, strict=True))

    def start(self) -> Float[np.ndarray, "variables"]:
        """Return the scenario's own design as coordinates of the variables."""
        return np.array([one.own() for one in self.variables])

    def values(self, designs: Float[np.ndarray, "designs variables"]) -> list[Design]:
        """Return the values of the variables at coordinates."""
        return [tuple(one.at(float(place)) for one, place in zip(self.variables, row, strict=True)) for row in designs]

    def run(self, designs: Sequence[Design], cases: Sampled | None) -> list[tuple[DesignOutcome, DesignOutcome]]:
        """Return the run alone and the cases of every design, all in one batch; of what is not asked for nothing."""
        nominal = [value for one in self.scenario.dispersions for value in one.nominal]
        alone = [nominal] if self.asked.alone or cases is None else []
        drawn = [] if cases is None else cases.values.tolist()
        each = len(alone) + len(drawn)
        keys = [*(one.key for one in self.variables), *(key for one in self.scenario.dispersions for key in one.keys)]
        rows = [(*design, *row) for design in designs for row in (*alone, *drawn)]
        of_cases = ([False] * len(alone) + [True] * len(drawn)) * len(designs)
        bare = replace(self.scenario, requirements=())
        if self.spread is None:
            runs = figures_of_rows(bare, keys, rows, of_cases, self.asked)
        else:
            runs = spread_rows(self.spread, bare, keys, rows, of_cases, self.asked)
        return [
            (part_of(runs, slice(at, at + len(alone))), part_of(runs, slice(at + len(alone), at + each)))
            for at in range(0, len(rows), each)
        ]

    def evaluate(self, designs: Sequence[Design]) -> list[Evaluation]:
        """Return what becomes of designs."""
        runs = self.run(designs, self.cases if self.of_cases else None)
        return [self.judge(design, *found) for design, found in zip(designs, runs, strict=True)]

    def judge(self, design: Design, alone: DesignOutcome, of_cases: DesignOutcome) -> Evaluation:
        """Return what became of a design by its runs."""
        variables = dict(zip((one.key for one in self.variables), design, strict=True))
        goals = tuple(goal_value(goal, of_cases if goal.of_cases else alone, variables) for goal in self.goals)
        slacks = tuple(
            slack_of(
                one, alone if one.share is None else of_cases, f"{self.scenario.name}: design.constraints.{one.name}"
            )
            for one in self.constraints
        )
        runs = of_cases if self.of_cases else alone
        return Evaluation(design, goals, slacks, int(runs.failed.sum()), next(filter(None, runs.reasons), ""))

    def unit_of(self, goal: Goal, names: Mapping[str, Any]) -> str:
        """Return the unit of a goal, of figures by these names."""
        if goal.over == "variable":
            return next(one.unit for one in self.variables if one.key == goal.figure)
        return goal_unit(goal, names) if names else ""


def plan_design(scenario: Scenario) -> Plan:
    """Return the design that a scenario states. Raises ScenarioError for what cannot be designed."""
    if scenario.design is None:
        raise ScenarioError(f"{scenario.name}: states no design; must have a table [design]")
    stated = scenario.design
    variables = variables_of(scenario, stated.variable)
    keys = {
        written: one.key
        for one, given in zip(variables, stated.variable, strict=True)
        for written in (one.key, given.key)
    }
    goals = goals_of(scenario, stated, keys)
    for goal in goals:
        variable = next((one for one in variables if one.key == goal.figure and goal.over == "variable"), None)
        if variable is not None and not variable.ordered:
            raise ScenarioError(f"{goal.where}: {goal.text} is a choice; must be a number")
    plan = Plan(scenario, stated, variables, goals, constraints_of(scenario, stated))
    if plan.asked.margins(False) or plan.asked.margins(True):
        setup_named(scenario.setup).resting(scenario.name, scenario.content)  # refuses setups without a loop
    if plan.of_cases:
        _ = plan.cases  # which must be distributed
    return plan


def finite_or_none(value: float | None) -> float | None:
    """Return a number; None of one without end."""
    return value if value is not None and math.isfinite(value) else None
