"""What a group of contacts feels along its normal where it begins to press, everything at rest.

Units: SI.
Source: definitions; derivatives of the functions that simulate the group.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from dockdyn.contact.gate import PRESSING
from dockdyn.contact.group import ContactGroup, GroupState
from dockdyn.integrate.model import Scalar, State
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.loads import reflected
from dockdyn.mechanism.mechanism import Mechanism


class RestingGroup(NamedTuple):
    """A group along the normal of its deepest member."""

    effective_mass: Scalar  # kg, with joints and reflected inertia; springs have no time to act
    stiffness: Scalar  # N/m
    damping: Scalar  # N s/m


def resting_group(model: Mechanism, x: State, number: int, depth: Scalar) -> RestingGroup:
    """A group, by number, where the bodies of the state `x` are, pressed to a `depth` (m) if it is less deep there."""
    group = model.groups[number]
    assert isinstance(group, ContactGroup)
    still = State(x.q, jax.tree.map(jnp.zeros_like, x.v), x.mode, x.memory)
    here = model.placement(still)
    own, other = here.bodies[group.first], here.bodies[group.second]

    def moved(by: Vector, velocity: Vector) -> GroupState:
        return group.state(jnp.asarray(PRESSING), own.moved(by, velocity), other, exact=True)

    found = moved(Vector.zero(), Vector.zero())
    _, falls = jax.vmap(
        lambda way: jax.jvp(lambda by: moved(Vector.of(by), Vector.zero()).depth, (jnp.zeros(3),), (way,))
    )(jnp.eye(3))
    normal = -Vector.of(falls)  # out of the second body

    def pressing(deeper: Scalar, speed: Scalar) -> Scalar:
        return moved(normal * -deeper, normal * -speed).wrench.force.dot(normal)

    deeper, zero, one = jnp.maximum(depth - found.depth, 0.0), jnp.zeros(()), jnp.ones(())
    _, stiffness = jax.jvp(lambda by: pressing(by, zero), (deeper,), (one,))
    _, damping = jax.jvp(lambda speed: pressing(deeper, speed), (zero,), (one,))
    return RestingGroup(_effective_mass(model, still, group, found.point, normal), stiffness, damping)


def _effective_mass(model: Mechanism, still: State, group: ContactGroup, point: Vector, normal: Vector) -> Scalar:
    """Force over the acceleration with which the two bodies of a group part at a point (m, as in a placement)."""
    here = model.placement(still)
    forces = [Vector.zero() for _ in model.bodies]
    forces[group.first], forces[group.second] = normal, -normal
    torques = [place.torque(point, force) for place, force in zip(here.bodies, forces, strict=True)]
    efforts = [jnp.zeros(()) for _ in here.joints]
    rates = model.moving.respond(here, forces, torques, efforts, reflected(model.elements_at(still), here)).bodies

    def parting(number: int) -> Scalar:
        place: Placed = here.bodies[number]
        turning = (place.rotation @ rates[number].rate).cross(point - place.pose.position)
        return (rates[number].velocity + turning).dot(normal)

    return 1 / (parting(group.first) - parting(group.second))
