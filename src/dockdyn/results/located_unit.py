"""A scenario of bodies as a functional unit: integrated inside, or by the program that imports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Float, Int, PyTree, jnp
from dockdyn.integrate.hybrid.located import STEP
from dockdyn.integrate.model import ContactModel, Flag, State
from dockdyn.integrate.solution import Status
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.control.coupling import refuse_coupled
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
    with_numbers,
)
from dockdyn.results.methods import method_of, settings_of
from dockdyn.results.model_flow import ModelFlow, SplitState
from dockdyn.results.plan import delay_of, with_events
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import model_of
from dockdyn.trees import flatten, unflatten


class Paused(NamedTuple):
    """A run that waits to go on, or has ended."""

    given: Given  # what acted last
    solver: Any  # of the method
    over: Flag  # an event has ended it


class LocatedUnit:
    """A scenario with other numbers than its own, pushed from outside.

    `pushed` is a model with inputs acting on it, `more` what is observed of a state besides what the model itself says.
    """

    def __init__(
        self,
        scenario: Scenario,
        inputs: Sequence[Input],
        outputs: Sequence[Output],
        pushed: Callable[[ContactModel, Given], ContactModel],
        more: Callable[[ContactModel, State], dict[str, Array]],
    ):
        refuse_coupled(scenario, "an FMU cannot be part of another one")
        self.content = check_runnable(scenario).content
        self.scenario, self.inputs, self.outputs, self.pushed, self.more = scenario, inputs, outputs, pushed, more
        self.places = places_of(scenario)
        self.leaves, self.structure = flatten(self.content)

    def model(self, numbers: Numbers, given: Given | None = None) -> ContactModel:
        """Return the model of these numbers, with these inputs."""
        model = unflatten(self.structure, with_numbers(self.leaves, self.places, numbers)).model()
        return model if given is None else self.pushed(model, given)

    def integrated(self) -> FunctionalUnit:
        """Return the unit that integrates itself, with events and delay, as a run does.

        Raises ScenarioError for a method that cannot end its steps where asked.
        """
        integrator, delay = self.content.integrator, delay_of(self.content)
        where = f"{self.scenario.name}: integrator.method = {integrator.method!r}"
        if not with_events(self.content):
            raise ScenarioError(f"{where}: must be located, fixed or variational, to end steps where asked")
        if integrator.method == "fixed" and delay:
            words = "is kept at the ends of steps of one length, and another program asks for others"
            raise ScenarioError(f"{where}: what acts loop.delay = {delay:g} s later {words}; must be located")
        settings = settings_of(self.content, sampled=False, most_moments=2)
        method = method_of(settings)

        def begin(numbers: Numbers) -> Paused:
            solver = method.init(self.model(numbers), settings)
            waiting = solver._replace(status=jnp.asarray(int(Status.FINISHED)))
            return Paused(jnp.zeros(len(self.inputs)), waiting, jnp.asarray(False))

        def advance(numbers: Numbers, given: Given, until: Float[Array, ""], paused: Paused) -> Paused:
            model = self.model(numbers, given)
            solver = method.pass_to(model, settings, paused.solver, until, jnp.any(given != paused.given))
            over = model.ended(method.now(model, solver).state)
            return Paused(given, solver, paused.over if over is None else over)

        def observe(numbers: Numbers, given: Given, paused: Paused) -> Float[Array, "outputs"]:
            model = self.model(numbers)
            _, x, acting = method.now(model, paused.solver)
            return self._seen(model, x, acting)

        def reached(paused: Paused) -> tuple[Int[Array, ""], Float[Array, ""]]:
            """Return status and time (s); a run that waits to go on is a running one."""
            waits = (paused.solver.status == Status.FINISHED) & ~paused.over
            return jnp.where(waits, int(Status.RUNNING), paused.solver.status), method.time(paused.solver)

        return self._unit(begin, Steps(advance, reached), observe)

    def equations(self) -> FunctionalUnit:
        """Return the unit that another program integrates. Raises ScenarioError for one with a delay."""
        if delay := delay_of(self.content):
            words = "what another program integrates has no delay; must be 0"
            raise ScenarioError(f"{self.scenario.name}: loop.delay = {delay:g} s: {words}")
        model = model_of(self.content)
        start = model.initial()
        equations = ModelFlow(self.model, start)

        def begin(numbers: Numbers) -> SplitState:
            return equations.motion(self.model(numbers).initial())

        def observe(numbers: Numbers, given: Given, motion: SplitState) -> Float[Array, "outputs"]:
            now = self.model(numbers)
            x = equations.state(now, motion)
            return self._seen(now, x, now.signal(jnp.zeros(()), x))

        guards = len(model.outputs(jnp.zeros(()), start).guards)
        return self._unit(begin, Flow(equations, equations.names(model.names()), guards), observe)

    def _seen(self, model: ContactModel, x: State, acting: PyTree) -> Float[Array, "outputs"]:
        """Return the outputs of a state in which these forces act."""
        return in_a_row(self.outputs, model.observe(x, acting) | self.more(model, x))

    def _unit(
        self,
        begin: Callable[[Numbers], PyTree],
        goes_on: Steps | Flow,
        observe: Callable[[Numbers, Given, PyTree], Float[Array, "outputs"]],
    ) -> FunctionalUnit:
        return FunctionalUnit(
            scenario=self.scenario,
            numbers=self.places,
            fixed=fixed_beside(self.scenario, self.places),
            inputs=self.inputs,
            outputs=self.outputs,
            begin=begin,
            goes_on=goes_on,
            observe=observe,
            step=STEP,
        )
