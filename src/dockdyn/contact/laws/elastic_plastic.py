"""A contact that yields along straight lines.

Units: depth m, rate m/s, force N, stiffness N/m.
Source: Walton and Braun 1986, J. Rheology 30:949, with a yield force.
"""

from __future__ import annotations

from dockdyn.contact.laws.yielding_law import YieldingLaw
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar


class ElasticPlastic(YieldingLaw):
    """A spring k up to a yield force, a flatter one beyond it, and back along k, so that a dent is left.

    Walton and Braun's contact where it yields at once; a crushable core where the flatter spring has no stiffness.
    """

    stiffness: Float[Array, ""]  # k, N/m
    yield_force: Float[Array, ""]  # N
    plastic_stiffness: Float[Array, ""]  # N/m, below k
    damping: Float[Array, ""]  # N s/m

    def passive(self) -> bool:
        return bool((self.damping >= 0) & (self.plastic_stiffness <= self.stiffness))

    def dashpot(self) -> Scalar:
        return self.damping

    def loading(self, depth: Scalar) -> Scalar:
        elastic = self.stiffness * depth
        plastic = self.yield_force + self.plastic_stiffness * (depth - self.yield_force / self.stiffness)
        return jnp.minimum(elastic, plastic)

    def corners(self) -> Float[Array, "corners"]:
        # one that yields at once bends where it is touched, which is an event
        return jnp.where(self.yield_force > 0, self.yield_force / self.stiffness, jnp.inf)[None]

    def dent(self, deepest: Scalar) -> Scalar:
        return deepest - self.loading(deepest) / self.stiffness

    def unloading(self, depth: Scalar, deepest: Scalar) -> Scalar:
        return self.stiffness * (depth - self.dent(deepest))

    def returned_energy(self, depth: Scalar, deepest: Scalar) -> Scalar:
        return self.stiffness * (depth - self.dent(deepest)) ** 2 / 2
