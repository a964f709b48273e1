"""A design on disk: what it is, and a line for every evaluation, appended as it comes.

A line is whole or not: one that is torn or whose checksum does not fit, or of a generation that is not complete, is cut off
when the design goes on, and computed again. The checksums are of the line and of what the design is, which the first line says.
One process at a time works in the folder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from dockdyn.files import read_file, write_file
from dockdyn.installed import version
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given_file import PART
from dockdyn.scenario.language.own_modules import own_modules
from dockdyn.studies.cases.claim import LOCK, claim_study
from dockdyn.studies.cases.resumed import changed_modules, refuse_another, scenario_differences
from dockdyn.studies.cases.sealed_line import checksum_of, facts_in, sealed_line
from dockdyn.studies.design.plan import Evaluation, Plan

TRAIL = "trail.jsonl"
FORMAT = 4  # 3 had no checksums


@record
class Heading:
    """The first line of a trail: what decides every evaluation."""

    format: int
    dockdyn_version: str
    scenario: str  # resolved, with its table [design]
    modules: dict[str, str]  # SHA-256 of the modules with parts of the user's own


@record
class Trail:
    """The folder of a design."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / TRAIL

    def blank(self) -> bool:
        """Return whether nothing is lost when a design is begun here; what a killed process was writing was not kept."""
        return not self.folder.exists() or (
            self.folder.is_dir() and all(path.name == LOCK or path.suffix == ".part" for path in self.folder.iterdir())
        )

    def claimed(self) -> contextlib.AbstractContextManager[None]:
        """Let this process alone work in the folder (`dockdyn.studies.cases.claim.claim_study`)."""
        return claim_study(self.folder, self.file, "design")

    def begun(self, plan: Plan) -> list[list[Evaluation]]:
        """Return the evaluations that are there, those of one generation together; what is damaged or torn, and all behind it,
        is cut off.

        Raises ScenarioError where another design is there.
        """
        if not self.file.exists():
            return []
        lines = read_file(self.file, PART.most).splitlines(keepends=True)
        asked = _trail_heading(plan)
        own = sealed_line(asdict(asked))
        if lines[:1] != [own]:
            self._refuse_another(lines, asked, own)
            lines[0] = own
            write_file(self.file, b"".join(lines))
        found: list[list[Evaluation]] = []
        kept = place = 1
        while (generation := _whole_generation(lines[place:], checksum_of(own))) is not None:
            found.append(generation)
            kept = place = place + len(generation)
        if kept < len(lines):
            self.cut(kept - 1)
        return found

    def _refuse_another(self, lines: Sequence[bytes], asked: Heading, own: bytes) -> None:
        """Refuse to go on with another design than the one that is there, of which the first line may be damaged.

        Raises ScenarioError, but not where the lines behind it say that they are of the design that is asked for.
        """
        try:
            there: Heading | None = _HEADING.validate_python(facts_in(lines[0]))
        except (ValueError, IndexError):
            if _whole_generation(lines[1:], checksum_of(own)) is not None:
                return
            there = _earlier_heading(lines)
        if there is None:
            raise ScenarioError(f"{self.file}: damaged, or not the trail of a design")
        found = [
            f"{name} was {shown(getattr(there, name))}, is {shown(getattr(asked, name))}"
            for name in ("format", "dockdyn_version")
            if getattr(there, name) != getattr(asked, name)
        ]
        found += scenario_differences(there.scenario, asked.scenario) + changed_modules(there.modules, asked.modules)
        refuse_another(found or ["its first line is damaged"], self.folder, "design")

    def count(self) -> int:
        """Return how many evaluations are there."""
        return max(read_file(self.file, PART.most).count(b"\n") - 1, 0) if self.file.exists() else 0

    def clear(self) -> None:
        """Remove the designs that are here; what is written of the best is written over."""
        self.file.unlink(missing_ok=True)

    def cut(self, count: int) -> None:
        """Keep the first evaluations alone."""
        write_file(self.file, b"".join(read_file(self.file, PART.most).splitlines(keepends=True)[: 1 + count]))

    def append(self, plan: Plan, generation: Sequence[Evaluation]) -> None:
        """Keep a generation; the first with what the design is. OSError where it cannot be written."""
        last, own = len(generation) - 1, sealed_line(asdict(_trail_heading(plan)))
        design = checksum_of(own)
        content = b"".join(sealed_line({"left": last - at} | asdict(one), design) for at, one in enumerate(generation))
        if not self.file.exists():
            write_file(self.file, own + content)
            return
        try:
            with self.file.open("ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(self.file)
            raise


def _trail_heading(plan: Plan) -> Heading:
    """Return what decides every evaluation."""
    scenario = plan.scenario
    parts = [scenario.content, *(one.law for one in scenario.dispersions)]
    return Heading(FORMAT, version("dockdyn"), scenario.text(), own_modules(parts))


def _earlier_heading(lines: Sequence[bytes]) -> Heading | None:
    """Return what a trail of an earlier form says it is; None where it says nothing."""
    try:
        return _HEADING.validate_json(lines[0])
    except (ValueError, IndexError):
        return None


def _whole_generation(lines: Sequence[bytes], design: str) -> list[Evaluation] | None:
    """Return the generation of a design that lines begin with; None where it is not whole."""
    found: list[Evaluation] = []
    for line in lines:
        try:
            stated = facts_in(line, design)
            left = stated.pop("left")
            found.append(_EVALUATION.validate_python(stated))
        except (ValueError, KeyError, AttributeError):
            return None
        if left == 0:
            return found
    return None


_HEADING, _EVALUATION = TypeAdapter(Heading), TypeAdapter(Evaluation)
