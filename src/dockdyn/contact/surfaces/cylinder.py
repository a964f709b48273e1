"""Cylinder: a pin, or a bore.

Units: lengths m.
Source: geometry: exact distance from a finite cylinder.
"""

from __future__ import annotations

from dockdyn.contact.surfaces.surface import Extent, Surface, cylindrical_coordinates
from dockdyn.deferred import Array, ArrayLike, Float, xp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import field


class Cylinder(Surface):
    """Endless pin of `radius` about the line through `point` along `axis`; with `inside`, the bore around it."""

    point: Float[Array, "3"]  # m, body axes
    axis: Float[Array, "3"]  # unit vector, body axes
    radius: Float[Array, ""]  # m
    inside: bool = field(static=True)

    @staticmethod
    def of(point: ArrayLike, axis: ArrayLike, radius: ArrayLike, inside: bool = False) -> Cylinder:
        axis = xp.asarray(axis, float)
        return Cylinder(xp.asarray(point, float), axis / xp.linalg.norm(axis), xp.asarray(radius, float), inside)

    def reference(self) -> Vector:
        return Vector.of(self.point)

    def docking_frame(self) -> tuple[Vector, Vector]:
        return Vector.of(self.point), Vector.of(self.axis)

    def is_exact_distance(self) -> bool:
        return True

    def extent(self, reach: float) -> Extent:
        around = 1.2 * self.radius
        end = xp.maximum(reach, around)
        return Extent(around, -end, end, hollow=self.inside)

    def signed_distance(self, point: Vector) -> Scalar:
        _, radius = cylindrical_coordinates(point, Vector.of(self.point), Vector.of(self.axis))
        outside = radius - self.radius
        return -outside if self.inside else outside
