"""The figures of many runs, and of the margins of their loops: one row of numbers each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, parse
from dockdyn.studies.cases.batch import cases_of, run_cases
from dockdyn.studies.cases.cluster import Spread
from dockdyn.studies.cases.lanes import thread_pool
from dockdyn.studies.design.goals import DesignOutcome, outcome_of
from dockdyn.studies.margins.figures import margin_figures

MARGINS = "stability."  # what the name of a margin begins with
PART = 64  # rows that a worker takes at once


@record
class Asked:
    """Figures by which a design is judged."""

    alone: tuple[str, ...]  # of the run alone
    of_cases: tuple[str, ...]

    def figures(self) -> list[str]:
        """Return those of runs."""
        return [name for name in (*self.alone, *self.of_cases) if not name.startswith(MARGINS)]

    def gain(self) -> bool:
        """Return whether gain margins are asked for, which take long."""
        return f"{MARGINS}gain_margin" in (*self.alone, *self.of_cases)

    def margins(self, of_cases: bool) -> bool:
        """Return whether margins are asked for, of cases or of the run alone."""
        return any(name.startswith(MARGINS) for name in (self.of_cases if of_cases else self.alone))


def figures_of_rows(
    scenario: Scenario, keys: Sequence[str], rows: Sequence[Sequence[Any]], of_cases: Sequence[bool], asked: Asked
) -> DesignOutcome:
    """Return the figures of a scenario with its dotted `keys` set to every row; `of_cases` says which of them are cases.

    Nothing is run where margins alone are asked for. A row that fails, in its run or its margins, does not stop the others.
    """
    figures: dict[str, np.ndarray] = {}
    reasons = [""] * len(rows)
    if asked.figures():
        values = np.empty((len(rows), len(keys)), object)
        for place, row in enumerate(rows):
            values[place] = row
        found = run_cases(scenario, keys, values, figures=asked.figures())
        figures, reasons = dict(found.figures), list(found.reasons)
    judged = [place for place, drawn in enumerate(of_cases) if asked.margins(drawn)]
    if judged:
        found_margins = _margins_of(scenario, keys, [rows[place] for place in judged], asked.gain())
        for place, one in zip(judged, found_margins, strict=True):
            if isinstance(one, str):
                reasons[place] = reasons[place] or one
                continue
            for name, value in one.items():
                figures.setdefault(MARGINS + name, np.full(len(rows), np.nan))[place] = value
    return outcome_of(figures, reasons)


def spread_rows(
    spread: Spread,
    scenario: Scenario,
    keys: Sequence[str],
    rows: Sequence[Sequence[Any]],
    of_cases: Sequence[bool],
    asked: Asked,
) -> DesignOutcome:
    """Return the same on workers, some rows each: what they give does not depend on who runs them."""
    written = WrittenScenario.of(scenario)
    tasks = (
        (at, written, keys, rows[at : at + PART], of_cases[at : at + PART], asked) for at in range(0, len(rows), PART)
    )
    figures: dict[str, np.ndarray] = {}
    reasons = [""] * len(rows)
    for at, found in spread(_part_of_rows, tasks):
        reasons[at : at + PART] = found.reasons
        for name, values in found.figures.items():
            shape = (len(rows), *values.shape[1:])
            figures.setdefault(name, np.full(shape, np.nan))[at : at + PART] = values
    return DesignOutcome(figures, reasons)


class WrittenScenario(NamedTuple):
    """A scenario as it is sent to a worker."""

    text: str
    name: str
    folder: str | None

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        return cls(scenario.text(), scenario.name, None if scenario.folder is None else str(scenario.folder.resolve()))


def _part_of_rows(
    at: int,
    written: WrittenScenario,
    keys: Sequence[str],
    rows: Sequence[Sequence[Any]],
    of_cases: Sequence[bool],
    asked: Asked,
) -> tuple[int, DesignOutcome]:
    """Return some rows, from the one `at` a place on: the task of a worker."""
    return at, figures_of_rows(_read_written(written), keys, rows, of_cases, asked)


@lru_cache(maxsize=4)
def _read_written(written: WrittenScenario) -> Scenario:
    """Return the scenario that a worker is sent, which it reads once."""
    folder = None if written.folder is None else Path(written.folder)
    return replace(parse(written.text, written.name, folder=folder), requirements=())


def _margins_of(
    scenario: Scenario, keys: Sequence[str], rows: Sequence[Sequence[Any]], gain: bool
) -> list[dict[str, float] | str]:
    """Return the margins of every row, or why there are none: the first alone, as it has everything compiled."""

    def one(case: Scenario | ScenarioError) -> dict[str, float] | str:
        if isinstance(case, ScenarioError):
            return str(case)
        try:
            return margin_figures(case, gain)
        except ScenarioError as error:
            return str(error)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:  # of a solver inside
            return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"

    cases = list(cases_of(scenario, keys, rows, check_damping=False))
    workers = os.cpu_count() or 1
    return [*map(one, cases[:1]), *(thread_pool(workers).map if workers > 1 else map)(one, cases[1:])]
