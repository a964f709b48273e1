"""A rig on the terminal, and a comparison of its compensators."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.kinds.rig.compare_report import comparison_verdict, ratios, warnings
from dockdyn.kinds.rig.report import budget, compared, rig_verdict
from dockdyn.report.terminal import Terminal, table_of

STIFFNESSES = 5  # columns of a comparison


def show_rig(console: Terminal, summary: dict[str, Any]) -> None:
    """Print the verdict, what the rig makes of a contact, where its delay comes from, and what to do."""
    console.print(summary["title"], markup=False)
    console.print(rig_verdict(summary), markup=False)
    shown = table_of(None, ["", "rig", ""], ("", ""))
    for row in compared(summary).rows:
        shown.add_row(*row)
    console.print(shown)
    parts = ", ".join(f"{words} {late} ms" for words, late, _ in budget(summary).rows)
    console.print(f"delay: {parts}" if parts else "delay: none", markup=False)
    console.print(summary["recommendation"], markup=False)


def show_comparison(dataset: xr.Dataset) -> None:
    """A comparison of compensators: amplitude ratios over stiffness."""
    console = Terminal()
    console.print(dataset.attrs["title"], markup=False)
    found = ratios(dataset, STIFFNESSES)
    headings = ["\n".join(filter(None, [words, unit])) for words, unit in found.columns]
    shown = table_of(None, headings, (headings[0],))
    for row in found.rows:
        shown.add_row(*row)
    console.print(shown)
    console.print(comparison_verdict(dataset), markup=False)
    for warning in warnings(dataset):
        console.print(f"warning: {warning}", markup=False)
