"""Elastic round bodies that adhere: they snap together as they touch, and hold each other a little beyond that.

Units: depth m, rate m/s, force N, stiffness N/m^1.5.
Source: Johnson, Kendall, Roberts 1971, Proc. R. Soc. A 324:301, as Chokshi, Tielens and Hollenbach 1993, Astrophys. J. 407:806,
write it; own solution for the radius of the contact.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.vector import Scalar

LEAST = -3 * 6 ** (-4 / 3)  # of the scale of depth: the slope is infinite there
# so little before that, that what is not lost is less than a hundred-millionth of it, and so much, that depths, which are
# differences of positions, and their slopes are known there
PARTS = LEAST * (1 - 1e-8)
FOLLOWED = LEAST * (1 - 5e-9)  # so far beyond, that at the instant of parting the slope is that of the force
ITERATIONS = 8  # of Newton's method: to the last digit
AS_TOUCHED = -0.1 * (2 / 3) ** (4 / 3)  # the integral of the force, in its scale, at zero depth


class Jkr(NormalLaw):
    """F = 4 F₀ (α³ − α^1.5) + b ḋ at d = D (α² − 2/3 √α), D = (4 F₀/k)^(2/3), α being a measure of the contact's radius.

    It begins at zero depth with −8/9 F₀, holds until −F₀ if pulled by a force, and parts at −0.275 D, where −5/9 F₀ is left.
    That takes 0.257 F₀ D, which is lost: 7.09 (w⁵ R⁴/E*²)^(1/3) of a work of adhesion w.
    """

    stiffness: Float[Array, ""]  # k = 4/3 E* √R, N/m^1.5
    pull_off_force: Float[Array, ""]  # F₀ = 3/2 π w R, N
    damping: Float[Array, ""]  # b, N s/m

    def adheres(self) -> bool:
        return True

    def passive(self) -> bool:
        return bool(self.damping >= 0)

    def acts_from(self) -> Scalar:
        return PARTS * self.scale

    def first_memory(self) -> Scalar:
        return jnp.zeros(())

    def after(self, memory: Scalar) -> NormalLaw:
        return JkrBond(self, memory)

    def renewed(self, memory: Scalar, depth: Scalar) -> Scalar:
        return jnp.where((depth > 0) | ((memory > 0) & (depth > self.acts_from())), 1.0, 0.0)

    def asks_for_steps(self) -> bool:
        return False

    def parts_steeply(self) -> bool:
        return True

    def at_rest(self, depth: Scalar) -> NormalLaw:
        return JkrBond(self, jnp.ones(()))

    @property
    def scale(self) -> Scalar:
        """D (m)."""
        return (4 * self.pull_off_force / self.stiffness) ** (2 / 3)

    def root_of_radius(self, depth: Scalar) -> Scalar:
        """Return √α, the larger positive root of y⁴ − 2/3 y = d/D, by Ferrari's way."""
        x = jnp.maximum(depth / self.scale, FOLLOWED)
        # m³ + x m = 1/18 has one positive root, from above which Newton's method falls towards it; each iteration from the
        # root on brings the derivatives of two orders more
        y = jax.lax.stop_gradient(x)
        above = 18 ** (-1 / 3) + jnp.sqrt(jnp.maximum(-y, 0.0))
        m = jnp.where(y > 0, jnp.minimum(above, 1 / (18 * jnp.maximum(y, 1e-3))), above)
        for _ in range(ITERATIONS):
            m = m - (m**3 + x * m - 1 / 18) / (3 * m**2 + x)
        s = jnp.sqrt(2 * m)
        return (s + jnp.sqrt(4 / (3 * s) - 2 * m)) / 2

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        cube = self.root_of_radius(depth) ** 3
        return 4 * self.pull_off_force * cube * (cube - 1) + self.damping * rate

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return the work (J) of the force at rest from zero depth, also of one below."""
        root = self.root_of_radius(depth)
        cube = root**3
        integral = root**4 * (0.4 * cube**2 - 2 / 3 * cube + 1 / 6)
        return 4 * self.pull_off_force * self.scale * (integral - AS_TOUCHED)


class JkrBond(NormalLaw):
    """The same once it is known whether the bodies have touched."""

    law: Jkr
    touched: Scalar  # 1, or 0

    def adheres(self) -> bool:
        return True

    def lossless(self) -> bool:
        return bool(self.law.damping == 0)

    def passive(self) -> bool:
        return self.law.passive()

    def acts_from(self) -> Scalar:
        return jnp.where(self.touched > 0, self.law.acts_from(), 0.0)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.law.force(depth, rate)

    def stored_energy(self, depth: Scalar) -> Scalar:
        return self.law.stored_energy(depth)
