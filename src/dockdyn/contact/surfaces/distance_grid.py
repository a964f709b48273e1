"""Solid of any shape, by its signed distance at the nodes of a grid.

Units: lengths m, spline coefficients m.
Source: cubic B-splines, Unser 1999, IEEE Signal Processing Magazine 16(6):22; distance beyond a box, own derivation.
"""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.surfaces.surface import Extent, Surface
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector

ASIDE = 0.1  # of a spacing, by which the least distance is less than it could be
TAPS = 4  # nodes along an axis that a cubic B-spline reads


class DistanceGrid(Surface):
    """Cubic B-spline through signed distances at the nodes of a cubic grid, twice continuously differentiable.

    Its normal is the spline's own gradient, of unit length only as far as the spline is a distance: so the force of a lossless
    law has a potential. Beyond the grid the distance is a bound of the true one, from below.
    """

    quick: ClassVar[bool] = False

    coefficients: Float[Array, "x y z"]  # m, of the spline
    nodes: Float[Array, "x y z"]  # m, the spline at the nodes
    corner: Float[Array, "3"]  # m, of the first node, axes of the grid
    spacing: Float[Array, ""]  # m
    steepest: Float[Array, ""]  # length of the spline's gradient at most, not below 1
    point: Float[Array, "3"]  # m, the grid's origin in body axes
    attitude: Float[Array, "4"]  # unit quaternion, axes of the grid to body axes
    axis: Float[Array, "3"]  # unit vector out of the solid, body axes

    def reference(self) -> Vector:
        return Vector.of(self.point)

    def docking_frame(self) -> tuple[Vector, Vector]:
        return Vector.of(self.point), Vector.of(self.axis)

    def extent(self, reach: float) -> Extent:
        """All of the grid."""
        size = self.spacing * jnp.asarray(self.coefficients.shape)
        far = jnp.linalg.norm(jnp.maximum(jnp.abs(self.corner), jnp.abs(self.corner + size)))
        return Extent(far, -far, far, whole=True)

    def signed_distance(self, point: Vector) -> Scalar:
        inner, squared = self._nearest(point)
        distance = self._interpolated(inner)
        outside = squared > 0
        return jnp.where(outside, jnp.sqrt(jnp.where(outside, squared + distance**2, 1.0)), distance)

    def least_distance(self, point: Vector, radius: Scalar) -> Scalar:
        """From that of the nearest node."""
        inner, squared = self._nearest(point)
        nodes = [jnp.round(place) for place in inner]
        away = jnp.sqrt(sum(((place - node) ** 2 for place, node in zip(inner, nodes, strict=True)), jnp.zeros(())))
        known = jax.lax.dynamic_slice(self.nodes, [node.astype(int) for node in nodes], (1, 1, 1))[0, 0, 0]
        least = known - self.steepest * (away + ASIDE) * self.spacing
        outside = squared > 0
        beyond = jnp.sqrt(jnp.where(outside, squared + jnp.maximum(least, 0.0) ** 2, 1.0))
        return jnp.where(outside, beyond, least) - self.steepest * radius

    def _nearest(self, point: Vector) -> tuple[list[Scalar], Scalar]:
        """The place of the grid nearest to a point, counted in spacings from the corner, and the square of how far (m) it is.

        The first and the last cell are none of the grid: they lack a node beside them.
        """
        turn = Quaternion.of(self.attitude).matrix()
        local = turn.transposed_times(point - Vector.of(self.point)) - Vector.of(self.corner)
        places = [part / self.spacing for part in (local.x, local.y, local.z)]
        lasts = [count - 2.0 for count in self.coefficients.shape]
        inner = [jnp.clip(place, 1.0, last) for place, last in zip(places, lasts, strict=True)]
        beyond = [(place - kept) * self.spacing for place, kept in zip(places, inner, strict=True)]
        return inner, sum((part * part for part in beyond), jnp.zeros(()))

    def _interpolated(self, places: list[Scalar]) -> Scalar:
        """The spline at a place, counted in spacings from the corner, that is at least one from every face of the grid."""
        cells = [
            jnp.minimum(jnp.floor(place), count - 3.0)
            for place, count in zip(places, self.coefficients.shape, strict=True)
        ]
        weights = [_weights(place - cell) for place, cell in zip(places, cells, strict=True)]
        first = [cell.astype(int) - 1 for cell in cells]
        near = jax.lax.dynamic_slice(self.coefficients, first, (TAPS,) * 3)

        def along(axis: int, *index: int) -> Scalar:
            if axis == 3:
                return near[index]
            return reduce(jnp.add, [weights[axis][tap] * along(axis + 1, *index, tap) for tap in range(TAPS)])

        return along(0)


def _weights(share: Scalar) -> list[Scalar]:
    """What the four nodes around a place count, `share` of a spacing after the second of them (Unser 1999, eq. 2)."""
    rest = 1 - share
    return [
        rest**3 / 6,
        2 / 3 - share**2 * (2 - share) / 2,
        2 / 3 - rest**2 * (2 - rest) / 2,
        share**3 / 6,
    ]
