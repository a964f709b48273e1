"""Friction: the force along the surface.

Units: forces N, speeds m/s, coefficient dimensionless.
Source: Coulomb friction, regularised; Sazawal et al., eqs. 14 and 15 corrected.
"""

from __future__ import annotations

import abc

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module


class Friction(Module):
    """A friction law. One of your own is a subclass with `force`, parameters as fields."""

    @abc.abstractmethod
    def force(self, normal_force: Scalar, sliding: Vector) -> Vector:
        """Return the force (N) on the body that slides with velocity `sliding` (m/s), under `normal_force` (N)."""

    def lossless(self) -> bool:
        """Return whether it takes no energy, as where its coefficient is zero; asked of numbers, never while JAX traces."""
        return False

    def passive(self) -> bool:
        """Return whether it never gives energy, as where it acts against the sliding; asked of numbers, never while JAX
        traces."""
        return self.lossless()


def regularised_speed(square: Scalar, regularisation: Scalar) -> Scalar:
    """Return √(v² + ε²), by which a velocity is divided in place of its size: of the `square` v² and the `regularisation` ε."""
    return jnp.sqrt(square + regularisation**2)


class Coulomb(Friction):
    """Regularised Coulomb friction: −μ f_n v / √(v² + ε²) (Sazawal et al., eqs. 14, 15, as scalars)."""

    coefficient: Float[Array, ""]  # μ
    regularisation: Float[Array, ""]  # ε, m/s

    def lossless(self) -> bool:
        return bool(self.coefficient == 0)

    def passive(self) -> bool:
        return bool(self.coefficient >= 0)

    def force(self, normal_force: Scalar, sliding: Vector) -> Vector:
        speed = regularised_speed(sliding.dot(sliding), self.regularisation)
        return sliding * (-self.coefficient * normal_force / speed)
