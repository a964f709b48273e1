"""Sazawal et al., runs by the label of a curve: what makes a figure of them, each simulated once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from dockdyn import simulate, summarise
from dockdyn.papers.reproduction import Made, Progress
from dockdyn.papers.table import Row
from dockdyn.scenario.load import Scenario, parse

Runs = dict[str, xr.Dataset]  # by the label of the curve
Summaries = dict[str, dict[str, Any]]


def figure_of_runs(
    scenarios: Callable[[], dict[str, Scenario]],
    draw: Callable[[Runs], Figure],
    rows: Callable[[Runs, Summaries], list[Row]],
) -> Callable[[Progress], Made]:
    """Return what makes a figure of runs: of the scenarios by the label of the curve, its picture and its rows."""

    def make(progress: Progress) -> Made:
        chosen, runs = scenarios(), Runs()
        for label, scenario in chosen.items():
            runs[label] = result(scenario.text())
            progress(len(runs) / (len(chosen) + 1))
        return draw(runs), rows(runs, {label: summarise(run) for label, run in runs.items()})

    return make


def from_apex(run: xr.Dataset, contact: dict[str, Any]) -> list[float]:
    """Return where a contact of a run is from the apex of the cone (m, in the target's axes): of a tip without radius that is
    where the tip is."""
    (cone,) = parse(str(run.attrs["scenario"]), "sazawal").content.named("target").surface
    return [float(value - apex) for value, apex in zip(contact["position_m"], cone.apex, strict=True)]


@lru_cache(maxsize=16)
def result(text: str) -> xr.Dataset:
    """Return the run of a resolved scenario: what several figures show is simulated once."""
    return simulate(parse(text, "sazawal"))
