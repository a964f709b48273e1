"""A measured log as a table of named columns, whatever kind of file it is in."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from dockdyn.deferred import Int
from dockdyn.records import record

UNIT = re.compile(r"^(.*?)\s*(?:\[\s*([^\[\]]*?)\s*\]|\(\s*(.*?)\s*\))\s*$")
Cells = Sequence[object] | np.ndarray  # texts or numbers, one a sample


@record
class LogColumn:
    """One column as the file has it."""

    heading: str  # its name and, where the file states it, its unit: "command [mm]"
    cells: Cells
    stretch: int = 0  # which samples it is of
    path: str = ""  # its whole name, where the heading is a short one

    def is_called(self, name: str) -> bool:
        """Return whether who says `name` means this column."""
        return name in (self.heading, split_heading(self.heading)[0], self.path or self.heading)


@record
class CommonRows:
    """Samples that columns have in common: all rows of a file, or the messages of one channel."""

    places: Int[np.ndarray, "n"]  # what each sample is found by in the file
    logged: Sequence[int] = ()  # ns, when each was recorded, where the file has that of all columns
    clock: LogColumn | None = None  # its time, where that is none of the columns
    name: str = ""


@record
class LogTable:
    """What a file holds."""

    file: str
    columns: list[LogColumn]
    stretches: list[CommonRows]
    counted: str = "row"  # what `places` count
    notes: list[str] = field(default_factory=list)  # of what was read, to be told
    preferred: str = ""  # name of the columns that are taken where others could be meant, too

    def is_preferred(self, column: LogColumn) -> bool:
        """Return whether a column, or that of an axis, has the preferred name."""
        return bool(self.preferred) and known_name(column.heading).replace(".", " ").split(" ")[0] == self.preferred

    @property
    def headings(self) -> list[str]:
        """Of all columns."""
        return [column.heading for column in self.columns]


def split_heading(heading: str) -> tuple[str, str | None]:
    """Return the name and unit of a heading: "command [mm]" is command in mm."""
    match = UNIT.match(heading)
    return (match[1], match[2] or match[3] or "") if match else (heading, None)


def known_name(heading: str) -> str:
    """Return a heading as the names that are known have it: without unit, in small letters, blanks between words."""
    return split_heading(heading)[0].lower().replace("_", " ").strip()


def number_in(cell: Any) -> float:  # noqa: ANN401, a text or a number
    """Return a cell as a number; nan of what is none."""
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return math.nan
