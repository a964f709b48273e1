"""Conical receptacle: a cavity that guides a probe towards its apex.

Units: lengths m, angles rad.
Source: geometry; Sazawal et al., eqs. 11 and 28–33.
"""

from __future__ import annotations

from dockdyn.contact.surfaces.surface import Extent, Surface, cylindrical_coordinates
from dockdyn.deferred import Array, ArrayLike, Float, jnp, xp
from dockdyn.mechanics.rotation import from_x_axis
from dockdyn.mechanics.vector import Scalar, Vector

EDGE = 1e-3  # of a rim's radius, by which the wall is drawn shorter, so that the cylinder around it is not


class Cone(Surface):
    """Cavity of half angle θ around `axis`, which points from `apex` into the opening (Sazawal et al., eqs. 29–32).

    Without a rim the wall has no end. With one, the cavity is cut into a cylinder of the rim's radius R: the wall
    ends in a sharp edge at radius R, a body outside R passes by, and its distance from the edge is exact. Deep inside the
    solid, behind the apex, the distance is that of the wall carried on.
    """

    apex: Float[Array, "3"]  # m, body axes
    axis: Float[Array, "3"]  # unit vector, body axes
    sine: Float[Array, ""]  # of the half angle
    cosine: Float[Array, ""]
    rim_radius: Float[Array, ""] | None  # m

    @staticmethod
    def of(apex: ArrayLike, axis: ArrayLike, half_angle: ArrayLike, rim_radius: ArrayLike | None = None) -> Cone:
        """Return a cone of `half_angle` (rad) with its `rim_radius` (m), endless when None."""
        axis = xp.asarray(axis, float)
        return Cone(
            xp.asarray(apex, float),
            axis / xp.linalg.norm(axis),
            xp.sin(half_angle),
            xp.cos(half_angle),
            None if rim_radius is None else xp.asarray(rim_radius, float),
        )

    def reference(self) -> Vector:
        return Vector.of(self.apex)

    def docking_frame(self) -> tuple[Vector, Vector]:
        apex, axis = Vector.of(self.apex), Vector.of(self.axis)
        depth = 0.0 if self.rim_radius is None else self.rim_radius * self.cosine / self.sine
        return apex + axis * depth, axis

    def extent(self, reach: float) -> Extent:
        """Return the wall up to its rim."""
        if self.rim_radius is None:
            return super().extent(reach)
        depth = self.rim_radius * self.cosine / self.sine
        end = 1.02 * depth + EDGE * self.rim_radius
        return Extent((1 - EDGE) * self.rim_radius, -0.05 * depth, end, whole=True)

    def wall(self, azimuth: Scalar, distance: Scalar) -> tuple[Vector, Vector]:
        """Return the wall's point at `distance` (m) from the apex and `azimuth` (rad), and the normal there, out of the
        solid."""
        axis = Vector.of(self.axis)
        frame = from_x_axis(axis).matrix()
        outward = frame @ Vector(jnp.zeros(()), -jnp.sin(azimuth), jnp.cos(azimuth))
        along = axis * self.cosine + outward * self.sine
        return Vector.of(self.apex) + along * distance, axis * self.sine - outward * self.cosine

    def is_exact_distance(self) -> bool:
        return True

    def signed_distance(self, point: Vector) -> Scalar:
        along, radius = cylindrical_coordinates(point, Vector.of(self.apex), Vector.of(self.axis))
        from_wall = along * self.sine - radius * self.cosine
        if self.rim_radius is None:
            return from_wall
        from_cylinder = radius - self.rim_radius
        before_mouth = along - self.rim_radius * self.cosine / self.sine
        past_wall = before_mouth * self.cosine + from_cylinder * self.sine
        at_edge = (past_wall > 0) & (before_mouth > 0)
        edge = jnp.sqrt(jnp.where(at_edge, before_mouth**2 + from_cylinder**2, 1.0))
        return jnp.where(at_edge, edge, jnp.maximum(from_wall, from_cylinder))
