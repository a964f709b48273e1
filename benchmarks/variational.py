"""Steps of the variational integrator, beside steps of Runge–Kutta's method of order four on the same Lagrangian. One process.

The docking of Gibson and Murphey with its impacts, then chains of links in the plane and an arm in space, all of them under
PD control on an orbit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import tomlkit

import dockdyn
from dockdyn.backend import BACKENDS, VARIABLE
from dockdyn.integrate.hybrid.runge_kutta import looped_rk4, rk4_step
from dockdyn.integrate.model import Rate, State
from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.mechanical import (
    Mechanical,
    PhasePoint,
    generalised_momenta,
    unconstrained_accelerations,
)
from dockdyn.integrate.variational.solver_state import History, VariationalSettings
from dockdyn.integrate.variational.step import StepStart, variational_step
from dockdyn.mechanics.retraction import retract_configuration
from dockdyn.programs import Program
from dockdyn.results.variational_run import variational_settings
from dockdyn.scenario.load import Scenario, parse

REPEATS = 7
STEPS = 1000  # of chains
LONG = 12.0  # s that a program runs before it is timed
LARGE = 9  # velocities up to which stages of the explicit method are compiled one by one: faster, compiled more slowly
AXES = ([0, 0, 1], [0, 1, 0], [1, 0, 0])  # of the joints in space, in turn


def chain(joints: int, motion: str) -> Scenario:
    """A station of 20 t and equal links of 2 m and 20 kg, far from a wall, held against a small sag."""
    wall = {"shape": "plane", "point": [-1000.0, 0, 0], "normal": [1, 0, 0]}
    station: dict[str, Any] = {"mass": 2e4, "inertia": [6e4, 6e4, 8e4], "surface": {"wall": wall}}
    bodies, last = {"station": station}, "station"
    for index in range(joints):
        hinge = 2.0 if index == 0 else 1.0  # m, from the middle of what carries it
        joint = {
            "kind": "revolute",
            "axis": AXES[index % 3] if motion == "space" else AXES[0],
            "position": [hinge, 0, 0],
            "start": 0.3 * (-1) ** index,
        }
        link = {"on": last, "position": [hinge + 1.0, 0, 0], "joint": joint}
        last = f"link{index}"
        bodies[last] = link | {"mass": 20.0, "inertia": [2.0, 7.0, 7.0]}
    bodies[last]["feature"] = {"tip": {"position": [1.0, 0, 0]}}
    control = {"law": "joint-pd", "body": "station", "stiffness": [200.0] * joints, "damping": [50.0] * joints}
    content = {
        "schema": 2,
        "title": "chain",
        "duration": 0.01 * STEPS,
        "orbit": {"semi_major_axis": "6731.29 km"},
        "body": bodies,
        "contact": {"tip": {"between": ["tip", "wall"], "impact": {"law": "frictionless", "restitution": 1.0}}},
        "control": control | {"set_point": [0.31 * (-1) ** index for index in range(joints)]},
        "integrator": {"method": "variational", "step": 0.01},
    }
    return parse(tomlkit.dumps(content), "chain")


def run(model: Mechanical, settings: VariationalSettings) -> tuple[Any, Any]:
    """With the loop of events: where it ends, and events and Newton's corrections a step."""
    solver = colliding.solve_variational(model, settings)
    return (solver.at.q, solver.at.p), (solver.status, solver.events, solver.corrections / solver.steps)


def steps_alone(model: Mechanical, settings: VariationalSettings, count: int) -> Any:
    """Steps one after the other, contacts ignored."""
    q, v, mode = model.initial()
    t, h = jnp.zeros(()), settings.step

    def advance(index: Any, carry: tuple[PhasePoint, History]) -> tuple[PhasePoint, History]:
        at, history = carry
        now = index * h
        found = variational_step(model, StepStart.of(model, now, at), h, history.guess(now + 0.5 * h), settings.newton)
        return PhasePoint(found.q, found.p, at.mode), history.push(found.v, now + 0.5 * h)[0]

    begin = PhasePoint(q, generalised_momenta(model, t, q, v, mode), mode), History.fresh(v, t)
    return jax.lax.fori_loop(0, count, advance, begin)[0]


