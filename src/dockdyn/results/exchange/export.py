"""A result for other programs: tables as CSV or Parquet, or one file for MATLAB."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.files import replace_files
from dockdyn.results.exchange.columns import table_columns
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import leaves

LONGEST = 63  # characters of a name in MATLAB
NUMBERS, ATTRIBUTES = "values", "attributes"  # tables of what has no dimension
ANSWERS = ("margins", "envelope")  # attributes that hold what a study answers, as JSON


def export_csv(dataset: Dataset, folder: Path) -> list[Path]:
    """Write a CSV file for every kind of row: `time.csv`, `episode.csv`; the files.

    The first line of each names the columns with their units. Numbers have all their digits, so that they are read back
    as they were; nan is what did not happen. `values.csv` has what has no dimension, `attributes.csv` a name and a value
    a row, and so have `margins.csv` and `envelope.csv`, what these studies answer.
    """
    written = []
    for over, columns in table_columns(dataset).items():
        rows = zip(*(column.values.tolist() for column in columns), strict=True)
        path = folder / f"{'-'.join(over) or NUMBERS}.csv"
        written.append(_write_rows(path, [column.heading for column in columns], rows))
    for name in ANSWERS:
        if name in dataset.attrs:
            answers = leaves(json.loads(dataset.attrs[name]))
            written.append(_write_rows(folder / f"{name}.csv", ["name", "value"], answers))
    attributes = ([name, plain_value(value)] for name, value in dataset.attrs.items())
    return [*written, _write_rows(folder / f"{ATTRIBUTES}.csv", ["name", "value"], attributes)]


def _write_rows(path: Path, headings: list[str], rows: Iterable[Iterable[Any]]) -> Path:
    with replace_files(path) as (file,):
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")  # writes floats by their shortest exact digits
        writer.writerow(headings)
        writer.writerows(rows)
        text.detach()
    return path


def export_parquet(dataset: Dataset, folder: Path) -> list[Path]:
    """Write the tables of `export_csv` as Parquet files, `time.parquet` and so on; the files.

    Columns are called as there and have the types that they have in the result. The attributes are in the metadata of each
    file, as JSON under `dockdyn`. ScenarioError where the package of the extra is missing.
    """
    try:
        from pyarrow import array, table
        from pyarrow.parquet import write_table
    except ImportError:
        raise ScenarioError(f"{folder}: needs the package pyarrow; pip install 'dockdyn[parquet]'") from None
    about = json.dumps({str(name): plain_value(value) for name, value in dataset.attrs.items()})
    written = []
    for over, columns in table_columns(dataset).items():
        found = table({column.heading: array(column.values.tolist()) for column in columns})
        path = folder / f"{'-'.join(over) or NUMBERS}.parquet"
        with replace_files(path) as (file,):
            write_table(found.replace_schema_metadata({"dockdyn": about}), file, compression="zstd")
        written.append(path)
    return written


def export_mat(dataset: Dataset, path: Path) -> None:
    """Write a MAT file (level 5) with one struct, `dockdyn`.

    Its fields `variables`, `units`, `dimensions` (cells of names) and `long_names` have a field for every variable and
    coordinate, `attributes` one for every attribute, and `names` gives the name in dockdyn by the name in MATLAB. Arrays
    keep their shape; those of one dimension are columns, those of words cells.

    ScenarioError for a result that is too large for the format.
    """
    from scipy.io import savemat
    from scipy.io.matlab import MatWriteError

    names = dict(matlab_names(map(str, dataset.variables)))
    attributes = dict(matlab_names(map(str, dataset.attrs)))
    described = {
        "variables": {short: _for_matlab(dataset[name].values) for short, name in names.items()},
        "units": {short: str(dataset[name].attrs.get("units", "")) for short, name in names.items()},
        "long_names": {short: str(dataset[name].attrs.get("long_name", "")) for short, name in names.items()},
        "dimensions": {short: cell_array(dataset[name].dims) for short, name in names.items()},
        "attributes": {short: plain_value(dataset.attrs[name]) for short, name in attributes.items()},
        "names": names | {short: name for short, name in attributes.items() if short not in names},
    }
    try:
        with replace_files(path) as (file,):
            savemat(file, {"dockdyn": described}, long_field_names=True, do_compression=True, oned_as="column")
    except (MatWriteError, OverflowError) as error:
        raise ScenarioError(f"{path}: too large for a MAT file ({error}); must be exported with --to csv") from None


def matlab_names(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return each name as MATLAB takes it, with the name itself: letters, digits and underscores, a letter first, all
    different."""

    def short_of(name: str) -> str:
        short = re.sub(r"[^A-Za-z0-9_]", "_", name)
        return short if short[:1].isalpha() else f"x{short}"

    return distinct_names(names, short_of, LONGEST)


def distinct_names(names: Iterable[str], short_of: Callable[[str], str], longest: int) -> Iterator[tuple[str, str]]:
    """Yield each name as `short_of` makes it, of `longest` characters at most, and the name itself; numbered where two are
    alike."""
    taken: set[str] = set()
    for name in names:
        short = short_of(name)[:longest]
        found, number = short, 1
        while found in taken:
            number += 1
            found = f"{short[: longest - len(str(number)) - 1]}_{number}"
        taken.add(found)
        yield found, name


def _for_matlab(values: np.ndarray) -> np.ndarray:
    return cell_array(values) if values.dtype.kind in "UOS" else values


def cell_array(values: np.ndarray | tuple[Hashable, ...]) -> np.ndarray:
    """Return words as a cell array of the same shape."""
    items = np.asarray(values, dtype=object)
    words = np.asarray([str(value) for value in items.ravel()], dtype=object)
    return words.reshape(items.shape)


def plain_value(value: object) -> object:
    """Return an attribute as Python has it."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
