"""A campaign on disk: what it is, a file for every chunk of cases, and one with all of them at the end.

Chunks are netCDF files of their own, not parts of one: a file is written beside its place, brought to the disk and renamed,
so that whatever kills the process, what is there is whole; none has to be opened again to add to it; and they need no
library that results do not need anyway.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from pydantic import TypeAdapter

from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import refuse_own_code
from dockdyn.scenario.own_code import allowed
from dockdyn.study.batch import Cases
from dockdyn.study.requirements import plain, unit_of_figure
from dockdyn.study.sampling import Sampled

INDEX, CHUNKS, WHOLE, SCENARIO = "campaign.json", "chunks", "campaign.nc", "scenario.toml"
FORMAT = 1  # of the folder
MOST_RUNS = 10_000_000


class StoreFull(Exception):
    """The disk is full, or a quota used up."""


@dataclass(frozen=True)
class Campaign:
    """What decides every number of a campaign."""

    scenario: str  # resolved, with what is distributed
    source: str  # file or preset it came from
    folder: str | None  # of the user's own laws
    kind: str
    title: str
    runs: int
    seed: int
    sampling: str
    chunk: int  # cases in a chunk
    keys: tuple[str, ...]
    units: tuple[str, ...]
    dockdyn_version: str
    modules: dict[str, str]  # SHA-256 of the modules with parts of the user's own
    format: int = field(default=FORMAT)

    @property
    def chunks(self) -> int:
        return -(-self.runs // self.chunk)

    def part(self, chunk: int) -> tuple[int, int]:
        """First case and number of cases of a chunk."""
        first = chunk * self.chunk
        return first, min(self.chunk, self.runs - first)


@dataclass(frozen=True)
class Store:
    """The folder of a campaign."""

    folder: Path

    @property
    def index(self) -> Path:
        return self.folder / INDEX

    @property
    def whole(self) -> Path:
        return self.folder / WHOLE

    def chunk(self, number: int) -> Path:
        return self.folder / CHUNKS / f"{number:06d}.nc"

    def blank(self) -> bool:
        """Whether nothing is lost when a campaign is begun here: no folder, or one without a single case."""
        if not self.folder.exists():
            return True
        if not self.folder.is_dir():
            return False
        names = {path.name for path in self.folder.iterdir() if not path.name.endswith(".part")}
        return names <= {INDEX, CHUNKS, SCENARIO} and not any((self.folder / CHUNKS).glob("[0-9]*.nc"))

    def create(self, campaign: Campaign) -> None:
        """Begin a campaign, or note where its scenario now is; OSError or StoreFull where that cannot be written."""
        (self.folder / CHUNKS).mkdir(parents=True, exist_ok=True)
        put(self.index, json.dumps(asdict(campaign), indent=2).encode())
        put(self.folder / SCENARIO, campaign.scenario.encode())

    def campaign(self) -> Campaign:
        """The campaign that is here; ScenarioError where none is, or one of another format."""
        try:
            stated = json.loads(self.index.read_text(encoding="utf-8"))
            if stated["format"] != FORMAT:
                raise ScenarioError(f"{self.index}: is of another version of dockdyn")
            if not allowed():
                refuse_own_code(str(stated["scenario"]), str(self.index))
            found = TypeAdapter(Campaign).validate_python(stated)
            if not 1 <= found.chunk <= found.runs <= MOST_RUNS:
                raise ValueError("no such number of cases")
            return found
        except FileNotFoundError:
            raise ScenarioError(f"{self.folder}: no campaign; must be a folder with a {INDEX}") from None
        except ScenarioError:
            raise
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise ScenarioError(f"{self.index}: damaged, or not the index of a campaign") from None

    def missing(self, campaign: Campaign) -> list[int]:
        """Chunks that are not there yet."""
        return [number for number in range(campaign.chunks) if not self.chunk(number).exists()]

    def tidy(self) -> None:
        """Remove what processes that are no more were writing when they ended."""
        for left in self.folder.rglob(".*.part"):
            writer = left.name.split(".")[-2]
            if not (writer.isdecimal() and Path(f"/proc/{writer}").exists()):
                left.unlink(missing_ok=True)

    def write_chunk(self, number: int, campaign: Campaign, sampled: Sampled, cases: Cases, elapsed: float) -> None:
        """Keep a chunk that took `elapsed` (s) of the campaign's time."""
        first, count = campaign.part(number)
        data = table(sampled, cases, np.arange(first, first + count))
        data.attrs["elapsed_s"] = elapsed
        put(self.chunk(number), as_bytes(data))

    def read_chunk(self, number: int) -> xr.Dataset:
        path = self.chunk(number)
        try:
            return xr.load_dataset(path, engine="h5netcdf")
        except Exception:  # a damaged file can fail anywhere inside the reader
            raise ScenarioError(f"{path}: damaged; delete it and go on with --resume") from None

    def dataset(self, campaign: Campaign) -> xr.Dataset:
        """All cases that are there, in order, with everything that describes them."""
        columns, numbers, elapsed = Columns(), [], 0.0
        for chunk in range(campaign.chunks):
            if self.chunk(chunk).exists():
                part = self.read_chunk(chunk)
                columns.add(part)
                numbers.append(part["case"].values)
                elapsed += float(part.attrs["elapsed_s"])
        number = np.concatenate(numbers) if numbers else np.zeros(0, int)
        names = list(columns.parts)
        figures = [name for name in names if name not in (*campaign.keys, "reason")]
        attributes = {
            "campaign": 1,
            "kind": campaign.kind,
            "title": campaign.title,
            "source": campaign.source,
            "scenario": campaign.scenario,
            "dockdyn_version": campaign.dockdyn_version,
            "runs": campaign.runs,
            "seed": campaign.seed,
            "sampling": campaign.sampling,
            "chunk": campaign.chunk,
            "dispersed": json.dumps(campaign.keys),
            "figures": json.dumps(figures),
            "wall_time_s": elapsed,
        }
        variables = {name: ("case", columns.joined(name), columns.described[name]) for name in names}
        return xr.Dataset(variables, {"case": ("case", number, {"long_name": "number of the case"})}, attributes)

    def read(self, campaign: Campaign) -> xr.Dataset:
        """The same, from one file where the campaign is finished."""
        if not self.whole.exists():
            return self.dataset(campaign)
        try:
            return xr.load_dataset(self.whole, engine="h5netcdf")
        except Exception:  # a damaged file can fail anywhere inside the reader
            raise ScenarioError(f"{self.whole}: damaged; delete it and go on with --resume") from None

    def finish(self, campaign: Campaign) -> xr.Dataset:
        """Put all chunks into one file."""
        data = self.dataset(campaign)
        put(self.whole, as_bytes(data))
        return data


