"""A measured force: a table over depth and rate, between whose numbers it is smooth and never falls.

Units: depth m, rate m/s, force N.
Source: Fritsch and Butland 1984, SIAM J. Sci. Stat. Comput. 5:300 (slopes of monotone cubics); own construction over both.
"""

from __future__ import annotations

import numpy as np

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.cubic import monotone_slopes
from dockdyn.mechanics.vector import Scalar


class MeasuredForce(NormalLaw):
    """A table of forces at depths and rates, one of which is zero.

    Over depth the curve at rest is a monotone cubic, and so is what each rate adds to the one below it, which is nowhere
    negative: no two curves cross. Between the rates another one leads through the curves. Beyond the table all go straight on.
    """

    depth: Float[Array, "depths"]  # m, increasing from 0
    rate: Float[Array, "rates"]  # m/s, increasing, one of them 0
    table: Float[Array, "depths rates"]  # N, falling neither with depth nor with rate

    def lossless(self) -> bool:
        table = np.asarray(self.table)
        return bool((table == table[:, :1]).all())

    def passive(self) -> bool:
        return True

    def corners(self) -> Float[Array, "corners"]:
        return self.depth[1:]

    @property
    def at_rest_curve(self) -> Float[Array, "depths"]:
        """The forces (N) at rest."""
        return self.table @ self._rests

    @property
    def _rests(self) -> Float[Array, "rates"]:
        """1 of the rate that is zero, else 0."""
        return jnp.where(jnp.arange(self.rate.shape[0]) == jnp.argmin(jnp.abs(self.rate)), 1.0, 0.0)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        still = _cubic(depth, self.depth, self.at_rest_curve, monotone_slopes(self.depth, self.at_rest_curve))
        if self.rate.shape[0] == 1:
            return still
        more = jnp.diff(self.table, axis=1).T
        slopes = [monotone_slopes(self.depth, one) for one in more]
        # what is more at a rate never turns to less beyond the table
        slopes = [each.at[-1].set(jnp.maximum(each[-1], 0.0)) for each in slopes]
        added = [_cubic(depth, self.depth, one, slope) for one, slope in zip(more, slopes, strict=True)]
        above = jnp.cumsum(jnp.stack([jnp.zeros(()), *added]))
        curves = still + above - above @ self._rests
        return _cubic(rate, self.rate, curves, monotone_slopes(self.rate, curves))

    def stored_energy(self, depth: Scalar) -> Scalar:
        """Return the work (J) of the force at rest from zero depth, exactly: its third derivative jumps."""
        values = self.at_rest_curve
        slopes = monotone_slopes(self.depth, values)
        widths = jnp.diff(self.depth)
        first, square, cube = _coefficients(widths, values, slopes)
        t = jnp.clip(depth - self.depth[:-1], 0.0, widths)
        beyond = jnp.maximum(depth - self.depth[-1], 0.0)
        within = t * (values[:-1] + t * (first / 2 + t * (square / 3 + t * cube / 4)))
        return jnp.sum(within) + beyond * (values[-1] + slopes[-1] * beyond / 2)


def _coefficients(
    widths: Float[Array, "pieces"], values: Float[Array, "n"], slopes: Float[Array, "n"]
) -> tuple[Float[Array, "pieces"], Float[Array, "pieces"], Float[Array, "pieces"]]:
    """Return those of the first, second and third power of the way into each piece."""
    rises = jnp.diff(values) / widths
    square = (3 * rises - 2 * slopes[:-1] - slopes[1:]) / widths
    return slopes[:-1], square, (slopes[:-1] + slopes[1:] - 2 * rises) / widths**2


def _cubic(place: Scalar, places: Float[Array, "n"], values: Float[Array, "n"], slopes: Float[Array, "n"]) -> Scalar:
    """Return the value at a place of cubics through values with slopes, straight on beyond them."""
    widths = jnp.diff(places)
    first, square, cube = _coefficients(widths, values, slopes)
    t = jnp.clip(place - places[:-1], 0.0, widths)
    beyond = jnp.minimum(place - places[0], 0.0) * slopes[0] + jnp.maximum(place - places[-1], 0.0) * slopes[-1]
    return values[0] + jnp.sum(t * (first + t * (square + t * cube))) + beyond
