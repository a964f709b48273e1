"""Contacts at rest: the bodies touch, nothing moves, no force acts. Around that state margins are asked for.

Units: m, rad, N.
Source: Sazawal et al., eqs. 78 and 79 (the state that is linearised).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART, PRESSING
from dockdyn.contact.laws.preloaded import Preloaded
from dockdyn.contact.pair import Contact, ContactState
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.impact.laws.contact_matrix import contact_matrix, effective_mass
from dockdyn.integrate.model import State, pack, unpack
from dockdyn.kinds.free_flight.model import FreeFlight
from dockdyn.mechanics.rigid_body import Pose, Twist
from dockdyn.mechanics.vector import Scalar, Vector


class RestingContact(NamedTuple):
    """Contact in the axes (m̂, t̂, n̂): along the wall away from the docking axis's end, around the axis, into the wall."""

    matrix: Float[Array, "3 3"]  # W, 1/kg, contact acceleration per unit of contact force
    stiffness: Float[Array, ""]  # k, N/m
    damping: Float[Array, ""]  # b, N s/m
    radius: Float[Array, ""]  # m, of the contact point from the docking axis

    @property
    def effective_mass(self) -> Float[Array, ""]:
        """m† (kg) along the normal (Sazawal et al., eqs. 124, 147)."""
        return effective_mass(self.matrix, jnp.array([0.0, 0.0, 1.0]))

    def normal(self) -> Float[Array, "2"]:
        """b_d (1/s) and k_d (1/s²) of δd̈ = −b_d δḋ(t − h) − k_d δd(t − h) (eqs. 124–126)."""
        return self.matrix[2, 2] * self.slopes()

    def radial(self) -> Float[Array, "2"]:
        """b_m (1/s) and k_m (1/s²) of δm̈ = −b_m δḋ(t − h) − k_m δd(t − h) (eqs. 132–134, with m̂ᵀ M n̂)."""
        return self.matrix[0, 2] * self.slopes()

    def tangential(self) -> Float[Array, "2"]:
        """b_t (rad/(m s)) and k_t (rad/(m s²)) of δφ̈ = −b_t δḋ(t − h) − k_t δd(t − h) (eqs. 136–138, with t̂ᵀ M n̂)."""
        return -self.matrix[1, 2] / self.radius * self.slopes()

    def slopes(self) -> Float[Array, "2"]:
        return jnp.stack([self.damping, self.stiffness])


def at_rest(
    model: FreeFlight, poses: tuple[Pose, Pose], closed: tuple[int, ...], depth: Scalar | None
) -> tuple[FreeFlight, State]:
    """The model and its state with the contacts `closed` at `poses`, positions as in a state of it, everything still.

    The law of each is taken at a resting `depth` (m), by default the one it has there, less the force that holds it; so
    nothing accelerates. A latch and control are left out.
    """
    still = (Twist(Vector.zero(), Vector.zero()), Twist(Vector.zero(), Vector.zero()))
    inertial = (poses[0].shifted(model.origin()), poses[1].shifted(model.origin()))
    model = replace(model, poses=inertial, twists=still, latch=None, control=None)
    start = model.initial()
    places = model.places(start)

    def pressed(pair: Contact) -> Contact:
        found = pair.touch(*places).depth
        law = Preloaded(law=pair.law, depth=jnp.maximum(found, 0.0) if depth is None else depth, found=found)
        return eqx.tree_at(lambda pair: pair.law, pair, law)

    contacts = tuple(pressed(pair) if i in closed else pair for i, pair in enumerate(model.contacts))
    modes = tuple(jnp.asarray(PRESSING if i in closed else APART) for i in range(len(contacts)))
    return replace(model, contacts=contacts), State(start.q, still, modes, jnp.zeros(()))


def on_wall(model: FreeFlight, contact: int, azimuth: Scalar, distance: Scalar) -> tuple[Pose, Pose]:
    """Poses with the feature of a contact on its cone's wall at `azimuth` (rad) and `distance` (m) from the apex.

    Positions are as in a state. Attitudes and the pose of the body with the cone are those of the start; the other body
    is moved. TypeError for a surface that is no cone.
    """
    pair = model.contacts[contact]
    if not isinstance(pair.surface, Cone):
        raise TypeError("the surface is no cone")
    own, other = pair.sides(*model.places(model.initial()))
    place, into = pair.surface.wall(azimuth, distance)
    aim, normal = other.point(place), other.rotation @ into
    centre = own.point(Vector.of(pair.feature.position))
    touch_point = centre - normal * getattr(pair.feature, "radius", 0.0)
    moved = Pose(own.pose.position + aim - touch_point, own.pose.attitude)
    return (moved, other.pose) if pair.feature_on_chaser else (other.pose, moved)


def resting_contact(model: FreeFlight, state: State, contact: int) -> RestingContact:
    """What the contact of a model at rest feels, from the functions that simulate it."""
    pair = model.contacts[contact]

    def touch(v: Float[Array, "n"]) -> ContactState:
        return pair.touch(*model.places(State(state.q, unpack(v, state.v), state.mode, state.memory)))

    def approach(v: Float[Array, "n"]) -> Float[Array, "3"]:
        found = touch(v)
        return (found.sliding - found.normal * found.rate).array()

    still = pack(state.v)
    energy = jax.hessian(lambda v: model.kinetic_energy(State(state.q, unpack(v, state.v), state.mode, state.memory)))(
        still
    )
    now = touch(still)
    frame = _contact_frame(model, state, contact, now.normal)
    matrix = contact_matrix(frame @ jax.jacfwd(approach)(still), energy)
    own, _ = pair.sides(*model.places(state))
    law = pair.law.along(own.rotation.transposed_times(now.normal))
    stiffness, damping = jax.grad(law.force, argnums=(0, 1))(now.depth, jnp.zeros(()))
    return RestingContact(matrix, stiffness, damping, radius(model, state, contact))


def _contact_frame(model: FreeFlight, state: State, contact: int, normal: Vector) -> Float[Array, "3 3"]:
    """Rows m̂, t̂, n̂ (inertial axes); n̂ points into the wall and m̂ × t̂ = n̂ (Sazawal et al., Fig. 3)."""
    pair = model.contacts[contact]
    _, other = pair.sides(*model.places(state))
    axis = (other.rotation @ pair.surface.docking_frame()[1]).array()
    into = -normal.array()
    # where the wall is square to the axis, any direction along it serves
    spare = jnp.eye(3)[jnp.argmin(jnp.abs(into))]
    along, otherwise = (direction - into * (into @ direction) for direction in (axis, spare))
    along = jnp.where(jnp.linalg.norm(along) > 1e-9, along, otherwise)
    along = along / jnp.linalg.norm(along)
    return jnp.stack([along, jnp.cross(into, along), into])


def radius(model: FreeFlight, state: State, contact: int) -> Float[Array, ""]:
    """Distance (m) of the contact point from the docking axis."""
    pair = model.contacts[contact]
    _, other = pair.sides(*model.places(state))
    origin, axis = pair.surface.docking_frame()
    offset = other.local(pair.point(*model.places(state))) - origin
    across = offset - axis * offset.dot(axis)
    return jnp.sqrt(across.dot(across) + 1e-18)
