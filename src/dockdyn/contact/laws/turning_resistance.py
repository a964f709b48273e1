"""Rolling and spinning resistance: torques of a contact against bodies that turn over each other.

Units: lengths m, rates rad/s, forces N, torques N m.
Source: the coefficient of rolling resistance as a length, and the same of spinning; regularised as Coulomb friction is.
"""

from __future__ import annotations

from dockdyn.contact.laws.friction import regularised_speed
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module


def split_turning(normal: Vector, turning: Vector) -> tuple[Vector, Vector]:
    """Return how a first body rolls and how it spins over a second one, together its `turning` (rad/s) against that.

    A `normal` need not be of length one.
    """
    square = normal.dot(normal)
    spin = normal * (turning.dot(normal) / jnp.where(square > 0, square, 1.0))
    return turning - spin, spin


class TurningResistance(Module):
    """Torques −f_n c ω / √(ω² + ε²), of the rolling and of the spinning rate ω, each with its length c."""

    rolling: Float[Array, ""]  # m
    spinning: Float[Array, ""]  # m
    regularisation: Float[Array, ""]  # ε, rad/s

    def lossless(self) -> bool:
        """Return whether it takes no energy; asked of numbers, never while JAX traces."""
        return bool((self.rolling == 0) & (self.spinning == 0))

    def passive(self) -> bool:
        """Return whether it never gives energy; asked of numbers, never while JAX traces."""
        return bool((self.rolling >= 0) & (self.spinning >= 0))

    def torque(self, normal_force: Scalar, normal: Vector, turning: Vector) -> Vector:
        """Return the torque (N m) on the body that turns against the other at the rate `turning` (rad/s), under
        `normal_force` (N)."""
        roll, spin = split_turning(normal, turning)
        rolls, spins = (regularised_speed(one.dot(one), self.regularisation) for one in (roll, spin))
        return roll * (-self.rolling * normal_force / rolls) + spin * (-self.spinning * normal_force / spins)
