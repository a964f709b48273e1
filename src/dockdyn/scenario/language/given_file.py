"""Files that a user or a scenario names: only regular ones of a bounded size are read, and they are asked before."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dockdyn.files import check_file, in_words, read_file, why_unread
from dockdyn.scenario.language.errors import ScenarioError


class Sort(NamedTuple):
    """What a file is to be, and how many bytes it may hold."""

    words: str
    most: int


SCENARIO = Sort("a scenario, in TOML", 4_000_000)
FORCE_TABLE = Sort("a CSV file, relative to the scenario", 1_000_000)
PROFILE = Sort("a CSV file, relative to the scenario", 1_000_000)
URDF_FILE = Sort("a URDF file", 20_000_000)
MESH = Sort("a mesh file", 100_000_000)
MATRICES = Sort("a file of matrices, relative to the scenario", 500_000_000)
FMU = Sort("an FMU", 500_000_000)
CSV = Sort("a log in CSV", 250_000_000)
LOG = Sort("a log in CSV, MCAP or netCDF", 4_000_000_000)
RESULT = Sort("a result file such as result.nc", 4_000_000_000)
PART = Sort("a file that a study has written", 4_000_000_000)


def content_of(path: Path, label: str, sort: Sort) -> bytes:
    """Return what a file holds; `label` is how messages call it. Raises `ScenarioError` for one that is not of this sort."""
    try:
        return read_file(path, sort.most)
    except OSError as error:
        raise refusal(error, label, sort) from None


def check_given(path: Path, label: str, sort: Sort) -> None:
    """Raise as `content_of` does, for a file that a library opens by its name."""
    try:
        check_file(path, sort.most)
    except OSError as error:
        raise refusal(error, label, sort) from None


def refusal(error: OSError, label: str, sort: Sort) -> ScenarioError:
    """Return what is said of a file that was not read."""
    allowed = (
        "" if isinstance(error, FileNotFoundError) else f"; must be {sort.words}, of at most {in_words(sort.most)}"
    )
    return ScenarioError(f"{label}: {why_unread(error)}{allowed}")
