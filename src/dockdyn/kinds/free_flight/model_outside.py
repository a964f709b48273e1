"""What another program does to two bodies in free flight: forces and torques that it holds until it says others.

Units: N, N m.
Source: definition.
"""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from dockdyn.mechanics.vector import Vector


class Outside(eqx.Module):
    """Forces at the centres of mass of chaser and target, and torques."""

    forces: Float[Array, "2 3"]  # N, inertial axes
    torques: Float[Array, "2 3"]  # N m, each in its body's axes

    def added(self, forces: list[Vector], torques: list[Vector]) -> tuple[list[Vector], list[Vector]]:
        """Forces and torques on both bodies with those from outside."""

        def both(own: list[Vector], given: Float[Array, "2 3"]) -> list[Vector]:
            return [one + Vector.of(row) for one, row in zip(own, given, strict=True)]

        return both(forces, self.forces), both(torques, self.torques)
