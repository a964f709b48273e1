"""The convergence of a run on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dockdyn.report.report import Block, Table
from dockdyn.report.wording import NOTHING
from dockdyn.studies.convergence.converged import label, percent, verdict
from dockdyn.studies.convergence.refine import ABOUT

LISTED = 12  # figures, those that move most


def printed(answer: dict[str, Any]) -> Iterator[str | Block]:
    """Yield the verdict, what was refined and a table of what moved by how much."""
    yield verdict(answer)
    for changes in answer["refined"].values():
        yield "Refined: " + ", ".join(f"{key} = {value}" for key, value in changes.items())
    ways = list(answer["refined"])
    columns = [("figure", ""), ("value", ""), *((f"moved by {ABOUT[way]}", "%") for way in ways)]
    rows = [
        [label(key), f"{found['value']:.6g}", *(percent(found[way]) if way in found else NOTHING for way in ways)]
        for key, found in list(answer["changes"].items())[:LISTED]
    ]
    left_out = max(0, len(answer["changes"]) - LISTED)
    yield Block(table=Table(columns, rows, worded={0}, left_out=left_out))