class Columns:
    """Columns of a table that comes in parts, of which not all have all columns."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Any]] = {}
        self.described: dict[str, Any] = {}
        self.rows = 0

    def add(self, part: xr.Dataset) -> None:
        for name, column in part.data_vars.items():
            known = self.parts.setdefault(str(name), [absent(str(name), self.rows)] if self.rows else [])
            known.append(column.values)
            self.described[str(name)] = column.attrs
        for name in self.parts.keys() - part.data_vars.keys():
            self.parts[name].append(absent(name, part.sizes["case"]))
        self.rows += part.sizes["case"]

    def joined(self, name: str) -> Any:
        """A whole column, which is then no more here in parts."""
        return np.concatenate(self.parts.pop(name))


def absent(name: str, rows: int) -> Any:
    return np.full(rows, "", object) if name == "reason" else np.full(rows, np.nan)


def table(sampled: Sampled, cases: Cases, numbers: Any) -> xr.Dataset:
    """A row for every case: what was drawn, its figures, why it failed."""
    columns: dict[str, Any] = {}
    for place, (key, unit) in enumerate(zip(sampled.keys, sampled.units, strict=True)):
        columns[key] = ("case", sampled.values[:, place], {"units": unit or "1", "long_name": key})
    for name, values in cases.figures.items():
        words = plain(name).replace("_", " ")
        columns[name] = ("case", values, {"units": unit_of_figure(name) or "1", "long_name": words})
    reasons = np.array(cases.reasons, object)
    columns["reason"] = ("case", reasons, {"long_name": "why the case failed; empty where it did not"})
    return xr.Dataset(columns, {"case": ("case", numbers)})


def as_bytes(dataset: xr.Dataset) -> bytes:
    """A dataset as a netCDF file: a copy, since the view that xarray gives outlives what it looks at."""
    return bytes(dataset.to_netcdf(engine="h5netcdf"))


def put(path: Path, content: bytes) -> None:
    """A file that is there whole or not at all, and stays when the power fails."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(f"{path.parent}: {os.strerror(error.errno).lower()}") from None
        raise
