"""A run of the kind `orbital-arm`."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int, PyTree, PyTreeDef

from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.mechanical import velocities
from dockdyn.integrate.variational.solver_state import Event
from dockdyn.integrate.variational.step import Newton
from dockdyn.kinds.orbital_arm.data import Motion, dataset_of, labels
from dockdyn.kinds.orbital_arm.model import RECORDS, OrbitalArm
from dockdyn.kinds.orbital_arm.model_observed import observe
from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection
from dockdyn.programs import Program
from dockdyn.results.dataset import reason_of
from dockdyn.results.drive import Progress, drive
from dockdyn.results.linearised import Leaves, LinearisedRun, Numbers, content_of, tangent_of
from dockdyn.results.plan import MOST_ROWS, affordable, jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

SAMPLES = 4000  # over a run, when the scenario does not say
SLICE = 5_000  # iterations between reports of progress
TOUCHING = 1e-9  # m: a start deeper than this is inside
OPEN = 1e-8  # m, m/s, of loops

NOT_CONVERGED = (
    "stopped at t = {time:.6g} s: a step does not converge within {most} corrections (integrator.max_iterations)"
)
SHORTER = "; a shorter integrator.step may"


@partial(jit_once, static=("dissipative",))
def build(content: OrbitalArmSection, dissipative: bool) -> OrbitalArm:
    return content.model(dissipative)


@jit_once
def init(model: OrbitalArm, settings: colliding.Settings) -> colliding.SolverState:
    return colliding.init(model, settings)


@partial(Program, donate=("solver",))
def advance(
    model: OrbitalArm, settings: colliding.Settings, solver: colliding.SolverState, until: Int[Array, ""]
) -> colliding.SolverState:
    return colliding.advance(model, settings, solver, until)


_kept = jit_once(colliding.kept)
_logged = jit_once(colliding.logged, static=("records",))


@jit_once
def _observed_at(model: OrbitalArm, kept: colliding.Kept) -> dict[str, Any]:
    return jax.lax.map(lambda row: observe(model, row.time, row.at.q, row.at.p, row.at.mode), kept)


def settings_of(scenario: Scenario) -> colliding.Settings:
    """Steps and sizes; the interval between samples is a whole number of fixed steps."""
    content = scenario.content
    section, duration = content.integrator, content.duration
    step = min(section.step, duration)
    interval = min(content.output.interval or max(step, duration / SAMPLES), duration)
    stride = 1 if section.error is not None else max(1, int(np.ceil(interval / step * (1 - 1e-9))))
    if section.error is None:
        interval = stride * step
    count = int(np.ceil(duration / interval * (1 - 1e-12)))
    if section.error is None:
        affordable(section.step, section.max_steps, duration)
    if count > MOST_ROWS:
        words = f"gives {count} samples; must give at most {MOST_ROWS}"
        raise ScenarioError(f"{scenario.name}: output.interval = {interval:g} s: {words}")
    return colliding.Settings(
        duration=np.float64(duration),
        step=np.float64(step),
        newton=Newton(np.float64(section.tolerance), section.max_iterations),
        error=None if section.error is None else np.float64(section.error),
        interval=np.float64(interval),
        stride=stride,
        samples=count,
        max_events=section.max_events,
    )


def _check_start(scenario: Scenario, depths: np.ndarray) -> None:
    """Refuses points that start inside a surface."""
    _, contacts = labels(scenario.content)
    for name, depth in zip(contacts, depths, strict=False):
        if not depth <= TOUCHING:
            point, _, surface = name.partition("/")
            amount = f"{depth:.4g} m" if depth >= 0.01 else f"{depth * 1e3:.4g} mm"
            words = f"{point} starts {amount} inside; must start outside, or at the surface"
            raise ScenarioError(f"{scenario.name}: contact.surface.{surface}: {words}")


@jit_once
def _closures(model: OrbitalArm, solver: colliding.SolverState) -> tuple[Float[Array, "ties"], Float[Array, "ties"]]:
    """How far the loops are from closed at the start, and how fast their ends move apart."""
    v = velocities(model, solver.time, solver.at)[0]
    q, mode = solver.at.q, solver.at.mode
    return model.ties(q, mode), model.tie_rows(q, mode) @ v


def _check_closures(scenario: Scenario, model: OrbitalArm, solver: colliding.SolverState) -> None:
    """Refuses loops that the links' start leaves open, or tears."""
    gaps, rates = map(np.asarray, _closures(model, solver))
    first = 0
    for index, section in enumerate(scenario.content.closure):
        own = slice(first, first + model.rows(section.hold == "weld"))
        first = own.stop
        where = f"{scenario.name}: closure.{index} = {' – '.join(section.links)}"
        if not np.abs(gaps[own]).max() <= OPEN:
            raise ScenarioError(f"{where}: its ends start {np.abs(gaps[own]).max():.4g} m apart; must meet")
        if not np.abs(rates[own]).max() <= OPEN:
            raise ScenarioError(
                f"{where}: its ends start at {np.abs(rates[own]).max():.4g} m/s apart; must move together"
            )


