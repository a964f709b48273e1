"""Solid of any shape, by its signed distance at the nodes of a grid.

Units: lengths m, spline coefficients m.
Source: cubic B-splines, Unser 1999, IEEE Signal Processing Magazine 16(6):22; distance beyond a box, own derivation.
"""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

import numpy as np

from dockdyn.contact.surfaces.surface import Extent, Surface
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector

TAPS = 4  # nodes along an axis that a cubic B-spline reads


class DistanceGrid(Surface):
    """Cubic B-spline through signed distances at the nodes of a cubic grid, twice continuously differentiable.

    Its normal is the spline's own gradient, of unit length only as far as the spline is a distance: so the force of a lossless
    law has a potential. Beyond the grid the distance is a bound of the true one, from below.
    """

    quick: ClassVar[bool] = False

    coefficients: Float[Array, "x y z"]  # m, of the spline
    below: Float[Array, "x y z"]  # m, at the nodes; straight lines between them are nowhere above the spline
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
        """Return all of the grid."""
        corner, size = np.asarray(self.corner), np.asarray(self.spacing) * self.coefficients.shape
        far = np.linalg.norm(np.maximum(np.abs(corner), np.abs(corner + size)))
        return Extent(far, -far, far, whole=True)

    def signed_distance(self, point: Vector) -> Scalar:
        return self.distance_and_normal(point)[0]

    def distance_and_normal(self, point: Vector) -> tuple[Scalar, Vector]:
        inner, beyond = self._nearest(point)
        distance, slopes = self._interpolated(inner)
        squared = _sum_of_squares(beyond)
        outside = squared > 0
        far = jnp.sqrt(jnp.where(outside, squared + distance**2, 1.0))
        per_metre = 1 / self.spacing
        normal = [slope * per_metre for slope in slopes]
        # where the nearest place of the grid is on a face, it does not move as the point moves away from that
        aside = [
            (past + jnp.where(past == 0, distance * along, 0.0)) / far
            for past, along in zip(beyond, normal, strict=True)
        ]
        normal = [jnp.where(outside, one, other) for one, other in zip(aside, normal, strict=True)]
        turn = Quaternion.of(self.attitude).matrix()
        return jnp.where(outside, far, distance), turn @ Vector(*normal)

    def least_distance(self, point: Vector, radius: Scalar) -> Scalar:
        """Return it from straight lines between the nodes around, below the spline."""
        inner, beyond = self._nearest(point)
        squared = _sum_of_squares(beyond)
        cells, (x, y, z) = self._cells(inner)
        near = jax.lax.dynamic_slice(self.below, [cell.astype(int) for cell in cells], (2, 2, 2))
        planes = [[_clamp_share(z, near[i, j, 0], near[i, j, 1]) for j in range(2)] for i in range(2)]
        least = _clamp_share(x, *(_clamp_share(y, *plane) for plane in planes))
        outside = squared > 0
        far = jnp.sqrt(jnp.where(outside, squared + jnp.maximum(least, 0.0) ** 2, 1.0))
        return jnp.where(outside, far, least) - self.steepest * radius

    def _nearest(self, point: Vector) -> tuple[list[Scalar], list[Scalar]]:
        """Return the place of the grid nearest to a point, counted in spacings from the corner, and how far (m) the point is
        from there along each axis.

        The first and the last cell are none of the grid: they lack a node beside them.
        """
        turn = Quaternion.of(self.attitude).matrix()
        local = turn.transposed_times(point - Vector.of(self.point)) - Vector.of(self.corner)
        places = [part * (1 / self.spacing) for part in (local.x, local.y, local.z)]
        lasts = [count - 2.0 for count in self.coefficients.shape]
        inner = [jnp.clip(place, 1.0, last) for place, last in zip(places, lasts, strict=True)]
        return inner, [(place - kept) * self.spacing for place, kept in zip(places, inner, strict=True)]

    def _cells(self, places: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Return the first node of the cell in which such a place is, and its share of the spacing from there, along each
        axis."""
        counts = self.coefficients.shape
        cells = [jnp.minimum(jnp.floor(place), count - 3.0) for place, count in zip(places, counts, strict=True)]
        return cells, [place - cell for place, cell in zip(places, cells, strict=True)]

    def _interpolated(self, places: list[Scalar]) -> tuple[Scalar, list[Scalar]]:
        """Return the spline at a place, counted in spacings from the corner, that is at least one from every face of the grid,
        and its derivatives along the axes (m per spacing)."""
        cells, shares = self._cells(places)
        first = [cell.astype(int) - 1 for cell in cells]
        near = jax.lax.dynamic_slice(self.coefficients, first, (TAPS,) * 3)
        (x, y, z), (along_x, along_y, along_z) = map(_node_weights, shares), map(_weight_derivatives, shares)
        lines = [[[near[i, j, k] for k in range(TAPS)] for j in range(TAPS)] for i in range(TAPS)]
        values, rises = ([[_weighted_sum(by, line) for line in plane] for plane in lines] for by in (z, along_z))
        in_planes = [_weighted_sum(y, line) for line in values]
        slopes = (
            _weighted_sum(along_x, in_planes),
            _weighted_sum(x, [_weighted_sum(along_y, line) for line in values]),
            _weighted_sum(x, [_weighted_sum(y, line) for line in rises]),
        )
        return _weighted_sum(x, in_planes), list(slopes)


def _sum_of_squares(parts: list[Scalar]) -> Scalar:
    return sum((part * part for part in parts), jnp.zeros(()))


def _clamp_share(share: Scalar, first: Scalar, last: Scalar) -> Scalar:
    return first + share * (last - first)


def _weighted_sum(weights: list[Scalar], values: list[Scalar]) -> Scalar:
    return reduce(jnp.add, [weight * value for weight, value in zip(weights, values, strict=True)])


def _node_weights(share: Scalar) -> list[Scalar]:
    """Return what the four nodes around a place count, `share` of a spacing after the second of them (Unser 1999, eq. 2)."""
    rest = 1 - share
    return [
        rest * rest * rest * (1 / 6),
        2 / 3 - share * share * (1 - 0.5 * share),
        2 / 3 - rest * rest * (1 - 0.5 * rest),
        share * share * share * (1 / 6),
    ]


def _weight_derivatives(share: Scalar) -> list[Scalar]:
    """Return derivatives of these weights by the share."""
    rest = 1 - share
    return [-0.5 * rest * rest, share * (1.5 * share - 2), rest * (2 - 1.5 * rest), 0.5 * share * share]
