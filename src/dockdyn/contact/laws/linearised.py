"""A normal-force law around the depth at which it holds a force at rest.

Units: depth m, force N.
Source: linearisation; own choice of the depth.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import jax, jnp
from dockdyn.mechanics.vector import Scalar

HALVINGS = 60  # of the depth's bracket: to the last digit


def linearise_law(law: NormalLaw, force: Scalar, deepest: Scalar) -> tuple[Scalar, Scalar]:
    """Return the stiffness ∂F/∂d (N/m) and damping ∂F/∂ḋ (N s/m) of a normal-force law where it holds `force` (N) at rest.

    That depth is sought between zero and `deepest` (m). One Newton correction, all but zero, carries its derivatives.
    """

    def missing_force(depth: Scalar) -> Scalar:
        return law.force(depth, jnp.zeros(())) - force

    def halve(_, bracket):
        low, high = bracket
        middle = (low + high) / 2
        below = missing_force(middle) < 0
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    low, high = jax.lax.fori_loop(
        0, HALVINGS, halve, (jnp.zeros(()), jax.lax.stop_gradient(jnp.asarray(deepest, float)))
    )
    depth = (low + high) / 2
    slope = jax.lax.stop_gradient(jax.grad(missing_force)(depth))
    found = (slope > 0) & (low > 0) & (high < deepest)
    depth = depth - jnp.where(found, missing_force(depth), 0.0) / jnp.where(found, slope, 1.0)
    stiffness, damping = jax.grad(law.force, argnums=(0, 1))(depth, jnp.zeros(()))
    return stiffness, damping