def simulate_orbital_arm(scenario: Scenario, progress: Progress | None = None) -> xr.Dataset:
    """Run a scenario of kind `orbital-arm`; what `simulate` returns."""
    began = time.perf_counter()
    content = scenario.content
    settings = settings_of(scenario)
    model = build(content, content.dissipative())
    solver = init(model, settings)
    _check_start(scenario, np.asarray(solver.depths))
    if model.loops:
        _check_closures(scenario, model, solver)
    solver = jax.block_until_ready(advance(model, settings, solver, np.int64(0)))  # compiles
    ran = time.perf_counter()
    solver = drive(
        solver,
        lambda solver, until: advance(model, settings, solver, np.int64(until)),
        lambda solver: float(solver.time) / content.duration,
        SLICE,
        progress,
        content.integrator.max_steps,
    )
    ran = time.perf_counter() - ran
    kept = _kept(solver)
    found = Ran(model, solver, kept, _observed_at(model, kept), _logged(solver, model.records()))
    return _dataset_of(scenario, jax.tree.map(np.asarray, found), ran, time.perf_counter() - began)


class Ran(NamedTuple):
    """A run at its end: samples and log with all the rows that there might have been."""

    model: OrbitalArm
    solver: colliding.SolverState
    kept: colliding.Kept
    seen: dict[str, Any]
    log: Event


def _dataset_of(scenario: Scenario, found: Ran, ran: float, wall_time: float) -> xr.Dataset:
    """The dataset of a run, which took `ran` (s) without compilation."""
    content, model, solver = scenario.content, found.model, found.solver
    sampled, steps = int(solver.sampled), int(solver.steps)
    kept, seen = jax.tree.map(lambda rows: rows[:sampled], (found.kept, dict(found.seen)))
    seen |= {"work": kept.work, "newton_iterations": kept.iterations}
    seen |= _from_gravity(kept.given, model.planar)
    events, what = _events_of(model, solver, found.log)
    facts = {
        "steps": steps,
        "step_s": min(content.integrator.step, content.duration),
        "newton_iterations_mean": float(solver.corrections) / max(steps, 1),
        "newton_iterations_max": int(solver.most),
        "microseconds_per_step": 1e6 * ran / max(steps, 1),
        "conservative": int(content.orbit is None or content.orbit.circular),
    }
    status, words = _status_of(scenario, solver)
    motion = Motion(kept.time, seen, events, what, words, status == Status.FINISHED, facts)
    return dataset_of(scenario, motion, wall_time)


def _status_of(scenario: Scenario, solver: colliding.SolverState) -> tuple[Status, str]:
    """How a run ended, and that in words."""
    content, status = scenario.content, Status(int(solver.status))
    status = Status.TOO_MANY_ITERATIONS if status == Status.RUNNING else status
    section = content.integrator
    reasons = {Status.NOT_CONVERGED: NOT_CONVERGED + (SHORTER if section.error is None else "")}
    pace, most = float(solver.step_limit), section.max_iterations
    return status, reason_of(content, status, float(solver.time), "the motion", pace, reasons, most=most)


