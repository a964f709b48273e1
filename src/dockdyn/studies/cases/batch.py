"""Many cases of one scenario: a row of figures each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from dockdyn.api import simulate, summarise
from dockdyn.integrate.solution import Status
from dockdyn.kinds.free_flight.data import conservative
from dockdyn.kinds.free_flight.key_figures import OF_THE_MOTION
from dockdyn.results.contact_run import check_runnable, state_names
from dockdyn.results.contact_summary import CAPTURE
from dockdyn.results.dataset import reason_of
from dockdyn.results.drive import culprit_name
from dockdyn.results.plan import plan
from dockdyn.results.requirements import ends_of, figures_of, plain
from dockdyn.scenario.kinds import kind_named
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, content_at
from dockdyn.studies.cases.lanes import pool, run_lanes

LEFT_OUT = ("wall_time_s",)  # what differs between two runs of one case


@dataclass(frozen=True)
class Cases:
    """What became of some cases."""

    figures: dict[str, Float[np.ndarray, "cases"]]  # by key of the summary; NaN: none; true and false are 1 and 0
    reasons: list[str]  # why a case failed; empty where it did not


def run_cases(
    scenario: Scenario, keys: Sequence[str], values: Float[np.ndarray, "cases keys"], threads: int | None = None
) -> Cases:
    """Run a scenario once for every row of `values`, its dotted `keys` set to the numbers (SI) of the row.

    A case that fails, because its numbers are not allowed or its run stops early, does not stop the rest. Free flight runs
    in compiled batches, other kinds case by case, on `threads` threads (all cores by default).
    """
    cases, refused = [], {}
    for row, case in enumerate(cases_of(scenario, keys, values.tolist())):
        if isinstance(case, Scenario):
            cases.append(case)
        else:
            refused[row] = str(case)
    found = flights(cases, threads, asks_motion(scenario)) if in_batches(scenario) else one_by_one(cases, threads)
    return with_refused(found, refused, len(values))


def cases_of(scenario: Scenario, keys: Sequence[str], rows: Sequence[Any]) -> Iterator[Scenario | ScenarioError]:
    """The scenario of every row, or why it is not allowed."""
    data = scenario.nominal()
    for row in rows:
        try:
            content = content_at(data, dict(zip(keys, row, strict=True)), scenario.name, scenario.folder)
            yield replace(scenario, content=content, dispersions=())
        except ScenarioError as error:
            yield error


def in_batches(scenario: Scenario) -> bool:
    """Whether the cases of a scenario run in compiled batches."""
    return kind_named(scenario.kind).runs_in_batches(scenario)


def asks_motion(scenario: Scenario) -> bool:
    """Whether a requirement is about a figure of the whole motion, which a batch has only where it keeps samples."""
    asked = {requirement.figure for requirement in scenario.requirements}
    return any(name in asked or plain(name) in asked for name in OF_THE_MOTION)


def flights(cases: Sequence[Scenario], threads: int | None, sampled: bool) -> Cases:
    """Cases of free flight, in batches; with figures of the whole motion where it is `sampled`."""
    if not cases:
        return Cases({}, [])
    contents = [check_runnable(case).content for case in cases]
    figures, status, ends, culprits = run_lanes(contents, threads, sampled)
    figures["step_s"] = np.array([plan(content).step for content in contents])
    nothing = np.full(len(contents), np.nan)
    figures |= {name: nothing for name in CAPTURE if name not in figures} | stated_figures(contents, figures)
    reasons = []
    for content, code, end, culprit in zip(contents, status, ends, culprits, strict=True):
        finished = code == Status.FINISHED
        name = "" if finished else culprit_name(int(culprit), partial(state_names, content))
        reasons.append("" if finished else reason_of(content, Status(int(code)), float(end), name))
    return Cases(figures, reasons)


def stated_figures(contents: Sequence[Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the figures of motions that only some scenarios have: NaN where a scenario does not have them."""
    has = {
        "energy_error": [conservative(content) for content in contents],
        "attitude_error_end_rad": [
            content.controlled and content.control.law == "attitude-hold" for content in contents
        ],
    }
    return {name: np.where(there, figures[name], np.nan) for name, there in has.items() if name in figures}


def one_by_one(cases: Sequence[Scenario], threads: int | None) -> Cases:
    """Cases of any kind, each by itself: the first alone, as it has everything compiled."""
    workers = threads or os.cpu_count() or 1
    rows = [run_case(case) for case in cases[:1]]
    rows += (pool(workers).map if workers > 1 else map)(run_case, cases[1:])
    names = list(dict.fromkeys(name for figures, _ in rows for name in figures))
    figures = {name: np.array([row.get(name, np.nan) for row, _ in rows]) for name in names}
    return Cases(figures, [reason for _, reason in rows])


def run_case(case: Scenario) -> tuple[dict[str, float], str]:
    """Figures of one case, and why it failed if it did."""
    try:
        dataset = simulate(case)
    except ScenarioError as error:
        return {}, str(error)
    except (ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:  # of a solver inside
        return {}, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return figures_of_case(summarise(dataset)), "" if dataset.attrs["finished"] else str(dataset.attrs["status"])


def with_refused(found: Cases, refused: Mapping[int, str], count: int) -> Cases:
    """All cases in order, those refused before they ran among them."""
    if not refused:
        return found
    ran = [row for row in range(count) if row not in refused]
    figures = {}
    for name, values in found.figures.items():
        figures[name] = np.full(count, np.nan)
        figures[name][ran] = values
    reasons = dict(zip(ran, found.reasons, strict=True)) | dict(refused)
    return Cases(figures, [reasons[row] for row in range(count)])


def figures_of_case(summary: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a summary as single numbers: yes or no is 1 or 0, None is NaN, a list its least and its largest."""
    found: dict[str, float] = {}
    for name, value in figures_of(summary).items():
        numbers = [np.nan if item is None else float(item) for item in (value if isinstance(value, list) else [value])]
        if isinstance(value, list):
            ends = [np.min(numbers), np.max(numbers)] if numbers else [np.nan, np.nan]  # one that is NaN makes both so
            found |= dict(zip(ends_of(name), map(float, ends), strict=True))
        elif name not in LEFT_OUT:
            found[name] = numbers[0]
    return found
