"""Set-points of joints, one of each a phase, and how references go from one to the next.

Units: rad, rad/s, m, m/s.
Source: Gibson and Murphey, section III (PD law towards a docked configuration); quintic, own choice.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module

type Row = Float[Array, "joints"]


class SetPoints(Module):
    """References of joints: where they are to come in each phase, and from where."""

    points: Float[Array, "phases joints"]  # rad or m
    before: Float[Array, "phases joints"]

    def reference(self, phase: Int[Array, ""], share: Scalar, rate: Scalar) -> tuple[Row, Row]:
        """Return references and their rates in a phase that has taken them so far, `rate` (1/s) being how fast it does."""
        start, way = self.before[phase], self.points[phase] - self.before[phase]
        return start + share * way, rate * way

    def at_once(self, phase: Int[Array, ""]) -> tuple[Row, Row]:
        """Return references of a phase that is there at once, and their rates: zero."""
        return self.points[phase], jnp.zeros_like(self.before[0])
