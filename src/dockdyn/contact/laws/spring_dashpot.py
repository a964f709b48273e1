"""Spring and dashpot.

Units: depth m, rate m/s, force N.
Source: Sazawal et al., eq. 68.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import field


class SpringDashpot(NormalLaw):
    """k d + b ḋ (Sazawal et al., eq. 68, with the sign of this package: compression is positive).

    Without `adhesion` the force ends at zero, before the depth does; with it the dashpot may pull until d = 0.
    """

    stiffness: Float[Array, ""]  # N/m
    damping: Float[Array, ""]  # N s/m
    adhesion: bool = field(static=True)

    def adheres(self) -> bool:
        return self.adhesion

    def lossless(self) -> bool:
        return bool(self.damping == 0)

    def passive(self) -> bool:
        return bool(self.damping >= 0)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.stiffness * depth + self.damping * rate

    def stored_energy(self, depth: Scalar) -> Scalar:
        return self.stiffness * depth**2 / 2
