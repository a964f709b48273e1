"""Capsule on a ring: edges of petals, and bars, on a guide ring.

Units: lengths m.
Source: own derivation. Half the squared distance of a line from a circle is a parabola less the circle's radius times the
line's distance from the axis. The slope of that distance is convex on one side of where the line passes the axis, concave on
the other, so on each side is one minimum at most, and Newton's method from beyond it, where the slope is convex, comes down to
it without fail. All minima lie within the circle's radius, along the line, of the centre's projection.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.pairs.segment import Segment, half_length, safe_quotient
from dockdyn.contact.surfaces.surface import AXIS_SMOOTHING
from dockdyn.contact.surfaces.torus import Torus
from dockdyn.contact.touch import Touch, touch_surface
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once

STEPS = 14  # of Newton's: six for most segments; two places that nearly merge come only half as near with each
STRAIGHT = 1e-9  # of the squared length: curvature below which the place does not follow the motion


class CapsuleOnRing(PairGeometry):
    """All that is within `radius` of a segment, on a torus.

    The capsule's deepest point touches. Of two places that are equally near one counts. On the ring's axis all directions are
    equally near, and the normal has no part across the axis.
    """

    ends: Float[Array, "2 3"]  # m, axes of the first body
    radius: Float[Array, ""]  # m
    centre: Float[Array, "3"]  # m, axes of the second body
    axis: Float[Array, "3"]  # unit vector, axes of the second body
    major_radius: Float[Array, ""]  # m
    minor_radius: Float[Array, ""]  # m

    def place(self) -> Float[Array, "3"]:
        return jnp.mean(self.ends, axis=0)

    def extent(self) -> Scalar:
        return half_length(self.ends)

    def touch(self, own: Placed, other: Placed) -> Touch:
        ring = Torus(self.centre, self.axis, self.major_radius, self.minor_radius)
        segment = once(Segment.of(self.ends, own))
        course = once(_Course.of(segment.seen_from(other), ring))
        share = jax.lax.stop_gradient(course).nearest()
        slope, curvature = course.bend(share)
        moves = (share > 0) & (share < 1) & (curvature > STRAIGHT * course.squared_length)
        share = share - safe_quotient(slope, jax.lax.stop_gradient(jnp.where(moves, curvature, 0.0)))
        return touch_surface(segment.at(share), self.radius, other, ring)

    def least_distance(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar]:
        segment, ring = Segment.of(self.ends, own), Torus(self.centre, self.axis, self.major_radius, self.minor_radius)
        size = segment.half_length() + self.radius
        return ring.signed_distance(other.local(segment.middle())) - size, size


class _Course(NamedTuple):
    """A segment as seen from a circle: along its axis, and across it."""

    height: Scalar  # m, of the start over the circle's plane
    climb: Scalar  # m, from start to end
    outward: Vector  # m, of the start from the axis
    across: Vector  # m, from start to end
    circle: Scalar  # m, radius

    @staticmethod
    def of(segment: Segment, ring: Torus) -> _Course:
        axis = Vector.of(ring.axis)
        from_centre = segment.start - Vector.of(ring.centre)
        height, climb = from_centre.dot(axis), segment.way.dot(axis)
        return _Course(height, climb, from_centre - axis * height, segment.way - axis * climb, ring.major_radius)

    @property
    def squared_length(self) -> Scalar:
        return self.climb**2 + self.across.dot(self.across)

    def radius(self, share: Scalar) -> tuple[Scalar, Vector]:
        """Return the distance from the axis (m), and the vector from it."""
        outward = self.outward + self.across * share
        return jnp.sqrt(outward.dot(outward) + AXIS_SMOOTHING**2), outward

    def squared_distance(self, share: Scalar) -> Scalar:
        """Return that of the place at a share of the length from the circle."""
        radius, _ = self.radius(share)
        return (self.height + self.climb * share) ** 2 + (radius - self.circle) ** 2

    def bend(self, share: Scalar) -> tuple[Scalar, Scalar]:
        """Return the slope and curvature of half the squared distance."""
        radius, outward = self.radius(share)
        spread = outward.dot(self.across) / radius
        slope = (self.height + self.climb * share) * self.climb + (radius - self.circle) * spread
        turning = (self.across.dot(self.across) - spread**2) / radius
        return slope, self.squared_length - self.circle * turning

    def nearest(self) -> Scalar:
        """Return the share of the length at which the segment is nearest to the circle."""
        middle = -safe_quotient(self.height * self.climb + self.outward.dot(self.across), self.squared_length)
        reach = safe_quotient(self.circle, jnp.sqrt(self.squared_length))
        passing = -safe_quotient(
            self.outward.dot(self.across), self.across.dot(self.across)
        )  # where it passes the axis

        def newton(share: Scalar) -> Scalar:
            slope, curvature = self.bend(share)
            return share - safe_quotient(slope, jnp.maximum(curvature, 0.0))

        def step(_: Scalar, places: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
            before, behind = places
            return jnp.minimum(newton(before), passing), jnp.maximum(newton(behind), passing)

        places = jax.lax.fori_loop(0, STEPS, step, (middle - reach, middle + reach))
        nearest, *others = (jnp.clip(place, 0.0, 1.0) for place in (*places, passing))  # all three merge at a tangent
        for other in others:
            nearest = jnp.where(self.squared_distance(other) < self.squared_distance(nearest), other, nearest)
        return nearest
