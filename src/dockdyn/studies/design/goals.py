"""What a design is for: a goal and constraints, read from the scenario, and how near to them a design comes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dockdyn.deferred import Bool, Float
from dockdyn.records import record
from dockdyn.results.outcome import still_open
from dockdyn.results.requirements import (
    hidden_by_capture,
    judge_values,
    limit_of,
    resolve_figure,
    unit_of_figure,
    with_lists,
)
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.keys import leaves
from dockdyn.scenario.language.requirement import Requirement, requirement_of
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.design import DesignSection

SHARE = r"(\d+(?:\.\d+)?) ?%"
OF_CASES = re.compile(rf"(?:{SHARE} of |(mean|probability) of )?(\S+)")
IN_CASES = re.compile(rf"(.*\S) +in +{SHARE}")
YES_OR_NO = {"true": True, "false": False}
TINY = 1e-300  # what a constraint that is missed by nothing is missed by
HUGE = 1e300  # what stands for infinity
NOTHING = -2.0  # the slack where no case has the figure


@record
class Goal:
    """What is minimised, or maximised: a figure of the run alone or of the cases, or a variable itself."""

    text: str  # as written
    largest: bool  # whether it is maximised
    figure: str  # key of the summary, which may leave out its unit, or a variable's key
    where: str  # the scenario's name and the goal's key, for messages
    over: str = ""  # "percentile", "mean" or "probability" of the cases, "variable"; empty: the run alone
    share: float = 0.0  # of the cases that lie below a percentile

    @property
    def of_cases(self) -> bool:
        return self.over in ("percentile", "mean", "probability")

    @property
    def asked(self) -> str | None:
        """The figure that runs or margins must give; None for a variable."""
        return None if self.over == "variable" else self.figure

    def oriented(self, value: float | None) -> float:
        """Return what designs are compared by: less is better, infinite where no run has the goal."""
        return math.inf if value is None else -value if self.largest else value


@record
class Constraint:
    """What a design must meet, in the run alone or in a share of the cases."""

    requirement: Requirement
    share: float | None = None  # of the cases

    @property
    def name(self) -> str:
        return self.requirement.name

    @property
    def of_a_number(self) -> bool:
        """Whether it has a limit that can be moved: it is no yes or no."""
        return not isinstance(self.requirement.limit, bool)

    @property
    def text(self) -> str:
        """As it is written behind its name."""
        return self.requirement.text + ("" if self.share is None else f" in {100 * self.share:g} %")


@record
class DesignOutcome:
    """Figures of some runs; those of runs that failed are NaN."""

    figures: dict[str, Float[np.ndarray, "runs *ends"]]
    reasons: list[str]  # why a run failed; empty where it did not

    @property
    def failed(self) -> Bool[np.ndarray, "runs"]:
        return np.array([bool(reason) for reason in self.reasons], dtype=bool)


@record
class Slack:
    """How a design meets a constraint.

    Attributes:
        value: of its figure in the run alone, or the share of the cases that meet it; None where there is none.
        slack: what is spared of the limit, as a share of it, in the run or, of cases, in the one that decides; of a yes or
            no, of shares of the cases. Below zero where the constraint is not met.
        limit: in the figure's unit; None of a yes or no, and where no run has the figure.
    """

    value: float | None
    slack: float
    limit: float | None = None

    @property
    def spared(self) -> float:
        """What is spared of the limit, in the figure's unit; NaN where there is no limit."""
        return math.nan if self.limit is None else self.slack * (abs(self.limit) or 1.0)


def goals_of(scenario: Scenario, stated: DesignSection, keys: Mapping[str, str]) -> tuple[Goal, ...]:
    """Return the goals that a scenario states; `keys` are those of the variables by how they are written."""
    return tuple(
        _goal_of(text, way == "maximise", keys, f"{scenario.name}: design.{key}") for way, key, text in stated.goals()
    )


def _goal_of(text: str, largest: bool, keys: Mapping[str, str], where: str) -> Goal:
    """Return a goal as written; ScenarioError for one that is none."""
    match = OF_CASES.fullmatch(text)
    if match is None:
        words = 'must be a figure, "95 % of", "mean of" or "probability of" one, or the key of a variable'
        raise ScenarioError(f"{where} = {shown(text)}: {words}")
    share, word, figure = match.groups()
    if share is not None:
        return Goal(text, largest, figure, where, "percentile", _share_of(share, f"{where} = {shown(text)}"))
    if word is None and figure in keys:
        return Goal(text, largest, keys[figure], where, "variable")
    return Goal(text, largest, figure, where, word or "")


def constraints_of(scenario: Scenario, stated: DesignSection) -> tuple[Constraint, ...]:
    """Return the constraints that a scenario states. Raises ScenarioError for one that is none."""
    return tuple(_read_constraints(stated.constraints, f"{scenario.name}: design.constraints"))


