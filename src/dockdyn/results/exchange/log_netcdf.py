"""A log in a netCDF file: variables over time, with their units; what dockdyn wrote, and what others did."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dockdyn.results.exchange.columns import Column, table_columns
from dockdyn.results.exchange.log_table import CommonRows, LogColumn, LogTable
from dockdyn.results.store import netcdf_in
from dockdyn.scenario.language.errors import ScenarioError

TIMES = ("time", "t")  # dimensions that samples run over
MOST = 10_000  # columns of one variable; others are pictures
SINCE = " since "  # a date, from which the stamps count that stand before it


def netcdf_table(path: Path) -> LogTable:
    """Return the variables over time of a netCDF file as columns, named as `dockdyn export` names them.

    ScenarioError for a file that cannot be read, or has nothing over time.
    """
    dataset = netcdf_in(path)
    over = next((name for name in TIMES if name in dataset.dims), None)
    if over is None:
        dimensions = ", ".join(map(str, dataset.dims)) or "none"
        raise ScenarioError(f"{path}: has no variables over time; its dimensions are {dimensions}")
    dataset = dataset.rename({over: "time"}) if over != "time" else dataset
    count = dataset.sizes["time"]
    held = [name for name, each in dataset.data_vars.items() if each.dtype.kind in "fiub" and "time" in each.dims]
    dataset = dataset[[name for name in held if dataset[name].size <= MOST * count]]
    numbers = table_columns(dataset).get(("time",), [])
    if "time" not in dataset.coords:  # the first column only counts the samples
        numbers = numbers[1:]
    columns = [LogColumn(_heading_of(column), column.values) for column in numbers]
    return LogTable(str(path), columns, [CommonRows(np.arange(1, count + 1))], counted="sample")


def _heading_of(column: Column) -> str:
    """Return the name and unit; that of a time since a date is its unit alone."""
    unit, since, _ = column.unit.partition(SINCE)
    return f"{column.name} [{unit}]" if since else column.heading
