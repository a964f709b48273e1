"""A regulator's gain as numbers of a scenario: designed once, so that what is compiled later takes it as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.docking.schema.control import ArmSteeringSection, regulator
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.mechanism.regulated_arm import Design
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.trees import map_leaves


@jit_once
def regulator_of_arm(content: MechanismSection) -> Design:
    """Return the regulator of a mechanism's arm."""
    assert isinstance(content.control, ArmSteeringSection)
    return regulator(content.control, content, content.acting_in_pairs())


def with_gain(scenario: Scenario) -> Scenario:
    """Return the scenario with its regulator's gain, if it has one without; ScenarioError where none stabilises."""
    content = scenario.content
    control = content.control
    if not isinstance(control, ArmSteeringSection) or control.law != "lqr" or control.gain is not None:
        return scenario
    made = map_leaves(np.asarray, regulator_of_arm(content))
    gain = made.gain
    if not np.isfinite(gain).all() or np.linalg.eigvals(made.plant.a - made.plant.b @ gain).real.max() >= 0:
        raise ScenarioError(f"{scenario.name}: control.law: lqr: its Riccati equation has no stabilising solution")
    own = control.model_copy(update={"gain": gain})
    return replace(scenario, content=content.model_copy(update={"control": own}))
