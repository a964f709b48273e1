"""Surfaces made of surfaces.

Units: lengths m.
Source: constructive solid geometry, union as the least of two distances, intersection as the greatest.
"""

from __future__ import annotations

from functools import reduce

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.deferred import jnp
from dockdyn.mechanics.vector import Scalar, Vector


class Union(Surface):
    """The solids together: the nearest one counts."""

    parts: tuple[Surface, ...]

    def reference(self) -> Vector:
        return self.parts[0].reference()

    def docking_frame(self) -> tuple[Vector, Vector]:
        return self.parts[0].docking_frame()

    def is_exact_distance(self) -> bool:
        return all(part.is_exact_distance() for part in self.parts)

    def signed_distance(self, point: Vector) -> Scalar:
        return reduce(jnp.minimum, [part.signed_distance(point) for part in self.parts])


class Intersection(Surface):
    """What the solids share. Outside a convex edge the distance is a lower bound; the surface itself is exact."""

    parts: tuple[Surface, ...]

    def reference(self) -> Vector:
        return self.parts[0].reference()

    def docking_frame(self) -> tuple[Vector, Vector]:
        return self.parts[0].docking_frame()

    def is_exact_distance(self) -> bool:
        return all(part.is_exact_distance() for part in self.parts)

    def signed_distance(self, point: Vector) -> Scalar:
        return reduce(jnp.maximum, [part.signed_distance(point) for part in self.parts])
