"""A run of the kind `orbital-arm`."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.mechanical import PLACES, velocities
from dockdyn.integrate.variational.step import Newton
from dockdyn.kinds.orbital_arm.data import Motion, dataset_of, labels
from dockdyn.kinds.orbital_arm.model import RECORDS, OrbitalArm
from dockdyn.kinds.orbital_arm.model_observed import observe
from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection
from dockdyn.programs import Program
from dockdyn.results.dataset import reason_of
from dockdyn.results.drive import Progress, drive
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
CROWDED = "stopped at t = {time:.6g} s: more than {places} contacts rest at once; leave out contact.points or surfaces"


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
    sampled, steps = int(solver.sampled), int(solver.steps)
    kept = jax.tree.map(lambda rows: np.asarray(rows)[:sampled], _kept(solver))
    seen = jax.tree.map(np.asarray, _observed_at(model, kept))
    seen |= {"work": kept.work, "newton_iterations": kept.iterations}
    seen |= _from_gravity(kept.given, model.planar)
    events, what = _events_of(model, solver)
    facts = {
        "steps": steps,
        "step_s": float(settings.step),
        "newton_iterations_mean": float(solver.corrections) / max(steps, 1),
        "newton_iterations_max": int(solver.most),
        "microseconds_per_step": 1e6 * ran / max(steps, 1),
        "conservative": int(content.orbit is None or content.orbit.circular),
    }
    status = Status(int(solver.status))
    status = Status.TOO_MANY_ITERATIONS if status == Status.RUNNING else status
    section = content.integrator
    reasons = {
        Status.NOT_CONVERGED: NOT_CONVERGED + (SHORTER if section.error is None else ""),
        Status.TOO_MANY_AT_REST: CROWDED,
    }
    limits = {"most": section.max_iterations, "places": PLACES}
    words = reason_of(content, status, float(solver.time), "the motion", float(solver.step_limit), reasons, **limits)
    motion = Motion(kept.time, seen, events, what, words, status == Status.FINISHED, facts)
    return dataset_of(scenario, motion, time.perf_counter() - began)


def _from_gravity(given: np.ndarray, planar: bool) -> dict[str, np.ndarray]:
    """Momenta that the tide gave, step by step, to the centre of mass and about it."""
    if not planar:
        return {"gravity_impulse": given[:, :3], "gravity_turning_impulse": given[:, 3:6]}
    impulse, turning = np.zeros((2, len(given), 3))
    impulse[:, :2], turning[:, 2] = given[:, :2], given[:, 2]
    return {"gravity_impulse": impulse, "gravity_turning_impulse": turning}


def _events_of(model: OrbitalArm, solver: colliding.SolverState) -> tuple[dict[str, Any], list[str]]:
    """The log of a run as columns, and what each event was; the release of the payload is an event of its own."""
    count = int(solver.events)
    log = jax.tree.map(lambda rows: np.asarray(rows)[:count], _logged(solver, model.records()))
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
