"""What moves the bodies of a tree: rates of twists, and screws that coordinates give to all that they carry.

Units: SI: m/s, rad/s, m/s², rad/s², N, N m; joints rad or m.
Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 2.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.mechanics.rigid_body import Placed, Twist
from dockdyn.mechanics.vector import Scalar, Vector

JointMotion = tuple[Scalar, Scalar]  # coordinate (rad or m, of a mode its own unit) and its rate


class Load(NamedTuple):
    """Force (N) and moment (N m), or linear and angular momentum, about the common centre of mass; inertial."""

    force: Vector
    moment: Vector

    def plus(self, other: Load) -> Load:
        return Load(self.force + other.force, self.moment + other.moment)


class Screw(NamedTuple):
    """What a coordinate's rate of one does to what it moves: velocity at the common centre of mass, and angular velocity."""

    velocity: Vector
    spin: Vector

    def power(self, load: Load) -> Scalar:
        """Return the power (W) of a load."""
        return self.velocity.dot(load.force) + self.spin.dot(load.moment)

    def plus(self, other: Screw) -> Screw:
        """Return the sum of both."""
        return Screw(self.velocity + other.velocity, self.spin + other.spin)

    def times(self, rate: Scalar) -> Screw:
        """Return what another rate than one does."""
        return Screw(self.velocity * rate, self.spin * rate)

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
