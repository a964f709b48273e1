"""What a design answers: the best one, with evidence, and which constraints decide it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from dockdyn.files import write_files
from dockdyn.results.requirements import resolved
from dockdyn.scenario.load import parse
from dockdyn.studies.cases.statistics import CONFIDENCE, percentile_interval, wilson
from dockdyn.studies.design.goals import Goal, Outcome
from dockdyn.studies.design.plan import Evaluation, Plan

ACTIVE = 0.01  # of a limit: a slack that is no more makes a constraint active
AT_END = 1e-3  # of a range: a variable that is no further from an end is there

SCENARIO, ANSWER, REPORT = "scenario.toml", "design.json", "report.html"


def answer_of(plan: Plan, evaluations: list[Evaluation]) -> dict[str, Any]:
    """The answer of a design, in plain Python types; runs fresh cases of the best one."""
    best = min(evaluations, key=plan.order)
    first = evaluations[0]
    cases = plan.fresh_cases if plan.of_cases else None
    ((alone, of_cases),) = plan.run(np.array([best.values]), cases)
    fresh = plan.judge(np.array(best.values), alone, of_cases)
    return {
        "kind": plan.scenario.kind,
        "title": plan.scenario.title,
        "goal": {
            "text": f"{'maximise' if plan.goal.largest else 'minimise'} {plan.goal.text}",
            "unit": plan.goal_unit(alone.figures),
            "value": best.goal,
            "first": first.goal,
        },
        "feasible": best.feasible,
        "variables": _variables(plan, best, first),
        "constraints": _constraints(plan, best, first),
        "evaluations": len(evaluations),
        "feasible_evaluations": sum(one.feasible for one in evaluations),
        "failed_runs": sum(one.failed for one in evaluations),
        "failure": next((one.reason for one in evaluations if one.reason), ""),
        "cases": len(plan.cases.values) if plan.of_cases else None,
        "seed": plan.stated.seed,
        "evidence": None if cases is None else _evidence(plan, fresh, of_cases),
    }


def _variables(plan: Plan, best: Evaluation, first: Evaluation) -> list[dict[str, Any]]:
    """The variables of the best design; `at` is the end of its range that one has come to."""
    rows = []
    for one, value, before in zip(plan.variables, best.values, first.values, strict=True):
        share = one.share(value)
        at = "low" if share <= AT_END else "high" if share >= 1 - AT_END else None
        ends = {"low": one.axis.low, "high": one.axis.high}
        rows.append({"key": one.key, "unit": one.axis.unit, **ends, "value": value, "first": before, "at": at})
    return rows


def _constraints(plan: Plan, best: Evaluation, first: Evaluation) -> list[dict[str, Any]]:
    """How the best design meets each constraint."""
    rows = []
    for one, found, before in zip(plan.constraints, best.slacks, first.slacks, strict=True):
        least = ACTIVE if one.share is None else max(ACTIVE, 1 / plan.stated.cases)
        rows.append(
            {
                "name": one.name,
                "text": one.text,
                "share": one.share,
                "value": found.value,
                "first": before.value,
                "met": found.slack >= 0,
                "slack": found.slack,
                "active": 0 <= found.slack < least,
            }
        )
    return rows


def _evidence(plan: Plan, fresh: Evaluation, runs: Outcome) -> dict[str, Any]:
    """What fresh cases say of the best design: the goal and the share that meets each constraint, with their intervals."""
    count = len(runs.reasons)
    shares = []
    for one, found in zip(plan.constraints, fresh.slacks, strict=True):
        if one.share is not None:
            share = found.value or 0.0
            interval = [float(end) for end in wilson(share * count, count)]
            shares.append(
                {"name": one.name, "text": one.text, "share": share, "interval_95": interval, "met": found.slack >= 0}
            )
    goal = None
    if plan.goal.of_cases:
        goal = {"value": fresh.goal, "interval_95": _goal_interval(plan.goal, fresh.goal, runs, plan.goal_where)}
    return {"cases": count, "seed": plan.stated.seed + 1, "failed": fresh.failed, "goal": goal, "constraints": shares}


def _goal_interval(goal: Goal, value: float | None, runs: Outcome, where: str) -> list[float | None]:
    """Both ends of the interval of a goal over cases; None for one that so few cases cannot give."""
    if value is None:
        return [None, None]
    values = runs.figures[resolved(goal.figure, runs.figures, where)]
    known = np.sort(values[np.isfinite(values)])
    if goal.over == "probability":
        return [float(end) for end in wilson(value * values.size, values.size)]
    if goal.over == "percentile":
        return list(percentile_interval(known, goal.share))
    if known.size < 2:
        return [None, None]
    half = float(student.ppf((1 + CONFIDENCE) / 2, known.size - 1)) * float(known.std(ddof=1)) / math.sqrt(known.size)
    return [value - half, value + half]


def best_scenario(plan: Plan, answer: dict[str, Any]) -> str:
    """The scenario with the best design in it, as TOML."""
    scenario = plan.scenario
    values = {one["key"]: one["value"] for one in answer["variables"]}
    return parse(scenario.text(), scenario.name, values, scenario.folder).text()


def written_design(plan: Plan, answer: dict[str, Any], folder: Path, page: str | None = None) -> None:
    """Write the answer, the scenario with the best design and, where it is given, the report's page, all or none."""
    files: dict[Path, str | bytes] = {
        folder / ANSWER: json.dumps(answer, indent=2, allow_nan=False),
        folder / SCENARIO: best_scenario(plan, answer),
    }
    if page is not None:
        files[folder / REPORT] = page
    write_files(files)
