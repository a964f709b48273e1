"""An arm in orbit on the terminal: the verdict, its impacts, where it ends."""

from __future__ import annotations

from typing import Any

from dockdyn.kinds.orbital_arm.report import impacts_table, newton, orbital_verdict
from dockdyn.report.terminal import Terminal, show_rows
from dockdyn.report.wording import significant


def show_orbital(console: Terminal, summary: dict[str, Any]) -> None:
    """Print the verdict, the impacts, where the arm ends and what Newton's method took."""
    console.print(summary["title"], markup=False)
    console.print(orbital_verdict(summary), markup=False)
    if summary["impacts"]:
        show_rows(console, impacts_table(summary), len(summary["impacts"]), ("impact",))
    final = ", ".join(f"{name} {significant(value, 6)}" for name, value in summary["final"].items())
    console.print(f"at {summary['end_time_s']:g} s: {final}", markup=False)
    console.print(f"Newton's corrections a step: {newton(summary)}")
