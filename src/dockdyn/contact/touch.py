"""Where and how two things meet, and the meeting of a ball with a surface.

Units: lengths m.
Source: Sazawal et al., eqs. 9 and 16; the normal is the gradient of the distance, so that an elastic force has a potential.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once


class Touch(NamedTuple):
    """Where and how two things meet.

    The normal is the gradient of the distance, of unit length only as far as what says the distance is one.
    """

    depth: Scalar  # m, positive is overlap
    normal: Vector  # out of the second thing towards the first, inertial
    point: Vector  # m, inertial: where the force acts on both


def touch_surface(centre: Vector, radius: Scalar | float, other: Placed, surface: Surface) -> Touch:
    """Return the meeting of a ball about `centre` (m, inertial) with a surface of the body `other`, at the ball's deepest
    point.

    A ball without `radius` (m) is a point.
    """
    centre = once(centre)
    distance, normal = surface.distance_and_normal(other.local(centre))
    normal = once(other.rotation @ normal)
    return Touch(radius - distance, normal, centre - normal * radius)
