"""A log in a CSV file: a header that names the columns, and a row for each sample."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dockdyn.results.exchange.log_table import CommonRows, LogColumn, LogTable
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import CSV, content_of


def csv_table(path: Path) -> LogTable:
    """Return the columns of a CSV file, its first line the header: `time [s],command [mm]`.

    Commas, semicolons (then with decimal commas, too) or tabs stand between columns; lines that begin with # are comments.
    ScenarioError, with file and row, for what is no such file.
    """
    file = str(path)
    lines = _lines_of(path)
    headings, separator = _header_of(file, lines)
    table = [_cells_of(file, row, line, separator) for row, line in lines[1:]]
    for (row, _), cells in zip(lines[1:], table, strict=True):
        if len(cells) != len(headings):
            raise ScenarioError(f"{file}: row {row}: {len(cells)} cells; must be {len(headings)}, as in the header")
    if separator == ";":
        table = [[cell.replace(",", ".") for cell in cells] for cells in table]  # decimal commas
    columns = [LogColumn(heading, [cells[at] for cells in table]) for at, heading in enumerate(headings)]
    return LogTable(file, columns, [CommonRows(np.array([row for row, _ in lines[1:]], dtype=int))])


def _lines_of(path: Path) -> list[tuple[int, str]]:
    """Return lines that are neither empty nor comments, with their numbers."""
    try:
        text = content_of(path, str(path), CSV).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: cannot be read as text ({error})") from None
    lines = enumerate(text.splitlines(), start=1)
    return [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]


def _header_of(file: str, lines: list[tuple[int, str]]) -> tuple[list[str], str]:
    """Return the headings in the first of a file's `lines`, and what separates them."""
    if not lines:
        raise ScenarioError(f"{file}: is empty; must have a header and a row for each sample")
    row, first = lines[0]
    separator = max(",;\t", key=first.count)
    headings = [cell.strip() for cell in _cells_of(file, row, first, separator)]
    if len(headings) == 1 or all(_is_number(cell) for cell in headings):
        raise ScenarioError(f"{file}: row {row}: must be a header that names the columns, such as time [s],…")
    return headings, separator


def _cells_of(file: str, row: int, line: str, separator: str) -> list[str]:
    """Return the cells of a line, each of which is a sample: no cell goes on over several."""
    try:
        return next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise ScenarioError(f"{file}: row {row}: no line of a CSV file ({error})") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
