"""What a notebook shows: a page in a frame of its own, an answer as a table; elsewhere both are plain text and dictionary."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Self

from dockdyn.report.wording import NOTHING

LONG = 8  # rows of a table that is folded
HEIGHT = 640  # CSS pixels, of a frame; its lower corner can be pulled
FRAME = (
    "box-sizing: border-box; width: 100%; height: {height}px; border: 1px solid #8884; resize: vertical; overflow: auto"
)
LEFT = "text-align: left; vertical-align: top; padding: 1px 8px"


class Page(str):
    """A page of HTML: a text as any other, which a notebook shows in a frame.

    The frame keeps the page's styles and scripts from the notebook, and the notebook's from the page.
    """

    def __repr__(self) -> str:
        return f"<page of HTML, {len(self)} characters>"

    def _repr_html_(self) -> str:
        """Return a sandboxed frame with the page inside it."""
        allowed = 'sandbox="allow-scripts allow-downloads" allow="fullscreen"'
        return f'<iframe style="{FRAME.format(height=HEIGHT)}" {allowed} srcdoc="{escape(self)}"></iframe>'


class ShownAnswer(dict[str, Any]):
    """A dictionary of plain Python types, which a notebook shows as a table, perhaps with a sentence above it."""

    headline = ""

    def under(self, headline: str) -> Self:
        """Return the same with what it comes to, which a notebook shows first."""
        self.headline = headline
        return self

    def _repr_html_(self) -> str:
        """Return a row a key; what has keys itself is a table within, several of a kind are one with a column a key.

        Tables come after what is not, folded where they are long, and last, folded, the keys that have no value.
        """
        first = f"<p><b>{escape(self.headline)}</b></p>" if self.headline else ""
        known = {key: value for key, value in self.items() if not _is_nothing(value)}
        ordered = dict(sorted(known.items(), key=lambda item: _rows_in(item[1]) > 0))
        without = [escape(str(key)) for key in self if key not in known]
        last = f"<details><summary>{len(without)} without a value</summary>{', '.join(without)}</details>"
        return f'<div style="overflow-x: auto">{first}{_key_table(ordered)}{last if without else ""}</div>'


def _is_nothing(value: Any) -> bool:  # noqa: ANN401, what JSON holds
    """Return whether there is nothing to show of a value."""
    return value is None or value in ({}, [], "")


def _rows_in(value: Any) -> int:  # noqa: ANN401, what JSON holds
    """Return how many rows the tables have that a value is shown as; none where it is no table."""
    if isinstance(value, dict):
        return sum(max(_rows_in(each), 1) for each in value.values())
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return len(value)
    return 0


def _key_table(values: dict[str, Any]) -> str:
    """Return a table of two columns: keys and what they hold."""
    rows = (f'<th style="{LEFT}">{escape(str(key))}</th>{_format_cell(value)}' for key, value in values.items())
    return _row_table(rows)


def _row_table(rows: Iterable[str]) -> str:
    """Return a table of rows of cells."""
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _format_cell(value: Any) -> str:  # noqa: ANN401, what JSON holds
    return f'<td style="{LEFT}">{_value_as_html(value)}</td>'


def _value_as_html(value: Any) -> str:  # noqa: ANN401, what JSON holds
    """Return a value as HTML: numbers with six digits, a dash for none; a long table is folded."""
    if isinstance(value, dict | list) and value:
        table, rows = _key_table(value) if isinstance(value, dict) else _list_as_html(value), _rows_in(value)
        return f"<details><summary>{rows} rows</summary>{table}</details>" if rows > LONG else table
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_nothing(value):
        return NOTHING
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def _list_as_html(values: list[Any]) -> str:
    """Return a list: of dictionaries a table, of words or rows a line each, of numbers in a line."""
    if all(isinstance(value, dict) for value in values):
        keys = list(dict.fromkeys(key for value in values for key in value))
        head = "".join(f'<th style="{LEFT}">{escape(str(key))}</th>' for key in keys)
        return _row_table([head, *("".join(_format_cell(value.get(key)) for key in keys) for value in values)])
    between = "<br>" if any(isinstance(value, str | list) for value in values) else ", "
    return between.join(map(_value_as_html, values))
