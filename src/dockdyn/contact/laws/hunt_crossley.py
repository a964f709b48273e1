"""Hunt–Crossley contact: damping that grows with depth, so the force neither jumps at onset nor pulls at release.

Units: depth m, rate m/s, force N.
Source: as named in the class.
"""

from __future__ import annotations

import numpy as np

from dockdyn.contact.laws.normal_law import NormalLaw, signed_power, work_of_power
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.vector import Scalar


class HuntCrossley(NormalLaw):
    """k dⁿ (1 + c ḋ) (Hunt and Crossley 1975, J. Appl. Mech. 42:440, with their λ = k c)."""

    stiffness: Float[Array, ""]  # N/mⁿ
    exponent: Float[Array, ""]  # n
    damping: Float[Array, ""]  # c, s/m

    def lossless(self) -> bool:
        return bool(self.damping == 0)

    def passive(self) -> bool:
        return bool(self.damping >= 0)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.stiffness * signed_power(depth, self.exponent) * (1 + self.damping * rate)

    def stored_energy(self, depth: Scalar) -> Scalar:
        return self.stiffness * work_of_power(depth, self.exponent)

    def force_sign(self, depth: Scalar, rate: Scalar) -> Scalar:
        return 1 + self.damping * rate


def damping_for(restitution: Scalar, speed: Scalar) -> Scalar:
    """Return the damping c (s/m) that gives `restitution` e (0 to 1, not 0) at the impact `speed` (m/s).

    The law's own energy balance, ∫ v dv / (1 + c v) equal in compression and in restitution, ties e to y = c v alone,
    whatever k, n and the masses: y − ln(1 + y) = −e y − ln(1 − e y). To first order e = 1 − 2y/3, which is Hunt and
    Crossley's own e = 1 − α v with α = 2c/3. As e falls, e y comes so close to 1 that floats do not tell them apart, so
    z = −ln(1 − e y) is what is solved for, by halving; one Newton correction then carries the derivatives.
    """
    e = jnp.asarray(restitution, float)

    def balance(z: Scalar) -> Scalar:
        return logarithmic_excess(-jnp.expm1(-z) / e) - jnp.where(
            z < 0.5, logarithmic_excess(jnp.expm1(-jnp.minimum(z, 0.5))), z + jnp.expm1(-z)
        )

    def halve(_, bracket):
        low, high = bracket
        middle = (low + high) / 2
        below = balance(middle) > 0
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    # the balance is positive from z = 0 to its one root and negative beyond; y below 1/e bounds it
    low, high = jax.lax.fori_loop(0, 60, halve, (jnp.zeros(()), jax.lax.stop_gradient((1 + e) / e)))
    z = (low + high) / 2
    y = -jnp.expm1(-z) / e
    slope = y / (1 + y) * jnp.exp(-z) / e + jnp.expm1(-z)
    lossless = e >= 1
    z = z - balance(z) / jnp.where(lossless, 1.0, slope)
    return jnp.where(lossless, 0.0, -jnp.expm1(-z) / e) / speed


NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)  # from −1 to 1


def logarithmic_excess(x: Scalar) -> Scalar:
    """Return x − ln(1 + x), also where the two all but cancel: there x² ∫ s / (1 + x s) ds from 0 to 1, by Gauss."""
    small = jnp.abs(x) < 0.5
    near, s = jnp.where(small, x, 0.0), (1 + NODES) / 2
    return jnp.where(
        small, near**2 * jnp.sum(WEIGHTS / 2 * s / (1 + near * s)), x - jnp.log1p(jnp.where(small, 0.0, x))
    )
