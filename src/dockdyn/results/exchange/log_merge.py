"""Columns of a log on one clock: those of one channel as they are, those of several at the times of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dockdyn.results.exchange.log_table import Cells, LogColumn, LogTable, Stretch, number_in
from dockdyn.scenario.language.errors import ScenarioError


@dataclass(frozen=True)
class Merged:
    """Cells of several columns at the same samples."""

    cells: list[Cells]
    places: np.ndarray  # of the samples in the file
    clock: LogColumn | None
    notes: list[str]  # of what was done, to be told


def merged(table: LogTable, columns: Sequence[LogColumn], clock: LogColumn | None) -> Merged:
    """`columns` of a table with their time: the column `clock`, else that of their stretch of samples.

    Those of several stretches are taken at the times of the first one's samples that all of them reach, by when they were
    recorded; between their own samples the others are on straight lines. ScenarioError where there is no such time, and for a
    clock that is of some of them only.
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
        return Merged([column.cells for column in columns], first.places, clock or first.clock, [])
    for stretch in (first, *others):
        _check_rising(table, stretch)
    began = first.logged[0]
    since = {place: np.array([each - began for each in table.stretches[place].logged], dtype=float) for place in used}
    times = since[used[0]]
    reached = np.all([(times >= own[0]) & (times <= own[-1]) for own in since.values()], axis=0)
    if not reached.any():
        raise ScenarioError(f"{table.file}: the channels {', '.join(names)} have no time in common")
    cells = [
        np.asarray(column.cells)[reached]
        if column.stretch == used[0]
        else np.interp(times[reached], since[column.stretch], [number_in(cell) for cell in column.cells])
        for column in columns
    ]
    logged = [time for time, within in zip(first.logged, reached, strict=True) if within]
    time = replace(first.clock, heading=f"{first.name}.log_time [ns]", cells=logged) if first.clock else None
    told = f"{', '.join(names[1:])}: taken at the times of {names[0]}, on straight lines between samples; by log_time"
    return Merged(cells, first.places[reached], time, [told])


def _check_rising(table: LogTable, stretch: Stretch) -> None:
    """Refuses a channel whose messages were not recorded one after the other."""
    for back in [at for at in range(1, len(stretch.logged)) if stretch.logged[at] <= stretch.logged[at - 1]][:1]:
        words = f"message {back + 1}: was not recorded after the one before"
        raise ScenarioError(f"{table.file}: {stretch.name}: {words}")
