"""A rigid body in three dimensions: motion, equations of Newton and Euler, energy and momentum.

Units: SI: m, m/s, rad/s, kg, kg m², N, N m.
Source: Newton and Euler; Sazawal et al., eqs. 1–8.
"""

from __future__ import annotations

from collections.abc import Sequence

from dockdyn.deferred import Array, ArrayLike, Float, jnp, xp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once
from dockdyn.trees import Module, map_leaves


class Pose(Module):
    """Position of the centre of mass (m, inertial) and attitude (body → inertial)."""

    position: Vector
    attitude: Quaternion

    @staticmethod
    def at(position: Sequence[float] | ArrayLike, attitude: Quaternion | None = None) -> Pose:
        """Return a pose at `position` (three numbers, m); its axes are the inertial ones unless an `attitude` is given."""
        return Pose(Vector.of(xp.asarray(position, float)), attitude or Quaternion.exponential(Vector.zero()))

    def shifted(self, by: Vector) -> Pose:
        """Return the pose moved `by` so much (m)."""
        return Pose(self.position + by, self.attitude)


class Twist(Module):
    """Velocity of the centre of mass (m/s, inertial) and angular velocity (rad/s, body axes)."""

    velocity: Vector
    rate: Vector

    @staticmethod
    def of(velocity: Sequence[float] | ArrayLike, rate: Sequence[float] | ArrayLike = (0.0, 0.0, 0.0)) -> Twist:
        """Return a twist of three numbers each (m/s; rad/s)."""
        return Twist(Vector.of(xp.asarray(velocity, float)), Vector.of(xp.asarray(rate, float)))


class RigidBody(Module):
    """Mass (kg) and inertia tensor about the centre of mass (kg m², body axes), with the tensor's inverse."""

    mass: Float[Array, ""]
    inertia: Float[Array, "3 3"]
    inverse_inertia: Float[Array, "3 3"]

    @staticmethod
    def of(mass: ArrayLike, inertia: ArrayLike) -> RigidBody:
        """Return a body of `mass` (kg) and `inertia` (3 × 3, kg m²)."""
        tensor = xp.asarray(inertia, float)
        return RigidBody(xp.asarray(mass, float), tensor, xp.linalg.inv(tensor))

    def acceleration(self, twist: Twist, force: Vector, torque: Vector) -> Twist:
        """Return rates of `twist` under `force` (N, inertial) and `torque` about the centre of mass (N m, body axes)."""
        momentum = Matrix.of(self.inertia) @ twist.rate
        torque = once(torque - twist.rate.cross(momentum))
        return Twist(force * (1 / self.mass), Matrix.of(self.inverse_inertia) @ torque)

    def needed(self, twist: Twist, rate: Twist) -> tuple[Vector, Vector]:
        """Return the force (N, inertial) and torque about the centre of mass (N m, body axes) under which `twist` changes at
        `rate`."""
        inertia = Matrix.of(self.inertia)
        return rate.velocity * self.mass, inertia @ rate.rate + twist.rate.cross(inertia @ twist.rate)

    def kinetic_energy(self, twist: Twist) -> Scalar:
        """Return the kinetic energy (J)."""
        spin = twist.rate.dot(Matrix.of(self.inertia) @ twist.rate)
        return 0.5 * (self.mass * twist.velocity.dot(twist.velocity) + spin)

    def linear_momentum(self, twist: Twist) -> Vector:
        """Return the linear momentum (N s, inertial)."""
        return twist.velocity * self.mass

    def spin(self, pose: Pose, twist: Twist) -> Vector:
        """Return the angular momentum about the body's own centre of mass (N m s, inertial)."""
        return pose.attitude.matrix() @ (Matrix.of(self.inertia) @ twist.rate)


