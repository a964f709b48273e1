"""Free flight as a part of a larger simulation: forces and torques come from outside, all else goes on as in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from dockdyn.integrate.model import State
from dockdyn.kinds.free_flight.data import CATCH_VARIABLES, LATCH_VARIABLES, VARIABLES, coordinates
from dockdyn.kinds.free_flight.schema import FreeFlightSection
from dockdyn.mechanism.loads import all_held
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.control.coupling import Coupling
from dockdyn.results.control.data import control_layout
from dockdyn.results.functional_unit import Given, Output, inputs_on, laid_out
from dockdyn.results.located_unit import LocatedUnit
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.fmu_control import fmu_control

CAPTURED = Output("captured", "", "whether the latch has fallen in", "captured", (), flag=True)


def flight_unit(scenario: Scenario) -> LocatedUnit:
    """A scenario in free flight as a functional unit. Raises ScenarioError for one that is not located."""
    return LocatedUnit(scenario, inputs_on(["chaser", "target"]), _outputs(scenario.content), _pushed, _captured)


def flight_coupling(content: FreeFlightSection) -> Coupling | None:
    """What an FMU decides of free flight, and what it is shown; None where none does."""
    control = fmu_control(content.control)
    if control is None:
        return None
    return Coupling(
        control, lambda: _outputs(content), lambda model, x, acting: model.observe(x, acting) | _captured(model, x)
    )


def _pushed(model: Any, given: Given) -> Any:  # noqa: ANN401, a Mechanism
    """The model with these forces and torques on its bodies."""
    forces, torques = jnp.reshape(given, (2, 2, 3))
    return replace(model, applied=(forces, torques))


def _captured(model: Any, x: State) -> dict[str, Array]:  # noqa: ANN401, a Mechanism
    return {CAPTURED.variable: has_captured(model, x)}


def has_captured(model: Mechanism, x: State) -> Array:
    """Whether the latch has caught the probe; without one, no."""
    return all_held(x.memory.elements)


def _outputs(content: FreeFlightSection) -> list[Output]:
    """What can be read of a scenario: what its results have over time, and whether it is captured."""
    layout, names = dict(VARIABLES), coordinates(content)
    if content.latch is not None:
        layout |= LATCH_VARIABLES | (CATCH_VARIABLES if content.latch.hold_law == "compliant" else {})
    control, more = control_layout(content.control)
    return [*laid_out(layout | control, names | more), CAPTURED]
