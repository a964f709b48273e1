"""Laws whose damping is stated by what two bodies that meet do, and so is known once their effective mass is.

Units: depth m, rate and speed m/s, force N; ratios dimensionless.
Source: definition; what they become between two bodies is in `dockdyn.mechanism.head_on`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import AbstractVar

IMMOVABLE = 1e18  # kg: no more than what is fixed leaves to an effective mass


def damping_of_ratio(ratio: Scalar, stiffness: Scalar, mass: Scalar) -> Scalar:
    """Return b = 2 ζ √(k μ) (N s/m; N m s/rad of what turns) for a ratio ζ, a stiffness k and an effective mass μ.

    Zero without a stiffness, and along what cannot move.
    """
    moves = (stiffness > 0) & (mass < IMMOVABLE)
    squared = jnp.where(moves, stiffness, 1.0) * jnp.where(moves, mass, 1.0)
    return jnp.where(moves, 2 * ratio * jnp.sqrt(squared), 0.0)


class RelativeLaw(NormalLaw):
    """A law without the dashpot that an effective mass will give it."""

    law: AbstractVar[Any]  # a normal-force law with a `damping`, which is zero

    def adheres(self) -> bool:
        return self.law.adheres()

    def passive(self) -> bool:
        return self.law.passive()

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.law.force(depth, rate)

    def stored_energy(self, depth: Scalar) -> Scalar:
        return self.law.stored_energy(depth)


class DampedByRatio(RelativeLaw):
    """A spring and dashpot of the damping ratio ζ = b/(2 √(k μ))."""

    law: SpringDashpot
    ratio: Float[Array, ""]

    def lossless(self) -> bool:
        return bool(self.ratio == 0)

    def between(self, mass: Scalar) -> SpringDashpot:
        """Return the law between bodies of an effective `mass` (kg)."""
        return replace(self.law, damping=damping_of_ratio(self.ratio, self.law.stiffness, mass))


class DampedByRestitution(RelativeLaw):
    """A law with a dashpot beside a force of any other kind, of the restitution of an impact head on at a speed."""

    law: Any
    restitution: Float[Array, ""]
    speed: Float[Array, ""]  # m/s

    def lossless(self) -> bool:
        return bool(self.restitution == 1) and self.law.lossless()
