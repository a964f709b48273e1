"""A scenario of bodies as a functional unit: integrated inside, or by the program that imports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Float, Int, PyTree, jnp
from dockdyn.integrate.hybrid.located import STEP
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results import unit
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.control.coupling import refuse_coupled
from dockdyn.results.functional_unit import (
    Flow,
    FunctionalUnit,
    Given,
    Numbers,
    Output,
    Steps,
    fixed_beside,
    in_a_row,
    inputs_on,
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


class PushedContent(NamedTuple):
    """The content of a scenario on whose bodies another program's forces and torques act."""

    content: Any  # of the scenario
    given: Given  # as `inputs_on` has them

    def model(self) -> Mechanism:
        """Return the model that runs."""
        forces, torques = jnp.reshape(self.given, (2, -1, 3))
        return replace(self.content.model(), applied=(forces, torques))


class LocatedUnit:
    """A scenario with other numbers than its own, whose bodies are pushed from outside."""

    def __init__(self, scenario: Scenario, outputs: Sequence[Output]):
        refuse_coupled(scenario, "an FMU cannot be part of another one")
        self.content = check_runnable(scenario).content
        self.scenario, self.inputs, self.outputs = scenario, inputs_on(self.content.names()), outputs
        self.places = places_of(scenario)
        self.leaves, self.structure = flatten(self.content)

    def content_of(self, numbers: Numbers) -> Any:  # noqa: ANN401, of the scenario
        """Return the content with these numbers."""
        return unflatten(self.structure, with_numbers(self.leaves, self.places, numbers))

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

        def begin(numbers: Numbers) -> Paused:
            return Paused(jnp.zeros(len(self.inputs)), unit.begin(self.content_of(numbers), settings))

        def advance(numbers: Numbers, given: Given, until: Float[Array, ""], paused: Paused) -> Paused:
            pushed, changed = PushedContent(self.content_of(numbers), given), jnp.any(given != paused.given)
            return Paused(given, unit.pass_to(pushed, settings, until, changed, paused.solver))

        def observe(numbers: Numbers, given: Given, paused: Paused) -> Float[Array, "outputs"]:
            return in_a_row(self.outputs, unit.look(self.content_of(numbers), settings, paused.solver).seen)

        def reached(paused: Paused) -> tuple[Int[Array, ""], Float[Array, ""]]:
            return paused.solver.status, method_of(settings).time(paused.solver)

        return self._unit(begin, Steps(advance, reached), observe)

    def equations(self) -> FunctionalUnit:
        """Return the unit that another program integrates. Raises ScenarioError for one with a delay."""
        if delay := delay_of(self.content):
            words = "what another program integrates has no delay; must be 0"
            raise ScenarioError(f"{self.scenario.name}: loop.delay = {delay:g} s: {words}")
        model = model_of(self.content).flowing()
        start = model.initial()

        def pushed(numbers: Numbers, given: Given) -> Mechanism:
            return PushedContent(self.content_of(numbers), given).model().flowing()

        equations = ModelFlow(pushed, start, model.settles)

        def begin(numbers: Numbers) -> SplitState:
            return equations.motion(self.content_of(numbers).model().flowing().initial())

        def observe(numbers: Numbers, given: Given, motion: SplitState) -> Float[Array, "outputs"]:
            now = self.content_of(numbers).model().flowing()
            x = equations.state(now, motion)
            return in_a_row(self.outputs, unit.see(now, x, now.signal(jnp.zeros(()), x)))

        guards = len(model.outputs(jnp.zeros(()), start).guards) + model.decisions(start).size
        return self._unit(begin, Flow(equations, equations.names(model.names()), guards), observe)

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
