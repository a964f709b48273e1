"""All numbers of a checked scenario in one list, each with its key, its unit and the table that it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dockdyn.records import record
from dockdyn.scenario.language.keys import unit_of
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.table_names import names_of


@record
class StatedNumber:
    """A number, vector or matrix of a scenario."""

    path: tuple[str, ...]  # names of tables and the key, without names and indices of tables in lists
    key: str  # as `--set` takes it
    value: Any  # in SI units: a number, or a list of numbers
    unit: str  # as a text has it; empty where there is none
    table: Section  # that it stands in
    assumed: bool  # whether it is a default

    @property
    def field(self) -> str:
        """The last part of the key."""
        return self.path[-1]

    @property
    def largest(self) -> float:
        """The largest size of its numbers."""
        return float(np.max(np.abs(np.asarray(self.value, float))))

    @cached_property
    def norm(self) -> float:
        """The length of a vector, the size of a number."""
        return float(np.linalg.norm(np.asarray(self.value, float)))


def stated_numbers(content: Section) -> list[StatedNumber]:
    """Return all numbers of the content of a scenario."""
    return list(_walk(content, (), ""))


def _walk(table: Section, path: tuple[str, ...], key: str) -> Iterator[StatedNumber]:
    fields = {name: name for name in table.__pydantic_extra__ or {}}
    fields |= {name: about.alias or name for name, about in type(table).model_fields.items() if not about.exclude}
    for field, called in fields.items():
        if field in ("mass", "inertia") and getattr(table, "fixed", False):  # of a wall nobody states them
            continue
        value = getattr(table, field)
        here, there = (*path, called), f"{key}.{called}".lstrip(".")
        if isinstance(value, Section):
            yield from _walk(value, here, there)
        elif isinstance(value, list | tuple) and value and isinstance(value[0], Section):
            for item, name in zip(value, names_of(value), strict=True):
                yield from _walk(item, here, f"{there}.{name}")
        elif (number := _number(value)) is not None:
            unit = unit_of(table, field, () if isinstance(value, float) else (0,) * np.ndim(number))
            yield StatedNumber(here, there, number, unit, table, field not in table.model_fields_set)


def _number(value: object) -> Any:  # noqa: ANN401, a number or a list of them
    """Return a real number or a list of real numbers as it is; None for anything else."""
    if isinstance(value, float):
        return value
    if isinstance(value, list | tuple) and value:
        try:
            array = np.asarray(value)
        except ValueError:
            return None
        return value if array.dtype == float and array.size else None
    return None
