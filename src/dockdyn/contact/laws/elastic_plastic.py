"""A contact that yields: what is pressed beyond its limit stays pressed in.

Units: depth m, rate m/s, force N, stiffness N/m.
Source: Walton and Braun 1986, J. Rheology 30:949, with a yield force; own construction of its memory.
"""

from __future__ import annotations

from dataclasses import replace

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar


class ElasticPlastic(NormalLaw):
    """A spring k up to a yield force, a flatter one beyond it, and back along k, so that a dent is left.

    Walton and Braun's contact where it yields at once; a crushable core where the flatter spring has no stiffness.
    """

    stiffness: Float[Array, ""]  # k, N/m
    yield_force: Float[Array, ""]  # N
    plastic_stiffness: Float[Array, ""]  # N/m, below k
    damping: Float[Array, ""]  # N s/m
    deepest: Float[Array, ""] | None = None  # m, so far, once it is known

    def remembers(self) -> bool:
        return True

    def after(self, deepest: Scalar) -> NormalLaw:
        return replace(self, deepest=deepest)

    def at_rest(self, depth: Scalar) -> NormalLaw:
        return SpringDashpot(self.stiffness, self.damping, adhesion=False)

    def passive(self) -> bool:
        return bool((self.damping >= 0) & (self.plastic_stiffness <= self.stiffness))

    def loading(self, depth: Scalar) -> Scalar:
        """Return the force (N) at a depth (m) that was never reached before."""
        elastic = self.stiffness * depth
        plastic = self.yield_force + self.plastic_stiffness * (depth - self.yield_force / self.stiffness)
        return jnp.minimum(elastic, plastic)

    def dent(self, deepest: Scalar) -> Scalar:
        """Return the depth (m) at which nothing presses any more, after the `deepest` (m)."""
        return deepest - self.loading(deepest) / self.stiffness

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return what it gives back (J) on the way to its dent."""
        return self.force(depth, jnp.zeros(())) ** 2 / (2 * self.stiffness)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return jnp.maximum(self.force_sign(depth, rate), 0.0)

    def force_sign(self, depth: Scalar, rate: Scalar) -> Scalar:
        pressed = self.loading(depth)
        if self.deepest is not None:
            dented = self.stiffness * (depth - self.dent(self.deepest))
            pressed = jnp.where(depth < self.deepest, dented, pressed)
        # in the dent nothing is damped either
        return pressed + jnp.where(pressed > 0, self.damping * rate, 0.0)
