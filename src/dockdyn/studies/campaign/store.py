"""A campaign on disk: what it is, a file for every chunk of cases, and one with all of them at the end.

Chunks are netCDF files of their own, not parts of one: a file is written beside its place, brought to the disk and renamed,
so that whatever kills the process, what is there is whole; none has to be opened again to add to it; and they need no
library that results do not need anyway. Each is sealed with the hash of its campaign, its number and a checksum.
One process at a time works in the folder: it holds a lock that the system frees when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from pydantic import TypeAdapter

from dockdyn.files import as_bytes, write_file
from dockdyn.results.key_figures import names_in_cases
from dockdyn.results.requirements import plain, unit_of_figure
from dockdyn.scenario.kinds import kind_named
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.own_code import allowed
from dockdyn.scenario.language.toml_text import data_of
from dockdyn.scenario.load import refuse_own_code
from dockdyn.studies.campaign.seal import Damaged, opened, sealed
from dockdyn.studies.cases.batch import Cases
from dockdyn.studies.cases.claim import LOCK, claimed
from dockdyn.studies.cases.sampling import Sampled

INDEX, CHUNKS, WHOLE, SCENARIO = "campaign.json", "chunks", "campaign.nc", "scenario.toml"
FORMAT = 2  # of the folder; 1 had no checksums
MOST_RUNS = 10_000_000


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

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that a case depends on; not of where the scenario lies."""
        decides = asdict(self) | {"scenario": data_of(self.scenario, "scenario")}
        for name in ("source", "folder"):
            decides.pop(name)
        return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()

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
        return names <= {INDEX, CHUNKS, SCENARIO, LOCK} and not any((self.folder / CHUNKS).glob("[0-9]*.nc"))

    def claimed(self) -> contextlib.AbstractContextManager[None]:
        """This process alone works in the folder (`dockdyn.studies.cases.claim.claimed`)."""
        return claimed(self.folder, self.index, "campaign")

    def create(self, campaign: Campaign) -> None:
        """Begin a campaign, or note where its scenario now is; OSError where that cannot be written."""
        (self.folder / CHUNKS).mkdir(parents=True, exist_ok=True)
        write_file(self.index, json.dumps(asdict(campaign), indent=2))
        write_file(self.folder / SCENARIO, campaign.scenario)

    def campaign(self) -> Campaign:
        """The campaign that is here; ScenarioError where none is, or one of another format."""
        try:
            stated = json.loads(self.index.read_text(encoding="utf-8"))
            if stated["format"] != FORMAT:
                raise ScenarioError(f"{self.index}: is of another version of dockdyn; run it again with another --out")
            if not allowed():
                refuse_own_code(str(stated["scenario"]), str(self.index))
            found = TypeAdapter(Campaign).validate_python(stated)
            if not 1 <= found.chunk <= found.runs <= MOST_RUNS:
                raise ValueError("no such number of cases")
            data_of(found.scenario, f"{self.index}: scenario")
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

    def drop_damaged(self, campaign: Campaign) -> list[str]:
        """Remove files that are damaged, or of another campaign or place, so that they are computed again: which, and why."""
        dropped = []
        for number in range(campaign.chunks):
            with contextlib.suppress(FileNotFoundError):
                try:
                    opened(self.chunk(number).read_bytes(), campaign.hash, _place_of(number))
                except Damaged as why:
                    dropped.append(f"{self.chunk(number)}: {why}")
                    self.chunk(number).unlink()
        with contextlib.suppress(FileNotFoundError):
            try:
                opened(self.whole.read_bytes(), campaign.hash, WHOLE)
            except Damaged as why:
                dropped.append(f"{self.whole}: {why}")
                self.whole.unlink()
        if dropped:
            self.whole.unlink(missing_ok=True)
        return dropped

    def tidy(self) -> None:
        """Remove what processes that are no more were writing when they ended."""
        for left in self.folder.rglob(".*.part"):
            writer = left.name.split(".")[-2]
            if not (writer.isdecimal() and Path(f"/proc/{writer}").exists()):
                left.unlink(missing_ok=True)

    def write_chunk(self, number: int, campaign: Campaign, sampled: Sampled, cases: Cases, elapsed: float) -> None:
        """Keep a chunk that took `elapsed` (s) of the campaign's time."""
        first, count = campaign.part(number)
        data = table(sampled, cases, np.arange(first, first + count), _words_of(campaign.kind))
        data.attrs["elapsed_s"] = elapsed
        write_file(self.chunk(number), sealed(as_bytes(data), campaign.hash, _place_of(number)))

    def unsealed(self, path: Path, campaign: Campaign, place: str) -> xr.Dataset:
        """The dataset in a file of the campaign; ScenarioError where it is damaged."""
        try:
            return xr.load_dataset(io.BytesIO(opened(path.read_bytes(), campaign.hash, place)), engine="h5netcdf")
        except Damaged as why:
            raise ScenarioError(f"{path}: {why}; go on with --resume, which computes it again") from None

    def dataset(self, campaign: Campaign) -> xr.Dataset:
        """All cases that are there, in order, with everything that describes them; ScenarioError where there is none yet."""
        columns, numbers, elapsed = Columns(), [], 0.0
        for chunk in range(campaign.chunks):
            if self.chunk(chunk).exists():
                part = self.unsealed(self.chunk(chunk), campaign, _place_of(chunk))
                columns.add(part)
                numbers.append(part["case"].values)
                elapsed += float(part.attrs["elapsed_s"])
        if not numbers:
            raise ScenarioError(f"{self.folder}: no case of the campaign is there yet; run it with --resume")
        number = np.concatenate(numbers)
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
        return self.unsealed(self.whole, campaign, WHOLE) if self.whole.exists() else self.dataset(campaign)

    def finish(self, campaign: Campaign) -> xr.Dataset:
        """Put all chunks into one file."""
        data = self.dataset(campaign)
        write_file(self.whole, sealed(as_bytes(data), campaign.hash, WHOLE))
        return data


