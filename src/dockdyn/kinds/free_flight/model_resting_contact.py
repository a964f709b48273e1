"""Contacts at rest: the bodies touch, nothing moves, no force acts. Around that state margins are asked for.

Units: m, rad, N.
Source: Sazawal et al., eqs. 78 and 79 (the state that is linearised).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.group import ContactGroup
from dockdyn.contact.pair import ContactKinematics, kinematics_of
from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.impact.laws.contact_matrix import contact_matrix, effective_mass
from dockdyn.integrate.model import State, pack, unpack
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism import rest
from dockdyn.mechanism.mechanism import Mechanism


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
    model: Mechanism, poses: tuple[Pose, ...], closed: tuple[int, ...], depth: Scalar | None
) -> tuple[Mechanism, State]:
    """The model and its state with the contacts `closed` at `poses`, positions as in a state of it, everything still.

    The law of each is taken at a resting `depth` (m), by default the one it has there, less the force that holds it; so
    nothing accelerates. A latch and control are left out.
    """
    still = (Twist(Vector.zero(), Vector.zero()),) * 2
    inertial = tuple(pose.shifted(model.origin()) for pose in poses)
    model = replace(model, poses=inertial, twists=still, elements=(), capturing=(), steered=None)
    members = tuple(jnp.full(1, 1.0 if i in closed else 0.0) for i in range(len(model.groups)))
    return rest.at_rest(model, model.initial(), members, depth)


def on_wall(model: Mechanism, contact: int, azimuth: Scalar, distance: Scalar) -> tuple[Pose, Pose]:
    """Poses with the feature of a contact on its cone's wall at `azimuth` (rad) and `distance` (m) from the apex.

    Positions are as in a state. Attitudes and the pose of the body with the cone are those of the start; the other body
    is moved. TypeError for a surface that is no cone.
    """
    group = model.computed[contact]
    if not isinstance(group.surface, Cone):
        raise TypeError("the surface is no cone")
    own, other = _sides(model, model.initial(), contact)
    place, into = group.surface.wall(azimuth, distance)
    aim, normal = other.point(place), other.rotation @ into
    ball = group.member()
    assert isinstance(ball, BallOnSurface)
    touch_point = group.reference(own) - normal * ball.size
    moved = Pose(own.pose.position + aim - touch_point, own.pose.attitude)
    return (moved, other.pose) if group.first == 0 else (other.pose, moved)


def _sides(model: Mechanism, state: State, contact: int) -> tuple[Placed, Placed]:
    """The body with the feature of a contact and the body with its surface."""
    group, places = model.computed[contact], model.placement(state).bodies
    return places[group.first], places[group.second]


def resting_contact(model: Mechanism, state: State, contact: int) -> RestingContact:
    """What the contact of a model at rest feels, from the functions that simulate it."""
    group = model.computed[contact]

    def meeting(v: Float[Array, "n"]) -> ContactKinematics:
        sides = _sides(model, State(state.q, unpack(v, state.v), state.mode, state.memory), contact)
        return kinematics_of(group.member().touch(*sides), *sides)

    def approach(v: Float[Array, "n"]) -> Float[Array, "3"]:
        found = meeting(v)
        return (found.sliding - found.normal * found.rate).array()

    still = pack(state.v)
    energy = jax.hessian(lambda v: model.kinetic_energy(State(state.q, unpack(v, state.v), state.mode, state.memory)))(
        still
    )
    own, other = _sides(model, state, contact)
    now = meeting(still)
    frame = _contact_frame(group, other, now.normal)
    matrix = contact_matrix(frame @ jax.jacfwd(approach)(still), energy)
    stiffness, damping = (slopes[0] for slopes in rest.member_slopes(group, own, other))
    return RestingContact(matrix, stiffness, damping, _radius(group, other, now.point))


def _contact_frame(group: ContactGroup, other: Placed, normal: Vector) -> Float[Array, "3 3"]:
    """Rows m̂, t̂, n̂ (inertial axes); n̂ points into the wall and m̂ × t̂ = n̂ (Sazawal et al., Fig. 3)."""
    assert group.surface is not None
    axis = (other.rotation @ group.surface.docking_frame()[1]).array()
    into = -normal.array()
    # where the wall is square to the axis, any direction along it serves
    spare = jnp.eye(3)[jnp.argmin(jnp.abs(into))]
    along, otherwise = (direction - into * (into @ direction) for direction in (axis, spare))
    along = jnp.where(jnp.linalg.norm(along) > 1e-9, along, otherwise)
    along = along / jnp.linalg.norm(along)
    return jnp.stack([along, jnp.cross(into, along), into])


def _radius(group: ContactGroup, other: Placed, point: Vector) -> Float[Array, ""]:
    """Distance (m) of the contact point (inertial) from the docking axis."""
    assert group.surface is not None
    origin, axis = group.surface.docking_frame()
    offset = other.local(point) - origin
    across = offset - axis * offset.dot(axis)
    return jnp.sqrt(across.dot(across) + 1e-18)
