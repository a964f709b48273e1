"""A paper's numbers beside the recomputed ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dockdyn.records import record

NUMBER = re.compile(r"[-−]?\d+(?:\.(\d+))?")


@record
class Row:
    """One quantity: what the paper says of it, None where it says nothing, and what comes out here."""

    quantity: str
    printed: str | None
    computed: float
    unit: str
    note: str = ""

    @property
    def printed_number(self) -> float | None:
        """The number that the paper prints; None where it prints none, but words, a bound or several."""
        return float(self.printed.replace("−", "-")) if self.printed and NUMBER.fullmatch(self.printed) else None

    @property
    def agrees(self) -> bool | None:
        """Whether what comes out here, rounded as the paper does, is within one of its last digit; None without a number."""
        if self.printed_number is None:
            return None
        found = NUMBER.fullmatch(self.printed or "")
        last = 10.0 ** -len(found[1] or "") if found else 0.0
        return abs(self.computed - self.printed_number) <= 1.5 * last


@record
class PaperTable:
    """One figure or table of a paper, recomputed."""

    name: int | str  # the figure's number, or what the table is about
    title: str
    rows: tuple[Row, ...]
    note: str  # how it was computed, corrections used
    pictures: tuple[Path, ...] = ()

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", self.note, ""]
        lines += [f"![{self.title}]({file.name})\n" for file in self.pictures if file.suffix == ".png"]
        lines += ["| quantity | printed | computed | unit | note |", "|---|---|---|---|---|"]
        for row in self.rows:
            cells = (row.quantity, row.printed or "", f"{row.computed:.6g}", row.unit, row.note)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return "\n".join(lines) + "\n"


def vector_rows(quantity: str, printed: Sequence[str], values: Sequence[float], unit: str, note: str = "") -> list[Row]:
    """Return a row for each of the three axes of a vector (`unit`)."""
    return [
        Row(f"{quantity}, {axis}", said, float(value), unit, note)
        for axis, said, value in zip("xyz", printed, values, strict=True)
    ]
