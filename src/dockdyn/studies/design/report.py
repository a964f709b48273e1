"""The report of a design, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from dockdyn.report.report import Block, Plot, Report, Table
from dockdyn.report.wording import NOTHING, counted, significant, with_unit
from dockdyn.studies.design.plan import Evaluation, Plan
from dockdyn.studies.design.plots import convergence_figure, variables_figure

DIGITS = 5  # of the goal
ENDS = {"low": "at its lower end", "high": "at its upper end", None: ""}


def design_report(plan: Plan, evaluations: Sequence[Evaluation], answer: dict[str, Any], again: str = "") -> Report:
    """The report of a design; `again` is what was typed for it."""
    verdict = _design_verdict(answer)
    tables = [
        Block(
            "The best design" if answer["feasible"] else "The design that misses least", table=_variables_table(answer)
        ),
        Block("Constraints", table=_constraints_table(answer), notes=_notes(answer)),
        Block("Fresh cases", table=_evidence_table(answer)),
    ]
    plots = [
        Plot("convergence", partial(convergence_figure, plan, evaluations, answer), _CONVERGENCE),
        Plot("variables", partial(variables_figure, plan, evaluations), _VARIABLES),
    ]
    return Report(
        title=answer["title"],
        verdict=verdict,
        alarming=not answer["feasible"],
        key=_key(answer),
        blocks=tables,
        plots=plots,
        made=[("Seed", str(answer["seed"])), ("dockdyn", version("dockdyn"))],
        warnings=_warnings(answer),
        scenario=plan.scenario.text(),
        again=again,
        terminal=[answer["title"], verdict, *tables],
    )


_CONVERGENCE = "The goal of every design in the order tried, and the best so far of those that meet all constraints."
_VARIABLES = "The variables of the designs, in the order tried."


def _design_verdict(answer: dict[str, Any]) -> str:
    """What came of the design, in words."""
    goal, tried = answer["goal"], counted(answer["evaluations"], "design")
    if answer["feasible"]:
        what = goal["text"].partition(" ")[2]
        met = ", all constraints met" if answer["constraints"] else ""
        reached, first = (with_unit(goal[which], goal["unit"], DIGITS) for which in ("value", "first"))
        return f"The best of {tried} has {what} at {reached}{met}; the first one tried has {first}."
    missed = [one for one in answer["constraints"] if not one["met"]]
    if not missed:
        return f"No run of the {tried} tried has the goal, {goal['text'].partition(' ')[2]}."
    words = "; ".join(_missed_words(one) for one in missed)
    return f"None of the {tried} tried meets all constraints. The one that misses least misses {words}."


def _missed_words(one: dict[str, Any]) -> str:
    """A constraint that is not met, and by how much."""
    asked = f"{one['name']} {one['text']}"
    if one["share"] is not None:
        return f"{asked}: it holds in {significant(100 * one['value'], 3)} %"
    if one["value"] is None:
        return f"{asked}: there is no such figure"
    if one["text"] in ("true", "false"):
        return f"{asked}"
    return f"{asked}: it is {significant(one['value'])}, by {significant(-100 * one['slack'], 3)} % of the limit"


def _key(answer: dict[str, Any]) -> list[tuple[str, str]]:
    goal = answer["goal"]
    return [
        ("Goal", goal["text"]),
        ("Value", with_unit(goal["value"], goal["unit"], DIGITS)),
        ("Of the first design", with_unit(goal["first"], goal["unit"], DIGITS)),
        ("Designs tried", f"{answer['evaluations']}, of which {answer['feasible_evaluations']} meet all constraints"),
        ("Cases of each", NOTHING if answer["cases"] is None else str(answer["cases"])),
    ]


def _variables_table(answer: dict[str, Any]) -> Table:
    rows = [
        [
            one["key"],
            with_unit(one["value"], one["unit"], 6),
            with_unit(one["first"], one["unit"], 6),
            f"{significant(one['low'])} to {with_unit(one['high'], one['unit'], 4)}",
            ENDS[one["at"]],
        ]
        for one in answer["variables"]
    ]
    return Table([("key", ""), ("value", ""), ("first", ""), ("range", ""), ("", "")], rows, worded={0, 4})


def _constraints_table(answer: dict[str, Any]) -> Table:
    rows = [
        [
            one["name"],
            one["text"],
            _reached_words(one, one["value"]),
            _reached_words(one, one["first"]),
            "not met" if not one["met"] else "active" if one["active"] else "met",
        ]
        for one in answer["constraints"]
    ]
    columns = [("constraint", ""), ("", ""), ("value", ""), ("first", ""), ("", "")]
    return Table(columns, rows, worded={0, 1, 4}, alarming={"not met"})


def _reached_words(one: dict[str, Any], value: float | None) -> str:
    """What a constraint is about: a number, a yes or no, or a share of the cases."""
    if one["share"] is not None:
        return f"{significant(100 * (value or 0.0), 4)} %"
    if one["text"] in ("true", "false"):
        return NOTHING if value is None else "true" if value else "false"
    return significant(value)


def _evidence_table(answer: dict[str, Any]) -> Table | None:
    """What fresh cases say."""
    found = answer["evidence"]
    if found is None:
        return None
    rows = []
    if found["goal"] is not None:
        unit = answer["goal"]["unit"]
        low, high = (significant(end, 4) for end in found["goal"]["interval_95"])
        rows.append(
            [
                answer["goal"]["text"].partition(" ")[2],
                with_unit(found["goal"]["value"], unit, DIGITS),
                f"{low} to {high}",
                "",
            ]
        )
    for one in found["constraints"]:
        low, high = (significant(100 * end, 4) for end in one["interval_95"])
        words = "met" if one["met"] else "not met"
        rows.append(
            [f"{one['name']} {one['text']}", f"{significant(100 * one['share'], 4)} %", f"{low} to {high} %", words]
        )
    columns = [(f"of {found['cases']} cases", ""), ("value", ""), ("95 % sure", ""), ("", "")]
    return Table(columns, rows, worded={0, 3}, alarming={"not met"})


def _notes(answer: dict[str, Any]) -> list[str]:
    """What is to say of the constraints."""
    if not any(one["active"] for one in answer["constraints"]):
        return []
    return ["Active: within 1 % of its limit, or one case of it; to relax it could improve the goal."]


def _warnings(answer: dict[str, Any]) -> list[str]:
    """What to know before trusting the design."""
    found = []
    if answer["failed_runs"]:
        found.append(f"{counted(answer['failed_runs'], 'run')} failed; the first: {answer['failure']}")
    evidence = answer["evidence"]
    if answer["feasible"] and evidence is not None:
        for one in evidence["constraints"]:
            if not one["met"]:
                held = f"holds in {significant(100 * one['share'], 4)} % of {evidence['cases']} fresh cases"
                advice = "more cases, or a share somewhat above what is needed, make a design that holds"
                found.append(f"{one['name']} {one['text']}: {held}; {advice}")
    return found
