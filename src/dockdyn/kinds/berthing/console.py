"""A berthing on the terminal: the verdict, its impacts and contacts."""

from __future__ import annotations

from typing import Any

from dockdyn.kinds.berthing.report import berthing_verdict, contacts_table, impacts_table
from dockdyn.report.terminal import Terminal, show_rows


def show_berthing(console: Terminal, summary: dict[str, Any]) -> None:
    """Print the verdict, and impacts after that at t = 0 and contacts, where there are any: a row each, as in the report."""
    console.print(summary["title"], markup=False)
    console.print(berthing_verdict(summary), markup=False)
    if len(summary["impacts"]) > 1:
        show_rows(console, impacts_table(summary), len(summary["impacts"]))
    if summary["contacts"]:
        show_rows(console, contacts_table(summary), len(summary["contacts"]))
