"""Contacts of a mechanism at rest: nothing moves and no contact pushes. Around that state margins are asked for.

Units: m, rad, s, N, kg.
Source: Sazawal et al., eqs. 78 and 79 (the state that is linearised), carried over to groups of contacts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dockdyn.contact.contact_kinematics import ContactKinematics
from dockdyn.contact.contact_modes import APART, PRESSING
from dockdyn.contact.group import BRINK, ContactGroup, Rest, Wrench
from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.deferred import Array, Float, Int, PyTree, jax, jnp
from dockdyn.integrate.model import State, jacobian_by_columns, pack_tree, unpack_tree
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.loads import held_by
from dockdyn.mechanism.mechanism import Mechanism, Signal
from dockdyn.mechanism.mounts import Borne, Tie
from dockdyn.stability.contact_plant import ContactCreep
from dockdyn.trees import combine, leaves_of, map_leaves

type Members = tuple[
    Float[Array, "*members"], ...
]  # of each group: 1 of a member in contact, 0 of one that stays apart


class RestingContact(NamedTuple):
    """Contact in the axes (m̂, t̂, n̂): along the wall away from the docking axis's end, around the axis, into the wall.

    Of a group, its members together, at the deepest of them. A leading axis of all stands for several contacts.
    """

    matrix: Float[Array, "3 3"]  # W, 1/kg, contact acceleration per unit of contact force
    stiffness: Float[Array, ""]  # k, N/m
    damping: Float[Array, ""]  # b, N s/m
    radius: Float[Array, ""]  # m, of the contact point from the docking axis; not a number where nothing has one
    depth: Float[Array, ""]  # m, at which it rests

    @property
    def effective_mass(self) -> Float[Array, ""]:
        """m† (kg) along the normal (Sazawal et al., eqs. 124, 147)."""
        return 1 / self.matrix[..., 2, 2]

    def normal(self) -> Float[Array, "2"]:
        """Return b_d (1/s) and k_d (1/s²) of δd̈ = −b_d δḋ(t − h) − k_d δd(t − h) (eqs. 124–126)."""
        return self.matrix[2, 2] * self.slopes()

    def radial(self) -> Float[Array, "2"]:
        """Return b_m (1/s) and k_m (1/s²) of δm̈ = −b_m δḋ(t − h) − k_m δd(t − h) (eqs. 132–134, with m̂ᵀ M n̂)."""
        return self.matrix[0, 2] * self.slopes()

    def tangential(self) -> Float[Array, "2"]:
        """Return b_t (rad/(m s)) and k_t (rad/(m s²)) of δφ̈ = −b_t δḋ(t − h) − k_t δd(t − h) (eqs. 136–138, with t̂ᵀ M n̂)."""
        return -self.matrix[1, 2] / self.radius * self.slopes()

    def slopes(self) -> Float[Array, "2"]:
        return jnp.stack([self.damping, self.stiffness])


def at_rest(
    model: Mechanism, state: State, members: Members, pressed: Scalar, depth: Scalar | None
) -> tuple[Mechanism, State]:
    """Return the model and its state with these members in contact, where the bodies are in `state`, everything still.

    The law of each member is taken at a resting `depth` (m), by default where contact begins or, of what is `pressed` (1, else
    0), at the depth it has there, less the force that holds it. Elements of the model keep their modes; of them, too, what they
    do there is taken off, as of control that acts at every instant. Thrusters, sampled control and gravity are left out.
    """
    places = model.placement(state).bodies
    groups = []
    for group, closed in zip(model.computed, members, strict=True):
        found = group.depths(places[group.first], places[group.second])
        taken = pressed * jnp.where(found > BRINK, found, 0.0) if depth is None else jnp.full_like(found, depth)
        seat = group.seats(places[group.first], places[group.second])
        groups.append(replace(group, rest=Rest(jnp.asarray(closed), taken, found, seat)))
    touching = tuple(jnp.where(jnp.max(closed) > 0, PRESSING, APART).astype(int) for closed in members)
    kept = len(model.elements) + (model.phases is not None)
    modes = (*touching, *state.mode[len(groups) : len(groups) + kept])
    still = map_leaves(jnp.zeros_like, state.v)
    steered = model.steered if model.next_tick(state) is None else None
    steering = None if steered is None else state.memory.outside.steering
    outside = state.memory.outside._replace(steering=steering, orbit=None)
    remembered = tuple(past for group in groups if (past := group.first_memory()) is not None)
    elements = state.memory.elements[: len(model.elements)]
    memory = state.memory._replace(outside=outside, contacts=remembered, elements=elements)
    resting = State(state.q, still, modes, memory)
    here, mounts = model.placement(resting), model.elements_at(resting)
    held = held_by(mounts, model.element_modes(resting), memory.elements, here)
    elements = tuple(
        replace(one, element=one.element.without_rest_force(*one.sides(here))) if isinstance(one, Tie) else one
        for one in model.elements
    )
    model = replace(model, groups=tuple(groups), elements=elements, held=held)
    model = replace(model, points=(), steered=steered, gravity=None)
    return replace(model, control_at_rest=model.control(resting, model.seen(resting, here))), resting


def on_wall(model: Mechanism, state: State, number: int, azimuth: Scalar, distance: Scalar) -> State:
    """Return `state` with the feature of a contact by number on its cone's wall, at `azimuth` (rad) and `distance` (m).

    The distance is from the apex. The body with the feature is moved, with what joints hold to it, and not turned. TypeError
    for what is no ball on a cone.
    """
    group, places = model.computed[number], model.placement(state).bodies
    own, other, ball = places[group.first], places[group.second], group.member()
    if not isinstance(ball, BallOnSurface) or not isinstance(ball.surface, Cone):
        raise TypeError("the contact is not that of a ball with a cone")
    place, into = ball.surface.wall(azimuth, distance)
    touch_point = group.reference(own) - (other.rotation @ into) * ball.size
    root = next((tree.members[0] for tree in model.trees if group.first in tree.members), group.first)
    moved, roots = model.moving.roots().index(root), list(state.q.roots)
    roots[moved] = roots[moved].shifted(other.point(place) - touch_point)
    return State(state.q._replace(roots=tuple(roots)), state.v, state.mode, state.memory)


def resting_contacts(model: Mechanism, state: State) -> RestingContact:
    """Return what each contact of a model `at_rest` feels, from the functions that simulate it, along a leading axis.

    It is without meaning for a group of which no member is in contact.
    """
    seats = _Seats.of(model, state)
    return jax.lax.map(lambda number: seats.felt(model, state, number), jnp.arange(len(model.groups)))


def resting_contact(model: Mechanism, state: State, number: Int[Array, ""]) -> RestingContact:
    """Return what one contact feels, by number."""
    return _Seats.of(model, state).felt(model, state, number)


class _Seats(NamedTuple):
    """Where the contacts of a model at rest touch: of each the axes m̂, t̂, n̂, a unit load along each, and its own slopes."""

    frames: Float[Array, "groups 3 3"]  # inertial
    loads: Float[Array, "groups 3 signals"]
    stiffness: Float[Array, "groups"]  # N/m
    damping: Float[Array, "groups"]  # N s/m
    radius: Float[Array, "groups"]  # m
    depth: Float[Array, "groups"]  # m

    @classmethod
    def of(cls, model: Mechanism, state: State) -> _Seats:
        here, nothing, found = model.placement(state), _no_signals(model), []
        for number, (group, meeting) in enumerate(zip(model.computed, _deepest_meetings(model, here), strict=True)):
            own, other = here.bodies[group.first], here.bodies[group.second]
            frame, lever = _contact_frame(group, other, meeting.normal), meeting.point - group.reference(own)
            loads = []
            for axis in map(Vector.of, frame):
                load = Wrench(axis, lever.cross(axis))
                loads.append(pack_tree((*nothing[:number], load, *nothing[number + 1 :])))
            stiffness, damping = map(jnp.sum, member_slopes(group, own, other))
            radius = _contact_radius(group, other, meeting.point)
            found.append(_Seats(frame, jnp.stack(loads), stiffness, damping, radius, resting_depth(group)))
        return map_leaves(lambda *parts: jnp.stack(parts), *found)

    def felt(self, model: Mechanism, state: State, number: Int[Array, ""]) -> RestingContact:
        """Return what a contact feels: its bodies answer as joints and reflected inertia let them."""
        here, still, nothing = model.placement(state), pack_tree(state.v), _no_signals(model)

        def answer(signals: Float[Array, "signals"]) -> Float[Array, "n"]:
            return pack_tree(model.acting(state, here, unpack_tree(signals, nothing)).rates)

        def approaches(v: Float[Array, "n"]) -> Float[Array, "groups 3"]:
            moving = model.placement(State(state.q, unpack_tree(v, state.v), state.mode, state.memory))
            return jnp.stack(
                [(one.sliding - one.normal * one.rate).array() for one in _deepest_meetings(model, moving)]
            )

        def accelerated(load: Float[Array, "signals"]) -> Float[Array, "3"]:
            change = jax.jvp(answer, (jnp.zeros_like(load),), (load,))[1]
            return self.frames[number] @ jax.jvp(approaches, (still,), (change,))[1][number]

        matrix = jax.lax.map(accelerated, self.loads[number]).T
        own = (self.stiffness, self.damping, self.radius, self.depth)
        return RestingContact(matrix, *(numbers[number] for numbers in own))


def _no_signals(model: Mechanism) -> Signal:
    """Return what the loop delays where nothing acts."""
    return (*(Wrench.zero() for _ in model.computed), *(Vector.zero() for _ in model.late))


def _deepest_meetings(model: Mechanism, here: Placement) -> list[ContactKinematics]:
    """Return how the deepest member of each group meets its partner."""
    found = []
    for group in model.computed:
        assert group.rest is not None
        deepest = _deepest_member(group.rest)
        member = map_leaves(lambda leaf, at=deepest: leaf[at], group.members)
        own, other = here.bodies[group.first], here.bodies[group.second]
        found.append(combine(member, group.common).meet(own, other))
    return found


def _contact_frame(group: ContactGroup, other: Placed, normal: Vector) -> Float[Array, "3 3"]:
    """Return rows m̂, t̂, n̂ (inertial axes); n̂ points into the wall and m̂ × t̂ = n̂ (Sazawal et al., Fig. 3)."""
    into = -normal.array()
    # where the wall is square to the axis, or there is none, any direction along it serves
    spare = jnp.eye(3)[jnp.argmin(jnp.abs(into))]
    along = spare - into * (into @ spare)
    if group.surface is not None:
        axis = (other.rotation @ group.surface.docking_frame()[1]).array()
        onwards = axis - into * (into @ axis)
        along = jnp.where(jnp.linalg.norm(onwards) > 1e-9, onwards, along)
    along = along / jnp.linalg.norm(along)
    return jnp.stack([along, jnp.cross(into, along), into])


def _contact_radius(group: ContactGroup, other: Placed, point: Vector) -> Scalar:
    """Return the distance (m) of the contact point (inertial) from the docking axis."""
    if group.surface is None:
        return jnp.asarray(jnp.nan)
    origin, axis = group.surface.docking_frame()
    offset = other.local(point) - origin
    across = offset - axis * offset.dot(axis)
    return jnp.sqrt(across.dot(across) + 1e-18)


def resting_depth(group: ContactGroup) -> Scalar:
    """Return the depth (m) at which the deepest member in contact of a group at rest does so."""
    assert group.rest is not None
    return group.rest.depth[_deepest_member(group.rest)]


def member_slopes(
    group: ContactGroup, own: Placed, other: Placed
) -> tuple[Float[Array, "members"], Float[Array, "members"]]:
    """Return the stiffness (N/m) and damping (N s/m) of each member of a group at rest; zero of one that stays apart."""

    def slopes(row: tuple[ContactGroup, Scalar, Rest]) -> tuple[Scalar, Scalar]:
        member, weight, rest = row
        meeting = combine(member, group.common).meet(own, other)
        law = group.law.along(own.rotation.transposed_times(meeting.normal)).at_rest(rest.depth)
        found = jax.jvp(law.force, (rest.depth, jnp.zeros(())), (jnp.ones(()), jnp.zeros(())))[1]
        damped = jax.jvp(law.force, (rest.depth, jnp.zeros(())), (jnp.zeros(()), jnp.ones(())))[1]
        return weight * rest.closed * found, weight * rest.closed * damped

    return jax.lax.map(slopes, (group.members, group.weights, group.rest))


def member_creep(group: ContactGroup, own: Placed, other: Placed) -> ContactCreep | None:
    """Return what the members of a group at rest remember of small motions, beside their depths; None of a law that does
    not."""
    past = group.first_memory()
    if past is None:
        return None

    def one(row: tuple[ContactGroup, Scalar, Rest, PyTree]) -> tuple[Array, Array, Array]:
        member, weight, rest, memory = row
        meeting = combine(member, group.common).meet(own, other)
        law = group.law.along(own.rotation.transposed_times(meeting.normal)).at_rest(rest.depth)
        apart = rest.closed == 0

        def rate(crept: Float[Array, "m"], depth: Scalar) -> Float[Array, "m"]:
            return pack_tree(law.memory_rate(unpack_tree(crept, memory), depth, apart))

        def force(crept: Float[Array, "m"]) -> Float[Array, "1"]:
            return law.after(unpack_tree(crept, memory)).force(rest.depth, jnp.zeros(()))[None]

        crept = pack_tree(memory)
        by_depth = jax.jvp(lambda depth: rate(crept, depth), (rest.depth,), (jnp.ones(()),))[1]
        by_memory = jacobian_by_columns(lambda crept: rate(crept, rest.depth), crept)
        return by_memory, by_depth, weight * rest.closed * jacobian_by_columns(force, crept)[0]

    states, inputs, outputs = jax.lax.map(one, (group.members, group.weights, group.rest, past.law))
    count, each = inputs.shape
    own_rows = jnp.arange(count)
    state = jnp.zeros((count, each, count, each)).at[own_rows, :, own_rows].set(states)
    given = jnp.zeros((count, each, count)).at[own_rows, :, own_rows].set(inputs)
    output = jnp.zeros((count, count, each)).at[own_rows, own_rows].set(outputs)
    size = count * each
    return ContactCreep(state.reshape(size, size), given.reshape(size, count), output.reshape(count, size))


def _deepest_member(rest: Rest) -> Array:
    """Return the member in contact that is deepest."""
    return jnp.argmax(jnp.where(rest.closed > 0, rest.found, -jnp.inf))


def changing_numbers(state: State) -> Int[np.ndarray, "numbers"]:
    """Return which of the numbers of a state are those of small motions: place and motion of the bodies, and what laws of
    control and of contacts remember. What else is remembered is held."""
    held: State = map_leaves(lambda leaf: np.zeros(np.shape(leaf), bool), state)
    outside = held.memory.outside
    if outside.steering is not None:
        law = map_leaves(lambda leaf: ~leaf, outside.steering.law)
        outside = outside._replace(steering=outside.steering._replace(law=law))
    place, motion = (map_leaves(lambda leaf: ~leaf, part) for part in (held.q, held.v))
    contacts = map_leaves(lambda leaf: ~leaf, held.memory.contacts)
    flags = leaves_of((place, motion, held.memory._replace(outside=outside, contacts=contacts)))
    return np.flatnonzero(np.concatenate([flag.ravel() for flag in flags]))


def held_force(model: Mechanism) -> Scalar:
    """Return the largest force (N) of an element, or of control on its body, that is taken off in a model `at_rest`."""
    forces = [one.force for one in model.held or () if isinstance(one, Borne)]
    forces += [] if model.control_at_rest is None else [model.control_at_rest.push[1].force]
    return jnp.sqrt(jnp.max(jnp.stack([jnp.zeros(()), *(force.dot(force) for force in forces)])))