class Placed(Module):
    """A body's motion with its rotation matrix, computed once and used by everything attached to the body."""

    pose: Pose
    twist: Twist
    rotation: Matrix
    rate: Vector  # rad/s, inertial

    @staticmethod
    def of(pose: Pose, twist: Twist) -> Placed:
        rotation = once(pose.attitude.matrix())
        return Placed(pose, twist, rotation, rotation @ twist.rate)

    def after(self, time: Scalar) -> Placed:
        """Return the body a `time` (s) later, to first order in that."""
        attitude, change = self.pose.attitude, self.pose.attitude.rate(self.twist.rate)
        turned = map_leaves(lambda now, rate: now + time * rate, attitude, change)
        return Placed.of(Pose(self.pose.position + self.twist.velocity * time, turned), self.twist)

    def moved(self, by: Vector, velocity: Vector) -> Placed:
        """Return the body as it is where all is shifted `by` so much (m) and moves at a further `velocity` (m/s), both
        inertial."""
        return Placed(
            self.pose.shifted(by), Twist(self.twist.velocity + velocity, self.twist.rate), self.rotation, self.rate
        )

    def point(self, place: Vector) -> Vector:
        """Return the inertial position of the body-fixed `place` (m, body axes from the centre of mass)."""
        return self.pose.position + self.rotation @ place

    def local(self, point: Vector) -> Vector:
        """Return the body components of the inertial `point` (m, from the centre of mass)."""
        return self.rotation.transposed_times(point - self.pose.position)

    def velocity(self, point: Vector) -> Vector:
        """Return the velocity (m/s, inertial) of the body's material at the inertial `point`."""
        return self.twist.velocity + self.rate.cross(point - self.pose.position)

    def torque(self, point: Vector, force: Vector) -> Vector:
        """Return the torque (N m, body axes) about the centre of mass of an inertial `force` at an inertial `point`."""
        return self.rotation.transposed_times((point - self.pose.position).cross(force))


def mean_by_mass(bodies: Sequence[RigidBody], vectors: Sequence[Vector]) -> Vector:
    """Return the mean of vectors of bodies, weighted by their masses: of their places or velocities those of the common
    centre."""
    total = sum(body.mass for body in bodies)
    return sum((one * (body.mass / total) for body, one in zip(bodies, vectors, strict=True)), Vector.zero())


def pair_momentum(
    bodies: tuple[RigidBody, ...], poses: tuple[Pose, ...], twists: tuple[Twist, ...]
) -> tuple[Vector, Vector, Scalar, Scalar]:
    """Return the linear momentum and angular momentum about the common centre of mass, with the scales of their errors.

    Returns `(linear, angular, linear_scale, angular_scale)`: two vectors (N s; N m s, inertial), Σ|mᵢvᵢ| and
    Σ(|rᵢ||mᵢuᵢ| + |Hᵢ|), where rᵢ and uᵢ are a body's place and velocity seen from the common centre of mass, and Hᵢ its spin:
    where bodies meet head-on nothing turns, and Σ|rᵢ × mᵢuᵢ| would be rounding.
    """
    centre = mean_by_mass(bodies, [pose.position for pose in poses])
    drift = mean_by_mass(bodies, [twist.velocity for twist in twists])
    linear, angular = Vector.zero(), Vector.zero()
    linear_scale = angular_scale = jnp.zeros(())
    for body, pose, twist in zip(bodies, poses, twists, strict=True):
        momentum = body.linear_momentum(twist)
        arm, seen = pose.position - centre, (twist.velocity - drift) * body.mass
        spin = body.spin(pose, twist)
        linear, angular = linear + momentum, angular + arm.cross(seen) + spin
        linear_scale += momentum.norm()
        angular_scale += arm.norm() * seen.norm() + spin.norm()
    return linear, angular, linear_scale, angular_scale


def internal_energy(bodies: tuple[RigidBody, ...], twists: tuple[Twist, ...]) -> Scalar:
    """Return the kinetic energy (J) of bodies seen from their common centre of mass."""
    total, momentum = jnp.zeros(()), Vector.zero()
    for body, twist in zip(bodies, twists, strict=True):
        total, momentum = total + body.mass, momentum + body.linear_momentum(twist)
    drift = momentum / total
    seen = [Twist(twist.velocity - drift, twist.rate) for twist in twists]
    return sum((body.kinetic_energy(twist) for body, twist in zip(bodies, seen, strict=True)), jnp.zeros(()))
