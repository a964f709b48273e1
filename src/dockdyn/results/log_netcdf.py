"""A log in a netCDF file: variables over time, with their units; what dockdyn wrote, and what others did."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dockdyn.results.columns import Column, tables
from dockdyn.results.log_table import LogColumn, LogTable, Stretch
from dockdyn.results.store import netcdf_in
from dockdyn.scenario.language.errors import ScenarioError

TIMES = ("time", "t")  # dimensions that samples run over
SINCE = " since "  # a date, from which the stamps count that stand before it


def netcdf_table(path: Path) -> LogTable:
    """The variables over time of a netCDF file as columns, named as `dockdyn export` names them.

    ScenarioError for a file that cannot be read, or has nothing over time.
    """
    dataset = netcdf_in(path)
    over = next((name for name in TIMES if name in dataset.dims), None)
    if over is None:
        held = ", ".join(map(str, dataset.dims)) or "none"
        raise ScenarioError(f"{path}: has no variables over time; its dimensions are {held}")
    dataset = dataset.rename({over: "time"}) if over != "time" else dataset
    numbers = [column for column in tables(dataset).get(("time",), []) if column.values.dtype.kind in "fiub"]
    if "time" not in dataset.coords:
        numbers = [column for column in numbers if column.name != "time"]  # which would only count the samples
    columns = [LogColumn(_heading_of(column), column.values) for column in numbers]
    return LogTable(str(path), columns, [Stretch(np.arange(1, dataset.sizes["time"] + 1))], counted="sample")


def _heading_of(column: Column) -> str:
    """Name and unit; that of a time since a date is its unit alone."""
    unit, since, _ = column.unit.partition(SINCE)
    return f"{column.name} [{unit}]" if since else column.heading
