"""Free flight: two rigid bodies in contact, the contact force delayed by a loop (Sazawal et al., eqs. 1–16, 43–58)."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dockdyn.contact.gate import APART, GATED
from dockdyn.contact.pair import Contact
from dockdyn.integrate.model import Model, Rate, Scalar, Sensed, State
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist, pair_momentum
from dockdyn.mechanics.vector import Vector, once


class NamedPoint(eqx.Module):
    """A place on a body at which the load of the contact forces is reported."""

    position: Float[Array, "3"]  # m, body axes
    name: str = eqx.field(static=True)
    on_chaser: bool = eqx.field(static=True)


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
    points: tuple[NamedPoint, ...] = ()

    def initial(self) -> State:
        places = self.places(State(self.poses, self.twists, None, None))
        modes = tuple(contact.first_mode(contact.touch(*places)).astype(int) for contact in self.contacts)
        return State(self.poses, self.twists, modes, jnp.zeros(()))

    def names(self) -> list[str]:
        def named(word: str) -> str:
            side, *rest = word.split(".")[1:] or [""]
            return " ".join([("chaser", "target")[int(side)], *rest]) if side else "work"

        return [named(word) for word in super().names()]

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

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Root of the change's own kinetic energy over that of the motion, or the change of work over it if that is larger.

        The motion is that about the common centre of mass, now and at t = 0; so no unit and no frame enters.
        """
        motion = jnp.maximum(self.internal_energy(x.v) + self.internal_energy(self.twists), 1e-300)
        energy = sum(body.kinetic_energy(twist) for body, twist in zip(self.bodies, change.v, strict=True))
        return jnp.maximum(jnp.sqrt(energy / motion), jnp.abs(change.memory) / motion)

    def internal_energy(self, twists: tuple[Twist, Twist]) -> Scalar:
        """Kinetic energy (J) seen from the common centre of mass."""
        total = self.bodies[0].mass + self.bodies[1].mass
        drift = (self.bodies[0].linear_momentum(twists[0]) + self.bodies[1].linear_momentum(twists[1])) / total
        seen = [Twist(twist.velocity - drift, twist.rate) for twist in twists]
        return sum((body.kinetic_energy(twist) for body, twist in zip(self.bodies, seen, strict=True)), jnp.zeros(()))

    def observe(self, t: Scalar, x: State, delayed: tuple[Vector, ...]) -> dict[str, Array]:
        """Named quantities at an instant, `delayed` being the contact forces that act (N, on the chaser, inertial).

        Shapes: body axes and components last; `position` (2, 3), `attitude` (2, 4), `depth` (contacts,), `load_force`
        (points, 3) in the body's own axes.
        """
        places = self.places(x)
        touches = [contact.touch(*places) for contact in self.contacts]
        normal = [c.normal_force(mode, touch) for c, mode, touch in zip(self.contacts, x.mode, touches, strict=True)]
        linear, angular, linear_scale, angular_scale = pair_momentum(self.bodies, x.q, x.v)
        turned = [start.attitude.conjugate() * pose.attitude for start, pose in zip(self.poses, x.q, strict=True)]
        loads = [self.load(point, places, delayed) for point in self.points]
        return {
            "position": rows([pose.position.array() for pose in x.q], 3),
            "attitude": rows([pose.attitude.array() for pose in x.q], 4),
            "rotation": rows([turn.logarithm().array() for turn in turned], 3),
            "velocity": rows([twist.velocity.array() for twist in x.v], 3),
            "rate": rows([twist.rate.array() for twist in x.v], 3),
            "feature_position": rows([contact.place(*places).array() for contact in self.contacts], 3),
            "azimuth": rows([contact.azimuth(*places) for contact in self.contacts]),
            "depth": rows([touch.depth for touch in touches]),
            "depth_rate": rows([touch.rate for touch in touches]),
            "sliding_speed": rows([jnp.sqrt(touch.sliding.dot(touch.sliding)) for touch in touches]),
            "normal_force": rows(normal),
            "contact_force": rows([force.array() for force in delayed], 3),
            "load_force": rows([force.array() for force, _ in loads], 3),
            "load_moment": rows([moment.array() for _, moment in loads], 3),
            "kinetic_energy": self.kinetic_energy(x),
            "work": x.memory,
            "linear_momentum": linear.array(),
            "angular_momentum": angular.array(),
            "linear_momentum_scale": linear_scale,
            "angular_momentum_scale": angular_scale,
        }

    def load(
        self, named: NamedPoint, places: tuple[Placed, Placed], delayed: tuple[Vector, ...]
    ) -> tuple[Vector, Vector]:
        """Force (N) and moment about the named point (N m) of all contact forces on its body, in the body's axes."""
        place = places[0] if named.on_chaser else places[1]
        about = place.point(Vector.of(named.position))
        force, moment = Vector.zero(), Vector.zero()
        for contact, on_chaser in zip(self.contacts, delayed, strict=True):
            acting = on_chaser if named.on_chaser else -on_chaser
            force = force + acting
            moment = moment + (contact.point(*places) - about).cross(acting)
        return place.rotation.transposed_times(force), place.rotation.transposed_times(moment)


def rows(items: list[Array], width: int = 0) -> Array:
    """The items stacked; an empty list gives no rows of the right width."""
    return jnp.stack(items) if items else jnp.zeros((0, width) if width else 0)
