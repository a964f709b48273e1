"""The contacts of a rig at rest, as the margins of its loop ask for them."""

from __future__ import annotations

from dockdyn.kinds.free_flight.closed_together import RestingBodies
from dockdyn.kinds.free_flight.model_resting_contact import RestingContact
from dockdyn.kinds.free_flight.nominal import NominalContact, rest
from dockdyn.kinds.resting import Judged
from dockdyn.kinds.rig.model.bodies import Bodies
from dockdyn.kinds.rig.mounting import with_tool
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop


class RestingRig(RestingBodies):
    """As of the virtual bodies, where there are two; an assembly's have no margins on a rig."""

    def nominal(self, scenario: Scenario) -> NominalContact | None:
        if scenario.content.mode == "assembly":
            raise ScenarioError(f"{scenario.name}: mode = 'assembly': has no margins; must be 1-dof or 6-dof")
        return super().nominal(scenario)

    def loop(self, content: Judged, nominal: NominalContact | None) -> tuple[Loop, RestingContact | None]:
        loop, contact = super().loop(content, nominal)
        if content.loop.tool is None or nominal is None:
            return with_tool(loop, content, None), contact
        model, state = rest(content, nominal)
        plant = Bodies(
            bodies=model.bodies,
            contacts=model.contacts,
            virtual=(),
            poses=state.q,
            twists=state.v,
            mass=loop.effective_mass,
        )
        return with_tool(loop, content, (plant, plant.unit_load(nominal.contact))), contact
