"""A paper computed again, part by part: each part makes the rows of a table and, mostly, a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from dockdyn.files import replace_files, write_file
from dockdyn.papers.report import paper_report
from dockdyn.papers.table import PaperTable, Row
from dockdyn.records import record
from dockdyn.report.page import render_page

Progress = Callable[[float], None]  # is told the share that is done
REPORT = "report.html"
Made = tuple[Figure | None, list[Row]]


@record
class PaperPart:
    """A figure or a table of a paper: what makes its picture and rows, and how they are computed."""

    title: str
    make: Callable[[Progress], Made]
    note: str


def reproduce(
    parts: Mapping[Any, PaperPart], figure: int | str | None, folder: Path, progress: Progress | None = None
) -> list[PaperTable]:
    """Compute one part again, or all when None.

    Writes a picture of each as PNG and SVG, `tables.md` and `report.html`, into `folder`. `progress` is told the share that is
    done. Raises `ValueError` for a figure that is not among `parts`.
    """
    chosen = {name: part for name, part in parts.items() if figure is None or str(name) == str(figure)}
    if not chosen:
        raise ValueError(f"figure {figure}: must be one of {', '.join(map(str, parts))}")
    folder = Path(folder)
    tables, pictures = [], []
    for done, (name, part) in enumerate(chosen.items()):

        def advance(share: float, done: int = done) -> None:
            if progress is not None:
                progress((done + share) / len(chosen))

        picture, rows = part.make(advance)
        stem = f"figure-{name}" if isinstance(name, int) else name
        files = () if picture is None else _save(picture, part.title, folder / stem)
        tables.append(PaperTable(name, part.title, tuple(rows), part.note, files))
        pictures.append(picture)
        advance(1.0)
    write_file(folder / "tables.md", "\n".join(table.markdown() for table in tables))
    write_file(folder / REPORT, render_page(paper_report(tables, pictures)))
    return tables


def _save(figure: Figure, title: str, path: Path) -> tuple[Path, ...]:
    """Return the picture under its title as PNG and SVG; the same picture gives the same file."""
    figure.suptitle(title)
    files = path.with_suffix(".png"), path.with_suffix(".svg")
    with matplotlib.rc_context({"svg.hashsalt": "dockdyn"}), replace_files(*files) as (png, svg):
        figure.savefig(png, format="png", dpi=150)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return files
