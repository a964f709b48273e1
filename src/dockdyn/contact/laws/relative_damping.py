"""Laws whose damping is stated by what two bodies that meet do, and so is known once their effective mass is.

Units: depth m, rate and speed m/s, force N; ratios dimensionless.
Source: definition; what they become between two bodies is in `dockdyn.mechanism.head_on`.
"""

from __future__ import annotations

from typing import Any

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import AbstractVar


class RelativeLaw(NormalLaw):
    """A law without the dashpot that an effective mass will give it."""

    law: AbstractVar[Any]  # a normal-force law with a `damping`, which is zero

    def adheres(self) -> bool:
        return self.law.adheres()

    def passive(self) -> bool:
        return self.law.passive()

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.law.force(depth, rate)


class DampedByRatio(RelativeLaw):
    """A spring and dashpot of the damping ratio ζ = b/(2 √(k μ))."""

    law: SpringDashpot
    ratio: Float[Array, ""]

    def lossless(self) -> bool:
        return bool(self.ratio == 0)


class DampedByRestitution(RelativeLaw):
    """A law with a dashpot beside a force of any other kind, of the restitution of an impact head on at a speed."""

    law: Any
    restitution: Float[Array, ""]
    speed: Float[Array, ""]  # m/s

    def lossless(self) -> bool:
        return bool(self.restitution == 1) and self.law.lossless()
