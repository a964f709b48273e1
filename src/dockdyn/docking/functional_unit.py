"""A mechanism as a part of a larger simulation: forces and torques come from outside, all else goes on as in a run."""

from __future__ import annotations

from dockdyn.deferred import jax, jnp
from dockdyn.docking.data import LAYOUT, VARIABLES, coordinate_names
from dockdyn.docking.ramp_latch_data import RAMP_VARIABLES, ramp_layout
from dockdyn.docking.schema.control import moved_joints, steered_bodies
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.results.control.coupling import Coupling
from dockdyn.results.control.data import control_layout
from dockdyn.results.functional_unit import Output, laid_out
from dockdyn.results.located_unit import LocatedUnit
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.fmu_control import fmu_control

CAPTURED = Output("captured", "", "whether all latches hold", "captured", (), flag=True)


def mechanism_unit(scenario: Scenario) -> LocatedUnit:
    """Return a mechanism as a functional unit. Raises ScenarioError for one that an FMU controls."""
    return LocatedUnit(scenario, _unit_outputs(scenario.content))


def mechanism_coupling(content: MechanismSection) -> Coupling | None:
    """Return what an FMU decides of a mechanism, and what it is shown; None where none does."""
    control = fmu_control(content.control)
    return None if control is None else Coupling(control, lambda: _unit_outputs(content))


def _unit_outputs(content: MechanismSection) -> list[Output]:
    """Return what can be read of a mechanism: what its results have over time."""

    def look(content: MechanismSection) -> dict[str, jax.Array]:
        model = content.model()
        x = model.initial()
        return model.observe(x, model.signal(jnp.zeros(()), x))

    shown = jax.eval_shape(look, content)
    told = {name: LAYOUT[name] for name in LAYOUT if name not in RAMP_VARIABLES} | ramp_layout(content)
    layout = VARIABLES | {name: told[name] for name in told if name in shown}
    steered = steered_bodies(content.control, content)[0] if content.control is not None else ""
    control, more = control_layout(content.control, f"“{steered}”", moved_joints(content))
    return [*laid_out(layout | control, coordinate_names(content) | more), *([CAPTURED] if content.latch else [])]
