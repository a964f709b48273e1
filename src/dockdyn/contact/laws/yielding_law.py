"""What laws of contacts that yield share: what is pressed deeper than ever stays pressed in.

Units: depth m, rate m/s, force N.
Source: definition of the interface; own construction of the memory.
"""

from __future__ import annotations

import abc

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import jnp
from dockdyn.mechanics.vector import Scalar


class YieldingLaw(NormalLaw):
    """A law with one curve for depths that were never reached before and, from each of them, one on which it comes back.

    One of your own is a subclass with the four methods that follow. It remembers the greatest depth so far.
    """

    @abc.abstractmethod
    def loading(self, depth: Scalar) -> Scalar:
        """Return the force (N) at a depth (m) that was never reached before."""

    @abc.abstractmethod
    def dent(self, deepest: Scalar) -> Scalar:
        """Return the depth (m) at which nothing presses any more, after the `deepest` (m)."""

    @abc.abstractmethod
    def unloading(self, depth: Scalar, deepest: Scalar) -> Scalar:
        """Return the force (N) at a depth (m) of at least the dent, on the way back from the `deepest` (m), and on that curve
        beyond."""

    @abc.abstractmethod
    def returned_energy(self, depth: Scalar, deepest: Scalar) -> Scalar:
        """Return the work (J) of `unloading` from the dent to a depth (m) of at least that."""

    def dashpot(self) -> Scalar:
        """Return the damping (N s/m) beside the force, while it presses; zero by default."""
        return jnp.zeros(())

    def passive(self) -> bool:
        return True

    def first_memory(self) -> Scalar:
        return jnp.zeros(())

    def after(self, memory: Scalar) -> NormalLaw:
        return Dented(self, memory)

    def renewed(self, memory: Scalar, depth: Scalar) -> Scalar:
        return jnp.maximum(memory, depth)

    def asks_for_steps(self) -> bool:
        return False

    def turns(self) -> bool:
        return True

    def at_rest(self, depth: Scalar) -> NormalLaw:
        return Unloaded(self, depth)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return Dented(self, jnp.zeros(())).force(depth, rate)


class Dented(NormalLaw):
    """A law that yields, after a greatest depth."""

    law: YieldingLaw
    deepest: Scalar  # m, so far

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        pressed = self._pressed(depth)
        return jnp.where(pressed > 0, jnp.maximum(pressed + self.law.dashpot() * rate, 0.0), 0.0)

    def force_sign(self, depth: Scalar, rate: Scalar) -> Scalar:
        # the depth above the dent, of which the root is never flat: without one the force ends as the depth does
        dent, dashpot = self.law.dent(self.deepest), self.law.dashpot()
        above, damped = depth - dent, self._pressed(depth) + dashpot * rate
        undamped = jnp.where(dent > 0, above, 1.0)
        return jnp.where(dashpot > 0, jnp.where(above > 0, damped, above), undamped)

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return what it gives back (J) on the way to its dent."""
        deepest = jnp.maximum(depth, self.deepest)
        return self.law.returned_energy(jnp.maximum(depth, self.law.dent(deepest)), deepest)

    def _pressed(self, depth: Scalar) -> Scalar:
        back = self.law.unloading(jnp.maximum(depth, self.law.dent(self.deepest)), self.deepest)
        return jnp.where(depth < self.deepest, back, self.law.loading(depth))


class Unloaded(NormalLaw):
    """The curve on which a law that yields comes back from a depth, as small motions about that feel it."""

    law: YieldingLaw
    deepest: Scalar  # m

    def lossless(self) -> bool:
        return bool(self.law.dashpot() == 0)

    def passive(self) -> bool:
        return self.law.passive()

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.law.unloading(depth, self.deepest) + self.law.dashpot() * rate
