"""A result as a file: written whole or not at all, and read back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dockdyn.checksums import find_damage
from dockdyn.dataset import Dataset, GivenDataset, as_dataset, is_dataset
from dockdyn.files import in_words, regular_file, write_file
from dockdyn.netcdf import as_bytes, dataset_by_xarray, dataset_in
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import path_from, wrong_type
from dockdyn.scenario.language.given_file import RESULT, refusal
from dockdyn.scenario.language.mistaken import RESULTS, mistaken
from dockdyn.scenario.language.own_code import is_import_allowed
from dockdyn.scenario.load import refuse_own_code
from dockdyn.scenario.setups import SETUPS, setup_named

ATTRIBUTES = {"setup", "scenario", "dockdyn_version"}  # what makes a netCDF file a result of dockdyn
STUDIES = {  # attributes: one of them makes it something else than a run
    "margins": "stability",
    "envelope": "envelope",
    "campaign": "campaign",
    "tuned_at_N_m": "compare",
}
CLASSIC = b"CDF"  # what a file of netCDF-3 begins with; others are HDF5
LARGEST = 8_000_000_000  # bytes of a file's variables in memory
RUN = {"status", "time", "kinetic_energy"}  # and, besides, that of a run


def write_result(dataset: GivenDataset, path: str | Path) -> None:
    """Write a result as netCDF-4. An earlier file at `path` is replaced only by a complete new one."""
    write_file(path, as_bytes(dataset))


def open_result(path: str | Path, own_code: bool = True) -> Dataset:
    """Return the result in the file or folder `path`, read completely. Raises `ScenarioError` when there is none and, without
    `own_code`, when its scenario names code of its own, which reports and replays import."""
    path = result_in(path_from("result", path, "the file or folder of a result"))
    if path.is_dir():
        raise ScenarioError(
            f"{path}: is a folder without one result; must be a result file such as {path / 'result.nc'}"
        )
    dataset = netcdf_in(path)
    setup = str(dataset.attrs.get("setup", ""))
    if setup not in ("", *SETUPS):
        raise ScenarioError(
            f"{path}: is of a setup {setup!r}, which this dockdyn does not know; it knows {', '.join(SETUPS)}"
        )
    needed = ATTRIBUTES
    if setup and study_of(dataset) is None:
        needed = ATTRIBUTES | RUN | {setup_named(setup).marker}
    missing = sorted(needed - set(dataset.attrs) - set(dataset.variables))
    if missing:
        words = mistaken(path, "result") or f"not a result of dockdyn; it has no {missing[0]!r}"
        raise ScenarioError(f"{path}: {words}")
    if not (own_code and is_import_allowed()):
        refuse_own_code(str(dataset.attrs["scenario"]), str(path))
    return dataset


def netcdf_in(path: Path) -> Dataset:
    """Return all of a netCDF file, times as the numbers that stand there.

    Raises `ScenarioError` for what is none, and for one of dockdyn's that is not as it was written, which its checksums say.
    """
    import h5py

    try:
        with regular_file(path, RESULT.most) as file:
            classic = file.read(len(CLASSIC)) == CLASSIC
    except OSError as error:
        raise refusal(error, str(path), RESULT) from None
    if (damage := find_damage(path)) is not None:
        raise ScenarioError(f"{path}: damaged: {damage}; take a copy, or compute it again")
    try:
        if not classic:
            with h5py.File(path) as tried:  # h5netcdf prints tracebacks of its own about a file that fails here
                dict(tried.attrs)
                size = _unpacked_size(tried, str(path))
            if size > LARGEST:
                words = f"its variables would take {in_words(size)} of memory"
                raise ScenarioError(f"{path}: {words}; must be at most {in_words(LARGEST)}")
        return dataset_by_xarray(str(path), "scipy") if classic else dataset_in(str(path))
    except ScenarioError:
        raise
    except Exception:  # a damaged file can fail anywhere inside the readers
        other = "" if h5py.is_hdf5(path) else mistaken(path, "result")
        words = other or "not a netCDF file, or a damaged one"
        raise ScenarioError(f"{path}: {words}") from None


def _unpacked_size(group: Any, name: str) -> int:  # noqa: ANN401, h5py's
    """Return the bytes that the variables of a file take when they are read, whatever is stored of them.

    Raises ScenarioError for one that would be read from another file.
    """
    import h5py

    total = 0
    for key in group:
        inside = None if isinstance(group.get(key, getlink=True), h5py.ExternalLink) else group[key]
        dataset = isinstance(inside, h5py.Dataset)
        if inside is None or (dataset and (inside.external or inside.is_virtual)):
            raise ScenarioError(f"{name}: {key} in it lies in another file; must be in this one")
        if dataset:
            total += int(inside.size or 0) * inside.dtype.itemsize
        elif isinstance(inside, h5py.Group):
            total += _unpacked_size(inside, name)
    return total


def result_from(given: GivenDataset | str | Path) -> Dataset:
    """Return a result as it is, in a dataset of dockdyn's, or the one in a file or in a folder that dockdyn wrote. Raises
    ScenarioError for what is none."""
    if isinstance(given, str | Path):
        return open_result(given)
    if not is_dataset(given):
        raise wrong_type("result", given, "a dataset of dockdyn's, or a file or folder with one")
    missing = sorted(ATTRIBUTES - set(given.attrs))
    if missing:
        raise ScenarioError(f"result: must be a dataset of dockdyn's; its attributes lack {missing[0]!r}")
    return as_dataset(given)


def run_from(given: GivenDataset | str | Path) -> Dataset:
    """Return the same of a run. Raises ScenarioError for the result of a study."""
    found = result_from(given)
    if (study := study_of(found)) is not None:
        raise ScenarioError(f"result: must be of a run; is of dockdyn {study}")
    return found


@contextmanager
def as_written(*paths: str | Path) -> Iterator[None]:
    """Make something of results: one that is not as it was written can fail anywhere in it, and is said to in one line."""
    try:
        yield
    except (ScenarioError, OSError):
        raise
    except Exception as error:
        names = ", ".join(map(str, paths))
        words = f"lacks or holds what no result does ({type(error).__name__}: {error})"
        raise ScenarioError(f"{names}: {words}; must be as this version of dockdyn wrote it") from error


def result_in(path: str | Path) -> Path:
    """Return the file of results in a folder that dockdyn wrote; a file as it is."""
    path = Path(path)
    found = [path / name for name in RESULTS if (path / name).is_file()] if path.is_dir() else []
    return found[0] if len(found) == 1 else path


def study_of(dataset: Dataset) -> str | None:
    """Return which study of a scenario a result is, by the name of its command; None for a run."""
    return next((study for attribute, study in STUDIES.items() if attribute in dataset.attrs), None)
