"""The terminal: what is printed there is text, and nothing in it is obeyed."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from dockdyn.scenario.language.printable import printable


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
