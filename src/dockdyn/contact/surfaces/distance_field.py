"""Solid of any shape, by its signed distance: a cubic B-spline in bricks, small ones where the shape asks for it.

Units: lengths m, spline coefficients m.
Source: cubic B-splines, Unser 1999, IEEE Signal Processing Magazine 16(6):22; hierarchical ones, Forsey and Bartels 1988,
Computer Graphics 22(4):205; distance beyond a box, own derivation.
"""

from __future__ import annotations

from functools import reduce
from math import factorial
from typing import ClassVar

import numpy as np

from dockdyn.contact.surfaces.surface import ExpandedSurface, Extent
from dockdyn.deferred import Array, Float, Int, jax, jnp
from dockdyn.mechanics.rotation import Matrix, Quaternion
from dockdyn.mechanics.vector import Scalar, Vector

TAPS = 4  # coefficients along an axis that a cubic B-spline reads
CELLS = 8  # of a brick, along each axis
NODES = CELLS + TAPS - 1  # whose coefficients a brick keeps, along each axis: one before it, two behind it
ORDERS = [
    (a, b, c) for a in range(TAPS) for b in range(TAPS - a) for c in range(TAPS - a - b)
]  # of derivatives, to the third
NEAR = 1 / 32  # of a spacing, within which powers up to the third say what the spline does: sums of forces to 1e-7


