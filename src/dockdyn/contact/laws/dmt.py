"""Stiff round bodies that adhere: those that overlap hold each other until they are pulled apart.

Units: depth m, rate m/s, force N, stiffness N/mⁿ.
Source: Derjaguin, Muller and Toporov 1975, J. Colloid Interface Sci. 53:314.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw, signed_power
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.vector import Scalar


class Dmt(NormalLaw):
    """k dⁿ − F₀ + b ḋ: Hertz's force less a pull-off force, 2 π w R of a ball with a work of adhesion w, while bodies overlap.

    At rest it presses in by (F₀/k)^(1/n), from where n/(n + 1) F₀ times that depth is what it takes to part the bodies.
    """

    stiffness: Float[Array, ""]  # k, N/mⁿ
    exponent: Float[Array, ""]  # n
    pull_off_force: Float[Array, ""]  # F₀, N
    damping: Float[Array, ""]  # b, N s/m

    def adheres(self) -> bool:
        return True

    def lossless(self) -> bool:
        return bool(self.damping == 0)

    def passive(self) -> bool:
        return bool(self.damping >= 0)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.stiffness * signed_power(depth, self.exponent) - self.pull_off_force + self.damping * rate
