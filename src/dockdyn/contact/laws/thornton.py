"""An elastic, perfectly plastic sphere.

Units: depth m, force N, stiffness N/m^1.5.
Source: Thornton 1997, J. Appl. Mech. 64:383; the limit of the pressure and the radii are put as forces and stiffnesses.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import signed_power
from dockdyn.contact.laws.yielding_law import YieldingLaw
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar


class Thornton(YieldingLaw):
    """Hertz's k d^1.5 up to a yield force, straight on beyond it, and back by Hertz's law of a flattened sphere.

    Straight on is π p R of Thornton's largest pressure p, which is reached as Hertz's law has just that slope. The radius of
    the flattened sphere is to the first one as the squares of their stiffnesses.
    """

    stiffness: Float[Array, ""]  # k = 4/3 E* √R, N/m^1.5
    yield_force: Float[Array, ""]  # N, above zero

    @property
    def yield_depth(self) -> Scalar:
        """The depth (m) at which it yields."""
        return (self.yield_force / self.stiffness) ** (2 / 3)

    def corners(self) -> Float[Array, "corners"]:
        return self.yield_depth[None]

    def loading(self, depth: Scalar) -> Scalar:
        limit = self.yield_depth
        elastic = self.stiffness * signed_power(jnp.minimum(depth, limit), jnp.asarray(1.5))
        return elastic + 1.5 * self.yield_force / limit * jnp.maximum(depth - limit, 0.0)

    def flattened(self, deepest: Scalar) -> Scalar:
        """Return the stiffness (N/m^1.5) on the way back from the `deepest` (m)."""
        force = jnp.maximum(self.loading(deepest), self.yield_force)
        # Thornton's R_p/R = (k/F) ((2 F + F_y)/(2 π p R))^1.5, with √(R_p/R) for the stiffness
        slope = 1.5 * self.yield_force / self.yield_depth
        return self.stiffness * jnp.sqrt(self.stiffness / force * ((2 * force + self.yield_force) / (2 * slope)) ** 1.5)

    def dent(self, deepest: Scalar) -> Scalar:
        beyond = jnp.maximum(deepest, self.yield_depth)
        return jnp.where(
            deepest > self.yield_depth, beyond - (self.loading(beyond) / self.flattened(beyond)) ** (2 / 3), 0.0
        )

    def unloading(self, depth: Scalar, deepest: Scalar) -> Scalar:
        return self.flattened(deepest) * signed_power(depth - self.dent(deepest), jnp.asarray(1.5))

    def returned_energy(self, depth: Scalar, deepest: Scalar) -> Scalar:
        return self.flattened(deepest) * signed_power(depth - self.dent(deepest), jnp.asarray(2.5)) / 2.5
