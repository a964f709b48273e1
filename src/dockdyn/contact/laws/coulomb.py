"""Coulomb friction, regularised, with rolling and spinning resistance.

Units: forces N, speeds m/s, torques N m, rates rad/s, coefficient dimensionless.
Source: Sazawal et al., eqs. 14 and 15 corrected.
"""

from __future__ import annotations

from dockdyn.contact.laws.friction import Friction, regularised_speed
from dockdyn.contact.laws.turning_resistance import TurningResistance
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.vector import Scalar, Vector


class Coulomb(Friction):
    """Regularised Coulomb friction: −μ f_n v / √(v² + ε²) (Sazawal et al., eqs. 14, 15, as scalars)."""

    coefficient: Float[Array, ""]  # μ
    regularisation: Float[Array, ""]  # ε, m/s
    turning: TurningResistance | None = None

    def lossless(self) -> bool:
        return bool(self.coefficient == 0) and (self.turning is None or self.turning.lossless())

    def passive(self) -> bool:
        return bool(self.coefficient >= 0) and (self.turning is None or self.turning.passive())

    def force(self, normal_force: Scalar, sliding: Vector) -> Vector:
        speed = regularised_speed(sliding.dot(sliding), self.regularisation)
        return sliding * (-self.coefficient * normal_force / speed)

    def resists_turning(self) -> bool:
        return self.turning is not None

    def torque(self, normal_force: Scalar, normal: Vector, turning: Vector) -> Vector:
        return Vector.zero() if self.turning is None else self.turning.torque(normal_force, normal, turning)
