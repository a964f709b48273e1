"""Chains of masses on the terminal: what the impacts did, or whether the latch caught."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from dockdyn.kinds.chains.report import impact_verdict, latch_verdict
from dockdyn.report.terminal import Terminal, table_of


def show_chains(console: Terminal, summary: dict[str, Any]) -> None:
    """Print the verdict and, of impacts, each with its prediction."""
    said = latch_verdict if summary["captured"] is not None else impact_verdict
    console.print(summary["title"], markup=False)
    console.print(said(summary), markup=False)
    if summary["captured"] is None:
        console.print(chain_impacts(summary))


def chain_impacts(summary: dict[str, Any]) -> Table:
    """The impacts of two chains of masses, simulation and prediction beside each other."""
    headings = ["impact", "onset\ns", "release\ns", "peak\nN", "before\nm/s", "after\nm/s", "predicted\nm/s"]
    table = table_of("relative velocity of the centres of mass", headings, ("impact",))
    whens = ("before", "after", "predicted")
    speeds = zip(*(summary[f"relative_velocity_{when}_m_s"] for when in whens), strict=True)
    for number, (contact, found) in enumerate(zip(summary["contacts"], speeds, strict=True), start=1):
        table.add_row(
            str(number),
            f"{contact['onset_s']:.4f}",
            "touching" if contact["release_s"] is None else f"{contact['release_s']:.4f}",
            f"{contact['peak_normal_force_N']:.4g}",
            *("" if speed is None else f"{speed:.6f}" for speed in found),
        )
    return table
