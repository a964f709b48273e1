"""A law seen from a depth that it is pressed to: what a small motion there feels.

Units: depth m, rate m/s, force N.
Source: own construction, for linearisation about a resting contact.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.vector import Scalar, Vector


class Preloaded(NormalLaw):
    """Force in excess of what holds `law` at a resting depth: zero there, with the law's slopes at that depth."""

    law: NormalLaw
    depth: Float[Array, ""]  # m, at which the law rests
    found: Float[Array, ""]  # m, the depth of the bodies that is taken for it
    still: Float[Array, ""]  # N, that holds it there

    def adheres(self) -> bool:
        return True

    def lossless(self) -> bool:
        return self.law.lossless()

    def passive(self) -> bool:
        return self.law.passive()

    def along(self, normal: Vector) -> NormalLaw:
        return Preloaded(self.law.along(normal), self.depth, self.found, self.still)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return self.law.force(self.depth + (depth - self.found), rate) - self.still
