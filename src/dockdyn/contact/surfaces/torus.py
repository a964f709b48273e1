"""Torus: a guide ring.

Units: lengths m.
Source: geometry.
"""

from __future__ import annotations

from dockdyn.contact.surfaces.surface import AXIS_SMOOTHING, Extent, Surface, cylindrical_coordinates
from dockdyn.deferred import Array, ArrayLike, Float, jnp, xp
from dockdyn.mechanics.vector import Scalar, Vector


class Torus(Surface):
    """Ring of tube radius `minor_radius` whose centre line is a circle of `major_radius` about `axis`."""

    centre: Float[Array, "3"]  # m, body axes
    axis: Float[Array, "3"]  # unit vector, body axes
    major_radius: Float[Array, ""]  # m
    minor_radius: Float[Array, ""]  # m

    @staticmethod
    def of(centre: ArrayLike, axis: ArrayLike, major_radius: ArrayLike, minor_radius: ArrayLike) -> Torus:
        axis = xp.asarray(axis, float)
        return Torus(
            xp.asarray(centre, float),
            axis / xp.linalg.norm(axis),
            xp.asarray(major_radius, float),
            xp.asarray(minor_radius, float),
        )

    def reference(self) -> Vector:
        return Vector.of(self.centre)

    def docking_frame(self) -> tuple[Vector, Vector]:
        return Vector.of(self.centre), Vector.of(self.axis)

    def is_exact_distance(self) -> bool:
        return True

    def extent(self, reach: float) -> Extent:
        tube = 1.1 * self.minor_radius
        return Extent(1.1 * self.major_radius + tube, -tube, tube, hollow=False)

    def signed_distance(self, point: Vector) -> Scalar:
        along, radius = cylindrical_coordinates(point, Vector.of(self.centre), Vector.of(self.axis))
        from_line = radius - self.major_radius
        return jnp.sqrt(along**2 + from_line**2 + AXIS_SMOOTHING**2) - self.minor_radius
