"""Segment of a line.

Units: lengths m, angles rad; shares of a length dimensionless.
Source: geometry.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.surfaces.surface import AXIS_SMOOTHING
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector

PARALLEL = 1e-9  # rad, over which the place of contact goes from the middle to an end


class Segment(NamedTuple):
    """All points from `start` (m) along `way` (m) to its end."""

    start: Vector
    way: Vector

    @staticmethod
    def of(ends: Float[Array, "2 3"], body: Placed) -> Segment:
        """Return the segment between two `ends` (m, axes of `body`), inertial."""
        first, last = Vector.of(ends[0]), Vector.of(ends[1])
        return Segment(body.point(first), body.rotation @ (last - first))

    def seen_from(self, body: Placed) -> Segment:
        """Return an inertial segment in the axes of `body`."""
        return Segment(body.local(self.start), body.rotation.transposed_times(self.way))

    def at(self, share: Scalar) -> Vector:
        """Return the point at a `share` of the length."""
        return self.start + self.way * share

    def middle(self) -> Vector:
        """Return the point half way."""
        return self.at(jnp.asarray(0.5))

    def half_length(self) -> Scalar:
        """Return half the length (m)."""
        return 0.5 * jnp.sqrt(self.way.dot(self.way) + AXIS_SMOOTHING**2)

    def share_near(self, point: Vector) -> Scalar:
        """Return the share of the length at which the segment is nearest to `point` (m)."""
        return jnp.clip(safe_quotient((point - self.start).dot(self.way), self.way.dot(self.way)), 0.0, 1.0)


def half_length(ends: Float[Array, "2 3"]) -> Scalar:
    """Return half the distance (m) of two ends."""
    return Segment(Vector.of(ends[0]), Vector.of(ends[1] - ends[0])).half_length()


def safe_quotient(number: Scalar, divisor: Scalar) -> Scalar:
    """Return `number` / `divisor`, and zero where the divisor is."""
    there = divisor != 0
    return jnp.where(there, number / jnp.where(there, divisor, 1.0), 0.0)
