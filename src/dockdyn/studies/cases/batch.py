"""Many cases of one scenario: a row of figures each."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.api import simulate, summarise
from dockdyn.deferred import Float, Shaped
from dockdyn.integrate.solution import Status
from dockdyn.records import record
from dockdyn.results.contact_run import check_runnable, state_names
from dockdyn.results.control.coupling import check_coupled
from dockdyn.results.dataset import reason_of
from dockdyn.results.drive import name_of_nonfinite
from dockdyn.results.key_figures import LocatedFigures, in_batches, left_out, need_samples, without_other_members
from dockdyn.results.overlap import refuse_damping, refuse_overlap
from dockdyn.results.requirements import ends_of, figures_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.when_stated import Checked
from dockdyn.scenario.load import Scenario, content_at
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.cases.lanes import run_lanes, thread_pool

LEFT_OUT = ("wall_time_s", "microseconds_per_step")  # what differs between two runs of one case


@record
class Cases:
    """What became of some cases."""

    figures: dict[str, Float[np.ndarray, "cases"]]  # by key of the summary; NaN: none; true and false are 1 and 0
    reasons: list[str]  # why a case failed; empty where it did not


def run_cases(
    scenario: Scenario,
    keys: Sequence[str],
    values: Shaped[np.ndarray, "cases keys"],
    threads: int | None = None,
    figures: Sequence[str] = (),
) -> Cases:
    """Run a scenario once for every row of `values`, its dotted `keys` set to the numbers (SI), words or tables of the row.

    A case that fails, because its numbers are not allowed or its run stops early, does not stop the rest. Setups that can run
    in compiled batches do, others case by case, on `threads` threads (all cores by default). A batch keeps the samples of
    the motion only where a requirement, or `figures`, names a figure that needs them.
    """
    check_coupled(scenario)
    asked = {requirement.figure for requirement in scenario.requirements} | set(figures)
    setup_named(scenario.setup).refuse_requirements(scenario)  # once, not in each case
    batches = runs_in_batches(scenario, figures)
    cases, refused = [], {}
    for row, case in enumerate(cases_of(scenario, keys, values.tolist(), check_damping=batches)):
        if isinstance(case, Scenario):
            cases.append(case)
        else:
            refused[row] = str(case)
    found = in_lanes(cases, threads, asked) if batches else _one_by_one(cases, threads)
    found = replace(found, figures=without_other_members(found.figures, asked))
    return _with_refused(found, refused, len(values))


def cases_of(
    scenario: Scenario, keys: Sequence[str], rows: Sequence[Any], check_damping: bool
) -> Iterator[Scenario | ScenarioError]:
    """Yield the scenario of every row, or why it is not allowed; with its damping, which who simulates a case checks, too."""
    data, checked = scenario.nominal(), Checked()
    for row in rows:
        try:
            content = content_at(data, dict(zip(keys, row, strict=True)), scenario.name, scenario.folder, checked)
            case = replace(scenario, content=content, dispersions=())
            if check_damping:
                refuse_damping(case)
            yield case
        except ScenarioError as error:
            yield error


def runs_in_batches(scenario: Scenario, figures: Collection[str] = ()) -> bool:
    """Return whether the cases of a scenario run in compiled batches.

    They do not where a requirement, or `figures`, names one of which batches know nothing.
    """
    setup = setup_named(scenario.setup)
    known, asked = setup.key_figures(), {one.figure for one in scenario.requirements} | set(figures)
    return known is not None and setup.runs_in_batches(scenario) and in_batches(known.figures, asked)


def in_lanes(cases: Sequence[Scenario], threads: int | None, asked: Collection[str]) -> Cases:
    """Return cases of one setup, in batches; with figures of the whole motion where one of them is `asked` for."""
    if not cases:
        return Cases({}, [])
    contents = [check_runnable(case).content for case in cases]
    known = located_figures(cases[0])
    sampled = need_samples(known.figures, asked)
    figures, status, ends, nonfinite, deep = run_lanes(cases[0].setup, contents, threads, sampled)
    meaningless = [left_out(known.figures, known.stated(content)) for content in contents]
    for name in figures.keys() & set().union(*meaningless):
        figures[name] = np.where([name in names for names in meaningless], np.nan, figures[name])
    if deep.any():
        figures = {name: np.where(deep, np.nan, values) for name, values in figures.items()}
    reasons = []
    for case, code, end, first_nonfinite, is_deep in zip(cases, status, ends, nonfinite, deep, strict=True):
        if is_deep:
            reasons.append(_overlap_of(case))
            continue
        finished = code == Status.FINISHED
        name = "" if finished else name_of_nonfinite(int(first_nonfinite), partial(state_names, case.content))
        reasons.append("" if finished else reason_of(case.content, Status(int(code)), float(end), name))
    return Cases(figures, reasons)


def _overlap_of(case: Scenario) -> str:
    """Return why a case is refused whose bodies begin too deep in each other."""
    try:
        refuse_overlap(case)
    except ScenarioError as error:
        return str(error)
    return f"{case.name}: overlap at the start, to rounding as deep as is allowed"


def located_figures(scenario: Scenario) -> LocatedFigures:
    """Return the key figures of a scenario whose setup has them."""
    known = setup_named(scenario.setup).key_figures()
    assert known is not None, scenario.setup
    return known


def _one_by_one(cases: Sequence[Scenario], threads: int | None) -> Cases:
    """Return cases of any setup, each by itself: the first alone, as it has everything compiled."""
    workers = threads or os.cpu_count() or 1
    rows = [_run_case(case) for case in cases[:1]]
    rows += (thread_pool(workers).map if workers > 1 else map)(_run_case, cases[1:])
    names = list(dict.fromkeys(name for figures, _ in rows for name in figures))
    figures = {name: np.array([row.get(name, np.nan) for row, _ in rows]) for name in names}
    return Cases(figures, [reason for _, reason in rows])


def _run_case(case: Scenario) -> tuple[dict[str, float], str]:
    """Return figures of one case, and why it failed if it did."""
    try:
        dataset = simulate(case)
    except ScenarioError as error:
        return {}, str(error)
    except (ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:  # of a solver inside
        return {}, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return figures_of_case(summarise(dataset, case.name)), "" if dataset.attrs["finished"] else str(
        dataset.attrs["status"]
    )


def _with_refused(found: Cases, refused: Mapping[int, str], count: int) -> Cases:
    """Return all cases in order, those refused before they ran among them."""
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
    """Return the figures of a summary as single numbers: yes or no is 1 or 0, None is NaN, a list its least and its largest."""
    found: dict[str, float] = {}
    for name, value in figures_of(summary).items():
        numbers = [np.nan if item is None else float(item) for item in (value if isinstance(value, list) else [value])]
        if isinstance(value, list):
            ends = [np.min(numbers), np.max(numbers)] if numbers else [np.nan, np.nan]  # one that is NaN makes both so
            found |= dict(zip(ends_of(name), map(float, ends), strict=True))
        elif name not in LEFT_OUT:
            found[name] = numbers[0]
    return found
