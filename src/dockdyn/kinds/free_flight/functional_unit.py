"""Free flight as a part of a larger simulation: forces and torques come from outside, all else goes on as in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dockdyn.contact.latch import HELD
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.hybrid.located import STEP
from dockdyn.integrate.solution import Status
from dockdyn.kinds.free_flight.data import CATCH_VARIABLES, LATCH_VARIABLES, VARIABLES, coordinates
from dockdyn.kinds.free_flight.model import FreeFlight
from dockdyn.kinds.free_flight.model_outside import Outside
from dockdyn.kinds.free_flight.schema import FreeFlightSection
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.control_data import control_layout
from dockdyn.results.functional_unit import (
    FunctionalUnit,
    Given,
    Input,
    Numbers,
    Output,
    fixed_beside,
    in_a_row,
    laid_out,
    with_numbers,
)
from dockdyn.results.plan import settings_for
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import Scenario

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


def flight_unit(scenario: Scenario) -> FunctionalUnit:
    """The functional unit of a scenario in free flight. Raises ScenarioError for one that is not located."""
    content: FreeFlightSection = check_runnable(scenario).content
    if content.integrator.method != "located":
        raise ScenarioError(f"{scenario.name}: integrator.method = 'fixed': must be located, to end steps where asked")
    settings = settings_for(content, sampled=False, most_moments=2)
    leaves, structure = jax.tree.flatten(content)
    places = places_of(scenario)
    outputs = _outputs(content)

    def model(numbers: Numbers) -> FreeFlight:
        return jax.tree.unflatten(structure, with_numbers(leaves, places, numbers)).model()

    def begin(numbers: Numbers) -> Paused:
        solver = located.init(model(numbers), settings)
        return Paused(jnp.zeros(len(INPUTS)), solver._replace(status=jnp.asarray(int(Status.FINISHED))))

    def advance(numbers: Numbers, given: Given, until: Float[Array, ""], paused: Paused) -> Paused:
        forces, torques = jnp.reshape(given, (2, 2, 3))
        pushed = replace(model(numbers), outside=Outside(forces, torques))
        changed = jnp.any(given != paused.given)
        return Paused(given, located.pass_to(pushed, settings, paused.solver, until, changed))

    def observe(numbers: Numbers, given: Given, paused: Paused) -> Float[Array, "outputs"]:
        now, x = model(numbers), paused.solver.point.state
        found = now.observe(x, located.acting_signal(now, paused.solver))
        captured = jnp.zeros(()) if now.latch is None else x.mode[-1] >= HELD
        return in_a_row(outputs, found | {"captured": captured})

    def reached(paused: Paused) -> tuple[Int[Array, ""], Float[Array, ""]]:
        """A run that waits to go on is a running one."""
        solver = paused.solver
        over = content.model().ended(solver.point.state)
        waits = solver.status == Status.FINISHED
        waits = waits if over is None else waits & ~over
        return jnp.where(waits, int(Status.RUNNING), solver.status), solver.point.time

    fixed = fixed_beside(scenario, places)
    return FunctionalUnit(scenario, places, fixed, INPUTS, outputs, begin, advance, observe, reached, step=STEP)


def _outputs(content: FreeFlightSection) -> list[Output]:
    """What can be read of a scenario: what its results have over time, and whether it is captured."""
    layout, names = dict(VARIABLES), coordinates(content)
    if content.latch is not None:
        layout |= LATCH_VARIABLES | (CATCH_VARIABLES if content.latch.hold_law == "compliant" else {})
    control, more = control_layout(content.control)
    return [*laid_out(layout | control, names | more), CAPTURED]
