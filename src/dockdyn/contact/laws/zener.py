"""A standard linear solid: a spring, and beside it a spring and a dashpot in a row.

Units: depth m, force N, stiffness N/m, times s.
Source: Zener 1948, Elasticity and Anelasticity of Metals; what a free surface does follows from a force of zero.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.mechanics.vector import Scalar

ROUNDING = 1e-13  # of the time for which bodies have not felt it


class Creep(NamedTuple):
    """What a creeping contact remembers, or the rate of it: how far its dashpot has given way, and, so that what pushes no
    body recovers or relaxes in closed form however long a step is, for how long and how deep that was so.

    Bodies do not feel it while they are apart, and while a rigid grip carries them.
    """

    crept: Scalar  # m
    unfelt: Scalar  # s, in all
    before: Scalar  # s, the same as the last step ended
    held: Scalar  # m s, the integral of the depth while a grip carried them
    held_before: Scalar  # m s, the same as the last step ended


class Zener(NormalLaw):
    """k d + k₁ (d − x) with ẋ = (s − x)/τ: s is the depth of the surface, which is d where the bodies press, and where nothing
    presses what the springs leave of x."""

    stiffness: Float[Array, ""]  # k, N/m, of what has crept
    series_stiffness: Float[Array, ""]  # k₁, N/m, of the spring before the dashpot
    relaxation_time: Float[Array, ""]  # τ, s: the dashpot is k₁ τ

    def passive(self) -> bool:
        return True

    def first_memory(self) -> Creep:
        zero = jnp.zeros(())
        return Creep(zero, zero, zero, zero, zero)

    def after(self, memory: Creep) -> NormalLaw:
        return Crept(self, self._relaxed(memory))

    def memory_rate(self, memory: Creep, depth: Scalar, apart: Bool[Array, ""]) -> Creep:
        rate = (self.surface(depth, memory.crept) - memory.crept) / self.relaxation_time
        zero, one = jnp.zeros(()), jnp.ones(())
        return Creep(jnp.where(apart, zero, rate), jnp.where(apart, one, zero), zero, zero, zero)

    def carried_rate(self, memory: Creep, depth: Scalar) -> Creep:
        zero = jnp.zeros(())
        return Creep(zero, jnp.ones(()), zero, depth, zero)

    def renewed(self, memory: Creep, depth: Scalar) -> Creep:
        return Creep(self._relaxed(memory), memory.unfelt, memory.unfelt, memory.held, memory.held)

    def memory_within(self, start: Creep, now: Creep) -> Creep:
        unfelt = now.unfelt - start.before > ROUNDING * now.unfelt
        return Creep(jnp.where(unfelt, start.crept, now.crept), now.unfelt, start.before, now.held, start.held_before)

    def asks_for_steps(self) -> bool:
        return False

    def at_rest(self, depth: Scalar) -> NormalLaw:
        return CreptAtRest(self, depth)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return Crept(self, jnp.zeros(())).force(depth, rate)

    def surface(self, depth: Scalar, crept: Scalar) -> Scalar:
        """Return how deep (m) the surface is pressed in."""
        return jnp.maximum(depth, self.series_stiffness / (self.stiffness + self.series_stiffness) * crept)

    def _relaxed(self, memory: Creep) -> Scalar:
        """Return how far (m) the dashpot has given way, since the last step's end at the mean depth at which a grip held it,
        zero of what was apart, while no body felt it: free until its surface meets that depth, then as that presses."""
        share = self.stiffness / (self.stiffness + self.series_stiffness)
        time = memory.unfelt - memory.before
        some = time > 0
        depth = jnp.where(some, (memory.held - memory.held_before) / jnp.where(some, time, 1.0), 0.0)
        left = (1 - share) * memory.crept
        meets = (depth > 0) & (left > depth)
        ratio = jnp.where(meets, left, 1.0) / jnp.where(meets, depth, 1.0)
        until = jnp.where(meets, jnp.log(ratio) / share, jnp.where(left < depth, 0.0, jnp.inf))
        spans = time / self.relaxation_time
        free = jnp.minimum(spans, until)
        crept = memory.crept * jnp.exp(-share * free)
        return crept + (crept - depth) * jnp.expm1(-(spans - free))


class Crept(NormalLaw):
    """A standard linear solid whose dashpot has given way."""

    law: Zener
    crept: Scalar  # m

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return jnp.maximum(self.force_sign(depth, rate), 0.0)

    def force_sign(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.law.stiffness * depth + self.law.series_stiffness * (depth - self.crept)

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return the energy (J) of both springs."""
        surface = self.law.surface(depth, self.crept)
        return (self.law.stiffness * surface**2 + self.law.series_stiffness * (surface - self.crept) ** 2) / 2


class CreptAtRest(NormalLaw):
    """A standard linear solid for small motions about a depth that it has crept to."""

    law: Zener
    crept: Scalar  # m

    def passive(self) -> bool:
        return True

    def first_memory(self) -> Scalar:
        return self.crept

    def after(self, memory: Scalar) -> NormalLaw:
        return CreptAtRest(self.law, memory)

    def memory_rate(self, memory: Scalar, depth: Scalar, apart: Bool[Array, ""]) -> Scalar:
        return jnp.where(apart, 0.0, (depth - memory) / self.law.relaxation_time)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return Crept(self.law, self.crept).force_sign(depth, rate)
