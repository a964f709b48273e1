"""Free flight as a part of a larger simulation: forces and torques come from outside, all else goes on as in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from dockdyn.contact.latch import HELD
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.hybrid.located import STEP
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Status
from dockdyn.kinds.free_flight.data import CATCH_VARIABLES, LATCH_VARIABLES, VARIABLES, coordinates
from dockdyn.kinds.free_flight.model import FreeFlight
from dockdyn.kinds.free_flight.model_outside import Outside
from dockdyn.kinds.free_flight.schema import FreeFlightSection
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.control_data import control_layout
from dockdyn.results.functional_unit import (
    Flow,
    FunctionalUnit,
    Given,
    Input,
    Numbers,
    Output,
    Steps,
    fixed_beside,
    in_a_row,
    laid_out,
    with_numbers,
)
from dockdyn.results.model_flow import ModelFlow, Motion
from dockdyn.results.plan import settings_for
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import model_of

CAPTURED = Output("captured", "", "whether the latch has fallen in", "captured", (), flag=True)
INPUTS = [
    Input(f"outside_{what}.{body}.{axis}", unit, f"{words} {body} from outside, {axes} axes")
    for what, unit, words, axes in (
        ("force", "N", "force at the centre of mass of the", "inertial"),
        ("torque", "N m", "torque on the", "its own"),
    )
    for body in ("chaser", "target")
    for axis in "xyz"
]


class Paused(NamedTuple):
    """A run that waits to go on, or has ended."""

    given: Given  # what acted last
    solver: located.SolverState


class Flight:
    """A scenario in free flight with other numbers than its own, and its outputs."""

    def __init__(self, scenario: Scenario):
        self.content: FreeFlightSection = check_runnable(scenario).content
        if self.content.integrator.method != "located":
            raise ScenarioError(
                f"{scenario.name}: integrator.method = 'fixed': must be located, to end steps where asked"
            )
        self.scenario, self.places, self.outputs = scenario, places_of(scenario), _outputs(self.content)
        self.leaves, self.structure = jax.tree.flatten(self.content)

    def model(self, numbers: Numbers, given: Given | None = None) -> FreeFlight:
        """The model of these numbers, pushed from outside."""
        model = jax.tree.unflatten(self.structure, with_numbers(self.leaves, self.places, numbers)).model()
        return model if given is None else replace(model, outside=Outside(*jnp.reshape(given, (2, 2, 3))))

    def seen(self, model: FreeFlight, x: State, acting: PyTree) -> Float[Array, "outputs"]:
        """The outputs of a state in which these forces act."""
        captured = jnp.zeros(()) if model.latch is None else x.mode[-1] >= HELD
        return in_a_row(self.outputs, model.observe(x, acting) | {"captured": captured})

    def unit(self, begin: Any, goes_on: Steps | Flow, observe: Any) -> FunctionalUnit:  # noqa: ANN401, its functions
        fixed = fixed_beside(self.scenario, self.places)
        return FunctionalUnit(
            self.scenario, self.places, fixed, INPUTS, self.outputs, begin, goes_on, observe, step=STEP
        )


def flight_unit(scenario: Scenario) -> FunctionalUnit:
    """The functional unit of a scenario, which integrates itself. Raises ScenarioError for one that is not located."""
    flight = Flight(scenario)
    settings = settings_for(flight.content, sampled=False, most_moments=2)

    def begin(numbers: Numbers) -> Paused:
        solver = located.init(flight.model(numbers), settings)
        return Paused(jnp.zeros(len(INPUTS)), solver._replace(status=jnp.asarray(int(Status.FINISHED))))

    def advance(numbers: Numbers, given: Given, until: Float[Array, ""], paused: Paused) -> Paused:
        changed = jnp.any(given != paused.given)
        pushed = flight.model(numbers, given)
        return Paused(given, located.pass_to(pushed, settings, paused.solver, until, changed))

    def observe(numbers: Numbers, given: Given, paused: Paused) -> Float[Array, "outputs"]:
        now, solver = flight.model(numbers), paused.solver
        return flight.seen(now, solver.point.state, located.acting_signal(now, solver))

    def reached(paused: Paused) -> tuple[Int[Array, ""], Float[Array, ""]]:
        """A run that waits to go on is a running one."""
        solver = paused.solver
        over = flight.content.model().ended(solver.point.state)
        waits = solver.status == Status.FINISHED
        waits = waits if over is None else waits & ~over
        return jnp.where(waits, int(Status.RUNNING), solver.status), solver.point.time

    return flight.unit(begin, Steps(advance, reached), observe)


def flight_flow(scenario: Scenario) -> FunctionalUnit:
    """The functional unit of a scenario without delay, which another program integrates. Raises ScenarioError with a delay."""
    flight = Flight(scenario)
    if flight.content.loop.delay:
        words = "what another program integrates has no delay; must be 0"
        raise ScenarioError(f"{scenario.name}: loop.delay = {flight.content.loop.delay:g} s: {words}")
    model = model_of(flight.content)
    start = model.initial()
    equations = ModelFlow(flight.model, start)

    def begin(numbers: Numbers) -> Motion:
        return equations.motion(flight.model(numbers).initial())

    def observe(numbers: Numbers, given: Given, motion: Motion) -> Float[Array, "outputs"]:
        now = flight.model(numbers)
        x = equations.state(now, motion)
        return flight.seen(now, x, now.signal(jnp.zeros(()), x))

    guards = len(model.outputs(jnp.zeros(()), start).guards)
    return flight.unit(begin, Flow(equations, equations.names(model.names()), guards), observe)


def _outputs(content: FreeFlightSection) -> list[Output]:
    """What can be read of a scenario: what its results have over time, and whether it is captured."""
    layout, names = dict(VARIABLES), coordinates(content)
    if content.latch is not None:
        layout |= LATCH_VARIABLES | (CATCH_VARIABLES if content.latch.hold_law == "compliant" else {})
    control, more = control_layout(content.control)
    return [*laid_out(layout | control, names | more), CAPTURED]
