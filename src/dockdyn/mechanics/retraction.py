"""Configurations as rows of numbers, among them unit quaternions: how they move, and what momenta they carry.

A configuration q moves by a row of displacements x to q ⊕ x: numbers add, an attitude turns by a rotation vector in its own
axes. So along q ⊕ s v velocities are v throughout, angular ones in the axes of what turns. Momenta p are kept in the axes in
which the attitude is stated, so that those of a free body are constant to the last digit.

`attitudes` are the places in a row of velocities at which angular velocities begin; in a row of the configuration every
quaternion before a place takes one number more.

Units: SI: m, rad, N s, N m s.
Source: Iserles et al. 2000, Acta Numerica 9:215 (exponential map and its differential).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.mechanics.rotation import SMALL_ANGLE, Quaternion
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.programs import trace_once

type Row = Float[Array, "n"]
Attitudes = tuple[int, ...]


def attitude_of(attitudes: Attitudes, q: Float[Array, "numbers"], which: int) -> Quaternion:
    """Return one of the attitudes in a configuration."""
    at = attitudes[which] + which
    return Quaternion.of(q[at : at + 4])


@partial(trace_once, static=("attitudes",))
def retract_configuration(attitudes: Attitudes, q: Float[Array, "numbers"], x: Row) -> Float[Array, "numbers"]:
    """Return q ⊕ x."""
    if not attitudes:
        return q + x
    parts, start = [], 0
    for which, place in enumerate(attitudes):
        parts.append(q[start + which : place + which] + x[start:place])
        turned = attitude_of(attitudes, q, which) * Quaternion.exponential(Vector.of(x[place : place + 3]))
        parts.append(turned.normalised().array())
        start = place + 3
    return jnp.concatenate([*parts, q[start + len(attitudes) :] + x[start:]])


def change_each_attitude(attitudes: Attitudes, row: Row, change: Callable[[int, Vector], Vector]) -> Row:
    """Return `row` with its three numbers of each attitude changed."""
    for which, place in enumerate(attitudes):
        row = row.at[place : place + 3].set(change(which, Vector.of(row[place : place + 3])).array())
    return row


def to_stated_axes(attitudes: Attitudes, q: Float[Array, "numbers"], row: Row) -> Row:
    """Return a row of forces or momenta from the axes of what turns to those in which its attitude is stated."""
    return change_each_attitude(attitudes, row, lambda which, part: attitude_of(attitudes, q, which).matrix() @ part)


def from_stated_axes(attitudes: Attitudes, q: Float[Array, "numbers"], row: Row) -> Row:
    """Return the way back."""
    return change_each_attitude(
        attitudes, row, lambda which, part: attitude_of(attitudes, q, which).matrix().transposed_times(part)
    )


def spread_momentum(attitudes: Attitudes, x: Row, momentum: Row) -> Row:
    """Return S(x) μ: ∂L/∂v over a displacement x, as the momentum before or after it in the axes halfway.

    S = ([x]/2) / sinh([x]/2) with [x] the matrix of x × …: 1 along x, (φ/2) / sin(φ/2) across, φ the angle.
    """

    def change(_: int, place: int, part: Vector) -> Vector:
        turn, squared, small, safe = angle_of(x, place)
        half = safe / 2
        series = (1 / 6 + squared * (7 / 1440 + squared * 31 / 241920)) / 4
        factor = jnp.where(small, series, (half / jnp.sin(half) - 1) / safe**2)
        return part - turn.cross(turn.cross(part)) * factor

    return change_each_attitude(attitudes, momentum, lambda which, part: change(which, attitudes[which], part))


def halve_force(attitudes: Attitudes, x: Row, force: Row) -> Row:
    """Return 2 / (1 + exp [x]/2) g: what a force halfway does to the momentum before, twice, in the axes halfway.

    It is g − tan(φ/4) n × g with n the axis and φ the angle of x.
    """

    def change(_: int, place: int, part: Vector) -> Vector:
        turn, squared, small, safe = angle_of(x, place)
        series = (1 + squared * (1 / 48 + squared * 2 / 3840)) / 4
        factor = jnp.where(small, series, jnp.tan(safe / 4) / safe)
        return part - turn.cross(part) * factor

    return change_each_attitude(attitudes, force, lambda which, part: change(which, attitudes[which], part))


def angle_of(x: Row, place: int) -> tuple[Vector, Scalar, Bool[Array, ""], Scalar]:
    """Return the rotation vector (rad), its squared length, whether that is small, and its length (1 where it is)."""
    turn = Vector.of(x[place : place + 3])
    squared = turn.dot(turn)
    small = squared < SMALL_ANGLE
    return turn, squared, small, jnp.sqrt(jnp.where(small, 1.0, squared))
