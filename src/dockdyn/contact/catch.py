"""The compliant catch of a latch: a spring and damper between a tip and the place where it was caught.

Units: lengths m, speeds m/s, rates rad/s, forces N, moments N m, energies J.
Source: Kelvin–Voigt element; its defaults by linearisation of the contact's law, own choice of the depth.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.mechanics.vector import Scalar, Vector

HALVINGS = 60  # of the depth's bracket: to the last digit


class Catch(eqx.Module):
    """Stiffness and damping with which a latch holds a tip, alike in all directions, and the way it can yield.

    A pin has no turning stiffness: the bodies turn about the tip.
    """

    stiffness: Float[Array, ""]  # k, N/m
    damping: Float[Array, ""]  # c, N s/m
    stroke: Float[Array, ""]  # m, by which the catch can yield
    turning: tuple[Float[Array, ""], Float[Array, ""]] | None  # N m/rad and N m s/rad, of a weld

    def load(self, stretch: tuple[Vector, ...], slip: tuple[Vector, ...]) -> tuple[Vector, ...]:
        """Force (N), and for a weld moment (N m), on the tip's body: −k δ − c δ̇, and alike for the rotation vector."""
        return tuple(
            -(moved * stiffness + rate * damping)
            for moved, rate, (stiffness, damping) in zip(stretch, slip, self.elements(), strict=True)
        )

    def stored(self, stretch: tuple[Vector, ...]) -> Scalar:
        """Energy (J) in the springs."""
        return sum(
            (
                0.5 * stiffness * moved.dot(moved)
                for moved, (stiffness, _) in zip(stretch, self.elements(), strict=True)
            ),
            jnp.zeros(()),
        )

    def dissipated(self, slip: tuple[Vector, ...]) -> Scalar:
        """Power (W) that the dampers take."""
        return sum(
            (damping * rate.dot(rate) for rate, (_, damping) in zip(slip, self.elements(), strict=True)), jnp.zeros(())
        )

    def elements(self) -> tuple[tuple[Scalar, Scalar], ...]:
        """Stiffness and damping against moving, and for a weld against turning."""
        moving = (self.stiffness, self.damping)
        return (moving,) if self.turning is None else (moving, self.turning)


def linearised(law: NormalLaw, force: Scalar, deepest: Scalar) -> tuple[Scalar, Scalar]:
    """Stiffness ∂F/∂d (N/m) and damping ∂F/∂ḋ (N s/m) of a normal-force law where it holds `force` (N) at rest.

    That depth is sought between zero and `deepest` (m). One Newton correction, all but zero, carries its derivatives.
    """

    def missing(depth: Scalar) -> Scalar:
        return law.force(depth, jnp.zeros(())) - force

    def halve(_, bracket):
        low, high = bracket
        middle = (low + high) / 2
        below = missing(middle) < 0
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    low, high = jax.lax.fori_loop(
        0, HALVINGS, halve, (jnp.zeros(()), jax.lax.stop_gradient(jnp.asarray(deepest, float)))
    )
    depth = (low + high) / 2
    slope = jax.lax.stop_gradient(jax.grad(missing)(depth))
    found = (slope > 0) & (low > 0) & (high < deepest)
    depth = depth - jnp.where(found, missing(depth), 0.0) / jnp.where(found, slope, 1.0)
    stiffness, damping = jax.grad(law.force, argnums=(0, 1))(depth, jnp.zeros(()))
    return stiffness, damping
