"""Normal-force laws side by side.

Units: depth m, rate m/s, force N.
Source: forces of elements side by side add.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.vector import Scalar, Vector


class Parallel(NormalLaw):
    """The sum of laws that feel the same depth and rate; it adheres where all of them do."""

    laws: tuple[NormalLaw, ...]

    def adheres(self) -> bool:
        return all(law.adheres() for law in self.laws)

    def lossless(self) -> bool:
        return all(law.lossless() for law in self.laws)

    def passive(self) -> bool:
        return all(law.passive() for law in self.laws)

    def corners(self) -> Float[Array, "corners"] | None:
        found = [own for law in self.laws if (own := law.corners()) is not None]
        return jnp.concatenate(found) if found else None

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        return sum(law.force(depth, rate) for law in self.laws[1:]) + self.laws[0].force(depth, rate)

    def stored_energy(self, depth: Scalar) -> Scalar:
        return sum(law.stored_energy(depth) for law in self.laws[1:]) + self.laws[0].stored_energy(depth)

    def along(self, normal: Vector) -> NormalLaw:
        return Parallel(tuple(law.along(normal) for law in self.laws))
