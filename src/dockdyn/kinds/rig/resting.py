"""The contacts of a rig at rest, as the margins of its loop ask for them."""

from __future__ import annotations

import jax.numpy as jnp

from dockdyn.kinds.assembly.nominal import NominalAssembly, nominal_at
from dockdyn.kinds.assembly.resting import RestingAssembly
from dockdyn.kinds.free_flight.closed_together import RestingBodies
from dockdyn.kinds.free_flight.model_resting_contact import RestingContact
from dockdyn.kinds.free_flight.nominal import NominalContact, rest
from dockdyn.kinds.resting import Judged, LaterSet
from dockdyn.kinds.rig.first_touch import first_touch
from dockdyn.kinds.rig.model.in_space import PlantInSpace
from dockdyn.kinds.rig.mounting import with_tool
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop


class RestingMounted(RestingAssembly):
    """An assembly two of whose bodies meet in hardware: the loop measures their contacts, all else acts at once."""

    def nominal(self, scenario: Scenario) -> NominalAssembly:
        """Where the mock-ups first touch, without rig. Raises ScenarioError for a tool, and where they do not."""
        content = scenario.content
        if content.loop.tool is not None:
            raise ScenarioError(f"{scenario.name}: loop.tool: must be left out for margins with mode = 'assembly'")
        state, touching = first_touch(scenario)
        found = nominal_at(content, state, touching)
        assert found is not None
        return found

    def measured(self, content: Judged) -> list[int]:
        return content.hardware()

    def port(self, content: Judged) -> int:
        return content.carried_features()[0]

    def later_sets(self, scenario: Scenario, nominal: NominalAssembly) -> list[LaterSet]:
        return []

    def after_contact(self, content: Judged) -> bool:
        return False


class RestingRig(RestingBodies):
    """As of the virtual bodies, where there are two."""

    def loop(self, content: Judged, nominal: NominalContact | None) -> tuple[Loop, RestingContact | None]:
        loop, contact = super().loop(content, nominal)
        if content.loop.tool is None or nominal is None:
            return with_tool(loop, content, None), contact
        model, mass = rest(content, nominal)[0], loop.effective_mass
        plant = PlantInSpace.of(model, content.hardware(), content.mounted_bodies(), jnp.zeros(3), mass)
        return with_tool(loop, content, (plant, plant.unit_load(nominal.contact))), contact
