"""Sphere: a ball, or a spherical socket.

Units: lengths m.
Source: geometry.
"""

from __future__ import annotations

from dockdyn.contact.surfaces.surface import AXIS_SMOOTHING, Extent, Surface
from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import field


class Sphere(Surface):
    """Ball of `radius` about `centre`; with `inside`, everything but the ball: a spherical socket."""

    centre: Float[Array, "3"]  # m, body axes
    radius: Float[Array, ""]  # m
    inside: bool = field(static=True)

    def reference(self) -> Vector:
        return Vector.of(self.centre)

    def is_exact_distance(self) -> bool:
        return True

    def extent(self, reach: float) -> Extent:
        around = 1.2 * self.radius
        end = xp.maximum(reach, around)
        return Extent(around, -end, end, hollow=self.inside)

    def signed_distance(self, point: Vector) -> Scalar:
        offset = point - Vector.of(self.centre)
        outside = jnp.sqrt(offset.dot(offset) + AXIS_SMOOTHING**2) - self.radius
        return -outside if self.inside else outside
