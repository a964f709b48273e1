"""The least speed at which a latch behind a ramp catches, of any two bodies or trees, by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.latch import HELD, ON_RAMP, Ramp
from dockdyn.deferred import Array, ArrayLike, Bool, jnp
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.hybrid.solver_state import SolverState
from dockdyn.integrate.model import Scalar, State
from dockdyn.integrate.solution import Status
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.mounts import MountedLatch
from dockdyn.results.control.coupling import coupling_of
from dockdyn.results.plan import jit_once, settings_for
from dockdyn.results.unit import advance, begin
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.made import model_of
from dockdyn.trees import map_leaves

DOUBLINGS = 20  # of the rigid bodies' speed, before it is said that none latches
ATTEMPTS = 80  # of which few are needed
NARROW = 1e-11  # of the speed: the bracket in the end, about the integrator's error
PERIODS = 20  # of the motion on the ramp: how long an attempt may take
SLICE = 500  # iterations of a run until it is asked whether the probe has come to the ramp
MOMENTS, ROWS = 64, 4096  # events of an attempt, and past steps within a delay


class Attempt(NamedTuple):
    """What came of a probe that came to a ramp."""

    latched: Bool[Array, ""]
    caught: Scalar  # m/s, at which it was caught


def least_latching_speed(scenario: Scenario | str | Path) -> float:
    """Return the least speed (m/s) along the axis of its latch with which a probe that comes to the ramp is caught at its first
    attempt.

    All else is as the scenario's run has it where the ramp begins: the body with the probe, and what joints hold to it, is made
    slower or faster along the axis. For two rigid bodies without control and delay it is the closed form
    (`dockdyn.impact.minimum_latching_velocity`); masses behind springs need more. NaN where none latches, or the probe does not
    come to the ramp. Raises ScenarioError for a scenario without exactly one latch behind a ramp.
    """
    scenario = scenario_from(scenario)
    content = scenario.content
    model = model_of(content)
    count = len(model.ramps) if isinstance(model, Mechanism) else 0
    if count != 1:
        raise ScenarioError(f"{scenario.name}: has {count} latches behind a ramp; must have one")
    if content.integrator.method != "located" or coupling_of(scenario) is not None:
        raise ScenarioError(f"{scenario.name}: must be located and without an FMU that steers: attempts are simulated")
    return least_speed_of(content)


def least_speed_of(content: Any, entry: State | None = None) -> float:  # noqa: ANN401, of a scenario with one such latch
    """Return the least speed (m/s) that latches, of the content of a scenario, from the state in which the ramp begins."""
    entry = _ramp_entry(content, settings_for(content)) if entry is None else entry
    if entry is None:
        return math.nan
    rigid, period = _rigid_latching_speed(content, entry)
    plan = settings_for(content, sampled=False, most_moments=MOMENTS, most_rows=ROWS)
    settings = replace(plan, duration=PERIODS * np.float64(period), max_moments=MOMENTS)
    return _search_least_speed(
        lambda speed: _attempt_at_speed(content, settings, entry, np.float64(speed)), float(rigid)
    )


def _search_least_speed(attempt: Callable[[float], Attempt], guess: float) -> float:
    """Return the least speed (m/s) that latches, NaN where none up to 2²⁰ times a `guess` does.

    The square of the speed at capture grows all but evenly with that at the ramp's beginning: where its line through the last
    two that latched comes to zero is tried next, a little to either side.
    """
    low, high, known = 0.0, guess, list[tuple[float, float]]()

    def latches(speed: float) -> bool:
        found = attempt(speed)
        if bool(found.latched):
            known.append((speed**2, float(found.caught) ** 2))
        return bool(found.latched)

    for _ in range(DOUBLINGS):
        if latches(high):
            break
        low, high = high, 2 * high
    else:
        return math.nan
    for _ in range(ATTEMPTS):
        if high - low <= 2 * NARROW * high:
            break
        middle = (low + high) / 2
        if len(known) > 1 and known[-1][1] != known[-2][1]:
            (one, first), (two, second) = known[-2:]
            root = math.sqrt(max(two - second * (two - one) / (second - first), 0.0))
            above, below = root * (1 + NARROW / 2), root * (1 - NARROW / 2)
            middle = above if low < above < high else below if low < below < high else middle
        low, high = (low, middle) if latches(middle) else (middle, high)
    return high


def _ramp_entry(content: Any, settings: located.Settings) -> State | None:  # noqa: ANN401, of a scenario
    """Return the state in which the probe comes to the ramp; None where it does not."""
    solver, until = begin(content, settings), 0
    while True:
        until += SLICE
        solver = advance(content, settings, np.asarray(until), solver)
        met, state = _has_met_ramp(content, solver)
        if bool(met):
            return state
        if int(solver.status) != Status.RUNNING:
            return None


def _latch_with_ramp(model: Mechanism) -> MountedLatch:
    """Return the latch behind a ramp of a model that has one."""
    (latch,) = model.ramps
    return latch


@jit_once
def _has_met_ramp(content: Any, solver: SolverState) -> tuple[Bool[Array, ""], State]:  # noqa: ANN401, of a scenario
    """Return whether the log of a run has the probe on the ramp, and the state then."""
    model, solution = content.model(), located.solution_of(solver)
    stage = model.element_modes(solution.log.state)[_latch_with_ramp(model).number].stage
    on = (stage == ON_RAMP) & (jnp.arange(stage.shape[0]) < solution.moments)
    return jnp.any(on), map_leaves(lambda leaf: leaf[jnp.argmax(on)], solution.log.state)


@jit_once
def _rigid_latching_speed(content: Any, entry: State) -> tuple[Scalar, Scalar]:  # noqa: ANN401, of a scenario
    """Return the least speed (m/s) that latches if both bodies or trees were rigid and met head on, and the period (s) of them
    on the ramp."""
    model = content.model()
    ramp, mass = _latch_with_ramp(model).latch.entry, model.mass_head_on(_latch_with_ramp(model))
    assert isinstance(ramp, Ramp)
    period = 2 * jnp.pi * jnp.sqrt(mass / (ramp.stiffness * ramp.slope * ramp.lever(ramp.friction)))
    return rigid_speed(model), period


def rigid_speed(model: Mechanism) -> Scalar:
    """Return the least speed (m/s) that latches if both bodies or trees of the latch were rigid and met head on."""
    ramp = _latch_with_ramp(model).latch.entry
    assert isinstance(ramp, Ramp)
    return ramp.needed_speed(model.mass_head_on(_latch_with_ramp(model)))


@jit_once
def _attempt_at_speed(
    content: Any,  # noqa: ANN401, of a scenario
    settings: located.Settings,
    entry: State,
    speed: ArrayLike,
) -> Attempt:
    """Return what comes of a probe that comes at a `speed` (m/s) along the axis of the latch where the ramp begins."""
    model = content.model()
    latch = _latch_with_ramp(model)

    def stage(x: State) -> Array:
        found: Array = model.element_modes(x)[latch.number].stage
        return found

    own, other = latch.sides(model.placement(entry))
    faster = latch.latch.out(other) * (latch.latch.rate(own, other) - speed)
    v = model.moving.carried_on(entry.v, model.moving.link(latch.first), faster)
    solver = located.initial_solver(model, settings, State(entry.q, v, entry.mode, entry.memory))
    end = located.advance_while(
        model, settings, solver, lambda solver: stage(solver.point.state) == ON_RAMP
    ).point.state
    caught = end.memory.elements[latch.number].found
    assert caught is not None
    return Attempt(stage(end) >= HELD, caught.speed)
