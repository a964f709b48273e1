"""Files that are given in the place of others: what they are, and which command takes them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal

from dockdyn.files import regular_file

Sort = Literal["scenario", "result", "log"]
MCAP, HDF5 = b"\x89MCAP", b"\x89HDF"  # what files begin with
RESULTS = ("result.nc", "stability.nc", "compare.nc", "envelope.nc", "campaign.nc")  # that folders hold
ADVICE: dict[tuple[Sort, Sort], str] = {  # what it is, what is wanted
    (
        "log",
        "result",
    ): "lay it over a run with dockdyn report RESULT.nc --log {path}, or write it as tables with dockdyn "
    "export {path} --to csv",
    (
        "log",
        "scenario",
    ): "find the robot in it with dockdyn identify robot {path}, or give it to dockdyn compare SCENARIO as "
    "--log {path}",
    ("result", "scenario"): "its scenario stands beside it, in {folder}/scenario.toml",
    ("result", "log"): "give the log that it is to be compared with, or name the columns to be read as one",
    ("scenario", "result"): "run it first: dockdyn run {path}",
    ("scenario", "log"): "give the log itself, in CSV, MCAP or netCDF",
}


def mistaken(path: Path, wanted: Sort) -> str:
    """Return words for a message: what a file or folder is that is not what is `wanted`, and what to do with it.

    Empty where that cannot be told, or where it is what is wanted.
    """
    found = sort_of_file(path)
    if found is None or found == wanted:
        return ""
    folder = path if path.is_dir() else path.parent
    advice = ADVICE[found, wanted].format(path=shlex.quote(str(path)), folder=shlex.quote(str(folder)))
    return f"is a {found}, not a {wanted}; {advice}"


def sort_of_file(path: Path) -> Sort | None:
    """Return what a file, or a folder that dockdyn wrote, is by its name and how it begins; None of anything else."""
    if path.is_dir():
        return "result" if any((path / name).is_file() for name in RESULTS) else None
    try:
        with regular_file(path, 1 << 62) as file:
            begins = file.read(len(MCAP))
    except OSError:
        return None
    if begins.startswith(HDF5):
        return _sort_of_netcdf(path)
    if begins == MCAP or path.suffix.lower() == ".csv":
        return "log"
    return "scenario" if path.suffix.lower() == ".toml" else None


def _sort_of_netcdf(path: Path) -> Sort | None:
    """Return what a file of netCDF-4 is; None of a damaged one."""
    import h5py

    try:
        with h5py.File(path) as file:
            return "result" if {"setup", "scenario", "dockdyn_version"} <= set(file.attrs) else "log"
    except Exception:  # a damaged file can fail anywhere inside the reader
        return None
