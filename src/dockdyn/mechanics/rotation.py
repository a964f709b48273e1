"""Rotations: unit quaternions (scalar first, body → inertial), direction cosine matrices, exponential and logarithm.

Units: angles rad, rates rad/s; quaternions and matrices dimensionless.
Source: Shuster 1993, J. Astronautical Sciences 41:439; Iserles et al. 2000, Acta Numerica 9:215 (rates of rotation vectors).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.mechanics.vector import Matrix, Scalar, Vector
from dockdyn.programs import trace_once
from dockdyn.trees import tree_of_fields

SMALL_ANGLE = 1e-4  # rad²; below this squared angle the series of sine and cosine are exact to double precision


@tree_of_fields
@dataclass(frozen=True, slots=True)
class Quaternion:
    """A unit quaternion w + xi + yj + zk that takes body components to inertial components."""

    w: Scalar
    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def level() -> Quaternion:
        """Return the attitude that turns nothing."""
        return Quaternion(jnp.ones(()), jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))

    @staticmethod
    def of(components: Float[Array, "4"] | Sequence[Scalar]) -> Quaternion:
        """Return the quaternion with `components` (4, scalar first)."""
        return Quaternion(components[0], components[1], components[2], components[3])

    @staticmethod
    @trace_once
    def exponential(rotation: Vector) -> Quaternion:
        """Return the rotation about `rotation` by its length (rad)."""
        squared = rotation.dot(rotation) / 4
        small = squared < SMALL_ANGLE
        half = xp.sqrt(xp.where(small, 1.0, squared))
        sinc = xp.where(small, 1 - squared / 6 * (1 - squared / 20), xp.sin(half) / half)
        cosine = xp.where(small, 1 - squared / 2 * (1 - squared / 12 * (1 - squared / 30)), xp.cos(half))
        axis = rotation * (sinc / 2)
        return Quaternion(cosine, axis.x, axis.y, axis.z)

    @staticmethod
    def from_matrix(matrix: Matrix) -> Quaternion:
        """Return the quaternion of a direction cosine matrix (body → inertial); the sign is such that w ≥ 0.

        Shepperd's method: of the four squared components the largest is taken by its root, the others follow.
        """
        r = matrix.array()
        trace = xp.trace(r)
        squares = xp.concatenate([trace[None], xp.diagonal(r)])
        w, x, y, z = 1 + trace, 1 + 2 * r[0, 0] - trace, 1 + 2 * r[1, 1] - trace, 1 + 2 * r[2, 2] - trace
        xy, yz, zx = r[0, 1] + r[1, 0], r[1, 2] + r[2, 1], r[2, 0] + r[0, 2]
        a, b, c = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
        candidates = xp.array([[w, a, b, c], [a, x, xy, zx], [b, xy, y, yz], [c, zx, yz, z]])
        q = candidates[xp.argmax(squares)]
        q = q / xp.sqrt(xp.sum(q * q)) * xp.where(q[0] < 0, -1.0, 1.0)
        return Quaternion.of(q)

    def array(self) -> Float[Array, "4"]:
        return xp.stack([self.w, self.x, self.y, self.z])

    def vector(self) -> Vector:
        return Vector(self.x, self.y, self.z)

    @trace_once
    def conjugate(self) -> Quaternion:
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    @trace_once
    def __mul__(self, other: Quaternion) -> Quaternion:
        """The rotation `other` followed by this one."""
        a, b = self.vector(), other.vector()
        v = b * self.w + a * other.w + a.cross(b)
        return Quaternion(self.w * other.w - a.dot(b), v.x, v.y, v.z)

    @trace_once
    def matrix(self) -> Matrix:
        """Return the direction cosine matrix, body → inertial."""
        w, x, y, z = self.w, self.x, self.y, self.z
        return Matrix(
            Vector(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            Vector(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            Vector(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )

    @trace_once
    def logarithm(self) -> Vector:
        """Return the rotation vector (rad, length at most π) of this quaternion."""
        sign = jnp.where(self.w < 0, -1.0, 1.0)
        v = self.vector() * sign
        squared = v.dot(v)
        small = squared < SMALL_ANGLE
        length = jnp.sqrt(jnp.where(small, 1.0, squared))
        cosine = self.w * sign
        # atan2(s, c) / s as a series in s / c, accurate to the last digit below SMALL_ANGLE
        ratio = squared / cosine**2
        series = (1 - ratio * (1 / 3 - ratio * (1 / 5 - ratio / 7))) / cosine
        return v * (2 * jnp.where(small, series, jnp.arctan2(length, cosine) / length))

    def planar_angle(self) -> Scalar:
        """Return the angle (rad) of an attitude that turns about z alone."""
        return 2 * jnp.arctan2(self.z, self.w)

    @trace_once
    def rate(self, angular_velocity: Vector) -> Quaternion:
        """Return the time derivative under `angular_velocity` (rad/s, body axes): ½ q ω."""
        a, b, c, d = self.w, self.x, self.y, self.z
        w = angular_velocity
        return Quaternion(
            -0.5 * (b * w.x + c * w.y + d * w.z),
            0.5 * (a * w.x + c * w.z - d * w.y),
            0.5 * (a * w.y + d * w.x - b * w.z),
            0.5 * (a * w.z + b * w.y - c * w.x),
        )

    @trace_once
    def normalised(self) -> Quaternion:
        scale = 1 / xp.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)
        return Quaternion(self.w * scale, self.x * scale, self.y * scale, self.z * scale)


@trace_once
def rotation_vector_rate(turn: Vector, rate: Vector) -> Vector:
    """Return the rate of the rotation vector `turn` (rad, below 2π long) under the angular velocity `rate`, in the axes turned
    from.

    It is J⁻¹ ω with J the left Jacobian of the exponential; J⁻ᵀ, which takes what is dual to the rotation vector to a moment,
    is the same of −`turn`.
    """
    squared = turn.dot(turn)
    small = squared < SMALL_ANGLE
    half = jnp.sqrt(jnp.where(small, 1.0, squared)) / 2
    series = (1 + squared / 60 * (1 + squared / 42)) / 12
    factor = jnp.where(small, series, (1 - half * jnp.cos(half) / jnp.sin(half)) / (4 * half**2))
    across = turn.cross(rate)
    return rate - across * 0.5 + turn.cross(across) * factor


def roll_pitch_yaw(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Quaternion:
    """Return yaw about z, then pitch about the new y, then roll about the new x (rad)."""
    zero = jnp.zeros(())
    about_z = Quaternion.exponential(Vector(zero, zero, jnp.asarray(yaw)))
    about_y = Quaternion.exponential(Vector(zero, jnp.asarray(pitch), zero))
    return about_z * about_y * Quaternion.exponential(Vector(jnp.asarray(roll), zero, zero))


def from_x_axis(direction: Vector) -> Quaternion:
    """Return the shortest rotation that takes the x axis to the unit vector `direction` (for −x, half a turn about z)."""
    across = direction.y**2 + direction.z**2
    opposite = (direction.x < 0) & (across < 1e-24)
    behind = direction.x < 0
    w = jnp.where(
        behind, across / jnp.where(behind, 1 - direction.x, 1.0), 1 + direction.x
    )  # 1 + x without cancellation
    size = jnp.sqrt(jnp.where(opposite, 1.0, 2 * w))
    zero = jnp.zeros(())
    # half-angle form of the rotation about x × direction
    return Quaternion(
        jnp.where(opposite, zero, w / size),
        zero,
        jnp.where(opposite, zero, -direction.z / size),
        jnp.where(opposite, 1.0, direction.y / size),
    )
