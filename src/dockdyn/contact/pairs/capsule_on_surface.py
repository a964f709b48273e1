"""Capsule on a surface: an edge or a rod in a cone, on a plane, against a mesh.

Units: lengths m.
Source: own derivation: least distance along a segment, its derivative by the envelope theorem, at a kink by the tangents of
both sides.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.pairs.segment import PARALLEL, Segment, half_length, safe_quotient
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.contact.touch import Touch
from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.trees import map_leaves

INTERVALS = 16  # into which a segment is cut
HALVINGS = 24  # to a bracket in which the distance is two straight lines, or one parabola, to the last digit
EDGE = 1e-3  # change of the slope within that bracket, from which two faces meet there
BESIDE = 1e-11  # of the length, from the place where two faces meet to where each is looked at


class CapsuleOnSurface(PairGeometry):
    """All that is within `radius` of a segment, on a surface.

    The capsule's deepest point touches. It is sought around the two deepest of 17 samples along the segment, so a surface
    should not have details finer than a sixteenth of the length. Where the segment is level, to about a nanoradian, it is
    the place nearest to the middle: there the distance is less by up to 0.25 nm for each metre of length. Where two faces
    meet in an edge, the normal is that mean of theirs which is perpendicular to the segment.
    """

    shared: ClassVar = ("surface",)

    ends: Float[Array, "2 3"]  # m, axes of the first body
    radius: Float[Array, ""]  # m
    surface: Surface

    def place(self) -> Float[Array, "3"]:
        return jnp.mean(self.ends, axis=0)

    def extent(self) -> Scalar:
        return half_length(self.ends)

    def touch(self, own: Placed, other: Placed) -> Touch:
        segment = once(Segment.of(self.ends, own).seen_from(other))
        course = _Course(segment, self.surface)
        found = _Course(*jax.lax.stop_gradient((segment, self.surface))).deepest()
        move = found.move(course)
        (before, first), (after, last) = once((course.at(found.low + move), course.at(found.high + move)))
        falls, rises = first.dot(segment.way), last.dot(segment.way)
        bend = jnp.where(found.at_edge, rises - falls, 0.0)
        corner = _tangent_meeting((before, falls), (after, rises), found.high - found.low, bend)
        normal = once(other.rotation @ (first - (last - first) * safe_quotient(falls, bend)))
        deepest = other.point(segment.at(found.low + move + corner)) - normal * self.radius
        return Touch(self.radius - (before + falls * corner), normal, deepest)

    def least_distance(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar] | None:
        segment = Segment.of(self.ends, own)
        size = segment.half_length() + self.radius
        distance = self.surface.least_distance(other.local(segment.middle()), size)
        return None if distance is None else (distance, size)


class _Deepest(NamedTuple):
    """Where a segment is deepest in a solid, as shares of its length."""

    low: Scalar
    high: Scalar  # the same place, or that behind an edge between two faces
    at_edge: Bool[Array, ""]
    mobility: Scalar  # 1/m, by which the place of no edge follows a change of the slope

    def move(self, course: _Course) -> Scalar:
        """Return zero, to rounding, with the derivative of the place."""
        (before, falls), (after, rises) = course.slope(self.low), course.slope(self.high)
        bend = jnp.where(self.at_edge, rises - falls, 0.0)
        corner = _tangent_meeting((before, falls), (after, rises), self.high - self.low, bend)
        return corner - jax.lax.stop_gradient(corner) - self.mobility * falls


class _Course(NamedTuple):
    """The distance from a surface along a segment, levelled so that of places equally deep the middle one is the deepest."""

    segment: Segment
    surface: Surface

    def at(self, share: Scalar) -> tuple[Scalar, Vector]:
        """Return the distance (m) at a share of the length, and its gradient."""
        distance, normal = self.surface.distance_and_normal(self.segment.at(share))
        return distance + self._levelling(share), normal

    def distance(self, share: Scalar) -> Scalar:
        """Return the distance (m) at a share of the length."""
        return self.surface.signed_distance(self.segment.at(share)) + self._levelling(share)

    def slope(self, share: Scalar) -> tuple[Scalar, Scalar]:
        """Return the distance (m) at a share of the length, and its change along the segment."""
        return jax.jvp(self.distance, (share,), (jnp.ones(()),))

    @property
    def _length(self) -> Scalar:
        return jax.lax.stop_gradient(self.segment.way).norm()

    def _levelling(self, share: Scalar) -> Scalar:
        return PARALLEL * self._length * share * (share - 1)

    def deepest(self) -> _Deepest:
        """Return the deepest place, to rounding: the deeper of those found around the two deepest samples that are local
        minima."""
        found = jax.vmap(self._around)(self._deepest_samples())
        distance = jax.vmap(self.distance)(found.low)
        return map_leaves(lambda both: jnp.where(distance[1] < distance[0], both[1], both[0]), found)

    def _deepest_samples(self) -> Float[Array, "2"]:
        """Return places of the two deepest samples that are no less deep than their neighbours."""

        def look(index: Scalar, seen: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
            last, falls, least, place, second, other = seen
            share = index / INTERVALS
            distance = jnp.where(index > INTERVALS, jnp.inf, self.distance(share))
            passed = jnp.where(falls & (distance >= last), last, jnp.inf)
            before = share - 1 / INTERVALS
            first, next_one = passed < least, passed < second
            second = jnp.where(first, least, jnp.where(next_one, passed, second))
            other = jnp.where(first, place, jnp.where(next_one, before, other))
            least, place = jnp.where(first, passed, least), jnp.where(first, before, place)
            return distance, distance < last, least, place, second, other

        far, zero = jnp.asarray(jnp.inf), jnp.zeros(())
        seen = jax.lax.fori_loop(0, INTERVALS + 2, look, (far, jnp.asarray(False), far, zero, far, zero))
        return jnp.stack([seen[3], seen[5]])

    def _around(self, share: Scalar) -> _Deepest:
        """Return the deepest place between the neighbours of a sample."""

        def halve(_: Scalar, bracket: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
            low, high = bracket
            middle = (low + high) / 2
            beyond = self.slope(middle)[1] > 0
            return jnp.where(beyond, low, middle), jnp.where(beyond, middle, high)

        neighbours = jnp.maximum(share - 1 / INTERVALS, 0.0), jnp.minimum(share + 1 / INTERVALS, 1.0)
        return self._deepest_within(*jax.lax.fori_loop(0, HALVINGS, halve, neighbours))

    def _deepest_within(self, low: Scalar, high: Scalar) -> _Deepest:
        """Return the deepest place in a narrow bracket: one of its ends, an edge, or where the slope is zero."""
        (before, falls), (after, rises) = self.slope(low), self.slope(high)
        inside = (falls < 0) & (rises > 0)
        at_edge = inside & (rises - falls > EDGE * self._length)
        corner = low + _tangent_meeting((before, falls), (after, rises), high - low, rises - falls)
        middle = (low + high) / 2
        (_, slope), (_, curvature) = jax.jvp(self.slope, (middle,), (jnp.ones(()),))
        mobility = safe_quotient(jnp.ones(()), jnp.where(inside & ~at_edge, jnp.maximum(curvature, 0.0), 0.0))
        smooth = jnp.clip(middle - mobility * slope, low, high)
        place = jnp.where(falls >= 0, low, jnp.where(rises <= 0, high, smooth))
        low, high = (jnp.where(at_edge, corner + side, place) for side in (-BESIDE, BESIDE))
        return _Deepest(low, high, at_edge, mobility)


def _tangent_meeting(
    before: tuple[Scalar, Scalar], after: tuple[Scalar, Scalar], width: Scalar, bend: Scalar
) -> Scalar:
    """Return how far behind the first of two places, `width` apart, the tangents there meet, given heights and slopes."""
    return safe_quotient(before[0] - after[0] + after[1] * width, bend)
