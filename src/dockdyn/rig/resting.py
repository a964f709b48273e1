"""The contacts of a rig at rest, as the margins of its loop and its run ask for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.deferred import jnp
from dockdyn.docking.operating_point import Nominal, acts_alone, nominal_of_run
from dockdyn.docking.resting import (
    Judged,
    Judgement,
    Resting,
    loop_of_contacts,
    model_at_rest,
    normal_loop,
    refuse_slack,
)
from dockdyn.integrate.model import State
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.plan import jit_once
from dockdyn.rig.model.in_space import PlantInSpace
from dockdyn.rig.model.mounted_plant import MountedPlant
from dockdyn.rig.model.on_line import PlantOnLine
from dockdyn.rig.model.plant import Axes
from dockdyn.rig.mounting import with_tool
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.parts import creeps
from dockdyn.stability.loop import Loop
from dockdyn.trees import map_leaves


def _where_mock_ups_touch(scenario: Scenario) -> Nominal:
    """Return where the mock-ups first touch, without rig, or where `[stability]` says.

    Raises ScenarioError where they do not, and for a tool where more than contacts acts between free bodies, or one creeps.
    """
    nominal = nominal_of_run(scenario)
    if scenario.content.loop.tool is None:
        return nominal
    measured = [scenario.content.contacts[number].normal for number in scenario.content.measured_contacts()]
    if not acts_alone(scenario.content, nominal.state) or any(map(creeps, measured)):
        raise ScenarioError(
            f"{scenario.name}: loop.tool: margins with it are along one normal of free bodies; must be left out where "
            "elements, joints or control act or a contact in hardware creeps"
        )
    return nominal


def _loop_of_mock_ups(content: Judged, nominal: Nominal) -> Judgement:
    """Return the loop that measures the contacts in hardware, while all else acts at once; with a tool it is taken along the
    normal of one contact. Can be traced."""
    if content.loop.tool is None:
        return loop_of_contacts(content, nominal, content.measured_contacts(), content.port_contact())
    return _loop_along_normal(content, nominal)


def _loop_along_normal(content: Judged, nominal: Nominal) -> Judgement:
    """Return the loop along the normal of the nominal contact, with the tool's mass as that feels it; can be traced."""
    model, state = model_at_rest(content, nominal)
    loop, contact = normal_loop(content, nominal, model, state)
    if content.loop.tool is None:
        return loop, contact
    kind = PlantOnLine if model.on_line else PlantInSpace
    plant = kind.of(
        _begun_at(model, state),
        content.measured_contacts(),
        content.mounted_bodies(),
        jnp.zeros(kind.port_axes),
        loop.effective_mass,
    )
    return with_tool(loop, content, (plant, state, _unit_load(content, nominal, plant, state))), contact


def _begun_at(model: Mechanism, state: State) -> Mechanism:
    """Return the model from whose poses at t = 0 nothing has turned in a state, so that rotation vectors are small there."""
    places = model.placement(state).bodies
    return replace(model, poses=tuple(place.pose.shifted(model.origin()) for place in places))


def _unit_load(content: Judged, nominal: Nominal, plant: MountedPlant, state: State) -> Axes:
    """Return the load (N, N m) on what is carried of a unit force along the normal of the nominal contact."""
    hardware = content.measured_contacts()
    loads = jnp.stack([plant.unit_load(contact, state) for contact in range(len(hardware))])
    return loads[jnp.argmax(jnp.asarray(hardware) == nominal.number)]


@jit_once
def _normal_once(content: RigContent, nominal: Nominal) -> Loop:
    return _loop_along_normal(content, nominal)[0]


def loop_of(scenario: Scenario) -> Loop:
    """Return the loop along the contact normal, of plain numbers.

    Raises ScenarioError where the mock-ups do not touch within the duration, and where the contact has no stiffness.
    """
    loop: Loop = map_leaves(np.asarray, _normal_once(scenario.content, nominal_of_run(scenario)))
    refuse_slack(scenario, loop)
    return loop


OF_MOCK_UPS = Resting(_where_mock_ups_touch, _loop_of_mock_ups)
