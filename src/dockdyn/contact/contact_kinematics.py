"""Where and how two things that touch meet at an instant.

Units: lengths m, speeds m/s.
Source: Sazawal et al., eqs. 9–16 with the corrections in the page of errata.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once


class ContactKinematics(NamedTuple):
    """Where and how a feature meets a surface at an instant."""

    depth: Scalar  # m, positive is overlap
    normal: Vector  # out of the surface, inertial
    point: Vector  # m, of the contact, inertial
    rate: Scalar  # m/s, of the depth
    sliding: Vector  # m/s, velocity of the feature over the surface, inertial


def kinematics_of(touch: tuple[Scalar, Vector, Vector], own: Placed, other: Placed) -> ContactKinematics:
    """Return the meeting of two things on bodies `own` and `other`, of which depth, normal and point are known."""
    depth, normal, point = once(touch)
    velocity = own.velocity(point) - other.velocity(point)
    approach = velocity.dot(normal)
    rate, sliding = once((-approach, velocity - normal * approach))
    return ContactKinematics(depth, normal, point, rate, sliding)
