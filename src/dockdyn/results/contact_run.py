"""A run of a model with contacts that come and go: located, or with fixed steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, PyTree
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.solution import Solution, Status
from dockdyn.results.adaptive_run import METHODS, linearised_adaptive, run_adaptive
from dockdyn.results.control.coupled_run import run_coupled
from dockdyn.results.control.coupling import coupling_of
from dockdyn.results.dataset import build_dataset, reason_of
from dockdyn.results.delay_cost import affordable_delay
from dockdyn.results.drive import Progress, drive_run, name_of_nonfinite
from dockdyn.results.episodes import contact_episodes
from dockdyn.results.linearised import Leaves, LinearisedRun, Numbers, content_of, tangent_of
from dockdyn.results.log_data import log_of
from dockdyn.results.methods import Settings, method_of, settings_of
from dockdyn.results.overlap import refuse_overlap
from dockdyn.results.plan import Simulated, delay_of, jit_once
from dockdyn.results.run import Described, Run
from dockdyn.results.unit import advance, begin, observe, run_through
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.loop import loop_of
from dockdyn.trees import Structure, map_leaves


def simulate_contacts(
    scenario: Scenario,
    progress: Progress | None,
    describe: Callable[[Scenario, Run], Described],
    predict: Callable[[Scenario, Run], str],
    prepared: Callable[[Scenario], Scenario] = lambda scenario: scenario,
) -> Dataset:
    """Return the dataset of a run whose model has contacts; `describe` names its variables, `predict` says what theory warns
    of.

    What runs is the scenario as `prepared`, with numbers in it that are designed once. Raises ScenarioError for what cannot
    be run.
    """
    check_runnable(scenario)
    if coupling_of(scenario) is None:
        affordable_delay(scenario)
    began = time.perf_counter()
    method, whole = scenario.content.integrator.method, prepared(scenario)
    run = run_adaptive(whole, progress) if method in METHODS else _run_with_events(whole, progress)
    run.prediction = predict(scenario, run)
    run.wall_time = time.perf_counter() - began
    return build_dataset(scenario, run, describe(scenario, run))


def check_runnable(scenario: Scenario) -> Scenario:
    """Return `scenario`, unless it has a loop of which a run takes only part: ScenarioError."""
    loop = loop_of(scenario.content)
    if loop is not None and (others := loop.beyond_delay()):
        raise ScenarioError(
            f"{scenario.name}: loop.{others[0]}: counts in margins only (dockdyn stability); a run takes loop.delay alone"
        )
    return scenario


def begin_contacts(scenario: Scenario, describe: Callable[[Scenario, Run], Described]) -> Dataset | None:
    """Return the dataset of a run up to its second sample, whose bodies may overlap at the start; None of a run by a method
    without contact events, or with a part that an FMU computes."""
    if scenario.content.integrator.method in METHODS or coupling_of(scenario) is not None:
        return None
    content = check_runnable(scenario).content
    settings = settings_of(content)
    solver = advance(content, settings, np.int64(1), begin(content, settings))
    run = _observed_run(content, settings, solver)
    run.status = Status.FINISHED  # all of it that is wanted
    return build_dataset(scenario, run, describe(scenario, run))


def _run_with_events(scenario: Scenario, progress: Progress | None) -> Run:
    content = scenario.content
    settings = settings_of(content)
    method = method_of(settings)
    refuse_overlap(scenario)
    coupling = coupling_of(scenario)
    if coupling is not None:
        assert isinstance(settings, located.Settings)
        solver = run_coupled(scenario, coupling, settings, progress)
    else:
        solver = drive_run(
            begin(content, settings),
            lambda solver, until: advance(content, settings, np.int64(until), solver),
            lambda solver: float(method.time(solver)) / content.duration,
            method.slice,
            progress,
            content.integrator.max_steps,
        )
    return _observed_run(content, settings, solver)


def _observed_run(content: Simulated, settings: Settings, solver: PyTree) -> Run:
    """Return a run of what has been advanced so far."""
    solution, sampled, at_moments = map_leaves(np.asarray, observe(content, settings, solver))
    return _run_of(content, settings, solution, sampled, at_moments, method_of(settings).pace(solver))


def _run_of(
    content: Simulated,
    settings: Settings,
    solution: Solution,
    sampled: dict[str, Any],
    at_moments: dict[str, Any],
    pace: float = math.nan,
) -> Run:
    """Return a run from its solution and what was observed, in NumPy arrays."""
    assert solution.samples is not None
    count, moments = int(solution.sampled), int(solution.moments)
    first = map_leaves(lambda rows: rows[0], solution.samples.state)
    start = {name: values[:1] for name, values in sampled.items()}
    observed = {name: np.concatenate([start[name], values[:moments]]) for name, values in at_moments.items()}
    written = replace(solution, log=map_leaves(lambda rows: rows[:moments], solution.log))
    log = log_of(written, first, observed, {name: values[:count] for name, values in sampled.items()})
    return Run(
        time=np.minimum(np.arange(count) * method_of(settings).interval(settings), float(solution.time)),
        sampled=log.samples,
        log=log,
        episodes=contact_episodes(log, delay_of(content)),
        status=Status(int(solution.status)),
        stopped_at=float(solution.time),
        first_nonfinite=name_of_nonfinite(int(solution.first_nonfinite), partial(state_names, content)),
        steps=int(solution.steps),
        iterations=int(solution.iterations),
        step=float(settings.step),
        pace=pace,
        largest_local_error=float(solution.largest_local_error),
        states=map_leaves(lambda own, rows: np.concatenate([own[None], rows[:moments]]), first, solution.log.state),
        sample_states=map_leaves(lambda rows: rows[:count], solution.samples.state),
    )


def linearised_contacts(scenario: Scenario, describe: Callable[[Scenario, Run], Described]) -> LinearisedRun:
    """Return a run and its derivatives. Raises ScenarioError for what cannot be run, and for fixed steps."""
    affordable_delay(check_runnable(scenario))
    content = scenario.content
    if content.integrator.method in METHODS:
        return linearised_adaptive(scenario, describe)
    if (method := content.integrator.method) == "fixed":
        raise ScenarioError(f'{scenario.name}: integrator.method = {method!r}: must be "located" for derivatives')
    own, settings = Numbers.of(content), settings_of(content)

    def along(direction: Leaves) -> tuple[PyTree, PyTree]:
        parts, change = _run_with_derivatives(own.values, direction, own.arrays, settings, structure=own.structure)
        solution = parts[1]
        if int(solution.status) != Status.FINISHED:
            words = reason_of(content, Status(int(solution.status)), float(solution.time), "a number")
            raise ScenarioError(f"{scenario.name}: {words}; must run to its end")
        return parts, change

    def dataset(parts: PyTree) -> Dataset:
        case = replace(scenario, content=own.content(parts[0]))
        run = _run_of(case.content, settings, *parts[1:])
        return build_dataset(case, run, describe(case, run))

    return LinearisedRun(along, dataset)


@partial(jit_once, static=("structure",))
def _run_with_derivatives(
    numbers: Leaves,
    direction: Leaves,
    arrays: dict[int, Any],
    settings: Settings,
    structure: Structure,
) -> tuple[PyTree, PyTree]:
    """Return numbers of a scenario, solution and what is observed, and their derivatives along a direction."""

    def found(numbers: Array) -> PyTree:
        return numbers, *run_through(content_of(structure, list(numbers), arrays), settings)

    return tangent_of(found, numbers, direction)


def state_names(content: Simulated) -> list[str]:
    """Return names of the continuous states of a scenario's model."""
    return content.model().names()
