"""Where one of two bodies is, seen from the other, and how far its places have moved.

Units: m.
Source: definition; stretches of the difference of two rotations, own derivation.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector


class RelativePose(NamedTuple):
    """Where the first body is, in axes of the second."""

    place: Vector  # m, of the point that members are counted from
    axes: tuple[Vector, Vector, Vector]

    @staticmethod
    def of(own: Placed, other: Placed, place: Vector) -> RelativePose:
        """Return it of the point at a `place` (m, axes of the first body)."""
        units = (Vector.of(row) for row in jnp.eye(3))
        first, second, third = (other.rotation.transposed_times(own.rotation @ unit) for unit in units)
        return RelativePose(other.local(own.point(place)), (first, second, third))

    @staticmethod
    def nowhere() -> RelativePose:
        """Return it before anything is known."""
        return RelativePose(Vector.zero(), (Vector.zero(), Vector.zero(), Vector.zero()))

    def motion(self, before: RelativePose, reach: Scalar) -> Scalar:
        """Return by how much (m) any place of the first body within `reach` (m) of the point has moved since `before`, at
        most."""
        turned = [one - other for one, other in zip(self.axes, before.axes, strict=True)]
        # of the difference of two rotations two of three stretches are equal, and the third is zero
        stretch = jnp.sqrt(sum((one.dot(one) for one in turned), jnp.zeros(())) / 2)
        return (self.place - before.place).norm() + stretch * reach
