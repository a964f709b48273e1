"""Figures of a design: how the goal came down, and where the variables were sought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dockdyn.report.charts.chart import Chart, Line, Panel
from dockdyn.report.drawing import short
from dockdyn.report.wording import spaced
from dockdyn.studies.design.plan import Evaluation, Plan

ACROSS = "designs tried"


def convergence_figure(plan: Plan, evaluations: Sequence[Evaluation], answer: dict[str, Any]) -> Chart:
    """The goal over the designs tried, and by how much constraints are missed where there are any."""
    number = np.arange(1, len(evaluations) + 1)
    goal = np.array([np.nan if one.goal is None else one.goal for one in evaluations])
    feasible = np.array([one.feasible for one in evaluations])
    best = (np.fmax if plan.goal.largest else np.fmin).accumulate(np.where(feasible, goal, np.nan))
    lines = [*_tried(number, goal, feasible), Line(number, best, "ink", "best so far", width=1.6)]
    panels = [Panel(_labelled(plan.goal.text, answer["goal"]["unit"]), lines, 2.2, across=ACROSS)]
    if plan.constraints:
        missed = np.array([one.missed for one in evaluations])
        panels.append(Panel("missed by", _tried(number, missed, feasible), 1.2, across=ACROSS))
    return Chart(panels, whole=(1.0, float(max(len(evaluations), 2))))


def variables_figure(plan: Plan, evaluations: Sequence[Evaluation]) -> Chart:
    """Each variable over the designs tried."""
    number = np.arange(1, len(evaluations) + 1)
    feasible = np.array([one.feasible for one in evaluations])
    values = np.array([one.values for one in evaluations])
    panels = [
        Panel(
            _labelled(".".join(one.key.split(".")[-2:]), one.axis.unit),
            _tried(number, values[:, place], feasible),
            1.5,
            across=ACROSS,
            limits=(one.axis.low, one.axis.high),
            scale="log" if one.by_logarithm else "linear",
        )
        for place, one in enumerate(plan.variables)
    ]
    return Chart(panels, whole=(1.0, float(max(len(evaluations), 2))))


def _labelled(name: str, unit: str) -> str:
    """What an axis is called."""
    return short(name) + (f", {spaced(unit)}" if unit else "")


def _tried(number: np.ndarray, values: np.ndarray, feasible: np.ndarray) -> list[Line]:
    """A point a design, by whether it meets all constraints."""
    looks = (("blue", "meets all constraints", feasible), ("orange", "misses one", ~feasible))
    return [
        Line(number[chosen], values[chosen], colour, name, marker=".", size=3.0, joined=False)
        for colour, name, chosen in looks
        if chosen.any()
    ]
