"""The report of a paper computed again: how many of its printed numbers come out, and where it is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from dockdyn.installed import version
from dockdyn.papers.table import PaperTable, Row
from dockdyn.report.report import Plot, Report, ReportBlock, Table
from dockdyn.report.requirement_bar import RequirementBar, Sort
from dockdyn.report.tile import Tile
from dockdyn.report.tile_pictures import draw_squares
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import NOTHING, count_of, format_significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAYS = {True: "comes out", False: "differs", None: ""}
MOST = 6  # differences in a tile


def paper_report(tables: Sequence[PaperTable], pictures: Sequence[Figure | None]) -> Report:
    """Return the report of the parts of a paper, each with its picture where it has one."""
    rows = list(chain.from_iterable(table.rows for table in tables))
    compared = [row for row in rows if row.agrees is not None]
    differing = [row for row in compared if not row.agrees]
    title = tables[0].title.partition(",")[0]
    plots = [
        Plot(f"figure-{table.name}", partial(_drawn_picture, picture), f"{table.title}.")
        for table, picture in zip(tables, pictures, strict=True)
        if picture is not None
    ]
    return Report(
        title=f"{title}, computed again",
        headline=_headline(compared, differing),
        verdict=_verdict(rows, compared, differing),
        advice=_advice(differing),
        tiles=_tiles(compared, differing) if compared else [],
        key=[("Parts", str(len(tables))), ("Quantities", str(len(rows))), ("Printed numbers", str(len(compared)))],
        bars=_bars(tables),
        bars_title="Parts",
        blocks=[
            *([ReportBlock("Where it differs", table=_differences(tables))] if differing else []),
            *(
                ReportBlock(table.title, table=_rows_table(table.rows), notes=[table.note], where="after")
                for table in tables
            ),
        ],
        plots=plots,
        made=[("dockdyn", version("dockdyn"))],
    )


def _drawn_picture(picture: Figure) -> Figure:
    """Return a picture that has been drawn."""
    return picture


def _headline(compared: Sequence[Row], differing: Sequence[Row]) -> str:
    if not compared:
        return "Nothing printed to compare with"
    come = len(compared) - len(differing)
    return "Every printed number comes out" if not differing else f"{come} of {len(compared)} printed numbers come out"


def _verdict(rows: Sequence[Row], compared: Sequence[Row], differing: Sequence[Row]) -> str:
    """Return what was compared, and what of that which differs is explained, in sentences."""
    said = f"{count_of(len(rows), 'number')} computed again, of which the paper prints {len(compared)}."
    said = f"{said} A number comes out where it is within one of its last printed digit."
    explained = sum(bool(row.note) for row in differing)
    if not differing:
        return said
    return f"{said} Of the {len(differing)} that differ {explained} are explained in a note beside them."


def _tiles(compared: Sequence[Row], differing: Sequence[Row]) -> list[Tile]:
    """Return the share that comes out, and the largest differences."""
    come = len(compared) - len(differing)
    share = format_significant(100 * come / len(compared), 3)
    tiles = [
        Tile(
            "Printed numbers that come out",
            share,
            "%",
            f"{come} of {len(compared)}",
            picture=draw_squares(come, len(compared)),
        )
    ]
    off = sorted(
        ((abs(row.computed / printed - 1), row.quantity) for row in differing if (printed := row.printed_number)),
        reverse=True,
    )
    if off:
        largest = off[0][0]
        bars = [(quantity, one / largest, f"{format_significant(100 * one, 2)} %") for one, quantity in off[:MOST]]
        value = format_significant(100 * largest, 3)
        tiles.append(Tile("Largest difference", value, "%", off[0][1], bars=bars))
    return tiles


def _bars(tables: Sequence[PaperTable]) -> list[RequirementBar]:
    """Return how many of the numbers of each part come out, the part with the fewest first."""
    bars = []
    for table in tables:
        judged = [row.agrees for row in table.rows if row.agrees is not None]
        if judged:
            come = sum(judged)
            explained = sum(bool(row.note) for row in table.rows if row.agrees is False)
            words = f"{explained} of the {len(judged) - come} others explained" if come < len(judged) else ""
            sort: Sort = "ok" if come == len(judged) else "warn"
            share = come / len(judged)
            value = f"{come} of {len(judged)}"
            bars.append(RequirementBar(table.title, value, sort, f"{value} come out", share, None, words))
    return sorted(bars, key=lambda bar: bar.share or 0.0)


def _short_name(table: PaperTable) -> str:
    return f"Fig. {table.name}" if isinstance(table.name, int) else table.name.replace("-", " ")


def _advice(differing: Sequence[Row]) -> list[Advice]:
    if not differing:
        return []
    first = differing[0]
    note = f" {first.note}" if first.note else ""
    said = f"{first.quantity}: printed {first.printed}, computed {first.computed:.6g} {first.unit.removeprefix('1')}".rstrip()
    return [Advice("Decides", f"{said}.{note}")]


def _differences(tables: Sequence[PaperTable]) -> Table:
    """Return the rows that differ, with the part that each is of."""
    rows = [
        [_short_name(table), row.quantity, row.printed or "", f"{row.computed:.6g}", row.unit, row.note]
        for table in tables
        for row in table.rows
        if row.agrees is False
    ]
    columns = [(words, "") for words in ("part", "quantity", "printed", "computed", "unit", "note")]
    return Table(columns, rows, worded={0, 1, 4, 5})


def _rows_table(rows: Sequence[Row]) -> Table:
    """Return all rows of a part."""
    cells = [
        [row.quantity, row.printed or NOTHING, f"{row.computed:.6g}", row.unit, row.note, SAYS[row.agrees]]
        for row in rows
    ]
    columns = [(words, "") for words in ("quantity", "printed", "computed", "unit", "note", "")]
    return Table(columns, cells, worded={0, 3, 4, 5}, alarming={SAYS[False]})
