"""What touches a surface: a point or a spherical tip, fixed to a body.

Units: lengths m, speeds m/s.
Source: kinematics of a point of a rigid body; Sazawal et al., eqs. 9 and 16.
"""

from __future__ import annotations

import abc

import equinox as eqx
from jaxtyping import Array, Float

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once


class Feature(eqx.Module):
    """A place on a body that can touch a surface."""

    position: eqx.AbstractVar[Float[Array, "3"]]  # m, body axes from the centre of mass

    @abc.abstractmethod
    def contact_point(self, own: Placed, other: Placed, surface: Surface) -> Vector:
        """The feature's deepest point in the surface's solid (m, inertial)."""

    @abc.abstractmethod
    def touch(self, own: Placed, other: Placed, surface: Surface) -> tuple[Scalar, Vector, Vector]:
        """Penetration depth (m), unit normal out of the solid and contact point (m), both inertial."""


class Point(Feature):
    """A point, as the tip of the probe of Sazawal et al. (assumption 1)."""

    position: Float[Array, "3"]

    def contact_point(self, own: Placed, other: Placed, surface: Surface) -> Vector:
        return own.point(Vector.of(self.position))

    def touch(self, own: Placed, other: Placed, surface: Surface) -> tuple[Scalar, Vector, Vector]:
        point = once(own.point(Vector.of(self.position)))
        distance, normal = surface.distance_and_normal(other.local(point))
        return -distance, other.rotation @ normal, point


class SphereTip(Feature):
    """A ball of `radius` about `position`."""

    position: Float[Array, "3"]
    radius: Float[Array, ""]  # m

    def contact_point(self, own: Placed, other: Placed, surface: Surface) -> Vector:
        return self.touch(own, other, surface)[2]

    def touch(self, own: Placed, other: Placed, surface: Surface) -> tuple[Scalar, Vector, Vector]:
        centre = once(own.point(Vector.of(self.position)))
        distance, normal = surface.distance_and_normal(other.local(centre))
        normal = once(other.rotation @ normal)
        return self.radius - distance, normal, centre - normal * self.radius
