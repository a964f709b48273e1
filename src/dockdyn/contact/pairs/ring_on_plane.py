"""Ring on a plane.

Units: lengths m, angles rad.
Source: own derivation: the lowest point of a tilted circle.
"""

from __future__ import annotations

from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.touch import Touch
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import from_x_axis
from dockdyn.mechanics.vector import Scalar, Vector, once

LEVEL = 1e-6  # rad, tilt within which the place of contact goes from the rim to the middle


class RingOnPlane(PairGeometry):
    """A torus on the half space behind a plane: its deepest point touches.

    A ring that lies flat touches all around. There the place goes to the middle: at a tilt s it is by s / √(s² + ε²) of the
    radius R from the centre, with ε = 1 µrad, and the depth has R √(s² + ε²) in the place of R s. So force and moment have a
    potential all the way. One place cannot hold a ring level; where that counts, take `balls_of_ring`.
    """

    centre: Float[Array, "3"]  # m, axes of the first body
    axis: Float[Array, "3"]  # unit vector, axes of the first body
    major_radius: Float[Array, ""]  # m
    minor_radius: Float[Array, ""]  # m
    point: Float[Array, "3"]  # m, axes of the second body
    normal: Float[Array, "3"]  # unit vector out of the solid, axes of the second body

    def place(self) -> Float[Array, "3"]:
        return self.centre

    def extent(self) -> Scalar:
        return self.major_radius

    def touch(self, own: Placed, other: Placed) -> Touch:
        normal = once(other.rotation @ Vector.of(self.normal))
        centre, axis = own.point(Vector.of(self.centre)), own.rotation @ Vector.of(self.axis)
        uphill = normal - axis * axis.dot(normal)
        tilt = jnp.sqrt(uphill.dot(uphill) + LEVEL**2)
        height = (centre - other.point(Vector.of(self.point))).dot(normal)
        depth = self.minor_radius + self.major_radius * tilt - height
        deepest = centre - uphill * (self.major_radius / tilt) - normal * self.minor_radius
        return Touch(depth, normal, deepest)


def balls_of_ring(
    centre: Float[Array, "3"], axis: Float[Array, "3"], major_radius: Scalar | float, count: int
) -> Float[Array, "count 3"]:
    """Return centres (m) of `count` balls evenly on the circle of a ring about a unit `axis`, in whose place they touch.

    Each bears its share of the ring's stiffness, 1 / `count` of it where the ring lies flat.
    """
    angle = 2 * jnp.pi * jnp.arange(count) / count
    frame = from_x_axis(Vector.of(axis)).matrix().array()
    around = jnp.stack([jnp.zeros(count), jnp.cos(angle), jnp.sin(angle)], axis=-1)
    return jnp.asarray(centre, float) + major_radius * around @ frame.T
