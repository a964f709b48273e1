"""A run of which an FMU decides a part: sampled, on the host, between slices of the compiled integrator.

At a sample the FMU is shown the motion as it is, goes on by one period, and what its outputs say then is held until the next
sample: a computer that answers at once.

Source: Functional Mock-up Interface 3.0, section 4.1; 2.0.4, section 4.2.1: what is set is felt by the step that follows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.control.commanded import Commanded, Idle
from dockdyn.control.controller import Command
from dockdyn.deferred import Array, ArrayLike, jnp
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Status
from dockdyn.programs import Program
from dockdyn.results.control.coupling import Coupling, Wires, refuse_untrusted, wires_of
from dockdyn.results.drive import Progress
from dockdyn.results.exchange.fmu_instance import Fmu, Instance
from dockdyn.results.plan import jit_once
from dockdyn.results.unit import advance_to, begin, look
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.fmu_control import COMMANDS

CommandRows = Mapping[str, ArrayLike]  # three components each, by what they are of


def _with_command(model: Any, command: CommandRows, t: Array, x: State) -> State:  # noqa: ANN401, of its setup
    """Return the state of a model after a sample at `t` (s) with this command."""
    force, torque, body_force = (jnp.asarray(command[what], float) for what in ("force", "torque", "body_force"))
    law = Commanded(Command(force, torque), Idle(), body_force)
    return model.following(law).tick(t, x)


@jit_once
def _start_run(content: Any, settings: located.Settings, command: CommandRows) -> located.SolverState:  # noqa: ANN401, of its setup
    """Return a run before its first step, with the first command."""
    model = content.model()
    return located.initial_solver(model, settings, _with_command(model, command, jnp.zeros(()), model.initial()))


@partial(Program, donate=("solver",))
def _give_command(content: Any, command: CommandRows, solver: located.SolverState) -> located.SolverState:  # noqa: ANN401, of its setup
    """Return the run at a sample, which brings another command."""
    point = solver.point
    state = _with_command(content.model(), command, point.time, point.state)
    return solver._replace(point=point._replace(state=state))


def run_coupled(
    scenario: Scenario, coupling: Coupling, settings: located.Settings, progress: Progress | None
) -> located.SolverState:
    """Return a run that an FMU decides a part of, at its end. Raises ScenarioError for an FMU that cannot decide, or fails."""
    content, period = scenario.content, float(coupling.control.period or math.inf)
    refuse_untrusted(coupling, scenario.name)
    with Fmu(Path(coupling.control.file)) as fmu:
        wires = wires_of(coupling, fmu, scenario.name)
        shown = _fmu_inputs(wires, look(content, settings, begin(content, settings)).seen)
        running, samples = fmu.instance(wires.parameters | shown), 1
        try:
            solver = _start_run(content, settings, _step_fmu(wires, running, shown, period, scenario.name))
            while True:
                solver = advance_to(content, settings, np.float64(samples * period), solver)
                if progress is not None:
                    progress(float(solver.point.time) / content.duration)
                if int(solver.status) != Status.RUNNING:
                    return solver
                samples += 1
                shown = _fmu_inputs(wires, look(content, settings, solver).seen)
                command = _step_fmu(wires, running, shown, samples * period, scenario.name)
                solver = _give_command(content, command, solver)
        finally:
            running.close()


def _step_fmu(wires: Wires, running: Instance, shown: dict[str, float], until: float, name: str) -> CommandRows:
    """Return what an FMU commands that is shown this and goes on until then (s): a row of three components each."""
    running.set(shown)
    if running.step_to(until):
        raise ScenarioError(f"{name}: {running.name}: asks to end at t = {until:g} s; must go on as long as the run")
    found = {what: np.zeros(3) for what in COMMANDS}
    for (variable, key), value in zip(wires.asked.items(), running.read(list(wires.asked)), strict=True):
        if not math.isfinite(value):
            where = f"{name}: control.outputs.{variable}"
            raise ScenarioError(f"{where}: is {value} at t = {running.time:g} s; must be finite")
        what, axis = key.split(".")
        found[what]["xyz".index(axis)] = value
    return found


def _fmu_inputs(wires: Wires, seen: dict[str, Array]) -> dict[str, float]:
    """Return what the inputs of an FMU are given."""
    return {name: float(np.asarray(seen[one.variable])[one.place]) for name, one in wires.given.items()}