def _read_constraints(table: dict[str, Any], where: str) -> Iterator[Constraint]:
    for name, value in leaves(table, whole_lists=True):
        match = IN_CASES.fullmatch(value) if isinstance(value, str) else None
        asked = value if match is None else YES_OR_NO.get(match[1], match[1])
        try:
            requirement = requirement_of(name, asked, "")
        except ScenarioError as error:
            words = str(error).rpartition(": must be")[2] or str(error)
            ways = ", perhaps with a share of the cases behind it" if match is None else ""
            raise ScenarioError(f"{where}.{name} = {shown(value)}: must be{words}{ways}") from None
        yield Constraint(requirement, None if match is None else _share_of(match[2], f"{where}.{name}"))


def _share_of(text: str, where: str) -> float:
    """Return a share of the cases from a per cent."""
    if not 0 < float(text) <= 100:
        raise ScenarioError(f"{where}: {text} %: must be above 0 % and at most 100 %")
    return float(text) / 100


def goal_value(goal: Goal, runs: DesignOutcome, variables: Mapping[str, Any]) -> float | None:
    """Return what a design makes of the goal; None where no run has the figure.

    Percentile and mean are of the cases that have the figure, the probability is of all.
    """
    if goal.over == "variable":
        return variables[goal.figure]
    if runs.failed.all():
        return None
    values = runs.figures[resolve_figure(goal.figure, runs.figures, goal.where)]
    if values.ndim > 1:
        raise ScenarioError(
            f"{goal.where}: {goal.figure} is a list; must be one number, such as its .least or .largest"
        )
    known = values[~np.isnan(values)]
    if goal.over == "probability":
        if not np.isin(known, (0.0, 1.0)).all():
            raise ScenarioError(f"{goal.where}: {goal.figure} is a number; a probability must be of a yes or no")
        return float(np.sum(known == 1) / values.size)
    if not known.size:
        return None
    if goal.over != "percentile":
        return float(known.mean())
    found = float(np.percentile(np.clip(known, -HUGE, HUGE), 100 * goal.share))  # no mean of a number and infinity
    return found if abs(found) < HUGE / len(known) else math.copysign(math.inf, found)


def goal_unit(goal: Goal, names: Mapping[str, Any]) -> str:
    """Return the unit of a goal on a figure."""
    return "" if goal.over == "probability" else unit_of_figure(resolve_figure(goal.figure, names, goal.where))


def slack_of(constraint: Constraint, runs: DesignOutcome, where: str) -> Slack:
    """Return how runs, the one alone or all cases, meet a constraint."""
    if runs.failed.all():
        return Slack(None if constraint.share is None else 0.0, NOTHING)
    one = constraint.requirement
    figure = resolve_figure(one.figure, runs.figures, where)
    values = runs.figures[figure]
    limit = limit_of(one, figure, unit_of_figure(figure), values[~runs.failed].ravel().tolist(), where)
    met, margin = judge_values(values, one.relation, limit)
    doubtful = still_open(figure, one.relation, limit, values, met, runs.figures)
    doubtful |= hidden_by_capture(figure, one.relation, limit, values, runs.figures)
    met &= ~doubtful
    spare = np.where(doubtful | np.isnan(margin), -np.inf, margin) / (abs(float(limit)) or 1.0)
    if isinstance(limit, bool):
        spare = np.full(met.shape, -np.inf)
    if constraint.share is None:
        value = float(np.ravel(values)[np.argmin(judge_margins(values, one.relation, limit))])
        slack = _signed_slack(bool(met[0]), float(spare[0]), 1.0)
        return Slack(value if math.isfinite(value) else None, slack, None if isinstance(limit, bool) else limit)
    needed = math.ceil(constraint.share * met.size - 1e-9)
    share = float(met.mean())
    if isinstance(limit, bool):
        return Slack(share, _signed_slack(met.sum() >= needed, -np.inf, abs(share - constraint.share)))
    deciding = float(np.sort(spare)[met.size - needed])
    return Slack(share, _signed_slack(met.sum() >= needed, deciding, 1.0 + constraint.share - share), limit)


def judge_margins(values: np.ndarray, relation: str, limit: bool | float) -> np.ndarray:
    """Return by which margin each entry of one run is on the right side; of a yes or no nothing is worse than another."""
    entries = np.ravel(values)
    return np.zeros(entries.size) if isinstance(limit, bool) else judge_values(entries, relation, limit)[1]


def _signed_slack(met: bool | np.bool_, spare: float, otherwise: float) -> float:
    """Return a slack that is at least zero where the constraint is met, and below it where not, `otherwise` where none is
    known."""
    size = abs(spare) if math.isfinite(spare) else otherwise
    return size if met else -max(size, TINY)


def outcome_of(figures: Mapping[str, np.ndarray], reasons: list[str]) -> DesignOutcome:
    """Return figures of runs, with lists as requirements name them; those of runs that failed are NaN."""
    fine = np.array([not reason for reason in reasons])
    return DesignOutcome(
        with_lists({name: np.where(fine, values, np.nan) for name, values in figures.items()}), reasons
    )


def part_of(runs: DesignOutcome, place: slice) -> DesignOutcome:
    """Return some of the runs."""
    return DesignOutcome({name: values[place] for name, values in runs.figures.items()}, runs.reasons[place])
