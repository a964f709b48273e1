"""LuGre's friction: bristles that bend before they slip, damped, with Stribeck's curve.

Units: lengths m, speeds m/s, forces N.
Source: Canudas de Wit, Olsson, Åström and Lischinsky 1995, IEEE Transactions on Automatic Control 40:419, here in two
directions and over the normal force.
"""

from __future__ import annotations

from dockdyn.contact.laws.bristles import Bristles
from dockdyn.contact.laws.friction import length_of, stribeck_coefficient
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.vector import Scalar, Vector


class LuGre(Bristles):
    """σ₀ z + σ₁ ż + σ₂ v times the normal force, ż = v − σ₀ |v| z / g(v), with σ₀ = μ / z₀ and σ₁ = τ σ₀.

    What slides on bends its bristles by g(v)/σ₀ along the way. Of a growing normal force bent bristles store more than the
    sliding gave, so nobody can say that it only takes energy.
    """

    coefficient: Float[Array, ""]  # μ of what slips
    static_coefficient: Float[Array, ""]  # g(0), of what begins to slip
    stribeck_speed: Float[Array, ""]  # m/s, at which 1/e of the difference of both is left
    presliding: Float[Array, ""]  # m, z₀: by how much bristles are bent that hold μ times the normal force
    retardation_time: Float[Array, ""]  # s, τ
    viscosity: Float[Array, ""]  # s/m, σ₂

    def bend(self, stretch: Vector, sliding: Vector) -> Vector:
        speed = length_of(sliding)
        most = stribeck_coefficient(self.coefficient, self.static_coefficient, self.stribeck_speed, speed)
        return sliding - stretch * (self._stiffness * speed / most)

    def pull(self, normal_force: Scalar, stretch: Vector, sliding: Vector) -> Vector:
        bent = stretch + self.bend(stretch, sliding) * self.retardation_time
        return (bent * self._stiffness + sliding * self.viscosity) * -normal_force

    def stored_energy(self, normal_force: Scalar, stretch: Vector) -> Scalar:
        return normal_force * self._stiffness * stretch.dot(stretch) / 2

    @property
    def _stiffness(self) -> Scalar:
        """σ₀ (1/m)."""
        return self.coefficient / self.presliding
