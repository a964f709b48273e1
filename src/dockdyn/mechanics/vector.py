"""Vectors, matrices and quaternions as named scalars.

XLA fuses arithmetic on named scalars into one kernel, for a single trajectory as for a batch of lanes, while
three-element arrays cost a kernel for every slice and concatenation. So the mechanics inside the time loop is
written with these types; arrays appear at its border, through `of` and `array`. What they do is traced once for all
programs: JAX takes as long to note down a call as one of the products in it.

Units: any; those of the caller.
Source: definitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockdyn.deferred import Array, Float, is_array_of_jax, jax, jnp, xp
from dockdyn.programs import trace_once
from dockdyn.trees import leaves_of, tree_of_fields

type Scalar = Float[Array, ""]


def once[T](value: T) -> T:
    """Return a value computed once and stored: XLA copies a shared intermediate into every kernel that reads it."""
    """Return a value computed once and stored: XLA copies a shared intermediate into every kernel that reads it."""
    return jax.lax.optimization_barrier(value) if any(map(is_array_of_jax, leaves_of(value))) else value


@tree_of_fields
@dataclass(frozen=True, slots=True)
class Vector:
    """A vector by its three components (any unit, any frame)."""

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def of(components: Float[Array, "3"] | Sequence[Scalar]) -> Vector:
        """Return the vector with `components` (array or sequence of 3)."""
        return Vector(components[0], components[1], components[2])

    @staticmethod
    def zero() -> Vector:
        return Vector(xp.zeros(()), xp.zeros(()), xp.zeros(()))

    def array(self) -> Float[Array, "3"]:
        return xp.stack([self.x, self.y, self.z])

    @trace_once
    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    @trace_once
    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    @trace_once
    def __mul__(self, factor: Scalar | float) -> Vector:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__

    @trace_once
    def __truediv__(self, divisor: Scalar | float) -> Vector:
        return Vector(self.x / divisor, self.y / divisor, self.z / divisor)

    @trace_once
    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    @trace_once
    def dot(self, other: Vector) -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    @trace_once
    def cross(self, other: Vector) -> Vector:
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    @trace_once
    def norm(self) -> Scalar:
        """Return euclidean length; its derivative at the zero vector is not defined."""
        return jnp.sqrt(self.dot(self))


@tree_of_fields
@dataclass(frozen=True, slots=True)
class Matrix:
    """A 3 × 3 matrix by its three rows."""

    x: Vector
    y: Vector
    z: Vector

    @staticmethod
    def of(rows: Float[Array, "3 3"]) -> Matrix:
        return Matrix(Vector.of(rows[0]), Vector.of(rows[1]), Vector.of(rows[2]))

    def array(self) -> Float[Array, "3 3"]:
        return xp.stack([self.x.array(), self.y.array(), self.z.array()])

    @trace_once
    def __matmul__(self, vector: Vector) -> Vector:
        return Vector(self.x.dot(vector), self.y.dot(vector), self.z.dot(vector))

    @trace_once
    def transposed_times(self, vector: Vector) -> Vector:
        """Return the transposed matrix times `vector`."""
        return self.x * vector.x + self.y * vector.y + self.z * vector.z


def unit_vectors() -> tuple[Vector, ...]:
    """Return the unit vectors along the three axes."""
    return tuple(Vector(*(jnp.asarray(float(i == j)) for j in range(3))) for i in range(3))
