"""What a friction law is: the force along the surface, and what resists turning over it.

Units: forces N, speeds m/s, torques N m, rates rad/s.
Source: definition of the interface.
"""

from __future__ import annotations

import abc

from dockdyn.deferred import jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module


class Friction(Module):
    """A friction law. One of your own is a subclass with `force`, parameters as fields.

    One that also resists turning says so in `resists_turning` and how in `torque`.
    """

    @abc.abstractmethod
    def force(self, normal_force: Scalar, sliding: Vector) -> Vector:
        """Return the force (N) on the body that slides with velocity `sliding` (m/s), under `normal_force` (N)."""

    def remembers(self) -> bool:
        """Return whether what it does depends on what was."""
        return False

    def asks_for_steps(self) -> bool:
        """Return whether what it remembers is decided as steps end, however long they are: not where rates say all of it."""
        return self.remembers()

    def resists_turning(self) -> bool:
        """Return whether it resists that the bodies roll or spin over each other."""
        return False

    def torque(self, normal_force: Scalar, normal: Vector, turning: Vector) -> Vector:
        """Return the torque (N m) on the body that turns against the other at a rate `turning` (rad/s), under `normal_force`
        (N) along `normal`; zero by default."""
        return Vector.zero()

    def lossless(self) -> bool:
        """Return whether it takes no energy, as where its coefficient is zero; asked of numbers, never while JAX traces."""
        return False

    def passive(self) -> bool:
        """Return whether it never gives energy, as where it acts against the sliding; asked of numbers, never while JAX
        traces."""
        return self.lossless()


def length_of(vectors: Vector) -> Scalar:
    """Return lengths, without a slope where they are zero."""
    square = vectors.dot(vectors)
    some = square > 0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def stribeck_coefficient(slipping: Scalar, static: Scalar, stribeck_speed: Scalar, speed: Scalar) -> Scalar:
    """Return μ at a sliding `speed` (m/s), by Stribeck's curve in its usual form: from that of what begins to slip to that of
    what slips."""
    return slipping + (static - slipping) * jnp.exp(-((speed / stribeck_speed) ** 2))


def regularised_speed(square: Scalar, regularisation: Scalar) -> Scalar:
    """Return √(v² + ε²), by which a velocity is divided in place of its size: of the `square` v² and the `regularisation` ε."""
    return jnp.sqrt(square + regularisation**2)
