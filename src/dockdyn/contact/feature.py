"""What touches a surface: a point or a spherical tip, fixed to a body.

Units: lengths m, speeds m/s.
Source: kinematics of a point of a rigid body; Sazawal et al., eqs. 9 and 16.
"""

from __future__ import annotations

import abc

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.contact.touch import Touch, touch_surface
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector
from dockdyn.trees import AbstractVar, Module


class Feature(Module):
    """A place on a body that can touch a surface."""

    position: AbstractVar[Float[Array, "3"]]  # m, body axes from the centre of mass

    @abc.abstractmethod
    def contact_point(self, own: Placed, other: Placed, surface: Surface) -> Vector:
        """Return the feature's deepest point in the surface's solid (m, inertial)."""

    @abc.abstractmethod
    def touch(self, own: Placed, other: Placed, surface: Surface) -> Touch:
        """Return how the feature of the body `own` meets a surface of the body `other`."""


class Point(Feature):
    """A point, as the tip of the probe of Sazawal et al. (assumption 1)."""

    position: Float[Array, "3"]

    def contact_point(self, own: Placed, other: Placed, surface: Surface) -> Vector:
        return own.point(Vector.of(self.position))

    def touch(self, own: Placed, other: Placed, surface: Surface) -> Touch:
        return touch_surface(own.point(Vector.of(self.position)), 0.0, other, surface)


class SphereTip(Feature):
    """A ball of `radius` about `position`."""

    position: Float[Array, "3"]
    radius: Float[Array, ""]  # m

    def contact_point(self, own: Placed, other: Placed, surface: Surface) -> Vector:
        return self.touch(own, other, surface).point

    def touch(self, own: Placed, other: Placed, surface: Surface) -> Touch:
        return touch_surface(own.point(Vector.of(self.position)), self.radius, other, surface)
