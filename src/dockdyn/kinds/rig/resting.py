"""The contacts of a rig at rest, as the margins of its loop ask for them."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp

from dockdyn.kinds.nominal import Nominal
from dockdyn.kinds.resting import Judged, Judgement, Resting, loop_of_contacts, normal_loop, rest
from dockdyn.kinds.rig.first_touch import first_touch
from dockdyn.kinds.rig.model.in_space import PlantInSpace
from dockdyn.kinds.rig.mounting import with_tool
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario


def _no_nominal(scenario: Scenario) -> None:
    """Return None: along one direction there is but one contact, and no body to place."""


def _line_loop(content: Judged, nominal: Nominal | None) -> Judgement:
    """The loop along the one direction."""
    depth = jnp.asarray(content.stability.depth, float)
    stiffness, damping = jax.grad(content.law().force, argnums=(0, 1))(depth, jnp.zeros(()))
    return with_tool(content.loop.make(content.mass, stiffness, damping), content, None), None


def _loop_of_bodies(content: Judged, nominal: Nominal | None) -> Judgement:
    """The loop of the virtual bodies; with a tool it is taken along the normal of one contact."""
    assert nominal is not None
    if content.loop.tool is None:
        return loop_of_contacts(content, nominal)
    model, state = rest(content, nominal)
    loop, contact = normal_loop(content, nominal, model, state)
    model = replace(model, poses=tuple(pose.shifted(model.origin()) for pose in state.q.roots), twists=state.v.roots)
    plant = PlantInSpace.of(model, content.hardware(), content.mounted_bodies(), jnp.zeros(3), loop.effective_mass)
    loads = jnp.stack([plant.unit_load(number) for number in range(len(content.contact))])
    return with_tool(loop, content, (plant, loads[nominal.number])), contact


def _where_mock_ups_touch(scenario: Scenario) -> Nominal:
    """Return where the mock-ups first touch, without rig. Raises ScenarioError for a tool, and where they do not."""
    if scenario.content.loop.tool is not None:
        raise ScenarioError(f"{scenario.name}: loop.tool: must be left out for margins with mode = 'assembly'")
    return first_touch(scenario)


def _loop_of_mock_ups(content: Judged, nominal: Nominal | None) -> Judgement:
    """The loop that measures the contacts in hardware, while all else acts at once."""
    return loop_of_contacts(content, nominal, content.hardware(), content.carried_features()[0])


MODES = {
    "1-dof": Resting(_no_nominal, _line_loop),
    "6-dof": Resting(loop=_loop_of_bodies),
    "assembly": Resting(_where_mock_ups_touch, _loop_of_mock_ups, follows=False),
}