def _place_of(chunk: int) -> str:
    """What a chunk's seal says of its place."""
    return f"chunk-{chunk}"


class Columns:
    """Columns of a table that comes in parts, of which not all have all columns."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Any]] = {}
        self.described: dict[str, Any] = {}
        self.rows = 0

    def add(self, part: xr.Dataset) -> None:
        for name, column in part.data_vars.items():
            known = self.parts.setdefault(str(name), [_absent(str(name), self.rows)] if self.rows else [])
            known.append(column.values)
            self.described[str(name)] = column.attrs
        for name in self.parts.keys() - part.data_vars.keys():
            self.parts[name].append(_absent(name, part.sizes["case"]))
        self.rows += part.sizes["case"]

    def joined(self, name: str) -> np.ndarray:
        """A whole column, which is then no more here in parts."""
        return np.concatenate(self.parts.pop(name))


def _absent(name: str, rows: int) -> np.ndarray:
    return np.full(rows, "", object) if name == "reason" else np.full(rows, np.nan)


def _words_of(kind: str) -> dict[str, str]:
    """The words of a kind's key figures, by the names that a case has them under."""
    known = kind_named(kind).key_figures()
    if known is None:
        return {}
    named = names_in_cases(known.figures).items()
    return {name: one.words + (f", {name.rpartition('.')[2]}" if one.each else "") for name, one in named}


def table(sampled: Sampled, cases: Cases, numbers: Sequence[int] | np.ndarray, known: Mapping[str, str]) -> xr.Dataset:
    """A row for every case: what was drawn, its figures, why it failed."""
    columns: dict[str, Any] = {}
    for place, (key, unit) in enumerate(zip(sampled.keys, sampled.units, strict=True)):
        columns[key] = ("case", sampled.values[:, place], {"units": unit or "1", "long_name": key})
    for name, values in cases.figures.items():
        words = known.get(name, plain(name).replace("_", " "))
        columns[name] = ("case", values, {"units": unit_of_figure(name) or "1", "long_name": words})
    reasons = np.array(cases.reasons, object)
    columns["reason"] = ("case", reasons, {"long_name": "why the case failed; empty where it did not"})
    return xr.Dataset(columns, {"case": ("case", numbers)})
