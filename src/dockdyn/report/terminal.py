"""The terminal: what is printed there is text, and nothing in it is obeyed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dockdyn.scenario.language.printable import printable

if TYPE_CHECKING:
    from dockdyn.report.page import Table as ReportTable


class Terminal(Console):
    """A console that takes no text for markup, colours nothing by itself and shows control characters as escapes."""

    def __init__(self, **settings: Any):
        super().__init__(highlight=False, markup=False, emoji=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """What becomes of every text, in tables, too, whose headings have lines."""
        return super().render_str(printable(text, lines=True), **settings)

    def print(self, *objects: Any, **settings: Any) -> None:
        """As Rich's, a text on a line of its own."""
        super().print(*(printable(each) if isinstance(each, str) else each for each in objects), **settings)


def show_answer(verdict: str, rows: list[tuple[str, float | None, str]], warnings: list[str]) -> None:
    """Print a verdict, the figures behind it (words, value, unit; None is left out) and warnings."""
    console = Terminal()
    console.print(verdict, markup=False)
    figures = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    figures.add_column()
    figures.add_column(justify="right")
    figures.add_column()
    for words, value, unit in rows:
        if value is not None:
            figures.add_row(words, f"{value:.6g}", unit)
    console.print(figures)
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False)


def show_rows(console: Terminal, found: ReportTable, count: int, worded: tuple[str, ...] = ("contact",)) -> None:
    """Print a table of the report, and how many of `count` rows it leaves out."""
    headings = ["\n".join(filter(None, [*words.split(), unit])) for words, unit in found.columns]
    shown = table_of(None, headings, worded)
    for row in found.rows:
        shown.add_row(*row)
    console.print(shown)
    if count > len(found.rows):
        console.print(f"and {count - len(found.rows)} more")


def table_of(title: str | None, headings: list[str], worded: tuple[str, ...]) -> Table:
    """A plain table; columns in `worded` hold words and are set left."""
    title = None if title is None else printable(title)
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        side: Any = "left" if heading in worded else "right"
        table.add_column(heading, justify=side, no_wrap=heading != "contact", overflow="fold")
    return table
