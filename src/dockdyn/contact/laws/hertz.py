"""Hertz contact.

Units: depth m, force N, stiffness N/mⁿ.
Source: Hertz 1882; Johnson 1985, Contact Mechanics, chapter 4.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw, signed_power, work_of_power
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar


class Hertz(NormalLaw):
    """k dⁿ, lossless; n = 3/2 for two elastic bodies that touch in a point (Hertz 1882)."""

    stiffness: Float[Array, ""]  # N/mⁿ
    exponent: Float[Array, ""]  # n

    def lossless(self) -> bool:
        return True

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.stiffness * signed_power(depth, self.exponent)

    def stored_energy(self, depth: Scalar) -> Scalar:
        return self.stiffness * work_of_power(depth, self.exponent)

    def force_sign(self, depth: Scalar, rate: Scalar) -> Scalar:
        return jnp.ones(())
