"""A campaign on disk: what it is, a file for every chunk of cases, and one with all of them at the end.

Chunks are files of their own, not parts of one: a file is written beside its place, brought to the disk and renamed, so
that whatever kills the process, what is there is whole; and none has to be opened again to add to it. Each is sealed with
the hash of its campaign, its number and a checksum.
One process at a time works in the folder: it holds a lock that the system frees when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from dataclasses import asdict, field
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from dockdyn.dataset import Dataset
from dockdyn.files import read_file, write_file
from dockdyn.netcdf import as_bytes, dataset_in
from dockdyn.records import record
from dockdyn.results.key_figures import names_in_cases
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import PART, refusal
from dockdyn.scenario.language.own_code import is_import_allowed
from dockdyn.scenario.language.toml_text import data_of
from dockdyn.scenario.load import refuse_own_code
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.campaign.chunk import REASON, Chunk, Columns
from dockdyn.studies.campaign.seal import Damaged, add_seal, open_sealed
from dockdyn.studies.cases.batch import Cases
from dockdyn.studies.cases.claim import LOCK, claim_study
from dockdyn.studies.cases.sampling import Sampled
from dockdyn.studies.cases.sealed_line import facts_in, sealed_line

INDEX, CHUNKS, WHOLE, SCENARIO = "campaign.json", "chunks", "campaign.nc", "scenario.toml"
CASES, REPORT = "cases", "campaign-report.html"
CASE_FILES = ("result.nc", "scenario.toml", "report.html")
FORMAT = 4  # of the folder; 1 had no checksums, 2 a netCDF file for each chunk, 3 an index without a checksum
MOST_RUNS = 10_000_000


@record
class Campaign:
    """What decides every number of a campaign."""

    scenario: str  # resolved, with what is distributed
    source: str  # file or preset it came from
    folder: str | None  # of the user's own laws
    setup: str
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
        """Return the first case and number of cases of a chunk."""
        first = chunk * self.chunk
        return first, min(self.chunk, self.runs - first)


@record
class Store:
    """The folder of a campaign."""

    folder: Path

    @property
    def index(self) -> Path:
        return self.folder / INDEX

    @property
    def whole(self) -> Path:
        return self.folder / WHOLE

    @property
    def copy(self) -> Path:
        """A second index, beside the chunks."""
        return self.folder / CHUNKS / INDEX

    def chunk(self, number: int) -> Path:
        return self.folder / CHUNKS / f"{number:06d}.chunk"

    def blank(self) -> bool:
        """Return whether nothing is lost when a campaign is begun here: no folder, or one without a single case."""
        if not self.folder.exists():
            return True
        if not self.folder.is_dir():
            return False
        names = {path.name for path in self.folder.iterdir() if not path.name.endswith(".part")}
        return names <= {INDEX, CHUNKS, SCENARIO, LOCK} and not any((self.folder / CHUNKS).glob("[0-9]*"))

    def claimed(self) -> contextlib.AbstractContextManager[None]:
        """Let this process alone work in the folder (`dockdyn.studies.cases.claim.claim_study`)."""
        return claim_study(self.folder, self.index, "campaign")

    def create(self, campaign: Campaign) -> None:
        """Begin a campaign, or note where its scenario now is; OSError where that cannot be written."""
        (self.folder / CHUNKS).mkdir(parents=True, exist_ok=True)
        for place in (self.index, self.copy):
            write_file(place, sealed_line(asdict(campaign)))
        write_file(self.folder / SCENARIO, campaign.scenario)

    def campaign(self) -> Campaign:
        """Return the campaign that is here; ScenarioError where none is, or one of another format.

        Where a bit of its index has changed, or the index is gone, it is what the copy beside the chunks says.
        """
        whole = next((path for path in (self.index, self.copy) if _is_whole(path)), self.index)
        try:
            stated = json.loads(read_file(whole, PART.most))
            if stated["format"] != FORMAT:
                raise ScenarioError(f"{whole}: is of another version of dockdyn; run it again with another --out")
            if not is_import_allowed():
                refuse_own_code(str(stated["scenario"]), str(whole))
            found = TypeAdapter(Campaign).validate_python(facts_in(read_file(whole, PART.most)))
            if not 1 <= found.chunk <= found.runs <= MOST_RUNS:
                raise ValueError("no such number of cases")
            data_of(found.scenario, f"{whole}: scenario")
            return found
        except FileNotFoundError:
            raise ScenarioError(f"{self.folder}: no campaign; must be a folder with a {INDEX}") from None
        except ScenarioError:
            raise
        except OSError as error:
            raise refusal(error, str(whole), PART) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ScenarioError(f"{whole}: damaged, or not the index of a campaign") from None

    def damaged_index(self) -> bool:
        """Return whether the index is not as it was written, so that the copy speaks for it."""
        return not _is_whole(self.index)

    def missing(self, campaign: Campaign) -> list[int]:
        """Return chunks that are not there yet."""
        return [number for number in range(campaign.chunks) if not self.chunk(number).exists()]

    def clear(self) -> None:
        """Remove the campaign that is here, with the cases run by themselves and the report; files of others stay."""
        for path in (self.whole, self.index, *self.folder.glob(f"{CHUNKS}/*"), self.folder / REPORT):
            path.unlink(missing_ok=True)
        for case in self.folder.glob(f"{CASES}/[0-9]*"):
            for name in CASE_FILES:
                (case / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else is there, too
                case.rmdir()

    def case(self, number: int) -> Path:
        """Return the folder of a case that is run by itself."""
        return self.folder / CASES / f"{number:06d}"

    def drop_damaged(self, campaign: Campaign) -> list[str]:
        """Remove files that are damaged, or of another campaign or place, so that they are computed again: which, and why."""
        dropped = []
        for number in range(campaign.chunks):
            with contextlib.suppress(FileNotFoundError):
                try:
                    open_sealed(read_file(self.chunk(number), PART.most), campaign.hash, _place_of(number))
                except Damaged as why:
                    dropped.append(f"{self.chunk(number)}: {why}")
                    self.chunk(number).unlink()
        with contextlib.suppress(FileNotFoundError):
            try:
                open_sealed(read_file(self.whole, PART.most), campaign.hash, WHOLE)
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
        first, _ = campaign.part(number)
        data = Chunk.of(sampled, cases, first, elapsed, _words_of(campaign.setup)).as_bytes()
        write_file(self.chunk(number), add_seal(data, campaign.hash, _place_of(number)))

    def unsealed(self, path: Path, campaign: Campaign, place: str) -> bytes:
        """Return what was written into a file of the campaign; ScenarioError where it is damaged."""
        try:
            return open_sealed(read_file(path, PART.most), campaign.hash, place)
        except Damaged as why:
            raise ScenarioError(f"{path}: {why}; go on with --resume, which computes it again") from None

    def kept(self, number: int, campaign: Campaign) -> Chunk:
        """Return a chunk that is there; ScenarioError where it is damaged, or sealed but no chunk."""
        path = self.chunk(number)
        content = self.unsealed(path, campaign, _place_of(number))
        try:
            return Chunk.from_bytes(content)
        except (ValueError, KeyError, TypeError, EOFError):
            words = "is sealed, but nothing that a campaign writes; remove it and go on with --resume"
            raise ScenarioError(f"{path}: {words}") from None

    def dataset(self, campaign: Campaign) -> Dataset:
        """Return all cases that are there, in order, with everything that describes them; ScenarioError where there is none
        yet."""
        columns = Columns()
        for number in range(campaign.chunks):
            if self.chunk(number).exists():
                columns.add(self.kept(number, campaign))
        if not columns.numbers:
            raise ScenarioError(f"{self.folder}: no case of the campaign is there yet; run it with --resume")
        cases = np.concatenate(columns.numbers)
        names = list(columns.parts)
        figures = [name for name in names if name not in (*campaign.keys, REASON)]
        attributes = {
            "campaign": 1,
            "setup": campaign.setup,
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
            "wall_time_s": columns.elapsed,
        }
        variables = {name: ("case", columns.joined(name), columns.described[name]) for name in names}
        return Dataset(variables, {"case": ("case", cases, {"long_name": "number of the case"})}, attributes)

    def read(self, campaign: Campaign) -> Dataset:
        """Return the same, from one file where the campaign is finished."""
        if not self.whole.exists():
            return self.dataset(campaign)
        return dataset_in(io.BytesIO(self.unsealed(self.whole, campaign, WHOLE)))

    def finish(self, campaign: Campaign) -> Dataset:
        """Put all chunks into one file."""
        data = self.dataset(campaign)
        write_file(self.whole, add_seal(as_bytes(data), campaign.hash, WHOLE))
        return data


def _is_whole(index: Path) -> bool:
    """Return whether an index is there as it was written."""
    try:
        return bool(facts_in(read_file(index, PART.most)))
    except (OSError, ValueError, RecursionError):
        return False


def _place_of(chunk: int) -> str:
    """Return what a chunk's seal says of its place."""
    return f"chunk-{chunk}"


def _words_of(setup: str) -> dict[str, str]:
    """Return the words of a setup's key figures, by the names that a case has them under."""
    known = setup_named(setup).key_figures()
    if known is None:
        return {}
    named = names_in_cases(known.figures).items()
    return {name: one.words + (f", {name.rpartition('.')[2]}" if one.each else "") for name, one in named}
