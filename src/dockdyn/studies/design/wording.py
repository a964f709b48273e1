"""A design's goals, variables and constraints in words."""

from __future__ import annotations

from typing import Any

from dockdyn.report.wording import NOTHING, format_significant, with_unit
from dockdyn.scenario.language.errors import shown

DIGITS = 5  # of the goal


def describe_goal(goal: dict[str, Any]) -> str:
    """Return what a goal is of."""
    return str(goal["text"].partition(" ")[2])


def format_reached(goal: dict[str, Any], which: str) -> str:
    """Return a goal's value in words; one of a design that has it, but as no number, is without limit."""
    return "no limit" if goal[which] is None else with_unit(goal[which], goal["unit"], DIGITS)


def value_words(one: dict[str, Any], value: Any) -> str:  # noqa: ANN401, what a file holds
    """Return a value of a variable."""
    if one["values"] is not None:
        return value if isinstance(value, str) else shown(value)
    return str(value) if isinstance(value, int) else with_unit(value, one["unit"], 6)


def reached_words(one: dict[str, Any], value: float | None) -> str:
    """Return what a constraint is about: a number, a yes or no, or a share of the cases."""
    if one["share"] is not None:
        return f"{format_significant(100 * (value or 0.0), 4)} %"
    if one["text"] in ("true", "false"):
        return NOTHING if value is None else "true" if value else "false"
    return format_significant(value)