class DistanceField(ExpandedSurface):
    """Cubic B-spline of signed distances in an octree of bricks, twice continuously differentiable, across bricks of all sizes.

    A box is filled with bricks of equal size, row by row; any octant of a brick may have a brick of its own, of half the
    spacing. Each keeps all coefficients of its cells, those of its neighbours' nodes too: a place reads one brick alone.
    The normal is the spline's own gradient, of unit length only as far as the spline is a distance: so the force of a lossless
    law has a potential. Beyond the box the distance is a bound of the true one, from below.
    """

    quick: ClassVar[bool] = False
    expands: ClassVar[int] = 4 + len(ORDERS)

    coefficients: Float[Array, "bricks nodes nodes nodes"]  # m, of the spline
    children: Int[Array, "bricks 8"]  # the brick of each octant; 0 where it has none
    counts: Float[Array, "3"]  # of bricks along each axis of the box
    corner: Float[Array, "3"]  # m, of the box, axes of the field
    spacing: Float[Array, ""]  # m, of the nodes of the bricks that fill the box
    finest: Float[Array, ""]  # m, of those of the smallest bricks
    steepest: Float[Array, ""]  # length of the spline's gradient at most, not below 1
    point: Float[Array, "3"]  # m, the field's origin in body axes
    attitude: Float[Array, "4"]  # unit quaternion, axes of the field to body axes
    axis: Float[Array, "3"]  # unit vector out of the solid, body axes

    def reference(self) -> Vector:
        return Vector.of(self.point)

    def docking_frame(self) -> tuple[Vector, Vector]:
        return Vector.of(self.point), Vector.of(self.axis)

    def extent(self, reach: float) -> Extent:
        """Return all of the box."""
        corner = np.asarray(self.corner)
        size = np.asarray(self.spacing) * CELLS * np.asarray(self.counts)
        far = np.linalg.norm(np.maximum(np.abs(corner), np.abs(corner + size)))
        return Extent(far, -far, far, whole=True)

    def signed_distance(self, point: Vector) -> Scalar:
        inner, beyond = self._nearest_in_box(point)
        near, shares, _ = self._around(inner)
        return _continue_distance(_spline(near, shares), beyond)

    def distance_and_normal(self, point: Vector) -> tuple[Scalar, Vector]:
        inner, beyond = self._nearest_in_box(point)
        near, shares, finer = self._around(inner)
        distance, slopes = _spline_and_slopes(near, shares)
        outside, far = _sum_of_squares(beyond) > 0, _continue_distance(distance, beyond)
        per_metre = finer / self.spacing
        normal = [slope * per_metre for slope in slopes]
        # where the nearest place of the box is on a face, it does not move as the point moves away from that
        aside = [
            (past + jnp.where(past == 0, distance * along, 0.0)) / jnp.where(outside, far, 1.0)
            for past, along in zip(beyond, normal, strict=True)
        ]
        normal = [jnp.where(outside, one, other) for one, other in zip(aside, normal, strict=True)]
        return far, Quaternion.of(self.attitude).matrix() @ Vector(*normal)

    def steepest_change(self) -> Scalar:
        return self.steepest

    def expansion_reach(self) -> Scalar:
        return NEAR * self.finest

    def expand(self, point: Vector) -> tuple[Scalar, list[Scalar]]:
        """Return the distance (m), and the spline around a place of the box in powers, up to the third, of what is moved in
        spacings; beyond the box nothing touches."""
        inner, beyond = self._nearest_in_box(point)
        near, shares, finer = self._around(inner)
        local, powers = self._local(point), _spline_powers(near, shares)
        numbers = [local.x, local.y, local.z, finer / self.spacing, *powers]
        return jnp.where(_sum_of_squares(beyond) > 0, jnp.inf, powers[0]), numbers

    def near_expansion(self, numbers: list[Scalar], place: Vector) -> tuple[Scalar, Vector]:
        parts, per_metre = (place.x, place.y, place.z), numbers[3]
        moved = [(now - then) * per_metre for now, then in zip(parts, numbers[:3], strict=True)]
        distance, slopes = _sum_powers(dict(zip(ORDERS, numbers[4:], strict=True)), moved)
        return distance, Vector(*(slope * per_metre for slope in slopes))

    def expansion_frame(self) -> tuple[Vector, Matrix]:
        turn = Quaternion.of(self.attitude).matrix()
        return Vector.of(self.point) + turn @ Vector.of(self.corner), turn

    def _local(self, point: Vector) -> Vector:
        """Return a point (m, body axes) from the corner of the box, axes of the field (m)."""
        turn = Quaternion.of(self.attitude).matrix()
        return turn.transposed_times(point - Vector.of(self.point)) - Vector.of(self.corner)

    def _nearest_in_box(self, point: Vector) -> tuple[list[Scalar], list[Scalar]]:
        """Return the place of the box nearest to a point, counted in bricks from the corner, and how far (m) the point is from
        there along each axis."""
        local = self._local(point)
        size = self.spacing * CELLS
        places = [part / size for part in (local.x, local.y, local.z)]
        inner = [jnp.clip(place, 0.0, self.counts[axis]) for axis, place in enumerate(places)]
        return inner, [(place - kept) * size for place, kept in zip(places, inner, strict=True)]

    def _around(self, place: list[Scalar]) -> tuple[Float[Array, "4 4 4"], list[Scalar], Scalar]:
        """Return the coefficients that a place of the box reads, its shares of the spacing from the node before it, and how
        many spacings of the smallest brick there make one of those that fill the box."""
        brick, within, finer = self._smallest_brick(jax.lax.stop_gradient(place))
        first = [kept - part / finer for kept, part in zip(jax.lax.stop_gradient(place), within, strict=True)]
        cells = [jnp.minimum(jnp.floor(CELLS * part), CELLS - 1.0) for part in within]
        shares = [
            (there - start) * finer * CELLS - cell for there, start, cell in zip(place, first, cells, strict=True)
        ]
        corner = [brick, *(cell.astype(int) for cell in cells)]
        return jax.lax.dynamic_slice(self.coefficients, corner, (1, TAPS, TAPS, TAPS))[0], shares, finer

    def _smallest_brick(self, place: list[Scalar]) -> tuple[Scalar, list[Scalar], Scalar]:
        """Return the smallest brick at a place, the place in it, in its sizes, and how many of it make one of those that fill
        the box. All of it is exact."""
        rows = [jnp.minimum(jnp.floor(part), self.counts[axis] - 1) for axis, part in enumerate(place)]
        brick = ((rows[0] * self.counts[1] + rows[1]) * self.counts[2] + rows[2]).astype(int)
        within = [part - row for part, row in zip(place, rows, strict=True)]

        def child_at(brick: Scalar, within: list[Scalar]) -> Scalar:
            octant = reduce(lambda number, part: 2 * number + (part >= 0.5), within, jnp.array(0))
            return jax.lax.dynamic_slice(self.children, (brick, octant), (1, 1))[0, 0].astype(int)

        def descend(given: tuple[Scalar, Scalar, list[Scalar], Scalar]) -> tuple[Scalar, Scalar, list[Scalar], Scalar]:
            child, _, within, finer = given
            within = [2 * part - (part >= 0.5) for part in within]
            return child_at(child, within), child, within, 2 * finer

        start = child_at(brick, within), brick, within, jnp.ones(())
        _, brick, within, finer = jax.lax.while_loop(lambda given: given[0] > 0, descend, start)
        return brick, within, finer


