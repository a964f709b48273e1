"""The convergence of a run on the terminal and in its report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.report.report import Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING
from dockdyn.studies.convergence.converged import convergence_verdict, figure_label, format_share
from dockdyn.studies.convergence.refine import ABOUT

LISTED = 12  # figures, those that move most
KEPT = "convergence"  # the attribute of a run that has the answer, as JSON


def convergence_lines(answer: dict[str, Any]) -> Iterator[str | ReportBlock]:
    """Yield the verdict, what was refined and a table of what moved by how much."""
    yield from _verdict_sentences(answer)
    yield ReportBlock(table=_figures_table(answer))


def with_convergence(report: Report, dataset: Dataset) -> Report:
    """Return the report of a run with the table of its convergence, where that was asked for."""
    if KEPT not in dataset.attrs:
        return report
    answer = json.loads(dataset.attrs[KEPT])
    words = " ".join(f"{sentence.rstrip('.')}." for sentence in _verdict_sentences(answer))
    notes = [f"Warning: {warning}." for warning in answer["warnings"]]
    block = ReportBlock("Convergence", words=words, table=_figures_table(answer), notes=notes, where="after")
    return replace(report, blocks=[*report.blocks, block])


def _verdict_sentences(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the verdict and what was refined."""
    yield convergence_verdict(answer)
    for changes in answer["refined"].values():
        yield "Refined: " + ", ".join(f"{key} = {value}" for key, value in changes.items())


def _figures_table(answer: dict[str, Any]) -> Table:
    """Return the figures that move most."""
    ways = list(answer["refined"])
    columns = [("figure", ""), ("value", ""), *((f"moved by {ABOUT[way]}", "%") for way in ways)]
    rows = [
        [
            figure_label(key),
            f"{found['value']:.6g}",
            *(format_share(found[way]) if way in found else NOTHING for way in ways),
        ]
        for key, found in list(answer["changes"].items())[:LISTED]
    ]
    left_out = max(0, len(answer["changes"]) - LISTED)
    return Table(columns, rows, worded={0}, left_out=left_out)
