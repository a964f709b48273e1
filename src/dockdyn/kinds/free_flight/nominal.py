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
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution, Status
from dockdyn.kinds.free_flight.model_resting_contact import RestingContact, at_rest, on_wall, resting_contact
from dockdyn.kinds.free_flight.schema import TwoBodiesSection
from dockdyn.kinds.resting import TOGETHER, Judged, refuse_control
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.drive import watching
from dockdyn.results.plan import jit_once, settings_for
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
    of a surface that is no cone; and where control acts, which margins do not know.
    """
    content = scenario.content
    if content.kind == "rig" and content.mode == "1-dof":
        return None
    refuse_control(scenario)
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


@jit_once
def until_contact(content: TwoBodiesSection, settings: located.Settings) -> Solution:
    return located.solve(unlatched(content), settings)


def unlatched(content: TwoBodiesSection) -> Mechanism:
    """The model without its latch: contacts alone."""
    return replace(content.model(), elements=(), capturing=())


@jit_once
def start_of(content: TwoBodiesSection) -> State:
    """The state at t = 0, contacts alone."""
    return unlatched(content).initial()


def first_contact(scenario: Scenario) -> NominalContact:
    """The first contact of the run that the scenario describes."""
    content = scenario.content
    start = start_of(content)
    closed = [index for index, mode in enumerate(start.mode) if int(mode) != APART]
    if closed:
        return NominalContact(start.q.roots, closed[0], pressed=True, others=tuple(closed[1:]))
    settings = replace(settings_for(content), samples=0, max_moments=1)
    with watching("the motion until the first contact"):
        solution = jax.block_until_ready(until_contact(content, settings))
    fired = np.asarray(solution.log.fired[0])
    if int(solution.status) != Status.TOO_MANY_EVENTS or not fired.any():
        raise ScenarioError(
            f"{scenario.name}: duration = {content.duration:g} s: no contact within it, about which the loop's margins could "
            "be asked; must be longer, or state stability.distance, along a cone's wall"
        )
    there = jax.tree.map(lambda rows: rows[0], solution.log.state)
    touching = [index for index, mode in enumerate(there.mode) if int(mode) != APART]
    return _with_others(content, NominalContact(there.q.roots, touching[0]))


def rest(content: TwoBodiesSection, nominal: NominalContact) -> tuple[Mechanism, State]:
    """The model at rest in its nominal contact and those closed with it; can be traced."""
    model = content.model()
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
