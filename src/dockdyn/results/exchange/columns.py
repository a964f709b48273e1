"""A dataset as tables of named columns: `position.chaser.x`, in m, over time. What is exported, and what a log is read by."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Shaped
from dockdyn.records import record

NUMBER = "1"  # the unit of what has none
BY_LABEL = "SI"  # the unit of what has one for each label
EFFORTS = {"rad": "N m", "m": "N"}  # of motors, by the unit of their joint


@record
class Column:
    """One column of a table."""

    name: str  # the variable and, where it has several columns, the labels of this one
    variable: str
    unit: str  # SI; "1" of a pure number, empty of words
    values: Shaped[np.ndarray, "rows"]

    @property
    def heading(self) -> str:
        """Name and unit: "depth.tip [m]"."""
        return self.name if self.unit in ("", NUMBER) else f"{self.name} [{self.unit}]"


def table_columns(dataset: Dataset) -> dict[tuple[str, ...], list[Column]]:
    """Return all variables as columns, by the dimensions that their rows run over; those without any under `()`, in one row.

    The first columns of a table are its dimensions: their coordinates, or numbers from 1 where they have none.
    """
    found: dict[tuple[str, ...], list[Column]] = {}
    for name in (str(name) for name in dataset.variables if name not in dataset.dims):
        over = _rows_of(dataset, name)
        found.setdefault(over, index_columns(dataset, over)).extend(_columns_of(dataset, name, over))
    for over in found:
        found[over] = _with_distinct_names(found[over])
    return dict(sorted(found.items(), key=lambda item: ("time" not in item[0], item[0] == (), item[0])))


def _rows_of(dataset: Dataset, name: str) -> tuple[str, ...]:
    """Return the dimensions that a variable's rows run over; its others, which have labels, become columns.

    Time where there is time; else dimensions with numbers or nothing along them, in the order they have; else the first.
    """
    dims = tuple(map(str, dataset[name].dims))
    if "time" in dims:
        return ("time",)
    return tuple(dim for dim in dims if not _has_labels(dataset, dim)) or dims[:1]


def _has_labels(dataset: Dataset, dim: str) -> bool:
    return dim in dataset.coords and dataset[dim].dtype.kind in "UOS"


def index_columns(dataset: Dataset, over: tuple[str, ...]) -> list[Column]:
    """Return the columns that say where each row is."""
    sizes = [dataset.sizes[dim] for dim in over]
    found = []
    for axis, dim in enumerate(over):
        along = dataset[dim].values if dim in dataset.coords else np.arange(1, sizes[axis] + 1)
        inner = int(np.prod(sizes[axis + 1 :], dtype=int))
        outer = int(np.prod(sizes[:axis], dtype=int))
        found.append(Column(dim, dim, _unit_of(dataset, dim), np.tile(np.repeat(along, inner), outer)))
    return found


def _columns_of(dataset: Dataset, name: str, over: tuple[str, ...]) -> list[Column]:
    """Return the columns of one variable, a column for every combination of the labels that it has besides its rows."""
    across = [str(dim) for dim in dataset[name].dims if dim not in over]
    values = dataset[name].transpose(*over, *across).values
    labels = list(itertools.product(*(_labels_of(dataset, dim) for dim in across)))
    values = values.reshape(int(np.prod([dataset.sizes[dim] for dim in over], dtype=int)), len(labels))
    own = _units_by_label(dataset, name, across)
    units = [next((own[label] for label in each if label in own), _unit_of(dataset, name)) for each in labels]
    return [Column(".".join([name, *each]), name, units[index], values[:, index]) for index, each in enumerate(labels)]


def _units_by_label(dataset: Dataset, name: str, across: Sequence[str]) -> dict[str, str]:
    """Return the units of a variable that has one for each label: of joints, motors in them, modes and recoveries."""
    if dataset[name].attrs.get("units") != BY_LABEL:
        return {}
    dims = ("joint" if dim == "motor" else dim for dim in across)
    found = {
        label: str(unit)
        for dim in dims
        if f"{dim}_unit" in dataset.coords
        for label, unit in zip(_labels_of(dataset, dim), dataset[f"{dim}_unit"].values, strict=True)
    }
    if name == "motor_effort":
        return {label: EFFORTS.get(unit, NUMBER) for label, unit in found.items()}
    return {label: f"{unit}/s" if name.endswith("_rate") and unit != NUMBER else unit for label, unit in found.items()}


def _labels_of(dataset: Dataset, dim: str) -> list[str]:
    """Return what to call the entries along a dimension: by its coordinate, or by numbers from 1."""
    if dim in dataset.coords:
        return [" ".join(str(label).split()) for label in dataset[dim].values]
    return [str(number) for number in range(1, dataset.sizes[dim] + 1)]


def _unit_of(dataset: Dataset, name: str) -> str:
    if name not in dataset.variables:
        return NUMBER
    if dataset[name].dtype.kind in "UOS":
        return ""
    stated = str(dataset[name].attrs.get("units", NUMBER))
    return NUMBER if stated == BY_LABEL else stated


def _with_distinct_names(columns: list[Column]) -> list[Column]:
    """Return the columns with names that all differ: of several by one name the later ones are numbered."""
    taken: set[str] = set()
    found = []
    for column in columns:
        name, number = column.name, 1
        while name in taken:
            number += 1
            name = f"{column.name} {number}"
        taken.add(name)
        found.append(Column(name, column.variable, column.unit, column.values))
    return found
