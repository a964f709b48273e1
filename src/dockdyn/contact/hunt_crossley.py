"""Hunt–Crossley contact: damping that grows with depth, so the force neither jumps at onset nor pulls at release.

Units: depth m, rate m/s, force N.
Source: as named in the class.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.normal_law import NormalLaw, signed_power
from dockdyn.mechanics.vector import Scalar


class HuntCrossley(NormalLaw):
    """k dⁿ (1 + c ḋ) (Hunt and Crossley 1975, J. Appl. Mech. 42:440, with their λ = k c)."""

    stiffness: Float[Array, ""]  # N/mⁿ
    exponent: Float[Array, ""]  # n
    damping: Float[Array, ""]  # c, s/m

    def lossless(self) -> bool:
        return bool(self.damping == 0)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.stiffness * signed_power(depth, self.exponent) * (1 + self.damping * rate)

    def presses(self, depth: Scalar, rate: Scalar) -> Scalar:
        return 1 + self.damping * rate


def damping_for(restitution: Scalar, speed: Scalar) -> Scalar:
    """The damping c (s/m) that gives `restitution` (0 to 1, not 0) at the impact `speed` (m/s).

    The law's own energy balance, ∫ v dv / (1 + c v) equal in compression and in restitution, ties e to y = c v alone,
    whatever k, n and the masses: y − ln(1 + y) = −e y − ln(1 − e y). To first order e = 1 − 2y/3, which is Hunt and
    Crossley's own e = 1 − α v with α = 2c/3. Solved by halving; one Newton correction then carries the derivatives.
    """
    e = jnp.asarray(restitution, float)

    def balance(y: Scalar) -> Scalar:
        return (y - jnp.log1p(y)) - (-e * y - jnp.log1p(-e * y))

    def halve(_, bracket):
        low, high = bracket
        middle = (low + high) / 2
        below = balance(middle) > 0
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    # the balance is positive from y = 0 to its one root and falls to minus infinity at y = 1/e
    low, high = jax.lax.fori_loop(0, 60, halve, (jnp.zeros(()), jax.lax.stop_gradient(1 / e)))
    y = (low + high) / 2
    slope = y / (1 + y) - e**2 * y / (1 - e * y)
    lossless = e >= 1
    return jnp.where(lossless, 0.0, y - balance(y) / jnp.where(lossless, 1.0, slope)) / speed