def _sum_of_squares(parts: list[Scalar]) -> Scalar:
    return sum((part * part for part in parts), jnp.zeros(()))


def _continue_distance(distance: Scalar, beyond: list[Scalar]) -> Scalar:
    """Return the distance (m) of a point that is `beyond` (m) the place of the box that has this `distance` (m)."""
    squared = _sum_of_squares(beyond)
    outside = squared > 0
    return jnp.where(outside, jnp.sqrt(jnp.where(outside, squared + distance**2, 1.0)), distance)


def _lines(near: Float[Array, "4 4 4"], weights: list[Scalar]) -> list[list[Scalar]]:
    """Return the sums along the last axis."""
    return [[_weighted_sum(weights, [near[i, j, k] for k in range(TAPS)]) for j in range(TAPS)] for i in range(TAPS)]


def _spline(near: Float[Array, "4 4 4"], shares: list[Scalar]) -> Scalar:
    """Return the spline of coefficients around a place."""
    x, y, z = map(_node_weights, shares)
    return _weighted_sum(x, [_weighted_sum(y, line) for line in _lines(near, z)])


def _spline_and_slopes(near: Float[Array, "4 4 4"], shares: list[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """Return it with its derivatives along the axes, for each spacing."""
    (x, y, z), (along_x, along_y, along_z) = map(_node_weights, shares), map(_weight_derivatives, shares)
    values, rises = _lines(near, z), _lines(near, along_z)
    in_planes = [_weighted_sum(y, line) for line in values]
    slopes = [
        _weighted_sum(along_x, in_planes),
        _weighted_sum(x, [_weighted_sum(along_y, line) for line in values]),
        _weighted_sum(x, [_weighted_sum(y, line) for line in rises]),
    ]
    return _weighted_sum(x, in_planes), slopes


def _spline_powers(near: Float[Array, "4 4 4"], shares: list[Scalar]) -> list[Scalar]:
    """Return the factors of its powers, in the order of `ORDERS`, of what is moved in spacings."""
    x, y, z = ([weights(share) for weights in WEIGHTS] for share in shares)
    lines = [_lines(near, along) for along in z]
    planes = {(b, c): [_weighted_sum(y[b], line) for line in lines[c]] for b in range(TAPS) for c in range(TAPS - b)}
    return [
        _weighted_sum(x[a], planes[b, c]) * (1 / (factorial(a) * factorial(b) * factorial(c))) for a, b, c in ORDERS
    ]


def _sum_powers(factors: dict[tuple[int, int, int], Scalar], moved: list[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """Return the sum of powers of what is `moved` along three axes, and its derivatives, by Horner's rule along each axis."""

    def along(axis: int, fixed: tuple[int, ...]) -> tuple[Scalar, list[Scalar]]:
        """Return the sum over the axes from this one on, the powers along those before being `fixed`, and its derivatives."""
        if axis == len(moved):
            return factors[fixed[0], fixed[1], fixed[2]], []
        terms = [along(axis + 1, (*fixed, power)) for power in range(TAPS - sum(fixed))]
        value, slopes = terms[-1]
        rise = jnp.zeros(())
        for lower, (term, rises) in zip(range(len(terms) - 1), reversed(terms[:-1]), strict=True):
            rise = value if lower == 0 else value + moved[axis] * rise
            value = term + moved[axis] * value
            # of the highest power nothing depends on the later axes
            slopes = (
                list(rises)
                if lower == 0
                else [one + moved[axis] * other for one, other in zip(rises, slopes, strict=True)]
            )
        return value, [rise, *slopes]

    return along(0, ())


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


def _weight_bends(share: Scalar) -> list[Scalar]:
    """Return second derivatives of these weights by the share."""
    return [1 - share, 3 * share - 2, 1 - 3 * share, share]


def _weight_jerks(share: Scalar) -> list[Scalar]:
    """Return third derivatives of these weights by the share."""
    return [jnp.asarray(one) for one in (-1.0, 3.0, -3.0, 1.0)]


WEIGHTS = _node_weights, _weight_derivatives, _weight_bends, _weight_jerks
