"""A design on disk: what it is, and a line for every evaluation, appended as it comes.

A line is whole or torn: one without its end, or of a generation that is not complete, is cut off when the design goes on, and
computed again. One process at a time works in the folder.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from pydantic import TypeAdapter

from dockdyn.files import read_file, write_file
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given_file import PART
from dockdyn.scenario.language.own_modules import own_modules
from dockdyn.studies.cases.claim import LOCK, claimed
from dockdyn.studies.cases.resumed import changed_modules, differences, refuse_another
from dockdyn.studies.design.plan import Evaluation, Plan

TRAIL = "trail.jsonl"
FORMAT = 3


@dataclass(frozen=True)
class Heading:
    """The first line of a trail: what decides every evaluation."""

    format: int
    dockdyn_version: str
    scenario: str  # resolved, with its table [design]
    modules: dict[str, str]  # SHA-256 of the modules with parts of the user's own


@dataclass(frozen=True)
class Trail:
    """The folder of a design."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / TRAIL

    def blank(self) -> bool:
        """Whether nothing is lost when a design is begun here."""
        return not self.folder.exists() or (
            self.folder.is_dir() and {path.name for path in self.folder.iterdir()} <= {LOCK}
        )

    def claimed(self) -> contextlib.AbstractContextManager[None]:
        """This process alone works in the folder (`dockdyn.studies.cases.claim.claimed`)."""
        return claimed(self.folder, self.file, "design")

    def begun(self, plan: Plan) -> list[list[Evaluation]]:
        """The evaluations that are there, those of one generation together; what is damaged or torn, and all behind it, is cut
        off.

        Raises ScenarioError where another design is there.
        """
        if not self.file.exists():
            return []
        lines = read_file(self.file, PART.most).splitlines(keepends=True)
        try:
            there = _HEADING.validate_json(lines[0])
        except (ValueError, IndexError):
            raise ScenarioError(f"{self.file}: damaged, or not the trail of a design") from None
        _refuse_another(there, _heading(plan), self.folder)
        found: list[list[Evaluation]] = []
        kept = place = 1
        while (generation := _whole_generation(lines[place:])) is not None:
            found.append(generation)
            kept = place = place + len(generation)
        if kept < len(lines):
            self.cut(kept - 1)
        return found

    def count(self) -> int:
        """How many evaluations are there."""
        return max(read_file(self.file, PART.most).count(b"\n") - 1, 0) if self.file.exists() else 0

    def cut(self, count: int) -> None:
        """Keep the first evaluations alone."""
        write_file(self.file, b"".join(read_file(self.file, PART.most).splitlines(keepends=True)[: 1 + count]))

    def append(self, plan: Plan, generation: Sequence[Evaluation]) -> None:
        """Keep a generation; the first with what the design is. OSError where it cannot be written."""
        count = len(generation)
        lines = [json.dumps({"left": count - 1 - place} | asdict(one)) for place, one in enumerate(generation)]
        content = "".join(f"{line}\n" for line in lines).encode()
        if not self.file.exists():
            write_file(self.file, f"{json.dumps(asdict(_heading(plan)))}\n".encode() + content)
            return
        with self.file.open("ab") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _heading(plan: Plan) -> Heading:
    """What decides every evaluation."""
    scenario = plan.scenario
    parts = [scenario.content, *(one.law for one in scenario.dispersions)]
    return Heading(FORMAT, version("dockdyn"), scenario.text(), own_modules(parts))


def _refuse_another(there: Heading, asked: Heading, folder: Path) -> None:
    """Refuses to go on with another design than the one that is there."""
    found = [
        f"{name} was {shown(getattr(there, name))}, is {shown(getattr(asked, name))}"
        for name in ("format", "dockdyn_version")
        if getattr(there, name) != getattr(asked, name)
    ]
    found += differences(there.scenario, asked.scenario) + changed_modules(there.modules, asked.modules)
    refuse_another(found, folder, "design")


def _whole_generation(lines: Sequence[bytes]) -> list[Evaluation] | None:
    """The generation that lines begin with; None where it is not whole."""
    found: list[Evaluation] = []
    for line in lines:
        if not line.endswith(b"\n"):
            return None
        try:
            stated = json.loads(line)
            left = stated.pop("left")
            found.append(_EVALUATION.validate_python(stated))
        except (ValueError, KeyError, AttributeError):
            return None
        if left == 0:
            return found
    return None


_HEADING, _EVALUATION = TypeAdapter(Heading), TypeAdapter(Evaluation)
