"""A contact: one feature against one surface, with its normal-force law and friction. A run takes them by groups (`group.py`).

Units: lengths m, speeds m/s, force N.
Source: Sazawal et al., eqs. 9–16 with the corrections in the page of errata.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.contact_modes import UnilateralContact
from dockdyn.contact.feature import Feature
from dockdyn.contact.laws.friction import Friction
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.deferred import jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.trees import field


class ContactState(NamedTuple):
    """Kinematics and unclamped force of a contact at an instant."""

    depth: Scalar  # m, positive is overlap
    rate: Scalar  # m/s
    normal: Vector  # out of the surface, inertial
    sliding: Vector  # m/s, velocity of the feature over the surface, inertial
    raw_force: Scalar  # N, what the law says without gate or clamp
    force_sign: Scalar  # a number with the sign of that force


class ContactKinematics(NamedTuple):
    """Where and how a feature meets a surface at an instant."""

    depth: Scalar  # m, positive is overlap
    normal: Vector  # out of the surface, inertial
    point: Vector  # m, of the contact, inertial
    rate: Scalar  # m/s, of the depth
    sliding: Vector  # m/s, velocity of the feature over the surface, inertial


def contact_kinematics(feature: Feature, surface: Surface, own: Placed, other: Placed) -> ContactKinematics:
    """Return the meeting of a feature of the body `own` with a surface of the body `other`."""
    return kinematics_of(feature.touch(own, other, surface), own, other)


def kinematics_of(touch: tuple[Scalar, Vector, Vector], own: Placed, other: Placed) -> ContactKinematics:
    """Return the meeting of two things on bodies `own` and `other`, of which depth, normal and point are known."""
    depth, normal, point = once(touch)
    velocity = own.velocity(point) - other.velocity(point)
    approach = velocity.dot(normal)
    rate, sliding = once((-approach, velocity - normal * approach))
    return ContactKinematics(depth, normal, point, rate, sliding)


class Contact(UnilateralContact):
    """One feature against one surface."""

    feature: Feature
    surface: Surface
    law: NormalLaw
    friction: Friction | None
    feature_on_chaser: bool = field(static=True)

    def sides(self, chaser: Placed, target: Placed) -> tuple[Placed, Placed]:
        """Return the body with the feature and the body with the surface."""
        return (chaser, target) if self.feature_on_chaser else (target, chaser)

    def point(self, chaser: Placed, target: Placed) -> Vector:
        """Return where the contact force acts on both bodies (m, inertial)."""
        return self.feature.contact_point(*self.sides(chaser, target), self.surface)

    def touch(self, chaser: Placed, target: Placed, at_onset: bool = False) -> ContactState:
        """Return the contact at an instant; `at_onset` takes its depth as exactly zero."""
        own, other = self.sides(chaser, target)
        depth, normal, _, rate, sliding = contact_kinematics(self.feature, self.surface, own, other)
        if at_onset:
            depth = jnp.zeros_like(depth)
        law = self.law.along(own.rotation.transposed_times(normal))
        return ContactState(depth, rate, normal, sliding, law.force(depth, rate), law.force_sign(depth, rate))

    def force(self, normal_force: Scalar, touch: ContactState) -> Vector:
        """Return contact force on the chaser (N, inertial)."""
        normal_force, touch = once((normal_force, touch))
        on_feature = touch.normal * normal_force
        if self.friction is not None:
            on_feature = on_feature + self.friction.force(jnp.maximum(normal_force, 0.0), touch.sliding)
        return on_feature if self.feature_on_chaser else -on_feature
