"""A run of a mechanism by the variational integrator: steps of one length, events located."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Int, PyTree, PyTreeDef

from dockdyn.integrate.model import State, over_rows, unpack
from dockdyn.integrate.solution import EventRecord, Status
from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.mechanical import velocities
from dockdyn.integrate.variational.solver_state import Settings, SolverState
from dockdyn.integrate.variational.step import Newton
from dockdyn.mechanism.variational import VariationalMechanism
from dockdyn.programs import Program
from dockdyn.results.dataset import build_dataset, reason_of
from dockdyn.results.drive import Progress, drive
from dockdyn.results.episodes import episodes, from_log
from dockdyn.results.linearised import Leaves, LinearisedRun, Numbers, content_of, tangent_of
from dockdyn.results.overlap import refuse_overlap
from dockdyn.results.plan import Plan, Planned, affordable, jit_once, plan
from dockdyn.results.run import Described, Run
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

SLICE = 5_000  # iterations between reports of progress at most
SOLVED = Newton(1e-12, 30)  # when the equations of a step are


class Varied(Planned, Protocol):
    """The content of a scenario with the model that the method takes."""

    def mechanical(self) -> VariationalMechanism: ...

    def step_error(self) -> float | None: ...


def variational_settings(content: Varied) -> Settings:
    """Return steps and sizes of a run. Raises ScenarioError for too many steps or samples.

    Samples are a whole number of steps apart: where their interval is stated, steps are as much shorter. Where an `error` is
    stated, steps follow the motion, and end at samples.
    """
    steps = plan(content, 0.0)
    if (error := content.step_error()) is not None:
        return _varying(content, steps, error)
    stride = max(1, math.ceil(steps.interval / steps.step * (1 - 1e-9)))
    step = steps.step if content.output.interval is None else steps.interval / stride
    affordable(step, content.integrator.max_steps, content.duration)
    return Settings(
        duration=np.float64(content.duration),
        step=np.float64(step),
        newton=Newton(np.float64(SOLVED.tolerance), SOLVED.most),
        error=None,
        interval=np.float64(stride * step),
        stride=stride,
        samples=math.ceil(content.duration / (stride * step) * (1 - 1e-12)),
        max_events=content.integrator.max_events,
    )


def _varying(content: Varied, steps: Plan, error: float) -> Settings:
    """Return steps and sizes of a run whose steps follow the motion, each with this error at most."""
    return Settings(
        duration=np.float64(content.duration),
        step=np.float64(steps.step),
        newton=Newton(np.float64(SOLVED.tolerance), SOLVED.most),
        error=np.float64(error),
        interval=np.float64(steps.interval),
        stride=1,
        samples=math.ceil(content.duration / steps.interval * (1 - 1e-12)),
        max_events=content.integrator.max_events,
    )


@jit_once
def init(content: Varied, settings: Settings) -> SolverState:
    return colliding.init(content.mechanical(), settings)


@partial(Program, donate=("solver",))
def advance(content: Varied, settings: Settings, solver: SolverState, until: Int[Array, ""]) -> SolverState:
    return colliding.advance(content.mechanical(), settings, solver, until)


class Seen(NamedTuple):
    """States of a run and what is observed of them."""

    time: Array
    states: State
    observed: dict[str, Array]


class Found(NamedTuple):
    """A run at its end: samples and log with all the rows that there might have been."""

    samples: Seen
    log: EventRecord
    touching: Seen  # as events begin, before anything is struck
    after: Seen
    first: State
    end: Seen


@jit_once
def _conclude(content: Varied, solver: SolverState) -> Found:
    """Return what samples, events and the end of a run show."""
    model = content.mechanical()

    def state(kept: colliding.Kept) -> State:
        v, _ = velocities(model, kept.time, kept.at)
        return model.state(kept.time, kept.at.q, v, kept.at.mode)

    kept = colliding.kept(solver)
    like = jax.eval_shape(lambda: model.moment(jnp.zeros(()), *model.initial()))
    log = colliding.logged(solver, model.records())
    moments = over_rows(lambda row: unpack(row, like), log.told)
    touching = over_rows(lambda row: unpack(row, like.state), log.record)
    now = colliding.Kept(solver.time, solver.at, solver.work, solver.given, solver.last)
    # rows that nothing has been written to are left out
    samples, events = kept.time.shape[0], log.time.shape[0]
    sampled, happened = jnp.arange(samples) < solver.sampled, jnp.arange(events) < solver.events
    used = jnp.concatenate([sampled, jnp.ones(1, bool)])
    nodes = _over_used(used, state, jax.tree.map(lambda rows, last: jnp.concatenate([rows, last[None]]), kept, now))
    every = jax.tree.map(lambda *parts: jnp.concatenate(parts), nodes, touching, moments.state)
    times = jnp.concatenate([kept.time, solver.time[None], log.time, log.time])
    observe = lambda t, x: model.mechanism.observe(x, model.mechanism.signal(t, x))  # noqa: E731
    observed = _over_used(jnp.concatenate([used, happened, happened]), observe, times, every)

    def part(first: int, count: int) -> Seen:
        return Seen(*jax.tree.map(lambda rows: rows[first : first + count], (times, every, observed)))

    first, end = jax.tree.map(lambda rows: rows[0], (part(0, 1).states, part(samples, 1)))
    record = EventRecord(log.time, log.guard, moments.state, *moments.watched)
    return Found(part(0, samples), record, part(samples + 1, events), part(samples + 1 + events, events), first, end)


def _over_used(used: Bool[Array, "rows"], function: Callable[..., PyTree], *rows: PyTree) -> PyTree:
    """Return a function of each row that is `used`, and zeros for the others."""

    def each(used: Bool[Array, ""], row: PyTree) -> PyTree:
        blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(function, *row))
        return jax.lax.cond(used, lambda: function(*row), lambda: blank)

    return over_rows(each, used, rows)


def run_variational(scenario: Scenario, progress: Progress | None) -> Run:
    """Return a run. Raises ScenarioError for what cannot be run."""
    content = scenario.content
    settings = variational_settings(content)
    refuse_overlap(scenario)
    solver = drive(
        init(content, settings),
        lambda solver, until: advance(content, settings, solver, np.int64(until)),
        lambda solver: float(solver.time) / content.duration,
        SLICE,
        progress,
        content.integrator.max_steps,
    )
    found = jax.tree.map(np.asarray, _conclude(content, solver))
    sampled, events = int(solver.sampled), int(solver.events)
    watched = solver.at.mode.watched
    return _run_of(settings, found, (sampled, events), jax.tree.map(np.asarray, watched), _facts(solver))


def _facts(solver: SolverState) -> dict[str, Any]:
    """Return how a run ended."""
    status = Status(int(solver.status))
    return {
        "status": Status.TOO_MANY_ITERATIONS if status == Status.RUNNING else status,
        "stopped_at": float(solver.time),
        "steps": int(solver.steps),
        "iterations": int(solver.iterations),
    }


def _run_of(settings: Settings, found: Found, counts: tuple[int, int], watched: Any, facts: dict[str, Any]) -> Run:  # noqa: ANN401, watched of a mechanism
    """Return a run in NumPy arrays, of so many samples and events; the end is the last of its moments."""
    sampled, events = counts

    both = np.flatnonzero(found.log.fired[:events] >= 0)  # of what parts from rest there is one moment
    order = np.argsort(np.concatenate([2 * both, 2 * np.arange(events) + 1]))

    def rows(first: Any, before: Any, after: Any, last: Any) -> Any:  # noqa: ANN401, rows of a tree
        log = np.concatenate([np.asarray(before)[both], np.asarray(after)[:events]])[order]
        return np.concatenate([np.asarray(first)[None], log, np.asarray(last)[None]])

    start = jax.tree.map(lambda values: values[0], found.samples.observed)
    observed = jax.tree.map(rows, start, found.touching.observed, found.after.observed, found.end.observed)
    states = jax.tree.map(rows, found.first, found.touching.states, found.after.states, found.end.states)
    blank = np.zeros_like(watched.peaks)
    parts = zip((found.log.peaks, found.log.peak_times, found.log.integrals), watched, strict=True)
    # what has been watched since the event before counts for the moment at which something touches
    counted = [
        (np.where(found.log.fired[:, None] >= 0, part, 0), np.where(found.log.fired[:, None] < 0, part, 0), last)
        for part, last in parts
    ]
    largest, times, integrals = (rows(blank, *each) for each in counted)
    peaks: Any = np.where(np.isfinite(largest), largest, 0.0)
    moments = rows(0.0, found.log.time, found.log.time, found.end.time)
    record = EventRecord(
        moments[1:], found.log.fired, jax.tree.map(lambda row: row[1:], states), peaks[1:], times[1:], integrals[1:]
    )
    seated = observed.get("seated", np.zeros(observed["depth"].shape)).astype(bool)
    contacts = observed["depth"].shape[1]
    logged = None
    if contacts:
        logged = from_log(record, len(moments) - 1, found.first.mode, seated, observed.get("impact_impulse"))
    return Run(
        time=found.samples.time[:sampled],
        sampled={name: values[:sampled] for name, values in found.samples.observed.items()},
        moment_times=moments,
        at_moments=observed,
        log={"peaks": peaks, "peak_times": times},
        episodes=[] if logged is None else episodes(logged, 0.0),
        first_nonfinite="the motion",
        step=float(settings.step),
        states=states,
        **facts,
    )


def linearised_variational(scenario: Scenario, describe: Callable[[Scenario, Run], Described]) -> LinearisedRun:
    """Return a run and its derivatives: those of the discrete equations, of events too. Raises ScenarioError as a run does."""
    content = scenario.content
    own, settings = Numbers.of(content), variational_settings(content)
    most = np.int64(content.integrator.max_steps)

    def along(direction: Leaves) -> tuple[PyTree, PyTree]:
        parts, change = _varied(own.values, direction, own.arrays, settings, most, structure=own.structure)
        solver = parts[2]
        if int(solver.status) != Status.FINISHED:
            words = reason_of(content, Status(int(solver.status)), float(solver.time), "the motion")
            raise ScenarioError(f"{scenario.name}: {words}; must run to its end")
        return parts, change

    def dataset(parts: PyTree) -> xr.Dataset:
        values, found, solver = parts
        case = replace(scenario, content=own.content(values))
        counts = int(solver.sampled), int(solver.events)
        run = _run_of(settings, found, counts, solver.at.mode.watched, _facts(solver))
        return build_dataset(case, run, describe(case, run))

    return LinearisedRun(along, dataset)


@partial(jit_once, static=("structure",))
def _varied(
    numbers: Leaves,
    direction: Leaves,
    arrays: dict[int, Any],
    settings: Settings,
    most: Int[Array, ""],
    structure: PyTreeDef,
) -> tuple[PyTree, PyTree]:
    """Return numbers of a scenario and its run, and their derivatives along a direction."""

    def found(numbers: Array) -> PyTree:
        content = content_of(structure, list(numbers), arrays)
        model = content.mechanical()
        solver = colliding.advance(model, settings, colliding.init(model, settings), most)
        return numbers, _conclude(content, solver), solver

    return tangent_of(found, numbers, direction)
