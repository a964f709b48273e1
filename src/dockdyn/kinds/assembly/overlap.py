"""Whether bodies of an assembly begin inside one another."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.kinds.assembly.schema.contacts import ContactSection
from dockdyn.kinds.assembly.schema.several import SeveralBodiesSection
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

DEEP = 0.2  # m: of a point, which has no radius; more overlap than that at the start is a mistake


def refuse_overlap(scenario: Scenario) -> None:
    """ScenarioError where what touches begins deeper in something else than its own radius."""
    content = scenario.content
    if not content.contact:
        return
    for contact, depth in zip(content.contact, np.asarray(_first_depths(content)), strict=True):
        most = deepest_allowed(content, contact)
        if depth > most:
            raise ScenarioError(
                f"{scenario.name}: contact {contact.label()!r}: overlap at the start = {depth:.3g} m; "
                f"must be at most {most:.3g} m"
            )


@jit_once
def _first_depths(content: SeveralBodiesSection) -> Float[Array, "contacts"]:
    """How deep (m) every contact is at t = 0."""
    model = content.model()
    return jnp.stack([state.depth for state in model.states(model.initial())])


def deepest_allowed(content: SeveralBodiesSection, contact: ContactSection) -> float:
    """How deep (m) a contact may be at the start: the largest radius of what touches, or `DEEP` of points."""
    names = [contact.feature] if contact.against is None else [contact.feature, contact.against]
    features = [content.find("feature", name)[1] for name in names]
    return max(feature.radius for feature in features) or DEEP
