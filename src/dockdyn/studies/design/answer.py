"""What a design answers: the best one, with evidence, which constraints decide it, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dockdyn.files import write_files
from dockdyn.results.requirements import resolve_figure, unit_of_figure, without_unit
from dockdyn.scenario.load import parse
from dockdyn.studies.design.evidence import evidence_of
from dockdyn.studies.design.front import balanced_design, front_of
from dockdyn.studies.design.goals import DesignOutcome
from dockdyn.studies.design.plan import Evaluation, Plan, finite_or_none
from dockdyn.studies.design.prices import Prices, shadow_prices
from dockdyn.studies.design.variables import RealVariable, Variable

ACTIVE = 0.01  # of a limit: a slack that is no more makes a constraint active
AT_END = 1e-3  # of a range: a variable that is no further from an end is there

SCENARIO, ANSWER, REPORT = "scenario.toml", "design.json", "report.html"


def answer_of(plan: Plan, evaluations: list[Evaluation]) -> dict[str, Any]:
    """Return the answer of a design, in plain Python types; runs fresh cases of the best one, and its neighbours for the
    prices."""
    orders = [plan.order(one) for one in evaluations]
    front = front_of(orders) if len(plan.goals) > 1 else []
    best = evaluations[balanced_design(orders, front)] if front else min(evaluations, key=plan.order)
    cases = plan.fresh_cases if plan.of_cases else None
    ((alone, of_cases),) = plan.run([best.values], cases)
    fresh = plan.judge(best.values, alone, of_cases)
    constraints = constraints_rows(plan, best, evaluations)
    active = [place for place, one in enumerate(constraints) if one["active"]]
    at_ends = {place: end for place, one in enumerate(plan.variables) if (end := _end_of(one, best.values[place]))}
    prices = shadow_prices(plan, best, active, at_ends) if best.feasible else None
    goals = _goal_rows(plan, best, evaluations[0], {**alone.figures, **of_cases.figures})
    return {
        "setup": plan.scenario.setup,
        "title": plan.scenario.title,
        "goal": goals[0],
        "goals": goals,
        "feasible": best.feasible,
        "variables": _variable_rows(plan, best, evaluations[0], at_ends, prices),
        "constraints": _with_prices(plan, constraints, prices, [alone, of_cases]),
        "price_evaluations": 0 if prices is None else prices.evaluations,
        "price_unbalanced": None if prices is None else finite_or_none(prices.left),
        "evaluations": len(evaluations),
        "derivatives": sum(bool(one.slopes) for one in evaluations),
        "feasible_evaluations": sum(one.feasible for one in evaluations),
        "failed_runs": sum(one.failed for one in evaluations),
        "failure": next((one.reason for one in evaluations if one.reason), ""),
        "front": _front_rows(plan, [evaluations[place] for place in front]) if len(plan.goals) > 1 else None,
        "cases": len(plan.cases.values) if plan.of_cases else None,
        "seed": plan.stated.seed,
        "requirements_left_out": requirements_left_out(plan),
        "evidence": None if cases is None else evidence_of(plan, fresh, of_cases),
    }


def requirements_left_out(plan: Plan) -> list[str]:
    """Return the requirements of the scenario that no constraint of the design is about."""
    asked = {without_unit(one.requirement.figure) for one in plan.constraints}
    return [one.name for one in plan.scenario.requirements if without_unit(one.figure) not in asked]


def _goal_rows(plan: Plan, best: Evaluation, first: Evaluation, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the goals as stated, with those of the best design and of the first."""
    return [
        {
            "text": f"{'maximise' if goal.largest else 'minimise'} {goal.text}",
            "unit": plan.unit_of(goal, names),
            "value": finite_or_none(value),
            "first": finite_or_none(before),
        }
        for goal, value, before in zip(plan.goals, best.goals, first.goals, strict=True)
    ]


def _end_of(one: Variable, value: Any) -> str | None:  # noqa: ANN401, what a file holds
    """Return which end of its range a variable has come to."""
    if not isinstance(one, RealVariable):
        return None if one.ends is None else {one.ends[0]: "low", one.ends[1]: "high"}.get(value)
    share = one.coordinate(value)
    return "low" if share <= AT_END else "high" if share >= 1 - AT_END else None


def _variable_rows(
    plan: Plan, best: Evaluation, first: Evaluation, at_ends: dict[int, str], prices: Prices | None
) -> list[dict[str, Any]]:
    """Return the variables of the best design; `at` is the end of its range that one has come to, `price` that of moving it
    out."""
    rows = []
    for place, (one, value, before) in enumerate(zip(plan.variables, best.values, first.values, strict=True)):
        low, high = one.ends or (None, None)
        rows.append(
            {
                "key": one.key,
                "unit": one.unit,
                "low": low,
                "high": high,
                "values": None if one.ends is not None else list(one.values),
                "value": value,
                "first": before,
                "at": at_ends.get(place),
                "price": prices.ends.get(place) if prices is not None and prices.known else None,
            }
        )
    return rows


def constraints_rows(plan: Plan, best: Evaluation, evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Return how a design meets each constraint, and whether what was tried changes anything about it."""
    rows = []
    for place, one in enumerate(plan.constraints):
        found = best.slacks[place]
        least = ACTIVE if one.share is None else max(ACTIVE, 1 / plan.stated.cases)
        rows.append(
            {
                "name": one.name,
                "text": one.text,
                "share": one.share,
                "value": found.value,
                "first": evaluations[0].slacks[place].value,
                "met": found.slack >= 0,
                "slack": found.slack,
                "active": 0 <= found.slack < least,
                "changes": len({each.slacks[place].slack for each in evaluations}) > 1 or len(evaluations) == 1,
            }
        )
    return rows


def _with_prices(
    plan: Plan, rows: list[dict[str, Any]], prices: Prices | None, runs: Sequence[DesignOutcome]
) -> list[dict[str, Any]]:
    """Return the constraints with the price of each, and the unit that its limit is in."""
    found = []
    for place, (one, row) in enumerate(zip(plan.constraints, rows, strict=True)):
        figures = runs[one.share is not None].figures
        where = f"{plan.scenario.name}: design.constraints.{one.name}"
        price = prices.constraints.get(place) if prices is not None and prices.known else None
        unit = unit_of_figure(resolve_figure(one.requirement.figure, figures, where)) if figures else ""
        found.append(row | {"unit": unit, "price": price})
    return found


def _front_rows(plan: Plan, front: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Return the designs that no other one beats in both goals, from the best in the first to the best in the second."""
    keys = [one.key for one in plan.variables]
    return [
        {"values": dict(zip(keys, one.values, strict=True)), "goals": [finite_or_none(value) for value in one.goals]}
        for one in front
    ]


def best_scenario(plan: Plan, answer: dict[str, Any]) -> str:
    """Return the scenario with the best design in it, as TOML."""
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
