"""Free flight: two rigid bodies in contact, the contact force delayed by a loop (Sazawal et al., eqs. 1–16, 43–58)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dockdyn.contact.pair import APART, GATED, Contact
from dockdyn.integrate.model import Model, Rate, Scalar, Sensed, State
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.vector import Vector, once


class FreeFlight(Model):
    """Chaser and target, free to move, touching in any number of contacts.

    The force of a contact is decided at t − delay, in inertial axes, and acts now, on both bodies at their present
    contact point (Sazawal et al., eqs. 43, 51), so linear and angular momentum are kept whatever the delay. State: `q` and
    `v` are the poses and twists of chaser and target, `mode` one integer a contact, `memory` the work of the contact
    forces (J, eq. 152), which is the change of kinetic energy.
    """

    bodies: tuple[RigidBody, RigidBody]
    contacts: tuple[Contact, ...]
    poses: tuple[Pose, Pose]  # at t = 0
    twists: tuple[Twist, Twist]  # at t = 0
    delay: Float[Array, ""] | None

    def initial(self) -> State:
        places = self.places(State(self.poses, self.twists, None, None))
        modes = tuple(contact.first_mode(contact.touch(*places)).astype(int) for contact in self.contacts)
        return State(self.poses, self.twists, modes, jnp.zeros(()))

    def places(self, x: State) -> tuple[Placed, Placed]:
        return Placed.of(x.q[0], x.v[0]), Placed.of(x.q[1], x.v[1])

    def flow(self, t: Scalar, x: State, delayed: tuple[Vector, ...]) -> Rate:
        places = self.places(x)
        chaser, target = places
        forces, torques, power = [Vector.zero()] * 2, [Vector.zero()] * 2, jnp.zeros(())
        for contact, force in zip(self.contacts, delayed, strict=True):
            point = once(contact.point(*places))
            forces = [forces[0] + force, forces[1] - force]
            torques = [torques[0] + chaser.torque(point, force), torques[1] - target.torque(point, force)]
            power += force.dot(chaser.velocity(point) - target.velocity(point))
        q = tuple(Pose(twist.velocity, pose.attitude.rate(twist.rate)) for pose, twist in zip(x.q, x.v, strict=True))
        v = tuple(
            body.acceleration(twist, force, torque)
            for body, twist, force, torque in zip(self.bodies, x.v, forces, torques, strict=True)
        )
        return Rate(q, v, power)

    def sense(self, t: Scalar, x: State) -> Sensed:
        places = self.places(x)
        signal: list[Any] = []
        guards: list[Scalar] = []
        watched: list[Scalar] = []
        for contact, mode in zip(self.contacts, x.mode, strict=True):
            touch = contact.touch(*places)
            normal_force = contact.normal_force(mode, touch)
            signal.append(contact.force(normal_force, touch))
            guards.extend(contact.guards(mode, touch))
            watched.append(normal_force)
        return Sensed(tuple(signal), tuple(guards), tuple(watched))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        places = self.places(x)
        modes = tuple(
            contact.next_mode(mode, (fired[2 * i], fired[2 * i + 1]), contact.touch(*places))
            for i, (contact, mode) in enumerate(zip(self.contacts, x.mode, strict=True))
        )
        return State(x.q, x.v, modes, x.memory)

    def emitting(self, x: State) -> Bool[Array, ""]:
        return jnp.any(jnp.stack([mode != APART for mode in x.mode])) if x.mode else jnp.asarray(False)

    def ungated(self, x: State) -> State:
        return State(x.q, x.v, tuple(jnp.asarray(GATED) for _ in x.mode), x.memory)

    def retract(self, x: State) -> State:
        return State(tuple(Pose(pose.position, pose.attitude.normalised()) for pose in x.q), x.v, x.mode, x.memory)

    def kinetic_energy(self, x: State) -> Scalar:
        """Kinetic energy of both bodies (J)."""
        return sum((b.kinetic_energy(twist) for b, twist in zip(self.bodies, x.v, strict=True)), jnp.zeros(()))
