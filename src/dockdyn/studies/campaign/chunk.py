"""The cases of a chunk as a file: a line of JSON that says what the columns are, then all their numbers.

Campaigns write and read as many of these as they have chunks; a netCDF file of so many short columns takes as long to make
as its cases take to run.

Units: none.
Source: definition.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.results.requirements import unit_of_figure, without_unit
from dockdyn.studies.cases.batch import Cases
from dockdyn.studies.cases.sampling import Sampled

REASON = "reason"  # the column of words


@record
class Chunk:
    """A row for every case: what was drawn, its figures, why it failed."""

    first: int  # number of its first case
    elapsed: float  # s of the campaign's time
    columns: dict[str, np.ndarray]  # over its cases: numbers, and reasons, which are words
    described: dict[str, dict[str, str]]  # attributes of the columns

    @property
    def cases(self) -> int:
        return len(self.columns[REASON])

    @staticmethod
    def of(sampled: Sampled, cases: Cases, first: int, elapsed: float, known: Mapping[str, str]) -> Chunk:
        """Return it from what was drawn and what became of it; `known` are words for figures."""
        columns: dict[str, Any] = {}
        described = {}
        for place, (key, unit) in enumerate(zip(sampled.keys, sampled.units, strict=True)):
            columns[key] = sampled.values[:, place]
            described[key] = {"units": unit or "1", "long_name": key}
        for name, values in cases.figures.items():
            columns[name] = values
            words = known.get(name, without_unit(name).replace("_", " "))
            described[name] = {"units": unit_of_figure(name) or "1", "long_name": words}
        columns[REASON] = np.array(cases.reasons, object)
        described[REASON] = {"long_name": "why the case failed; empty where it did not"}
        return Chunk(first, elapsed, columns, described)

    def as_bytes(self) -> bytes:
        numbers = [values for name, values in self.columns.items() if name != REASON]
        head = {
            "first": self.first,
            "elapsed_s": self.elapsed,
            "columns": list(self.columns),
            "described": self.described,
            "reasons": self.columns[REASON].tolist(),
        }
        data = io.BytesIO()
        data.write(json.dumps(head).encode() + b"\n")
        np.save(data, np.array(numbers, float).reshape(len(numbers), self.cases), allow_pickle=False)
        return data.getvalue()

    @staticmethod
    def from_bytes(content: bytes) -> Chunk:
        """Return what `as_bytes` has written. Raises ValueError, KeyError, TypeError or EOFError for anything else."""
        line, _, numbers = content.partition(b"\n")
        head = json.loads(line)
        found, names = np.load(io.BytesIO(numbers), allow_pickle=False), [*head["columns"]]
        if found.shape != (len(names) - 1, len(head["reasons"])) or names.count(REASON) != 1:
            raise ValueError("not as many numbers as columns and cases")
        rows = iter(found)
        columns = {name: np.array(head["reasons"], object) if name == REASON else next(rows) for name in names}
        return Chunk(head["first"], head["elapsed_s"], columns, head["described"])


class Columns:
    """The columns of chunks, one after the other, of which not all have all columns."""

    def __init__(self) -> None:
        self.parts: dict[str, list[np.ndarray]] = {}
        self.described: dict[str, dict[str, str]] = {}
        self.numbers: list[Sequence[int]] = []  # of the cases
        self.elapsed = 0.0  # s

    def add(self, chunk: Chunk) -> None:
        before = sum(map(len, self.numbers))
        for name, values in chunk.columns.items():
            self.parts.setdefault(name, [_absent_values(name, before)] if before else []).append(values)
        for name in self.parts.keys() - chunk.columns.keys():
            self.parts[name].append(_absent_values(name, chunk.cases))
        self.described |= chunk.described
        self.numbers.append(range(chunk.first, chunk.first + chunk.cases))
        self.elapsed += chunk.elapsed

    def joined(self, name: str) -> Float[np.ndarray, "cases"]:
        """Return a whole column, which is then no more here in parts."""
        return np.concatenate(self.parts.pop(name))


def _absent_values(name: str, rows: int) -> np.ndarray:
    return np.full(rows, "", object) if name == REASON else np.full(rows, np.nan)
