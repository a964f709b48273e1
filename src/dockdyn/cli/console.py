"""Summaries of runs and tables of papers on the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from dockdyn.report.terminal import Terminal
from dockdyn.report.wording import requirement
from dockdyn.scenario.kinds import kind_named


def show_summary(summary: dict[str, Any]) -> None:
    """Print a run's summary: what its kind says, then errors of what is conserved, requirements, warnings."""
    console = Terminal()
    kind_named(summary["kind"]).show(console, summary)
    for words, key in (
        ("linear momentum error", "linear_momentum_error"),
        ("angular momentum error", "angular_momentum_error"),
        ("work–energy error", "work_energy_error"),
        ("energy error", "energy_error"),
    ):
        if summary.get(key) is not None:
            console.print(f"{words}: {summary[key]:.1e}")
    for one in summary["requirements"]:
        asked, value, margin, met = requirement(one)
        why = f" ({one['why']})" if "why" in one else ""
        console.print(f"required {asked}: {met}{why}; value {value}, margin {margin}", markup=False)
    console.print(f"{summary['integrator']}, {summary['steps']} steps, {summary['wall_time_s']:.2f} s")
    for warning in summary["warnings"]:
        console.print(f"warning: {warning}", markup=False)


def show_table(table: Any) -> None:
    """A paper's table."""
    shown = Table(title=table.title, show_lines=False)
    for heading in ("quantity", "printed", "computed", "unit", "note"):
        shown.add_column(heading)
    for row in table.rows:
        shown.add_row(row.quantity, row.printed or "", f"{row.computed:.6g}", row.unit, row.note)
    Terminal().print(shown)
