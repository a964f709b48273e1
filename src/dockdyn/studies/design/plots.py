"""Figures of a design: how the goal came down, and where the variables were sought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dockdyn.report.charts.chart import Chart, Line, Panel
from dockdyn.report.drawing import short_label
from dockdyn.report.wording import format_unit
from dockdyn.scenario.language.errors import shown
from dockdyn.studies.design.plan import Evaluation, Plan
from dockdyn.studies.design.variables import RealVariable, Variable

ACROSS = "designs tried"


def convergence_figure(plan: Plan, evaluations: Sequence[Evaluation], units: Sequence[str]) -> Chart:
    """Return the goals, in their `units`, over the designs tried, and by how much constraints are missed where there are
    any."""
    number = np.arange(1, len(evaluations) + 1)
    feasible = np.array([one.feasible for one in evaluations])
    panels = []
    for place, goal in enumerate(plan.goals):
        values = goal_values(evaluations, place)
        best = (np.fmax if goal.largest else np.fmin).accumulate(np.where(feasible, values, np.nan))
        lines = [*_design_points(number, values, feasible), Line(number, best, "ink", "best so far", width=1.6)]
        panels.append(Panel(_axis_label(goal.text, units[place]), lines, 2.2, across=ACROSS))
    if plan.constraints:
        missed = np.array([one.missed for one in evaluations])
        panels.append(Panel("missed by", _design_points(number, missed, feasible), 1.2, across=ACROSS))
    return Chart(panels, whole=(0.5, max(len(evaluations), 2) + 0.5))


def front_figure(plan: Plan, evaluations: Sequence[Evaluation], answer: dict[str, Any]) -> Chart:
    """Return one goal over the other: all designs, the front, and the one that is written out."""
    first, second = (goal_values(evaluations, place) for place in (0, 1))
    feasible = np.array([one.feasible for one in evaluations])
    best = np.array([row["goals"] for row in answer["front"]], float)
    across, up = ([goal["value"]] for goal in answer["goals"])
    lines = [
        *_design_points(first, second, feasible),
        Line(best[:, 0], best[:, 1], "ink", "front", width=1.4),
        Line(across, up, "ink", "written out", marker="o", size=6.0, joined=False),
    ]
    names = [_axis_label(goal.text, found["unit"]) for goal, found in zip(plan.goals, answer["goals"], strict=True)]
    ranges = [_goal_limits(best[:, place], goal.largest) for place, goal in enumerate(plan.goals)]
    panel = Panel(names[1], lines, 3.2, across=names[0], limits=ranges[1])
    return Chart([panel], whole=ranges[0], over=plan.goals[0].text)


def _goal_limits(values: np.ndarray, largest: bool) -> tuple[float, float]:
    """Return what is shown of a goal: the front, and a quarter more on the worse side."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    size = (high - low) or abs(high) or 1.0
    return (low - 0.25 * size, high + 0.1 * size) if largest else (low - 0.1 * size, high + 0.25 * size)


def goal_values(evaluations: Sequence[Evaluation], place: int) -> np.ndarray:
    """Return a goal of every design; NaN where no run has it, or it is without end."""
    values = np.array([np.nan if one.goals[place] is None else one.goals[place] for one in evaluations], float)
    return np.where(np.isfinite(values), values, np.nan)


def variables_figure(plan: Plan, evaluations: Sequence[Evaluation]) -> Chart:
    """Return each variable over the designs tried."""
    number = np.arange(1, len(evaluations) + 1)
    feasible = np.array([one.feasible for one in evaluations])
    panels = [
        _variable_panel(one, number, [design.values[place] for design in evaluations], feasible)
        for place, one in enumerate(plan.variables)
    ]
    return Chart(panels, whole=(0.5, max(len(evaluations), 2) + 0.5))


def _variable_panel(one: Variable, number: np.ndarray, values: list[Any], feasible: np.ndarray) -> Panel:
    """Return one variable: a number over its range, or the place of a choice, with its name."""
    label = _axis_label(".".join(one.key.split(".")[-2:]), one.unit)
    if isinstance(one, RealVariable):
        scale: Literal["log", "linear"] = "log" if one.by_logarithm else "linear"
        lines = _design_points(number, np.array(values), feasible)
        return Panel(label, lines, 1.5, across=ACROSS, limits=one.ends, scale=scale)
    places = np.array([one.coordinate(value) for value in values])
    if one.ends is not None:
        lines = _design_points(number, places + one.ends[0], feasible)
        return Panel(label, lines, 1.5, across=ACROSS, limits=(one.ends[0] - 0.5, one.ends[1] + 0.5))
    ticks = [(float(place), short_label(shown(value), 18)) for place, value in enumerate(one.values)]
    lines = _design_points(number, places, feasible)
    return Panel(label, lines, 1.5, across=ACROSS, limits=(-0.5, one.count - 0.5), ticks=ticks)


def _axis_label(name: str, unit: str) -> str:
    """Return what an axis is called."""
    return short_label(name) + (f", {format_unit(unit)}" if unit else "")


def _design_points(number: np.ndarray, values: np.ndarray, feasible: np.ndarray) -> list[Line]:
    """Return a point a design, by whether it meets all constraints."""
    looks = (("blue", "meets all constraints", feasible), ("orange", "misses one", ~feasible))
    return [
        Line(number[chosen], values[chosen], colour, name, marker=".", size=8.0, joined=False)
        for colour, name, chosen in looks
        if chosen.any()
    ]
