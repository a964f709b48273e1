"""Tables of papers on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from dockdyn.report.terminal import Terminal

if TYPE_CHECKING:
    from dockdyn.papers.table import PaperTable as PaperTable


def show_table(table: PaperTable) -> None:
    """Print a paper's table."""
    shown = Table(title=table.title, show_lines=False)
    for heading in ("quantity", "printed", "computed", "unit", "note"):
        shown.add_column(heading)
    for row in table.rows:
        shown.add_row(row.quantity, row.printed or "", f"{row.computed:z.6g}", row.unit, row.note)
    Terminal().print(shown)
