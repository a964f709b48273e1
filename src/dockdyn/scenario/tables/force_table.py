"""Tables of a measured force: read from a file, and refused where they fall."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given_file import FORCE_TABLE, content_of
from dockdyn.scenario.tables.part import refuse

KEY, LAW = "force", "measured"
MOST_DEPTHS, MOST_RATES = 200, 20


def columns_in(file: Path, label: str) -> dict[str, Any]:
    """Return the keys of a measured force from a CSV file: behind a first cell rates (m/s), then rows of a depth (m) and forces
    (N). ScenarioError for a file that cannot be used."""
    content = content_of(file, label, FORCE_TABLE)
    try:
        head, *rows = [row for row in csv.reader(content.decode("utf-8-sig").splitlines()) if row]
        rates = [float(one) for one in head[1:]]
        numbers = [[float(one) for one in row] for row in rows]
    except (ValueError, csv.Error):  # also what is no text, a file without a row, and a cell without end
        raise ScenarioError(
            f"{label}: must be a CSV file of numbers: behind a first cell the rates, m/s; then rows of a depth, m, and a "
            "force, N, at each rate"
        ) from None
    return {"rate": rates, "depth": [row[0] for row in numbers], KEY: [row[1:] for row in numbers]}


def with_columns(data: dict[str, Any], folder: Path, where: str) -> dict[str, Any]:
    """Return the table of a law with the columns of the file that it names in the place of its forces."""
    label = f"{where}.{KEY} = {shown(data[KEY])}"
    if stated := [key for key in ("depth", "rate") if key in data]:
        raise ScenarioError(f"{label}: the file has depths and rates; {stated[0]} must be left out")
    return data | columns_in(folder / data[KEY], label)


def never_falling(law: Any) -> None:  # noqa: ANN401, a table that `part` makes
    """Refuse a table of another shape than its depths and rates, and one whose forces fall with depth or with rate."""
    for key, most in (("depth", MOST_DEPTHS), ("rate", MOST_RATES)):
        values = getattr(law, key)
        if len(values) > most:
            refuse(f"{key}: has {len(values)} values; must have at most {most}")
        for before, after in pairwise(values):
            if not after > before:
                refuse(f"{key}: {after:g} follows {before:g}; must increase")
    if law.depth[0] != 0:
        refuse(f"depth: begins with {law.depth[0]:g} m; must begin with 0")
    if 0 not in law.rate:
        refuse("rate: has no 0; must have the force at rest among the others")
    if len(law.force) != len(law.depth):
        refuse(f"force: has {len(law.force)} rows; must have one for each of the {len(law.depth)} depths")
    for number, row in enumerate(law.force):
        where = f"force: row {number + 1}, at a depth of {law.depth[number]:g} m,"
        if len(row) != len(law.rate):
            refuse(f"{where} has {len(row)} values; must have one for each of the {len(law.rate)} rates")
        for column in range(1, len(row)):
            if row[column] < row[column - 1]:
                refuse(
                    f"{where} falls from {row[column - 1]:g} to {row[column]:g} N as the rate grows to "
                    f"{law.rate[column]:g} m/s; must not fall with rate"
                )
        for rate, now, before in zip(law.rate, row, law.force[number - 1] if number else row, strict=True):
            if now < before:
                refuse(
                    f"{where} has {now:g} N at {rate:g} m/s, less than the {before:g} N of the row before; must not fall "
                    "with depth"
                )
    if not law.force[-1][law.rate.index(0)] > 0:
        refuse("force: is 0 at rest, however deep; nothing would press")
