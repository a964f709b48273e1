"""An impact law of a user's own.

Units: u in m/s, W in 1/kg, impulses N s.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
import dataclasses
from functools import cache

from dockdyn.deferred import Array, ArrayLike, Float
from dockdyn.impact.laws.by_name import POINT, Law
from dockdyn.impact.laws.result import Impact, impact_of_impulse
from dockdyn.trees import Module


class ImpactLaw(Module):
    """What the velocities of two bodies do where they touch at a point.

    A law of your own is a subclass with `impulse`, parameters (numbers) as fields.
    """

    @abc.abstractmethod
    def impulse(self, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Float[Array, "rows"]:
        """Return the impulse Λ (N s) on the first body, from W (1/kg) and the velocity u (m/s) before, which becomes u + W Λ.

        Rows are the normal, along which an approach is negative and an impulse that pushes positive, then one tangent in
        the plane and two in space.
        """

    def lossless(self) -> bool:
        """Return whether no impact takes energy: contacts then never come to rest. Asked of numbers, never while JAX traces."""
        return False

    def passive(self) -> bool:
        """Return whether no impact gives energy; asked of numbers, never while JAX traces."""
        return self.lossless()


@cache
def law_of(made: type[ImpactLaw], name: str) -> Law:
    """Return the law that a class is, under a name."""

    def impact_by_law(matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], **given: ArrayLike) -> Impact:
        return impact_of_impulse(matrix, velocity, made(**given).impulse(matrix, velocity))

    return Law(
        function=impact_by_law,
        parameters=tuple(field.name for field in dataclasses.fields(made)),
        rows=POINT,
        safe=False,
        meaning=(made.__doc__ or name).strip().splitlines()[0],
        lossless=lambda given: made(**given).lossless(),
        name=name,
    )
