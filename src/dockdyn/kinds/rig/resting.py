"""The contacts of a rig at rest, as the margins of its loop ask for them."""

from __future__ import annotations

from dockdyn.kinds.free_flight.closed_together import RestingBodies
from dockdyn.kinds.free_flight.nominal import NominalContact
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario


class RestingRig(RestingBodies):
    """As of the virtual bodies, where there are two; an assembly's have no margins on a rig."""

    def nominal(self, scenario: Scenario) -> NominalContact | None:
        if scenario.content.mode == "assembly":
            raise ScenarioError(f"{scenario.name}: mode = 'assembly': has no margins; must be 1-dof or 6-dof")
        return super().nominal(scenario)
