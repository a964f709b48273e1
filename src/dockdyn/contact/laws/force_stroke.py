"""Tabulated force against stroke: what the data sheet of a docking mechanism gives.

Units: stroke m, rate m/s, force N.
Source: linear interpolation of tables, blended by rate; own construction.
"""

from __future__ import annotations

import numpy as np

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar


class ForceStroke(NormalLaw):
    """Piecewise linear force over stroke, with preload, hysteresis, bottoming and damping.

    Loading follows `loading` and unloading `unloading`; around zero rate the two blend by ṡ / √(ṡ² + v²), as regularised
    friction does. Beyond the last stroke the mechanism has bottomed: the force rises by `bottoming_stiffness`. The
    `preload` is there as soon as contact is. Before the first stroke, where a step may look that ends at a release, the
    table goes on straight: its slope there is that of contact.
    """

    stroke: Float[Array, "n"]  # m, increasing from 0
    loading: Float[Array, "n"]  # N
    unloading: Float[Array, "n"]  # N
    preload: Float[Array, ""]  # N
    bottoming_stiffness: Float[Array, ""]  # N/m
    damping: Float[Array, ""]  # N s/m
    transition_rate: Float[Array, ""]  # v, m/s

    def lossless(self) -> bool:
        return bool(self.damping == 0) and bool(np.all(np.asarray(self.loading) == self.unloading))

    def passive(self) -> bool:
        return bool(self.damping >= 0) and bool(np.all(np.asarray(self.loading) >= self.unloading))

    def corners(self) -> Float[Array, "corners"]:
        return self.stroke[1:]

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return the work (J) of the force at rest from zero depth, exactly: it has corners."""
        means = (self.loading + self.unloading) / 2
        widths = jnp.clip(depth - self.stroke[:-1], 0.0, jnp.diff(self.stroke))
        slopes = jnp.diff(means) / jnp.diff(self.stroke)
        beyond = jnp.maximum(depth - self.stroke[-1], 0.0)
        tabled = jnp.sum(widths * (means[:-1] + slopes * widths / 2)) + means[-1] * beyond
        return self.preload * depth + tabled + self.bottoming_stiffness * beyond**2 / 2

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        number = jnp.sum(depth > self.stroke[1:])  # corners that it is beyond

        def value(table: Float[Array, "n"]) -> Scalar:
            slopes = jnp.concatenate([jnp.diff(table) / jnp.diff(self.stroke), self.bottoming_stiffness[None]])
            return table[number] + slopes[number] * (depth - self.stroke[number])

        up, down = value(self.loading), value(self.unloading)
        direction = rate / jnp.sqrt(rate**2 + self.transition_rate**2)
        return self.preload + (up + down) / 2 + direction * (up - down) / 2 + self.damping * rate
