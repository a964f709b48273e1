"""Columns of a log on one clock: those of one channel as they are, those of several at the times of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from dockdyn.deferred import Int
from dockdyn.records import record
from dockdyn.results.exchange.log_table import Cells, CommonRows, LogColumn, LogTable, number_in
from dockdyn.scenario.language.errors import ScenarioError


@record
class Merged:
    """Cells of several columns at the same samples."""

    cells: list[Cells]
    places: np.ndarray  # of the samples in the file
    clock: LogColumn | None
    notes: list[str]  # of what was done, to be told


def merge_columns(table: LogTable, columns: Sequence[LogColumn], clock: LogColumn | None) -> Merged:
    """Return `columns` of a table with their time: the column `clock`, else that of their stretch of samples.

    Samples on the clock of their stretch are in its order, one for each time. Those of several stretches are taken at the times
    of the first one's samples that all of them reach, by when they were recorded; between their own samples the others are on
    straight lines. ScenarioError where there is no such time, and for a clock that is of some of them only.
    """
    used = list(dict.fromkeys(column.stretch for column in columns))
    if not used:
        stretch = table.stretches[0 if clock is None else clock.stretch]
        return Merged([], stretch.places, clock, [])
    names = [table.stretches[place].name for place in used]
    if clock is not None and used != [clock.stretch]:
        words = f"is of one channel; the columns are of {', '.join(names)}; leave out --time"
        raise ScenarioError(f"{table.file}: --time {clock.heading}: {words}")
    first, *others = (table.stretches[place] for place in used)
    if all(stretch.logged == first.logged for stretch in others):
        if clock is not None or first.clock is None:
            return Merged([column.cells for column in columns], first.places, clock, [])
        order, told = _order_of(cast("Sequence[int]", first.clock.cells), first)
        cells = [_rows_of(column.cells, order) for column in columns]
        time = replace(first.clock, cells=_rows_of(first.clock.cells, order))
        return Merged(cells, first.places[order], time, told)
    orders = {place: _order_of(table.stretches[place].logged, table.stretches[place]) for place in used}
    began = min(min(table.stretches[place].logged) for place in used)
    since = {
        place: np.array([table.stretches[place].logged[each] - began for each in order], dtype=float)
        for place, (order, _) in orders.items()
    }
    times = since[used[0]]
    reached = np.all([(times >= own[0]) & (times <= own[-1]) for own in since.values()], axis=0)
    if not reached.any():
        raise ScenarioError(f"{table.file}: the channels {', '.join(names)} have no time in common")
    kept = orders[used[0]][0][reached]
    cells = [
        _rows_of(column.cells, kept)
        if column.stretch == used[0]
        else np.interp(
            times[reached],
            since[column.stretch],
            [number_in(cell) for cell in _rows_of(column.cells, orders[column.stretch][0])],
        )
        for column in columns
    ]
    logged = _rows_of(first.logged, kept)
    recorded = replace(first.clock, heading=f"{first.name}.log_time [ns]", cells=logged) if first.clock else None
    lines = f"{', '.join(names[1:])}: taken at the times of {names[0]}, on straight lines between samples; by log_time"
    return Merged(
        cells, first.places[kept], recorded, [lines, *(note for _, notes in orders.values() for note in notes)]
    )


def _order_of(stamps: Sequence[int], stretch: CommonRows) -> tuple[Int[np.ndarray, "n"], list[str]]:
    """Return which samples count, in the order of their `stamps` (ns), and what to tell of the others.

    Of samples with equal stamps the last one counts, as what a reader of the channel has after that instant.
    """
    last = {stamp: place for place, stamp in enumerate(stamps)}
    order = np.array([last[stamp] for stamp in sorted(last)], dtype=int)
    lost = len(stamps) - len(order)
    told = f"{stretch.name}: {lost} of {len(stamps)} messages have the time of a later one, which counts in their place"
    return order, [told] if lost else []


def _rows_of(cells: Cells, order: Int[np.ndarray, "n"]) -> Cells:
    """Return some of the cells, in this order, as they are: stamps are whole numbers beyond the digits of a float."""
    return cells[order] if isinstance(cells, np.ndarray) else [cells[place] for place in order]
