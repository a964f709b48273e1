"""Connections: two bodies that stay together at a point, or altogether, while they are closed.

A connection is rows of the velocities of both bodies, which are zero while it is closed: the slip. Whether one is closed is no
part of it, so it can fall in, hold and let go. Rows of what is closed together may depend on each other where connections are
`shared`, as those of loops in a plane do in space: then what could be carried in many ways is carried evenly.

Units: SI: m, m/s, rad/s, N, N m.
Source: Lagrange multipliers, e.g. Featherstone 2008, Rigid Body Dynamics Algorithms, sections 3.2 and 8; own derivation of J̇ v.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.impact.laws.result import Impact
from dockdyn.mechanics.lines import Lines, Rows, ease_lines, row_of
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector, unit_vectors
from dockdyn.mechanism.strikes import stop_motion, stop_with_least_impulses
from dockdyn.trees import Module, field


class Connection(Module):
    """A point of the first body that the other body holds, wherever on it that is; of a weld the attitude, too.

    Of bodies on a line the point is held along that line, all that they can move.
    """

    place: Float[Array, "3"]  # m, axes of the first body, from its centre of mass
    first: int = field(static=True)
    other: int = field(static=True)
    hold: Literal["pin", "weld", "line"] = field(static=True)
    planar: bool = field(static=True, default=False)  # between bodies that cannot leave the x–y plane: there alone
    # 1/kg, 1/(kg m²), how both bodies would yield if nothing held them, where others or joints may hold the same; else None
    yields: Float[Array, "2"] | None = None

    @property
    def directions(self) -> int:
        """How many directions the point is held along, the x axis first."""
        return 1 if self.hold == "line" else 2 if self.planar else 3

    @property
    def count(self) -> int:
        """How many rows it has."""
        turning = 1 if self.planar else 3
        return self.directions + (turning if self.hold == "weld" else 0)

    @property
    def turns(self) -> Bool[np.ndarray, "rows"]:
        """Which rows are of turning."""
        return np.arange(self.count) >= self.directions

    def force(self, along: Float[Array, "rows"]) -> Vector:
        """Return the force (N, inertial) on the first body at the point, or the impulse (N s), of what acts along its rows."""
        if self.directions == 3:
            return Vector.of(along)
        return Vector.of(jnp.pad(along[: self.directions], (0, 3 - self.directions)))

    def moment(self, along: Float[Array, "rows"]) -> Vector:
        """Return the moment (N m, inertial) on the first body besides that of the force, of what acts along its rows; a weld's
        alone is any."""
        about = along[self.directions :]
        return Vector.of(jnp.pad(about, (3 - about.size, 0)))

    def point(self, places: Sequence[Placed]) -> Vector:
        """Return where it is (m, inertial)."""
        return places[self.first].point(Vector.of(self.place))

    def rows(self, places: Sequence[Placed]) -> Rows:
        """Return J: how the first body moves at the point against the other, and of a weld how it turns, in inertial axes."""
        moving = point_rows(places, self.first, self.other, self.point(places), unit_vectors()[: self.directions])
        if self.hold != "weld":
            return moving
        about = unit_vectors()[2:] if self.planar else unit_vectors()
        return jnp.concatenate([moving, turning_rows(places, self.first, self.other, about)])

    def lines(self, places: Sequence[Placed], closed: Bool[Array, ""]) -> Lines:
        """Return its lines, along which it holds while it is `closed`."""
        drift = self.drift(places)[: self.directions]
        turning = jnp.zeros(self.count - self.directions)
        lines = Lines.of_connection(self.rows(places), jnp.concatenate([drift, turning]), closed)
        return lines if self.yields is None else lines._replace(yields=self.yields[self.turns.astype(int)])

    def stop(self, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
        """Return the impact with which it falls in: it ends all motion along its rows."""
        if self.yields is None:
            return stop_motion(matrix, velocity)
        easing = ease_lines(matrix, self.yields[self.turns.astype(int)], self.turns)
        return stop_with_least_impulses(matrix, velocity, easing)

    def drift(self, places: Sequence[Placed]) -> Float[Array, "3"]:
        """Return J̇ v (m/s²) of the point: it is one of the first body, and passes over the other as far as that slips."""
        own, other, point = places[self.first], places[self.other], self.point(places)
        arm = point - own.pose.position
        inward = own.rate.cross(own.rate.cross(arm))
        carried = other.rate.cross(own.velocity(point) - other.twist.velocity)
        return (inward - carried).array()


def point_rows(places: Sequence[Placed], first: int, other: int, point: Vector, axes: Sequence[Vector]) -> Rows:
    """Return rows of the velocity (m/s) of the first body against the other at an inertial point (m), along inertial axes."""
    rows = jnp.zeros((len(axes), len(places), 6))
    for number, sign in ((first, 1.0), (other, -1.0)):
        body = places[number]
        rows = rows.at[:, number].set(jnp.stack([sign * row_of(axis, body.torque(point, axis)) for axis in axes]))
    return rows


def turning_rows(places: Sequence[Placed], first: int, other: int, axes: Sequence[Vector]) -> Rows:
    """Return rows of the angular velocity (rad/s) of the first body against the other, about inertial axes."""
    rows = jnp.zeros((len(axes), len(places), 6))
    for number, sign in ((first, 1.0), (other, -1.0)):
        turn = places[number].rotation
        turned = [sign * row_of(Vector.zero(), turn.transposed_times(axis)) for axis in axes]
        rows = rows.at[:, number].set(jnp.stack(turned))
    return rows
