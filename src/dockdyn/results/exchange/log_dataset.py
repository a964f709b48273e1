"""A measured log as a dataset, to be written as a result is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.results.exchange.export import distinct_names
from dockdyn.results.exchange.log_file import table_of
from dockdyn.results.exchange.log_roles import CLOCK
from dockdyn.results.exchange.log_table import Cells, LogColumn, LogTable, known_name, number_in, split_heading

WHOLE = 2**63  # the numbers below it, by size, that netCDF has as whole ones
EXACT = 2**53  # the whole numbers up to it that floats hold
WHOLE_TEXT = re.compile(r"\s*[-+]?\d{1,19}\s*")
LONGEST = 200  # characters of a name


def log_dataset(path: Path) -> tuple[Dataset, list[str]]:
    """Return the numbers and texts of a log, a variable a column, over its time; and what to tell of it.

    Of a log with several channels each has a time of its own, `time_sensor`. Stamps stay as they are, with their unit.
    ScenarioError for what is no log.
    """
    table = table_of(path)
    several = len(table.stretches) > 1
    dims = ["time"]
    if several:
        dims = [
            f"time_{dim}" for dim, _ in distinct_names((each.name for each in table.stretches), _netcdf_name, LONGEST)
        ]
    clocks = [_clock_of(table, place) for place in range(len(table.stretches))]
    columns = [column for column in table.columns if column is not clocks[column.stretch]]
    names = distinct_names((split_heading(column.heading)[0] for column in columns), _netcdf_name, LONGEST)
    variables = {
        name: _log_variable(dims[column.stretch], column) for (name, _), column in zip(names, columns, strict=True)
    }
    times = {dim: _log_variable(dim, clock) for dim, clock in zip(dims, clocks, strict=True) if clock is not None}
    return Dataset(variables, times, {"source": path.name}), table.notes


def _netcdf_name(name: str) -> str:
    """Return a name as netCDF takes it: without slashes, which part groups there."""
    return re.sub(r"[/\s]+", "_", name).strip("_") or "x"


def _clock_of(table: LogTable, place: int) -> LogColumn | None:
    """Return the time of a stretch of samples: its column that is known as such, or when they were recorded."""
    known = [each for each in table.columns if each.stretch == place and known_name(each.heading) in CLOCK.known_as]
    return known[0] if known else table.stretches[place].clock


def _log_variable(dim: str, column: LogColumn) -> tuple[str, np.ndarray, dict[str, Any]]:
    unit = split_heading(column.heading)[1]
    return dim, _values_of(column.cells), {"units": unit} if unit else {}


def _values_of(cells: Cells) -> np.ndarray:
    """Return the whole numbers as such, which stamps since 1970 need; others as floats; as texts what has some that are no
    numbers."""
    texts = (cell if isinstance(cell, int) else str(cell) for cell in cells)
    whole = [int(cell) for cell in texts if isinstance(cell, int) or WHOLE_TEXT.fullmatch(cell)]
    if len(whole) == len(cells) and all(abs(number) < WHOLE for number in whole):
        # texts may be of a quantity whose values are whole by chance, unless floats do not hold them
        if all(isinstance(cell, int) for cell in cells) or max(map(abs, whole)) > EXACT:
            return np.array(whole, dtype=np.int64)
    if any(isinstance(cell, str) and np.isnan(number_in(cell)) and cell.strip().lower() != "nan" for cell in cells):
        return np.array([str(cell) for cell in cells])
    return np.array([number_in(cell) for cell in cells], dtype=float)
