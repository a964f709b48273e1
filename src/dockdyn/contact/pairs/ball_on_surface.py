"""Ball, or point, on a surface.

Units: lengths m.
Source: that of the meeting of a ball with a surface, `contact.touch`.
"""

from __future__ import annotations

from typing import ClassVar

from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.contact.touch import Touch, touch_surface
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector


class BallOnSurface(PairGeometry):
    """A ball of `radius` about `centre` on a surface; without a radius, None or zero, a point."""

    shared: ClassVar = ("surface",)

    centre: Float[Array, "3"]  # m, axes of the first body
    radius: Float[Array, ""] | None  # m
    surface: Surface

    def place(self) -> Float[Array, "3"]:
        return self.centre

    def extent(self) -> Scalar:
        return jnp.zeros(())

    @property
    def size(self) -> Scalar:
        """The radius (m), zero of a point."""
        return jnp.zeros(()) if self.radius is None else self.radius

    def touch(self, own: Placed, other: Placed) -> Touch:
        return touch_surface(own.point(Vector.of(self.centre)), self.size, other, self.surface)

    def contact_point(self, own: Placed, other: Placed) -> Vector:
        return own.point(Vector.of(self.centre)) if self.radius is None else super().contact_point(own, other)

    def least_distance(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar] | None:
        if self.surface.quick:
            return None
        # the depth is the radius less the distance of the centre: how steep the distance is elsewhere does not count
        distance = self.surface.least_distance(other.local(own.point(Vector.of(self.centre))), jnp.zeros(()))
        return None if distance is None else (distance - self.size, self.size)
