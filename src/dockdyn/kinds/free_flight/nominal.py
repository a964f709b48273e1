"""The state around which a scenario's margins are asked for, and the loop along its contact normal."""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.integrate.model import State
from dockdyn.kinds.followed import first_touching
from dockdyn.kinds.free_flight.model_resting_contact import RestingContact, at_rest, on_wall, resting_contact
from dockdyn.kinds.free_flight.schema import TwoBodiesSection
from dockdyn.kinds.resting import TOGETHER, Judged
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made
from dockdyn.stability.loop import Loop


class NominalContact(eqx.Module):
    """Which contact is closed, which others with it, and where: at `poses`, or where `[stability]` places it."""

    poses: tuple[Pose, Pose] | None
    contact: int = eqx.field(static=True)
    pressed: bool = eqx.field(static=True, default=False)  # contacts are as deep as they are there
    others: tuple[int, ...] = eqx.field(static=True, default=())

    @property
    def closed(self) -> tuple[int, ...]:
        """All contacts that are closed."""
        return (self.contact, *self.others)


def nominal_contact(scenario: Scenario) -> NominalContact | None:
    """The nominal contact of a scenario; None for a rig along one direction, which has only one.

    Raises ScenarioError when there is none: no contact in the scenario, none within its duration, or a place on the wall
    of a surface that is no cone.
    """
    content = scenario.content
    if content.kind == "rig" and content.mode == "1-dof":
        return None
    if not content.contact:
        raise ScenarioError(f"{scenario.name}: contact: missing; margins need a [[contact]]")
    if content.stability.distance is None:
        return first_contact(scenario)
    section = content.pair(content.contact[0])[1]
    surface = made(section)
    if not isinstance(surface, Cone):
        raise ScenarioError(
            f"{scenario.name}: stability.distance: the first contact's surface is a {section.shape}; must be a cone"
        )
    rim = surface.rim_radius
    if rim is not None and content.stability.distance > (slant := float(rim / surface.sine)):
        raise ScenarioError(
            f"{scenario.name}: stability.distance = {content.stability.distance:g} m: beyond the cone's rim; "
            f"must be at most {slant:g} m from the apex"
        )
    return _with_others(content, NominalContact(None, 0))


def _with_others(content: TwoBodiesSection, nominal: NominalContact) -> NominalContact:
    """`nominal` with the contacts that are closed where it is: no more than `TOGETHER` (m) apart there."""
    if len(content.contact) < 2:
        return nominal
    depths = np.asarray(_depths_once(content, nominal))
    others = tuple(i for i, depth in enumerate(depths) if i != nominal.contact and depth >= -TOGETHER)
    return replace(nominal, others=others)


@jit_once
def _depths_once(content: TwoBodiesSection, nominal: NominalContact) -> Float[Array, "contacts"]:
    """Depth (m) of every contact at the nominal state."""
    model, state = rest(content, nominal)
    return jnp.stack([one.depth for one in model.states(state, exact=True)])


def bare_model(content: TwoBodiesSection) -> Mechanism:
    """The model of the contacts alone: without latch and control; can be traced."""
    return replace(content.model(), elements=(), capturing=(), steered=None)


def without_latch(scenario: Scenario) -> Scenario:
    """The scenario of the contacts alone."""
    if getattr(scenario.content, "latch", None) is None:
        return scenario
    return replace(scenario, content=scenario.content.model_copy(update={"latch": None}))


def first_contact(scenario: Scenario) -> NominalContact:
    """The first contact of the run that the scenario describes."""
    content = scenario.content
    time, state = first_touching(without_latch(scenario), "state stability.distance, along a cone's wall")
    first, *others = (index for index, mode in enumerate(state.mode[: len(content.contact)]) if int(mode) != APART)
    if time == 0:
        return NominalContact(state.q.roots, first, pressed=True, others=tuple(others))
    return _with_others(content, NominalContact(state.q.roots, first))


def rest(content: TwoBodiesSection, nominal: NominalContact) -> tuple[Mechanism, State]:
    """The model at rest in its nominal contact and those closed with it; can be traced."""
    model = bare_model(content)
    poses = nominal.poses
    if poses is None:
        azimuth = 0.0 if content.stability.azimuth is None else content.stability.azimuth
        poses = on_wall(model, nominal.contact, jnp.asarray(azimuth), jnp.asarray(content.stability.distance))
    depth = content.stability.depth
    if depth is None and not nominal.pressed:
        depth = 0.0
    return at_rest(model, poses, nominal.closed, None if depth is None else jnp.asarray(depth, float))


def contact_loop(content: Judged, nominal: NominalContact | None) -> tuple[Loop, RestingContact | None]:
    """The loop along the contact normal, and what the contact feels; can be traced."""
    if nominal is None:
        depth = jnp.asarray(content.stability.depth, float)
        stiffness, damping = jax.grad(content.law().force, argnums=(0, 1))(depth, jnp.zeros(()))
        return content.loop.make(content.mass, stiffness, damping), None
    model, state = rest(content, nominal)
    contact = resting_contact(model, state, nominal.contact)
    return content.loop.make(contact.effective_mass, contact.stiffness, contact.damping), contact
