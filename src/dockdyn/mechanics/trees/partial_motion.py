"""What moves the bodies of a tree: rates of twists, and screws that coordinates give to all that they carry.

Units: SI: m/s, rad/s, m/s², rad/s², N, N m; joints rad or m.
Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed, Twist
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module, field

JointMotion = tuple[Scalar, Scalar]  # coordinate (rad or m, of a mode its own unit) and its rate
Row = Float[Array, "modes"]


def product_of_each(vectors: Sequence[Vector], others: Sequence[Vector]) -> Float[Array, "*rows"]:
    """Return the sum of the products of vectors with others; where both have rows of numbers, of each of these with each."""
    if vectors[0].x.ndim and others[0].x.ndim:
        left, right = (
            jnp.stack([part for one in side for part in (one.x, one.y, one.z)]) for side in (vectors, others)
        )
        return left.T @ right
    return reduce(add, [one.dot(other) for one, other in zip(vectors, others, strict=True)])


def times_rates(vector: Vector, rates: Scalar | Row) -> Vector:
    """Return a vector times a rate; of rows of numbers the sum, each times its own rate, or for each of several columns."""
    return Vector(vector.x @ rates, vector.y @ rates, vector.z @ rates) if vector.x.ndim else vector * rates


class Motions(Module):
    """Coordinates and their rates by number; those of many modes that answer each by itself are in rows, the others single."""

    single: tuple[JointMotion, ...]
    rows: tuple[tuple[Row, Row], ...] = ()
    numbers: tuple[tuple[int, ...], ...] = field(static=True, default=())  # of each row

    def __len__(self) -> int:
        return len(self.single) + sum(map(len, self.numbers))

    def __iter__(self) -> Iterator[JointMotion]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> JointMotion:
        for own, (coordinates, rates) in zip(self.numbers, self.rows, strict=True):
            if number in own:
                return coordinates[own.index(number)], rates[own.index(number)]
        return self.single[number - sum(other < number for own in self.numbers for other in own)]

    def followed_by(self, more: Sequence[JointMotion]) -> Motions:
        """Return them with others behind."""
        return Motions((*self.single, *more), self.rows, self.numbers)


def row_of_motions(motions: Motions | Sequence[JointMotion], numbers: tuple[int, ...], part: int) -> Row:
    """Return the coordinates of these numbers (part 0), or their rates (1), in a row."""
    if isinstance(motions, Motions) and numbers in motions.numbers:
        return motions.rows[motions.numbers.index(numbers)][part]
    return jnp.stack([motions[number][part] for number in numbers])


class Load(NamedTuple):
    """Force (N) and moment (N m), or linear and angular momentum, about the common centre of mass; inertial."""

    force: Vector
    moment: Vector

    def plus(self, other: Load) -> Load:
        return Load(self.force + other.force, self.moment + other.moment)


class Screw(NamedTuple):
    """What a coordinate's rate of one does to what it moves: velocity at the common centre of mass, and angular velocity.

    Of the modes of a link there is one for all, its numbers rows over these.
    """

    velocity: Vector
    spin: Vector

    def power(self, load: Load) -> Float[Array, "*rows"]:
        """Return the power (W) of a load, or of each of several; of modes one for each."""
        return product_of_each((self.velocity, self.spin), (load.force, load.moment))

    def plus(self, other: Screw) -> Screw:
        """Return the sum of both."""
        return Screw(self.velocity + other.velocity, self.spin + other.spin)

    def times(self, rate: Scalar | Row) -> Screw:
        """Return what another rate than one does, or the rates of all modes together."""
        return Screw(times_rates(self.velocity, rate), times_rates(self.spin, rate))

    def at(self, place: Vector) -> Vector:
        """Return the velocity at a place (m) from the common centre."""
        return self.velocity + self.spin.cross(place)


class Rates(NamedTuple):
    """Acceleration of a body's centre of mass and rate of its angular velocity, both inertial."""

    velocity: Vector
    spin: Vector

    def plus(self, other: Rates) -> Rates:
        """Return the sum of both."""
        return Rates(self.velocity + other.velocity, self.spin + other.spin)

    def twist(self, body: Placed) -> Twist:
        """Return the rate of the body's twist."""
        return Twist(self.velocity, body.rotation.transposed_times(self.spin))

    def at(self, body: Placed, place: Vector) -> Vector:
        """Return the acceleration of the body's material at an inertial `place` (m)."""
        return self.velocity + acceleration_at_lever(self.spin, body.rate, place - body.pose.position)


def acceleration_at_lever(spin: Vector, rate: Vector, lever: Vector) -> Vector:
    """Return the acceleration at the end of a lever beside that of its beginning."""
    return spin.cross(lever) + rate.cross(rate.cross(lever))
