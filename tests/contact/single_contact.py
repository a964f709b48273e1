"""One ball on one surface, written for itself: what a group of one is compared with."""

from typing import NamedTuple

import jax.numpy as jnp

from dockdyn.contact.contact_kinematics import ContactKinematics, kinematics_of
from dockdyn.contact.contact_modes import UnilateralContact
from dockdyn.contact.laws.friction import Friction
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.pairs import BallOnSurface
from dockdyn.contact.touch import touch_surface
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector


class ContactState(NamedTuple):
    """Kinematics and unclamped force of a contact at an instant."""

    depth: Scalar  # m, positive is overlap
    rate: Scalar  # m/s
    normal: Vector  # out of the surface, inertial
    sliding: Vector  # m/s, velocity of the feature over the surface, inertial
    raw_force: Scalar  # N, what the law says without gate or clamp
    force_sign: Scalar  # a number with the sign of that force


class SingleContact(UnilateralContact):
    """A ball of one body on a surface of another."""

    ball: BallOnSurface
    law: NormalLaw
    friction: Friction

    def point(self, own: Placed, other: Placed) -> Vector:
        """Where the contact force acts on both bodies (m, inertial)."""
        return self._meeting(own, other).point

    def _meeting(self, own: Placed, other: Placed) -> ContactKinematics:
        centre = own.point(Vector.of(self.ball.centre))
        return kinematics_of(touch_surface(centre, self.ball.radius, other, self.ball.surface), own, other)

    def touch(self, own: Placed, other: Placed) -> ContactState:
        depth, normal, _, rate, sliding = self._meeting(own, other)
        law = self.law.along(own.rotation.transposed_times(normal))
        return ContactState(depth, rate, normal, sliding, law.force(depth, rate), law.force_sign(depth, rate))

    def force(self, normal_force: Scalar, touch: ContactState) -> Vector:
        """Contact force on the body with the feature (N, inertial)."""
        rubbing = self.friction.force(jnp.maximum(normal_force, 0.0), touch.sliding)
        return touch.normal * normal_force + rubbing
