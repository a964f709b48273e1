"""The table `[requirements]`: what the figures of a run's summary must be."""

from __future__ import annotations

import math
import re
from typing import Any

from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.units import magnitude

RELATIONS = ("<", "<=", ">", ">=", "==")
WRITTEN = re.compile(r"\s*([<>=!~≤≥]*)\s*(.*?)\s*", re.DOTALL)


@record
class Requirement:
    """One figure of the summary against a limit."""

    name: str  # as written, dots for tables inside tables
    figure: str  # key of the summary, which may leave out its unit
    relation: str
    limit: bool | str  # a number, a text with a unit, or a yes or no
    text: str  # relation and limit as written

    def written(self) -> bool | str:
        return self.limit if isinstance(self.limit, bool) else self.text


def requirements_of(table: object, name: str, prefix: str = "") -> tuple[Requirement, ...]:
    """Return the requirements that a file's table states; ScenarioError for one that is none."""
    where = f"{name}: requirements{'.' if prefix else ''}{prefix.rstrip('.')}"
    if not isinstance(table, dict):
        raise ScenarioError(f"{where}: must be a table of figures of the summary")
    found: list[Requirement] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += requirements_of(value, name, f"{prefix}{key}.")
        else:
            found.append(requirement_of(prefix + key, value, name))
    return tuple(found)


def requirement_of(figure: str, value: object, name: str) -> Requirement:
    """Return one requirement: true, false, or a relation such as "< 500 N"."""
    where = f"{name}: requirements.{figure} = {shown(value)}"
    if isinstance(value, bool):
        return Requirement(figure, figure, "==", value, "true" if value else "false")
    match = WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if match is None or not match[1]:
        raise ScenarioError(f'{where}: must be true, false or a relation such as "< 500 N"')
    relation, limit = match.groups()
    if relation not in RELATIONS:
        raise ScenarioError(f"{where}: {relation!r} is no relation; must be one of {', '.join(RELATIONS)}")
    if not finite(limit):
        raise ScenarioError(f'{where}: {limit!r} is no limit; must be a number or a text with a unit, as in "< 500 N"')
    return Requirement(figure, figure, relation, limit, f"{relation} {limit}")


def finite(text: str) -> bool:
    """Return whether a text is a finite number, with or without a unit."""
    if not re.match(r"[-+]?\.?\d", text):
        return False
    try:
        return math.isfinite(magnitude(text))
    except ValueError:
        return False


def table_of(requirements: tuple[Requirement, ...]) -> dict[str, Any]:
    """Return the table that a file holds."""
    table: dict[str, Any] = {}
    for one in requirements:
        place = table
        *tables, last = one.name.split(".")
        for part in tables:
            place = place.setdefault(part, {})
        place[last] = one.written()
    return table
