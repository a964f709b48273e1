"""A measured log beside a run: columns by the names of the run's own variables, and how far the run is from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float

from dockdyn.results.columns import NUMBER, Column, tables
from dockdyn.results.log_file import Role, header_of, known_name, read_log, suffixed, text_of
from dockdyn.results.time_stamps import STATE, scale_beside_run
from dockdyn.scenario.language.errors import ScenarioError, nearest

TIME = Role("time", "the time", "s", ("time", "t"))
Samples = Float[np.ndarray, "samples"]


@dataclass(frozen=True)
class MeasuredLog:
    """What a log holds of variables that runs have, in SI units."""

    file: str
    time: Samples  # s, of the run
    columns: dict[str, Samples]  # by the name that the run's column has: "position.chaser.x"
    unused: list[str]  # headings of other columns
    notes: list[str] = field(default_factory=list)  # of what was read, to be told


@dataclass(frozen=True)
class Residual:
    """A run less the log, in one column."""

    name: str
    unit: str
    rms: float  # root mean square over the samples within the run
    largest: float  # by size
    time: float  # s, of the largest
    span: float  # of the log's values: largest less least


def run_columns(dataset: xr.Dataset) -> dict[str, Column]:
    """The numbers of a run over time, by name."""
    columns = tables(dataset)[("time",)]
    return {column.name: column for column in columns[1:] if column.values.dtype.kind in "fiub"}


def read_measured(path: Path, dataset: xr.Dataset, shift: float = 0.0) -> MeasuredLog:
    """The columns of a CSV file that a run has, too, each named as `dockdyn export` names it: `depth.tip [mm]`.

    Labels may be left out where the variable has one column only; units are those of the heading, SI where it has none.
    `shift` (s) is added to the times of the log.

    ScenarioError, with file, row and column, for what cannot be used: no time, times that do not rise, no column of the
    run, cells that are no numbers, no sample within the run.
    """
    columns = run_columns(dataset)
    headings, _ = header_of(str(path), text_of(path))
    if not any(known_name((suffixed(heading, TIME) or (heading,))[0]) in TIME.known_as for heading in headings):
        raise ScenarioError(f"{path}: no column is the time; must have one called time [s], beside {headings[0]}")
    roles = [
        Role(name, name, "" if column.unit == NUMBER else column.unit, spellings(column, columns), needed=False)
        for name, column in columns.items()
    ]
    log = read_log(path, [TIME, *roles], {})
    stamps, start, end = log.stamps, float(dataset.time[0]), float(dataset.time[-1])
    assert stamps is not None
    for back in np.flatnonzero(np.diff(stamps.since) <= 0)[:1]:
        words = f"{stamps.heading} = {stamps.first + stamps.since[back + 1]:.15g}: must be after the row before"
        raise log.refuse(back + 1, words)
    try:
        scale, told = scale_beside_run(stamps, start, end, shift)
    except ValueError as problem:
        raise log.refuse(None, f"{stamps.heading}: {problem}; state it in the header: {STATE}") from None
    time = (stamps.first * scale + shift) + stamps.since * scale
    found = {name: values for name, values in log.signals.items() if name != "time"}
    unused = [heading for heading in headings if heading not in log.headings.values()]
    if not found:
        allowed = nearest(unused[0] if unused else "", list(columns))
        raise ScenarioError(f"{path}: no column is a variable of the run; {allowed}")
    if not np.any((time >= start) & (time <= end)):
        words = (
            f"time from {time[0]:.6g} to {time[-1]:.6g} s: outside the run, {start:g} to {end:.6g} s; must overlap it"
        )
        near = f', such as --shift "{start - time[0] + shift:.15g} s"' if stamps.of_epoch() else ""
        raise ScenarioError(f"{path}: {words}, see --shift{near}")
    return MeasuredLog(log.file, time, found, unused, [told] if told else [])


def spellings(column: Column, columns: dict[str, Column]) -> tuple[str, ...]:
    """How a heading may name a column: with dots, with blanks or underscores, without labels where it is the only one."""
    alone = sum(other.variable == column.variable for other in columns.values()) == 1
    names = [column.name, column.name.replace(".", " "), *([column.variable] if alone else [])]
    return tuple(known_name(f"{name} [-]") for name in names)


def left(dataset: xr.Dataset, log: MeasuredLog, name: str) -> tuple[Samples, Samples]:
    """A run, between its samples on straight lines, less the log in one column; at the log's times within the run."""
    time = dataset.time.values
    inside = (log.time >= time[0]) & (log.time <= time[-1])
    simulated = run_columns(dataset)[name].values.astype(float)
    return log.time[inside], np.interp(log.time[inside], time, simulated) - log.columns[name][inside]


def residuals(dataset: xr.Dataset, log: MeasuredLog) -> list[Residual]:
    """How far a run is from a log, column by column, where both have values; of a run that ended before, nothing."""
    columns = run_columns(dataset)
    found = []
    for name, measured in log.columns.items():
        if name not in columns:
            continue
        time, off = left(dataset, log, name)
        if not len(time):
            continue
        worst = int(np.argmax(np.abs(off)))
        rms = float(np.sqrt(np.mean(off**2)))
        span = float(np.ptp(measured[np.isin(log.time, time)]))
        unit = "" if columns[name].unit == NUMBER else columns[name].unit
        found.append(Residual(name, unit, rms, float(np.abs(off[worst])), float(time[worst]), span))
    return found
