"""An assembly at rest in its contacts: nothing moves and no contact pushes. Around that state margins are asked for.

Units: m, s, N, kg.
Source: as in Sazawal et al., eqs. 78 and 79, carried over to groups; own construction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART, PRESSING
from dockdyn.contact.group import BRINK, ContactGroup, Rest, Wrench
from dockdyn.contact.pair import ContactKinematics, kinematics_of
from dockdyn.integrate.model import State, pack, unpack
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.loads import held_by
from dockdyn.mechanism.mechanism import Mechanism, Signal
from dockdyn.mechanism.mounts import Tie

Members = tuple[Float[Array, "*members"], ...]  # of each group: 1 of a member in contact, 0 of one that stays apart


class GroupSlopes(NamedTuple):
    """What every group is by itself, its members together; without meaning for one of which no member is in contact."""

    depth: Float[Array, "groups"]  # m, of the deepest member
    effective_mass: Float[Array, "groups"]  # kg, that it feels along the deepest member's normal
    stiffness: Float[Array, "groups"]  # N/m
    damping: Float[Array, "groups"]  # N s/m


def at_rest(model: Mechanism, state: State, members: Members, depth: Scalar | None) -> tuple[Mechanism, State]:
    """The model and its state with these members in contact, where the bodies are in `state`, everything still.

    The law of each member is taken at a resting `depth` (m), by default the one it has there, less the force that holds it.
    Elements keep their modes; of them, too, what they do there is taken off. Thrusters, control and gravity are left out.
    """
    places = model.placement(state).bodies
    groups = []
    for group, closed in zip(model.computed, members, strict=True):
        found = group.depths(places[group.first], places[group.second])
        taken = jnp.where(found > BRINK, found, 0.0) if depth is None else jnp.full_like(found, depth)
        groups.append(replace(group, rest=Rest(jnp.asarray(closed), taken, found)))
    touching = tuple(jnp.where(jnp.max(closed) > 0, PRESSING, APART).astype(int) for closed in members)
    modes = (*touching, *state.mode[len(groups) :])
    still = jax.tree.map(jnp.zeros_like, state.v)
    outside = state.memory.outside._replace(steering=None, orbit=None)
    resting = State(state.q, still, modes, state.memory._replace(outside=outside))
    connections, element_modes, here = (
        model.connections(resting),
        model.element_modes(resting),
        model.placement(resting),
    )
    held = held_by(connections, element_modes, resting.memory.elements, here)
    elements = tuple(
        replace(one, element=one.element.without_rest_force(*one.sides(here))) if isinstance(one, Tie) else one
        for one in model.elements
    )
    still_model = replace(model, groups=tuple(groups), points=(), held=held, steered=None, gravity=None)
    return replace(still_model, elements=elements), resting


def group_slopes(model: Mechanism, state: State) -> GroupSlopes:
    """What each group of an assembly `at_rest` is by itself, from the functions that simulate it."""
    own = [_own_slopes(group, *_sides(model, state, group)) for group in model.computed]
    depths, stiffness, damping = (jnp.stack(parts) for parts in zip(*own, strict=True))
    return GroupSlopes(depths, 1 / _mobilities(model, state), stiffness, damping)


def _sides(model: Mechanism, state: State, group: ContactGroup) -> tuple[Placed, Placed]:
    places = model.placement(state).bodies
    return places[group.first], places[group.second]


def _own_slopes(group: ContactGroup, own: Placed, other: Placed) -> tuple[Scalar, Scalar, Scalar]:
    """Depth (m) at which the deepest member rests, and the sums of the members' slopes over depth and rate."""

    assert group.rest is not None
    stiffness, damping = member_slopes(group, own, other)
    return group.rest.depth[_deepest(group.rest)], jnp.sum(stiffness), jnp.sum(damping)


def member_slopes(
    group: ContactGroup, own: Placed, other: Placed
) -> tuple[Float[Array, "members"], Float[Array, "members"]]:
    """Stiffness (N/m) and damping (N s/m) of each member of a group at rest; zero of one that stays apart."""

    def slopes(row: tuple[ContactGroup, Scalar, Rest]) -> tuple[Scalar, Scalar]:
        member, weight, rest = row
        meeting = kinematics_of(eqx.combine(member, group.common).touch(own, other), own, other)
        law = group.law.along(own.rotation.transposed_times(meeting.normal))
        found = jax.jvp(law.force, (rest.depth, jnp.zeros(())), (jnp.ones(()), jnp.zeros(())))[1]
        damped = jax.jvp(law.force, (rest.depth, jnp.zeros(())), (jnp.zeros(()), jnp.ones(())))[1]
        return weight * rest.closed * found, weight * rest.closed * damped

    return jax.lax.map(slopes, (group.members, group.weights, group.rest))


def _deepest(rest: Rest) -> Array:
    """The member in contact that is deepest."""
    return jnp.argmax(jnp.where(rest.closed > 0, rest.found, -jnp.inf))


def _mobilities(model: Mechanism, state: State) -> Float[Array, "groups"]:
    """How the depth of each group's deepest member decelerates (1/kg) under a unit force along its normal."""

    def meetings(v: Float[Array, "n"]) -> list[ContactKinematics]:
        places = model.placement(State(state.q, unpack(v, state.v), state.mode, state.memory)).bodies
        found = []
        for group in model.computed:
            assert group.rest is not None
            deepest = _deepest(group.rest)
            member = jax.tree.map(lambda leaf, at=deepest: leaf[at], group.members)
            own, other = places[group.first], places[group.second]
            found.append(kinematics_of(eqx.combine(member, group.common).touch(own, other), own, other))
        return found

    here, still = model.placement(state), pack(state.v)
    no_signal: Signal = (*(Wrench.zero() for _ in model.computed), *(Vector.zero() for _ in model.late))
    rows = []
    for index, meeting in enumerate(meetings(still)):
        wrenches: list[Wrench | Vector] = list(no_signal)
        about = model.computed[index].reference(here.bodies[model.computed[index].first])
        wrenches[index] = Wrench(meeting.normal, (meeting.point - about).cross(meeting.normal))
        rows.append(pack(tuple(wrenches)))

    def answer(wrenches: Float[Array, "m"]) -> Float[Array, "n"]:
        return pack(model.acting(state, here, unpack(wrenches, no_signal)).rates)

    quiet = jnp.zeros_like(rows[0])

    def mobility(row: Float[Array, "m"]) -> Float[Array, "groups"]:
        change = jax.jvp(answer, (quiet,), (row,))[1]
        rates = jax.jvp(lambda v: jnp.stack([one.rate for one in meetings(v)]), (still,), (change,))[1]
        return -rates

    return jnp.diagonal(jax.lax.map(mobility, jnp.stack(rows)))


def held_force(model: Mechanism) -> Scalar:
    """The largest force (N) of an element that is taken off in an assembly `at_rest`."""
    forces = [wrench.force for wrench in model.held or () if isinstance(wrench, Wrench)]
    return jnp.sqrt(jnp.max(jnp.stack([jnp.zeros(()), *(force.dot(force) for force in forces)])))
