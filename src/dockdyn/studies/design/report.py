"""The report of a design, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dockdyn.installed import version
from dockdyn.report.report import Plot, Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING, count_of, format_significant, format_unit, with_unit
from dockdyn.studies.design.answer import constraints_rows
from dockdyn.studies.design.first_screen import constraint_bars, design_advice, design_headline, design_tiles
from dockdyn.studies.design.plan import Evaluation, Plan
from dockdyn.studies.design.plots import convergence_figure, front_figure, variables_figure
from dockdyn.studies.design.wording import DIGITS, describe_goal, format_reached, reached_words, value_words

ENDS = {"low": "at its lower end", "high": "at its upper end", None: ""}


def design_report(plan: Plan, evaluations: Sequence[Evaluation], answer: dict[str, Any], again: str = "") -> Report:
    """Return the report of a design; `again` is what was typed for it."""
    verdict = _design_verdict(answer)
    tables = [
        ReportBlock(_best_words(answer), table=_variables_table(answer)),
        ReportBlock("What constraints cost", table=_constraints_table(answer), notes=_constraint_notes(plan, answer)),
        ReportBlock("Fresh cases", table=_evidence_table(answer)),
    ]
    tables.insert(1, ReportBlock("The front", table=_front_table(plan, answer), notes=_front_notes(answer)))
    plots = [
        *([Plot("front", partial(front_figure, plan, evaluations, answer), _FRONT)] if answer["front"] else []),
        Plot(
            "convergence",
            partial(convergence_figure, plan, evaluations, [goal["unit"] for goal in answer["goals"]]),
            _CONVERGENCE,
        ),
        Plot("variables", partial(variables_figure, plan, evaluations), _VARIABLES),
    ]
    return Report(
        title=answer["title"],
        verdict=verdict,
        headline=design_headline(answer),
        tiles=design_tiles(plan, evaluations, answer),
        bars=constraint_bars(answer),
        bars_title="Constraints",
        advice=design_advice(answer),
        alarming=not answer["feasible"],
        key=_key_rows(answer),
        blocks=tables,
        plots=plots,
        made=[("Seed", str(answer["seed"])), ("dockdyn", version("dockdyn"))],
        warnings=_design_warnings(answer),
        scenario=plan.scenario.text(),
        again=again,
        terminal=[answer["title"], verdict, *tables],
    )


_FRONT = "All designs tried, and those that no other one beats in both goals: less of one is more of the other."
FRONT_ROWS = 9  # in the table
_CONVERGENCE = "The goal of every design in the order tried, and the best so far of those that meet all constraints."
_VARIABLES = "The variables of the designs, in the order tried."


def _best_words(answer: dict[str, Any]) -> str:
    """Return what the design that is written out is called."""
    if not answer["feasible"]:
        return "The design that misses least"
    return "The design in the middle of the front" if answer["front"] else "The best design"


def _design_verdict(answer: dict[str, Any]) -> str:
    """Return what came of the design, in words."""
    goal, tried = answer["goal"], count_of(answer["evaluations"], "design")
    if answer["feasible"]:
        met = ", all constraints met" if answer["constraints"] else ""
        if answer["front"]:
            found = [f"{describe_goal(one)} at {format_reached(one, 'value')}" for one in answer["goals"]]
            return f"{len(answer['front'])} of {tried} make the front{met}; the one in its middle has {' and '.join(found)}."
        first = f"; the first one tried has {format_reached(goal, 'first')}" if goal["first"] is not None else ""
        return f"The best of {tried} has {describe_goal(goal)} at {format_reached(goal, 'value')}{met}{first}."
    missed = [one for one in answer["constraints"] if not one["met"]]
    if not missed:
        lacking = next((one for one in answer["goals"] if one["value"] is None), goal)
        return f"No run of the {tried} tried has the goal, {describe_goal(lacking)}."
    words = "; ".join(missed_words(one) for one in missed)
    return f"None of the {tried} tried meets all constraints. The one that misses least misses {words}."


def missed_words(one: dict[str, Any]) -> str:
    """Return a constraint that is not met, by how much, and whether that could be changed."""
    fixed = "" if one["changes"] else ", which no design tried changes"
    asked = f"{one['name']} {one['text']}"
    if one["share"] is not None:
        return f"{asked}: it holds in {format_significant(100 * (one['value'] or 0.0), 3)} %{fixed}"
    if one["value"] is None:
        return f"{asked}: there is no such figure{fixed}"
    if one["text"] in ("true", "false"):
        return f"{asked}{fixed}"
    by = f"by {format_significant(-100 * one['slack'], 3)} % of the limit"
    return f"{asked}: it is {format_significant(one['value'])}, {by}{fixed}"


def first_words(plan: Plan, first: Evaluation) -> str | None:
    """Return by how much the design that a search begins with misses which constraint; None where it misses none."""
    missed = [one for one in constraints_rows(plan, first, [first]) if not one["met"]]
    words = "; ".join(missed_words(one) for one in missed)
    return f"the first design, from which others are sought, misses {words}" if missed else None


def _key_rows(answer: dict[str, Any]) -> list[tuple[str, str]]:
    cases = NOTHING if answer["cases"] is None else str(answer["cases"])
    tried = f"{answer['evaluations']}, of which {answer['feasible_evaluations']} meet all constraints"
    if answer["derivatives"]:
        tried += f"; {answer['derivatives']} with derivatives, each of which counts as {1 + len(answer['variables'])}"
    goals = []
    for one in answer["goals"]:
        first = "no figure" if one["first"] is None else with_unit(one["first"], one["unit"], DIGITS)
        value = format_reached(one, "value") if answer["feasible"] else with_unit(one["value"], one["unit"], DIGITS)
        goals += [("Goal", one["text"]), ("Value", value), ("Of the first design", first)]
    return [*goals, ("Designs tried", tried), ("Cases of each", cases)]


def _variables_table(answer: dict[str, Any]) -> Table:
    rows = [
        [
            one["key"],
            value_words(one, one["value"]),
            value_words(one, one["first"]),
            _range_words(one),
            ENDS[one["at"]] + (f", {_price_words(answer, one)}" if one["price"] else ""),
        ]
        for one in answer["variables"]
    ]
    return Table([("key", ""), ("value", ""), ("first", ""), ("range", ""), ("", "")], rows, worded={0, 4})


def _range_words(one: dict[str, Any]) -> str:
    """Return the range of a variable, or how many values it can have."""
    if one["values"] is not None:
        return f"one of {len(one['values'])}"
    if isinstance(one["low"], int):
        return f"{one['low']} to {one['high']}"
    return f"{format_significant(one['low'])} to {with_unit(one['high'], one['unit'], 4)}"


def _price_words(answer: dict[str, Any], one: dict[str, Any]) -> str:
    """Return by how much the goal changes where a limit, or an end, is moved by one."""
    by = f"{one['price']:+.4g} {format_unit(answer['goal']['unit'])}".rstrip()
    return f"{by} per {format_unit(one['unit'])}" if one["unit"] else f"{by} per 1"


def _constraints_table(answer: dict[str, Any]) -> Table:
    rows = [
        [
            one["name"],
            one["text"],
            reached_words(one, one["value"]),
            reached_words(one, one["first"]),
            "not met" if not one["met"] else "active" if one["active"] else "met",
            NOTHING if one["price"] is None else _price_words(answer, one),
        ]
        for one in answer["constraints"]
    ]
    columns = [("constraint", ""), ("", ""), ("value", ""), ("first", ""), ("", "")]
    if all(one["price"] is None for one in answer["constraints"]):
        rows = [row[:-1] for row in rows]
    else:
        columns.append(("price", ""))
    return Table(columns, rows, worded={0, 1, 4}, alarming={"not met"})


def _front_table(plan: Plan, answer: dict[str, Any]) -> Table | None:
    """Return designs along the front, evenly by their number."""
    front = answer["front"]
    if not front:
        return None
    chosen = sorted({round(place) for place in np.linspace(0, len(front) - 1, min(FRONT_ROWS, len(front)))})
    units = {one["key"]: one for one in answer["variables"]}
    columns = [(describe_goal(goal), format_unit(goal["unit"])) for goal in answer["goals"]]
    columns += [(".".join(key.split(".")[-2:]), format_unit(one["unit"])) for key, one in units.items()]
    rows = [
        [
            *(format_significant(value, DIGITS) for value in front[place]["goals"]),
            *(
                format_significant(value) if isinstance(value, float) else value_words(units[key], value)
                for key, value in front[place]["values"].items()
            ),
        ]
        for place in chosen
    ]
    return Table(columns, rows, look="dense")


def _front_notes(answer: dict[str, Any]) -> list[str]:
    """Return where all of a front is."""
    if not answer["front"] or len(answer["front"]) <= FRONT_ROWS:
        return []
    return [f"{FRONT_ROWS} of {len(answer['front'])} designs; design.json has all of them."]


def _evidence_table(answer: dict[str, Any]) -> Table | None:
    """Return what fresh cases say."""
    found = answer["evidence"]
    if found is None:
        return None
    rows = []
    for goal, one in zip(answer["goals"], found["goals"], strict=True):
        if one is not None:
            low, high = (format_significant(end, 4) for end in one["interval_95"])
            rows.append([describe_goal(goal), with_unit(one["value"], goal["unit"], DIGITS), f"{low} to {high}", ""])
    for one in found["constraints"]:
        low, high = (format_significant(100 * end, 4) for end in one["interval_95"])
        words = "met" if one["met"] else "not met"
        rows.append(
            [
                f"{one['name']} {one['text']}",
                f"{format_significant(100 * one['share'], 4)} %",
                f"{low} to {high} %",
                words,
            ]
        )
    columns = [(f"of {found['cases']} cases", ""), ("value", ""), ("95 % sure", ""), ("", "")]
    return Table(columns, rows, worded={0, 3}, alarming={"not met"})


def _constraint_notes(plan: Plan, answer: dict[str, Any]) -> list[str]:
    """Return what is to say of the constraints."""
    found = []
    if any(one["active"] for one in answer["constraints"]):
        found.append("Active: within 1 % of its limit, or one case of it; to relax it could improve the goal.")
    left = answer["price_unbalanced"]
    if any(one["price"] is not None for one in (*answer["constraints"], *answer["variables"])):
        found.append(
            "Price: by how much the best goal would change for a limit that is relaxed, or an end that is moved out, by one "
            f"unit, by the slopes at the best design; {format_significant(100 * (left or 0.0), 2)} % of the goal’s slope is "
            "not balanced by them."
        )
    elif answer["price_evaluations"]:
        part = (
            "no slope is known"
            if left is None
            else f"{format_significant(100 * left, 2)} % of the goal’s slope is not balanced"
        )
        words = "the search has not come close to an optimum, it is at a corner, or a yes or no decides"
        found.append(f"No prices: {part} by limits and ends that are active; {words}.")
    return found


def _design_warnings(answer: dict[str, Any]) -> list[str]:
    """Return what to know before trusting the design."""
    found = []
    if answer["failed_runs"]:
        found.append(f"{count_of(answer['failed_runs'], 'run')} failed; the first: {answer['failure']}")
    if left_out := answer["requirements_left_out"]:
        which = "requirement is" if len(left_out) == 1 else "requirements are"
        found.append(
            f"{len(left_out)} {which} no constraint of this design, and may not be met: {', '.join(left_out)}; state them in "
            "[design.constraints], or judge the design by dockdyn campaign run of its scenario"
        )
    evidence = answer["evidence"]
    if answer["feasible"] and evidence is not None:
        for one in evidence["constraints"]:
            if not one["met"]:
                held = f"holds in {format_significant(100 * one['share'], 4)} % of {evidence['cases']} fresh cases"
                advice = "more cases, or a share somewhat above what is needed, make a design that holds"
                found.append(f"{one['name']} {one['text']}: {held}; {advice}")
    return found
