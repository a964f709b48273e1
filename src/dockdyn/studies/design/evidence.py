"""What fresh cases say of the best design: its goals and constraints, with their intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import t as student

from dockdyn.results.requirements import resolve_figure
from dockdyn.studies.cases.statistics import CONFIDENCE, percentile_interval, wilson_interval
from dockdyn.studies.design.goals import DesignOutcome, Goal
from dockdyn.studies.design.plan import Evaluation, Plan, finite_or_none


def evidence_of(plan: Plan, fresh: Evaluation, runs: DesignOutcome) -> dict[str, Any]:
    """Return the goals and the share that meets each constraint in cases that no design was judged by, with their intervals."""
    count = len(runs.reasons)
    shares = []
    for one, found in zip(plan.constraints, fresh.slacks, strict=True):
        if one.share is not None:
            share = found.value or 0.0
            interval = [float(end) for end in wilson_interval(share * count, count)]
            shares.append(
                {"name": one.name, "text": one.text, "share": share, "interval_95": interval, "met": found.slack >= 0}
            )
    goals = [
        {
            "value": finite_or_none(value),
            "interval_95": [finite_or_none(end) for end in _goal_interval(goal, value, runs)],
        }
        if goal.of_cases
        else None
        for goal, value in zip(plan.goals, fresh.goals, strict=True)
    ]
    return {
        "cases": count,
        "seed": plan.stated.seed + 1,
        "failed": fresh.failed,
        "goal": goals[0],
        "goals": goals,
        "constraints": shares,
    }


def _goal_interval(goal: Goal, value: float | None, runs: DesignOutcome) -> list[float | None]:
    """Return both ends of the interval of a goal over cases; None for one that so few cases cannot give."""
    if value is None:
        return [None, None]
    values = runs.figures[resolve_figure(goal.figure, runs.figures, goal.where)]
    known = np.sort(values[~np.isnan(values)])
    if goal.over == "probability":
        return [float(end) for end in wilson_interval(value * values.size, values.size)]
    if goal.over == "percentile":
        return list(percentile_interval(known, goal.share))
    if known.size < 2 or not np.isfinite(known).all():
        return [None, None]
    half = float(student.ppf((1 + CONFIDENCE) / 2, known.size - 1)) * float(known.std(ddof=1)) / math.sqrt(known.size)
    return [value - half, value + half]
