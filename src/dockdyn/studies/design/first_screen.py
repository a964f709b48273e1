"""What the page of a design shows first: headline, numbers that matter, constraints as bars, what decides, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dockdyn.report.requirement_bar import RequirementBar
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import count_of, format_significant, format_unit, name_in_words, with_unit
from dockdyn.studies.design.plan import Evaluation, Plan
from dockdyn.studies.design.plots import goal_values
from dockdyn.studies.design.variables import RealVariable
from dockdyn.studies.design.wording import describe_goal, format_reached, reached_words, value_words

MOST = 6  # variables in a tile


def design_headline(answer: dict[str, Any]) -> str:
    """Return what came of a design in a few words."""
    if not answer["feasible"]:
        return "No design tried meets all constraints" if answer["constraints"] else "No design tried has the goal"
    if answer["front"]:
        return f"{count_of(len(answer['front']), 'design')} that no other beats"
    goal = answer["goal"]
    return f"Best design: {describe_goal(goal).replace('_', ' ')} {format_reached(goal, 'value')}"


def design_tiles(plan: Plan, evaluations: Sequence[Evaluation], answer: dict[str, Any]) -> list[Tile]:
    """Return the numbers that matter: each goal with how it came down, the variables, how many were tried."""
    number = np.arange(1.0, len(evaluations) + 1)
    tiles = []
    for place, (goal, told) in enumerate(zip(plan.goals, answer["goals"], strict=True)):
        feasible = np.array([one.feasible for one in evaluations])
        reached = np.where(feasible, goal_values(evaluations, place), np.nan)
        best = (np.fmax if goal.largest else np.fmin).accumulate(reached)
        if not answer["feasible"]:
            best = np.asarray(goal_values(evaluations, place), float)
        known = np.isfinite(best)
        value, _, unit = format_reached(told, "value").partition(" ")
        note = _change_words(told)
        tiles.append(
            Tile(
                told["text"].replace("_", " ").capitalize(),
                value,
                unit,
                note if answer["feasible"] else f"of the design that misses least; {note}",
                number[known],
                best[known],
                "orange" if told["unit"] == "N" else "blue",
            )
        )
    rows = answer["variables"][:MOST]
    first = rows[0]
    value, _, unit = value_words(first, first["value"]).partition(" ")
    bars = [
        (".".join(one["key"].split(".")[-2:]), share, value_words(one, one["value"]))
        for one, variable, design in zip(rows, plan.variables, [row["value"] for row in rows], strict=False)
        if (share := variable.coordinate(design) if isinstance(variable, RealVariable) else None) is not None
    ]
    ends = f"first {value_words(first, first['first'])}"
    tiles.append(Tile(first["key"].rpartition(".")[2].replace("_", " ").capitalize(), value, unit, ends, bars=bars))
    tried = answer["evaluations"]
    feasible_bars = [
        (words, count / tried, str(count))
        for words, count in (("meet all", answer["feasible_evaluations"]), ("with slopes", answer["derivatives"]))
    ]
    tiles.append(Tile("Designs tried", str(tried), "", f"seed {answer['seed']}", bars=feasible_bars))
    return tiles


def _change_words(goal: dict[str, Any]) -> str:
    """Return what the first design had, and by how much the best one differs from it."""
    if goal["first"] is None or goal["value"] is None:
        return "the first design has none"
    first = f"first {with_unit(goal['first'], goal['unit'], 4)}"
    if not goal["first"]:
        return first
    change = 100 * (goal["value"] - goal["first"]) / abs(goal["first"])
    return f"{first}: {'+' if change > 0 else '−'}{format_significant(abs(change), 2)} %"


def constraint_bars(answer: dict[str, Any]) -> list[RequirementBar]:
    """Return constraints, those missed first, then by how little is left of their limit; the bar is what is used of it."""
    bars = []
    for one in sorted(answer["constraints"], key=lambda each: each["slack"]):
        number = one["value"] is not None and one["text"] not in ("true", "false") and one["share"] is None
        value = reached_words(one, one["value"])
        if number and one.get("unit"):
            value = f"{value} {format_unit(one['unit'])}"
        slack = f"{format_significant(100 * abs(one['slack']), 3)} %"
        words = "" if not number else f"{slack} {'left' if one['met'] else 'beyond the limit'}"
        bars.append(
            RequirementBar(
                f"{name_in_words(one['name'])} {'= ' if one['text'] in ('true', 'false') else ''}{one['text']}",
                value,
                "ok" if one["met"] else "bad",
                "met" if one["met"] else "not met",
                one["value"] if one["share"] is not None else max(0.0, 1 - one["slack"]) if number else None,
                None,
                words,
                "active" if one["active"] else "",
            )
        )
    return bars


def design_advice(answer: dict[str, Any]) -> list[Advice]:
    """Return which constraints and ends decide a design, and what to do next."""
    active = [f"{one['name']} {one['text']}" for one in answer["constraints"] if one["active"]]
    ends = [
        f"{one['key']} at its {'lower' if one['at'] == 'low' else 'upper'} end"
        for one in answer["variables"]
        if one["at"]
    ]
    missed = [f"{one['name']} {one['text']}" for one in answer["constraints"] if not one["met"]]
    decides = missed or [*active, *ends]
    advice = [Advice("Decides", f"{', '.join(decides)}.")] if decides else []
    if not answer["feasible"]:
        words = "Widen the ranges of the variables, or relax what is missed, and try again."
        return [*advice, Advice("Next", words)]
    of_cases = answer["cases"] is not None or answer["requirements_left_out"]
    command = "dockdyn campaign run scenario.toml" if of_cases else "dockdyn run scenario.toml"
    return [*advice, Advice("Next", "See the best design; scenario.toml has it:", command)]