def linearised_orbital_arm(scenario: Scenario) -> LinearisedRun:
    """A run of kind `orbital-arm` and its derivatives, through the discrete equations, their corrections and its events."""
    content, settings, own = scenario.content, settings_of(scenario), Numbers.of(scenario.content)
    dissipative = content.dissipative()

    def along(direction: Leaves) -> tuple[PyTree, PyTree]:
        (values, found), change = _varied(
            own.values,
            direction,
            own.arrays,
            settings,
            np.int64(content.integrator.max_steps),
            structure=own.structure,
            dissipative=dissipative,
        )
        if int(found.solver.status) != Status.FINISHED:
            words = _status_of(scenario, found.solver)[1]
            raise ScenarioError(f"{scenario.name}: {words}; must run to its end")
        return (values, found), change

    def dataset(parts: PyTree) -> xr.Dataset:
        values, found = parts
        return _dataset_of(replace(scenario, content=own.content(values)), found, 0.0, 0.0)

    return LinearisedRun(along, dataset)


@partial(jit_once, static=("structure", "dissipative"))
def _varied(
    numbers: Leaves,
    direction: Leaves,
    arrays: dict[int, Any],
    settings: colliding.Settings,
    most: Int[Array, ""],
    structure: PyTreeDef,
    dissipative: bool,
) -> tuple[PyTree, PyTree]:
    """Numbers of a scenario and its run, and their derivatives along a direction."""

    def found(numbers: Array) -> PyTree:
        model = content_of(structure, list(numbers), arrays).model(dissipative)
        solver = colliding.advance(model, settings, colliding.init(model, settings), most)
        kept = colliding.kept(solver)
        return numbers, Ran(model, solver, kept, _observed_at(model, kept), colliding.logged(solver, model.records()))

    return tangent_of(found, numbers, direction)


def _from_gravity(given: np.ndarray, planar: bool) -> dict[str, np.ndarray]:
    """Momenta that the tide gave, step by step, to the centre of mass and about it."""
    if not planar:
        return {"gravity_impulse": given[:, :3], "gravity_turning_impulse": given[:, 3:6]}
    impulse, turning = np.zeros((2, len(given), 3))
    impulse[:, :2], turning[:, 2] = given[:, :2], given[:, 2]
    return {"gravity_impulse": impulse, "gravity_turning_impulse": turning}


def _events_of(model: OrbitalArm, solver: colliding.SolverState, log: Event) -> tuple[dict[str, Any], list[str]]:
    """The log of a run as columns, and what each event was; the release of the payload is an event of its own."""
    log = jax.tree.map(lambda rows: rows[: int(solver.events)], log)
    rows: list[list[float]] = []
    what: list[str] = []
    phase, released = 0, False
    for when, guard, record in zip(log.time, log.guard, log.record, strict=True):
        found = dict(zip(RECORDS, record, strict=True))
        if guard < model.contacts:
            contact = int(guard) if guard >= 0 else -1 - int(guard)
            rows.append([float(when), contact, *(float(found[name]) for name in RECORDS[:4])])
            what.append("part" if guard < 0 else "latch" if found["latches"] else "impact")
        if guard < 0:
            continue
        for _ in range(phase, int(found["phase"])):
            rows.append([float(when), -1, 0, 0, 0, 0])
            what.append("phase")
        if found["released"] and not released:
            what[-1] = "release"
        phase, released = int(found["phase"]), bool(found["released"])
    names = ("event_time", "event_contact", *RECORDS[:4])
    table = np.array(rows).reshape(-1, len(names))
    columns: dict[str, Any] = {name: table[:, i] for i, name in enumerate(names)}
    return columns | {"event_contact": columns["event_contact"].astype(int)}, what
