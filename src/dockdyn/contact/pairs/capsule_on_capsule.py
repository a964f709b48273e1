"""Capsule on capsule: edges, bars and rods.

Units: lengths m, angles rad.
Source: closest points of two segments, Ericson 2005, Real-Time Collision Detection, section 5.1.9, with cross products in
the place of differences; parallel segments, own construction.
"""

from __future__ import annotations

from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.pairs.segment import PARALLEL, Segment, half_length, safe_quotient
from dockdyn.contact.surfaces.surface import AXIS_SMOOTHING
from dockdyn.contact.touch import Touch
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.trees import map_leaves


class CapsuleOnCapsule(PairGeometry):
    """Two segments, each with all that is within its radius. A segment without length is a ball.

    The force acts in the middle of the overlap, so that it is the same with the two exchanged. Where the segments are parallel,
    to about a nanoradian, that is the middle of the length along which they face each other.
    """

    first: Float[Array, "2 3"]  # m, ends, axes of the first body
    first_radius: Float[Array, ""]  # m
    second: Float[Array, "2 3"]  # m, ends, axes of the second body
    second_radius: Float[Array, ""]  # m

    def place(self) -> Float[Array, "3"]:
        return jnp.mean(self.first, axis=0)

    def extent(self) -> Scalar:
        return half_length(self.first)

    def touch(self, own: Placed, other: Placed) -> Touch:
        first, second = once((Segment.of(self.first, own), Segment.of(self.second, other)))
        one, two = closest_points(first, second)
        between = once(one - two)
        distance = jnp.sqrt(between.dot(between) + AXIS_SMOOTHING**2)
        normal = between / distance
        depth = self.first_radius + self.second_radius - distance
        return Touch(depth, normal, one - normal * (self.first_radius - depth / 2))

    def least_distance(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar]:
        first, second = Segment.of(self.first, own), Segment.of(self.second, other)
        sizes = first.half_length() + self.first_radius, second.half_length() + self.second_radius
        apart = first.middle() - second.middle()
        distance = jnp.sqrt(apart.dot(apart) + AXIS_SMOOTHING**2)
        return distance - sizes[0] - sizes[1], jnp.minimum(*sizes)


def closest_points(first: Segment, second: Segment) -> tuple[Vector, Vector]:
    """Return the points (m) of two segments that are nearest to each other; of parallel ones the middle of those."""
    lengths = first.way.dot(first.way) * second.way.dot(second.way)
    across = first.way.cross(second.way)
    squared_sine = safe_quotient(across.dot(across), lengths)
    skew = safe_quotient(squared_sine, squared_sine + PARALLEL**2)
    shares = [
        middle + (nearest - middle) * skew
        for middle, nearest in zip(_parallel_shares(first, second), _nearest_shares(first, second, across), strict=True)
    ]
    return first.at(shares[0]), second.at(shares[1])


def _nearest_shares(first: Segment, second: Segment, across: Vector) -> tuple[Scalar, Scalar]:
    """Return shares of the segments' lengths at which they are nearest, if they are not parallel."""
    size = across.dot(across)
    on_lines = safe_quotient((second.start - first.start).cross(second.way).dot(across), size)
    other = second.share_near(first.at(jnp.clip(on_lines, 0.0, 1.0)))
    return first.share_near(second.at(other)), other


def _parallel_shares(first: Segment, second: Segment) -> tuple[Scalar, Scalar]:
    """Return shares of the lengths of parallel segments at the middle of where they face each other, or at their nearest
    ends."""
    longer = first.way.dot(first.way) > second.way.dot(second.way)
    along = map_leaves(lambda one, other: jnp.where(longer, one, other), first.way, second.way)
    zero, last = jnp.zeros(()), first.way.dot(along)
    begin = (second.start - first.start).dot(along)
    end = begin + second.way.dot(along)
    low = jnp.maximum(jnp.minimum(zero, last), jnp.minimum(begin, end))
    high = jnp.minimum(jnp.maximum(zero, last), jnp.maximum(begin, end))
    middle = (low + high) / 2
    return jnp.clip(safe_quotient(middle, last), 0.0, 1.0), jnp.clip(
        safe_quotient(middle - begin, end - begin), 0.0, 1.0
    )
