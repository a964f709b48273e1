"""Plane surface.

Units: lengths m.
Source: geometry.
"""

from __future__ import annotations

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.deferred import Array, ArrayLike, Float, xp
from dockdyn.mechanics.vector import Scalar, Vector


class Plane(Surface):
    """The half space behind the plane through `point` with the outward unit `normal`."""

    point: Float[Array, "3"]  # m, body axes
    normal: Float[Array, "3"]  # out of the solid, body axes

    @staticmethod
    def of(point: ArrayLike, normal: ArrayLike) -> Plane:
        normal = xp.asarray(normal, float)
        return Plane(xp.asarray(point, float), normal / xp.linalg.norm(normal))

    def reference(self) -> Vector:
        return Vector.of(self.point)

    def docking_frame(self) -> tuple[Vector, Vector]:
        return Vector.of(self.point), Vector.of(self.normal)

    def is_exact_distance(self) -> bool:
        return True

    def signed_distance(self, point: Vector) -> Scalar:
        return (point - Vector.of(self.point)).dot(Vector.of(self.normal))
