"""The terminal: what is printed there is text, and nothing in it is obeyed."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from dockdyn.report.narrow import narrow_rows
from dockdyn.scenario.language.printable import printable

if TYPE_CHECKING:
    from dockdyn.report.report import Report, ReportBlock, Rows
    from dockdyn.report.report import Table as ReportTable

MANY = 6  # columns
WIDEST = 1000  # characters of a terminal on which every table fits


class Terminal(Console):
    """A console that takes no text for markup, colours nothing by itself and shows control characters as escapes."""

    def __init__(self, **settings: Any):  # noqa: ANN401, as Rich has them
        super().__init__(highlight=False, markup=False, emoji=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:  # noqa: ANN401
        """Return what becomes of every text, in tables, too, whose headings have lines."""
        return super().render_str(printable(text, lines=True), **settings)

    def on_broken_pipe(self) -> None:
        """Go on without printing where whoever read it has gone, as `head` does: the command has files to write yet."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

    def print(self, *objects: object, **settings: Any) -> None:  # noqa: ANN401
        """Print, as Rich's does, a text on a line of its own."""
        super().print(*(printable(each) if isinstance(each, str) else each for each in objects), **settings)


def show_report(report: Report) -> None:
    """Print what a report shows on the terminal, and its warnings."""
    show_parts(report.terminal or (report.title, report.verdict), report.warnings)


def show_parts(parts: Sequence[str | ReportBlock], warnings: Sequence[str] = ()) -> None:
    """Print lines and blocks, and warnings after the lines that come first, a title and a verdict: before the numbers."""
    console, shown = Terminal(), parts or [""]
    lines = next((place for place, part in enumerate(shown) if not isinstance(part, str)), len(shown))
    for place, part in enumerate(shown):
        if isinstance(part, str) and part:
            console.print(part)
        elif part and not isinstance(part, str):  # an empty table has no head either
            _show_block(console, part)
        for warning in warnings if place == max(lines - 1, 0) else ():
            console.print(f"warning: {warning}")


def _show_block(console: Terminal, block: ReportBlock) -> None:
    """Print a block: its words, table and rows; the lines of its text are as long as they are."""
    if block.words:
        console.print(block.words)
    if block.table is not None:
        console.print(_fitting_table(console, block.table, block.title or None))
        if block.table.left_out:
            console.print(f"and {block.table.left_out} more")
    if block.rows:
        console.print(_shown_rows(block.rows))
    for line in block.text.splitlines():
        console.print(line, soft_wrap=True)


def _fitting_table(console: Terminal, found: ReportTable, title: str | None) -> Table:
    """Return a table of a report, its words broken where it would be wider than the terminal."""
    shown = _shown_table(found, title)
    excess = Measurement.get(console, console.options.update(max_width=WIDEST), shown).maximum - console.width
    if excess <= 0:
        return shown
    headings = [words for words, _ in found.columns]
    return _shown_table(replace(found, rows=narrow_rows(found.rows, headings, found.worded, excess)), title)


def _shown_table(found: ReportTable, title: str | None = None) -> Table:
    """Return a table of a report; where it has many columns, each word of their headings has a line."""
    many = len(found.columns) >= MANY
    headings = ["\n".join(filter(None, [*(words.split() if many else [words]), unit])) for words, unit in found.columns]
    shown = table_of(title, headings, found.worded)
    for row in found.rows:
        shown.add_row(*row)
    return shown


def _shown_rows(rows: Rows) -> Table:
    """Return words, value and unit, without a head."""
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    sides: tuple[Any, ...] = ("left", "right", "left")
    for side in sides[: max(map(len, rows))]:
        shown.add_column(justify=side)
    for row in rows:
        shown.add_row(*row)
    return shown


def table_of(title: str | None, headings: Sequence[str], worded: Collection[int]) -> Table:
    """Return a plain table; the columns at the places `worded` hold words, are set left, and may go on in a next line."""
    title = None if title is None else printable(title)
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        side: Any = "left" if place in worded else "right"
        table.add_column(heading, justify=side, no_wrap=place not in worded, overflow="fold")
    return table