def runge_kutta(model: Mechanical, settings: VariationalSettings, count: int) -> Any:
    """The same with the explicit method: four evaluations of the accelerations a step."""
    q, v, mode = model.initial()
    h, still = settings.step, jnp.zeros_like(v)

    def rate(t: Any, at: State) -> Rate:
        turning = jax.jvp(lambda x: retract_configuration(model.attitudes, at.q, x), (still,), (at.v,))[1]
        return Rate(turning, unconstrained_accelerations(model, t, at.q, at.v, mode), ())

    def retract(at: State) -> State:
        return State(retract_configuration(model.attitudes, at.q, still), at.v, mode, ())

    def advance(index: Any, carry: tuple[State, Rate]) -> tuple[State, Rate]:
        at, first = carry
        t = index * h
        if v.shape[0] > LARGE:
            end, _, last = looped_rk4(lambda part, at: rate(t + part * h, at), retract, at, h, first)
            return end, last
        end = retract(rk4_step(lambda part, at: rate(t + part * h, at), at, h, first))
        return end, rate(t + h, end)

    begin = State(q, v, mode, ())
    return jax.lax.fori_loop(0, count, advance, (begin, rate(jnp.zeros(()), begin)))[0]


def timed(program: Callable[..., Any], *given: Any) -> tuple[float, float, Any]:
    """Seconds of the compiled program at best, those to trace and compile it and run it once, and what it returned."""
    compiled = Program(program)
    began = time.perf_counter()
    jax.block_until_ready(compiled(*given))
    compiling = time.perf_counter() - began
    while time.perf_counter() - began < compiling + LONG:  # so that machine code is written better meanwhile
        jax.block_until_ready(compiled(*given))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        found = jax.block_until_ready(compiled(*given))
        times.append(time.perf_counter() - began)
    return min(times), compiling, found


def row(name: str, scenario: Scenario) -> None:
    model, settings = scenario.content.mechanical(), variational_settings(scenario.content)
    count = round(scenario.content.duration / float(settings.step))
    whole, compiling, (_, (status, events, corrections)) = timed(run, model, settings)
    alone, _, last = timed(lambda m, s: steps_alone(m, s, count), model, settings)
    explicit, explicit_compiling, end = timed(lambda m, s: runge_kutta(m, s, count), model, settings)
    apart = float(jnp.abs(last.q - end.q).max())
    each, lone, theirs = (1e6 * seconds / count for seconds in (whole, alone, explicit))
    print(
        f"  {name:28} {model.initial()[1].shape[0]:4} {count:6} {int(events):4} {float(corrections):5.2f}"
        f" {each:9.2f} {lone:9.2f} {theirs:9.2f} {each / theirs:6.2f} {1e3 * whole:9.1f}"
        f" {compiling:8.1f} {explicit_compiling:8.1f} {apart:9.1e}",
        flush=True,
    )
    assert int(status) == 1, f"the run of {name} stopped early"


def main() -> None:
    jax.config.update("jax_enable_compilation_cache", False)
    print(f"{os.cpu_count()} cores; best of {REPEATS}; microseconds a step of 10 ms")
    print(
        "                                                 Newton      with      step                  whole run"
        "    compiled in, s   largest"
    )
    print(
        "                                vel.  steps  ev. a step    events     alone       RK4  ratio        ms"
        "      this      RK4 difference"
    )
    for backend in BACKENDS:
        os.environ[VARIABLE] = backend
        print(backend)
        row("gibson-2d", dockdyn.load("gibson-2d"))
        for joints in (3, 6, 12, 24):
            row(f"plane, {joints} joints", chain(joints, "plane"))
        row("space, 6 joints", chain(6, "space"))


if __name__ == "__main__":
    main()
