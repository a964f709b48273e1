"""A mechanism step by step: between two samples of control the command is held, and the caller gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from dockdyn.control.commanded import Commanded
from dockdyn.control.controller import Command, Controller, Measured
from dockdyn.control.sampled import SampledControl
from dockdyn.deferred import Array, ArrayLike, Bool, Float, PyTree, jax, jnp
from dockdyn.integrate.model import State, over_rows
from dockdyn.integrate.solution import Status
from dockdyn.mechanism.loads import Group
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.steered_arm import SteeredArm
from dockdyn.mechanism.steered_body import SteeredBody
from dockdyn.programs import Program
from dockdyn.results import unit
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.methods import Settings, method_of, refuse_broken_steps, settings_of
from dockdyn.results.plan import NO_LIMIT, with_events
from dockdyn.results.side_by_side import NOTHING, SavedState, SideBySide, Values
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.approach import Port
from dockdyn.scenario.tables.arm_control import ArmControlSection
from dockdyn.scenario.tables.fmu_control import fmu_control

MOST_MOMENTS = 64  # events and images of them within a step; more are contacts that chatter
MOST_ROWS = 512  # past steps within one delay, of each run of a batch: more would make its state too large to hand on


class Steerable(Protocol):
    """The content of a scenario one of whose bodies can be told what to do."""

    def model(self) -> Mechanism:
        """Return the model, also from traced numbers."""
        ...

    def commanded(self) -> tuple[str, str]:
        """Return the body that is commanded, and the one that it sees as its target. ValueError where none is told."""
        ...

    def steering(self, model: Mechanism) -> SteeredBody:
        """Return what is commanded where the scenario has no control of its own: the body, and limits that are none."""
        ...

    def port(self) -> Port | None:
        """Return the port of that body, before the one it approaches; None without."""
        ...


class RunRow(NamedTuple):
    """One of the runs that go on side by side."""

    content: Any  # a `Steerable`
    settings: Settings  # of all of it
    period: ArrayLike  # s
    solver: Any  # of the method


class RunStep(NamedTuple):
    """Where a run is after a step."""

    solver: Any  # of the method
    observed: dict[str, Array]
    measured: Measured


class SteeredContent(NamedTuple):
    """The content of a scenario one of whose bodies is told a command, sampled, in place of what its law says."""

    content: Steerable
    period: ArrayLike  # s
    command: Command | None  # without one the law says

    def model(self) -> Mechanism:
        """Return the model that runs.

        An arm that control moves is told nothing: its law acts at every instant, or at the samples of its own period.
        """
        model = self.content.model()
        if isinstance(model.steered, SteeredArm):
            return model
        steered = self.body_of(model)
        before = steered.control
        assert isinstance(before.law, Controller)
        law = before.law if self.command is None else Commanded(self.command, before.law)
        thrusters = before.thrusters if isinstance(before, SampledControl) else None
        period = jnp.asarray(self.period, float)
        control = SampledControl(law, before.actuators, before.reference, period, thrusters, told=True)
        phases = steered.phases if self.command is None else None  # what is commanded acts whenever it is
        return replace(model, steered=replace(steered, control=control, phases=phases))

    def body_of(self, model: Mechanism) -> SteeredBody:
        """Return the body of a model that is steered, or would be."""
        return model.steered if isinstance(model.steered, SteeredBody) else self.content.steering(model)

    def measure(self, model: Mechanism, x: State) -> Measured:
        """Return what a controller is told of a state of the model."""
        effort = x.memory.outside.steering.effort
        return self.body_of(model).measured(model.seen(x, model.placement(x)), effort)


def _observe_run(content: SteeredContent, settings: Settings, solver: Any) -> RunStep:  # noqa: ANN401, of the method
    """Return what can be seen where a run is, and the largest forces since its log was emptied."""
    model, (time, x, seen) = content.model(), unit.look(content, settings, solver)
    steered = content.body_of(model)
    peaks = method_of(settings).largest(model, solver)[: len(model.groups)]
    load = (
        seen["contact_force"]
        * jnp.asarray([_side_of_body(model, group, steered.body) for group in model.groups])[:, None]
    )
    more = {"contact_load": load.sum(axis=0), "peak_force": peaks, "time": time}
    measured, port = content.measure(model, x), content.content.port()
    if port is not None:
        more |= port.motion(measured.chaser, measured.target)
    return RunStep(solver, seen | more, measured)


def _side_of_body(model: Mechanism, group: Group, body: int) -> float:
    """Return 1 of a group whose first body is this one, −1 of one whose second is, 0 of others."""
    first, second = (model.moving.link(number) for number in (group.first, group.second))
    return float(first == body) - float(second == body)


@Program
def _start_runs(contents: PyTree, settings: PyTree, periods: Float[Array, "batch"]) -> RunStep:
    """Return the runs before their first command."""

    def one(content: Steerable, setting: Settings, period: Array) -> RunStep:
        steered = SteeredContent(content, period, None)
        return _observe_run(steered, setting, unit.begin(steered, setting))

    return over_rows(one, contents, settings, periods)


@partial(Program, donate=("rows",))
def _advance_runs(rows: RunRow, command: PyTree) -> RunStep:
    """Return the runs one period later, each held to its command; those that have ended stay where they are."""

    def one(row: RunRow, command: Command | None) -> RunStep:
        content, method = SteeredContent(row.content, row.period, command), method_of(row.settings)

        def go_on(solver: Any) -> Any:  # noqa: ANN401, of the method
            model = content.model()
            time, x, _ = method.now(model, solver)
            end = (jnp.round(time / row.period) + 1) * row.period
            if isinstance(model.steered, SteeredBody):
                control, steering = model.steered.control, x.memory.outside.steering
                assert isinstance(control, SampledControl)
                active = model.seen(x, model.placement(x)).active
                held = control.take(time, steering.law, content.measure(model, x), active)
                outside = x.memory.outside._replace(steering=steering._replace(law=held))
                solver = method.remembering(solver, x.memory._replace(outside=outside))
                end = held.samples * control.period
            return unit.advance_to(content, row.settings, end, method.emptied(solver))

        running = row.solver.status == Status.RUNNING
        solver = jax.lax.cond(running, go_on, method.emptied, row.solver)
        return _observe_run(content, row.settings, solver)

    return over_rows(one, rows, command)


class MechanismStepper:
    """Runs of free bodies or a mechanism that go on one period of control at a time.

    Physics, method of integration and actuators with their limits are those of `dockdyn.simulate`. Every array has a leading
    axis over the runs where there is a `batch`.
    """

    observation: dict[str, np.ndarray]  # what was seen last
    _given: tuple[PyTree, PyTree]  # contents and settings
    _found: RunStep
    _values: tuple[dict[str, Any], ...]  # that each run has been reset with

    def __init__(self, scenario: Scenario, period: float | None, batch: int | None):
        check_runnable(scenario)
        content = scenario.content
        stated = content.control.period if content.controlled else None
        found = stated if period is None else period
        if found is None:
            raise ScenarioError(f"{scenario.name}: control.period: missing; state it, or the stepper's period")
        if not 0 < found <= content.duration:
            raise ScenarioError(f"{scenario.name}: period = {found:g} s: must be above 0 and at most the duration")
        if not with_events(content):
            method = content.integrator.method
            raise ScenarioError(
                f"{scenario.name}: integrator.method = {method!r}: must be located, fixed or variational for steps of control"
            )
        refuse_broken_steps(scenario, float(found))
        try:
            content.commanded()
        except ValueError as error:
            raise ScenarioError(f"{scenario.name}: {error}") from None
        self.scenario, self.period, self.runs = scenario, float(found), SideBySide(scenario, batch)
        self.reset()

    def reset(
        self, values: Values | Sequence[Values] = NOTHING, only: Bool[np.ndarray, "batch"] | None = None
    ) -> dict[str, np.ndarray]:
        """Begin again, dotted keys of the scenario set to `values`, in a batch perhaps those of each run; what is seen then.

        With `only`, a flag for each run of a batch, the others stay where they are. Raises ScenarioError for a value that is
        not allowed, and where runs of a batch differ in more than numbers.
        """
        several = self.runs.values_of_each(values)
        contents = [case.content for case in self.runs.cases(several)]
        rows = NO_LIMIT if self.runs.batch is None else MOST_ROWS
        settings = [settings_of(content, False, MOST_MOMENTS, rows) for content in contents]
        self._arm = isinstance(contents[0].control, ArmControlSection) and bool(contents[0].controlled)
        self._own = bool(contents[0].controlled) and fmu_control(contents[0].control) is None
        given: tuple[PyTree, PyTree] = self.runs.stacked(contents), self.runs.stacked(settings)
        found = _start_runs(*given, np.full(self.runs.count, self.period))
        if only is not None:
            given, found = self.runs.replaced(only, (given, found), (self._given, self._found))
            several = tuple(new if flag else old for new, old, flag in zip(several, self._values, only, strict=True))
        self._given, self._values = given, several
        return self._take(found)

    def _commands(self, command: Sequence[ArrayLike]) -> Command:
        """Return a command for every run of the batch."""
        parts = list(command) if np.iterable(command) else []
        if len(parts) != len(Command._fields):
            raise ScenarioError(f"{self.scenario.name}: a command is a force and a torque")
        return Command(*(self.runs.for_each(*part, (3,)) for part in zip(Command._fields, parts, strict=True)))  # type: ignore[arg-type]

    def step(self, command: Command | Sequence[ArrayLike] | None = None) -> dict[str, np.ndarray]:
        """Hold a command for one period, and see where that leads: quantities by their names in results, at the period's end.

        The command is a `dockdyn.control.Command`, or force (N, inertial axes) and torque (N m, chaser's axes); None leaves it
        to the law of the scenario. A run that is over stays as it is. Raises ScenarioError for what is no command.
        """
        if command is not None and self._arm:
            law = self.scenario.content.control.law
            raise ScenarioError(
                f"{self.scenario.name}: control.law = {law!r}: moves an arm at all times; must be left out to command a body"
            )
        if command is None and not self._own:
            raise ScenarioError(f"{self.scenario.name}: control.law: none commands here; give the step a command")
        given = None if command is None else self._commands(command)
        rows = RunRow(*self._given, np.full(self.runs.count, self.period), self._found.solver)
        return self._take(_advance_runs(rows, given))

    def _take(self, found: RunStep) -> dict[str, np.ndarray]:
        """Return what is seen, once a step is done."""
        self._found = found
        self.observation = self.runs.plain(found.observed)
        return self.observation

    @property
    def time(self) -> np.ndarray:
        """Time (s) that has passed."""
        return self.observation["time"]

    @property
    def state(self) -> SavedState:
        """Where the runs are, as plain data: can be pickled, and set as the `state` of a stepper of the same scenario.

        Set, it raises ScenarioError for what is no state, or that of another scenario, period or number of runs.
        """
        return self.runs.saved(self.period, self._values, 0, self._found)

    @state.setter
    def state(self, state: SavedState) -> None:
        self.runs.refuse_foreign(state, self.period)
        if state.values is not self._values:
            self.reset(state.values)
            self._values = state.values
        self._take(self.runs.restored(state, self._found))

    @property
    def measured(self) -> Measured:
        """Return what a controller is told, as in `Controller.act`."""
        return self.runs.plain(self._found.measured)

    @property
    def done(self) -> np.ndarray:
        """Whether a run is over: its duration has passed, its latch has ended it, or it cannot go on (`status`)."""
        return self.status != Status.RUNNING

    @property
    def status(self) -> np.ndarray:
        """Whether a run goes on, or how it has ended: a `dockdyn.integrate.Status`, as a number.

        0 RUNNING, 1 FINISHED, 2 NOT_FINITE, 3 TOO_MANY_EVENTS, 4 DELAY_LINE_FULL, 5 TOO_MANY_ITERATIONS, 6 NOT_CONVERGED,
        7 TOO_MANY_AT_REST: `Status(number).name`.
        """
        return self.runs.plain(self._found.solver.status)
