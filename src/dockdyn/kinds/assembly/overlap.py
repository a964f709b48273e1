"""Whether bodies of an assembly begin inside one another."""

from __future__ import annotations

from dockdyn.contact.gate import APART
from dockdyn.kinds.assembly.schema import AssemblySection, ContactSection
from dockdyn.results.contact_run import init
from dockdyn.results.plan import settings_for
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

DEEP = 0.2  # m: of a point, which has no radius; more overlap than that at the start is a mistake


def refuse_overlap(scenario: Scenario) -> None:
    """ScenarioError where what touches begins deeper in something else than its own radius."""
    content = scenario.content
    point = init(content, settings_for(content)).point
    guards, modes = point.outputs.guards, point.state.mode
    for contact, guard, mode in zip(content.contact, guards, modes, strict=False):
        depth, most = float(guard if int(mode) == APART else -guard), deepest_allowed(content, contact)
        if depth > most:
            raise ScenarioError(
                f"{scenario.name}: contact {contact.label()!r}: begins with an overlap of {depth:.3g} m; "
                f"must be at most {most:.3g} m"
            )


def deepest_allowed(content: AssemblySection, contact: ContactSection) -> float:
    """How deep (m) a contact may be at the start: the largest radius of what touches, or `DEEP` of points."""
    names = [contact.feature] if contact.against is None else [contact.feature, contact.against]
    features = [content.find("feature", name)[1] for name in names]
    return max(feature.radius for feature in features) or DEEP
