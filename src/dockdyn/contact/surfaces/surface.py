"""What a surface is: a signed distance, whose gradient is the normal.

Units: lengths m, normals dimensionless.
Source: definition of the interface: a signed distance and its gradient.
"""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

from dockdyn.deferred import ArrayLike, jax, jnp, xp
from dockdyn.mechanics.vector import Matrix, Scalar, Vector
from dockdyn.trees import Module

AXIS_SMOOTHING = 1e-9  # m; distances from an axis are smoothed by this much so that their derivatives stay finite on it


class Extent(NamedTuple):
    """How much of a surface is drawn: within `radius` of its docking axis, and along that axis from `low` to `high`.

    Places along the axis are counted from the one nearest to the surface's reference point.
    """

    radius: ArrayLike  # m
    low: ArrayLike  # m
    high: ArrayLike  # m
    hollow: bool = True  # seen from inside, so drawn to look through
    whole: bool = False  # all of it is worth a place in the picture, also where it is met in a part only


class Surface(Module):
    """A solid's surface in the axes of the body that carries it.

    A surface of your own is a subclass with `signed_distance` and `reference`, parameters as fields.
    """

    quick: ClassVar[bool] = True  # whether `signed_distance` takes no longer than a bound of it

    @abc.abstractmethod
    def signed_distance(self, point: Vector) -> Scalar:
        """Return the distance (m) of `point` (m, body axes) from the solid: positive outside it, negative inside."""

    @abc.abstractmethod
    def reference(self) -> Vector:
        """Return the surface's reference point (m, body axes), from which contact positions are given."""

    def is_exact_distance(self) -> bool:
        """Return whether `signed_distance` never changes by more than the point moves: free flight may then take long steps."""
        return False

    def steepest_change(self) -> Scalar | None:
        """Return by how much (m) `signed_distance` changes at most where the point moves by 1 m; None if unknown."""
        return jnp.ones(()) if self.is_exact_distance() else None

    def least_distance(self, point: Vector, radius: Scalar) -> Scalar | None:
        """Return a distance (m) of the solid, at least, from a ball of `radius` (m) about `point` (m, body axes); None if
        unknown."""
        change = self.steepest_change()
        return None if change is None else self.signed_distance(point) - change * radius

    def docking_frame(self) -> tuple[Vector, Vector]:
        """Return where a docking body arrives (m) and the unit docking axis, out of the solid (body axes)."""
        return self.reference(), Vector.of(xp.array([1.0, 0.0, 0.0]))

    def extent(self, reach: float) -> Extent:
        """Return what is drawn of the surface where contacts are within `reach` (m) of its reference point."""
        return Extent(reach, -0.6 * reach, 1.6 * reach)

    def distance_and_normal(self, point: Vector) -> tuple[Scalar, Vector]:
        """Return the signed distance (m) and its gradient: the unit normal out of the solid (body axes)."""
        return jax.value_and_grad(self.signed_distance)(point)


class ExpandedSurface(Surface):
    """A surface whose distance is cheaper to ask again near a place, by numbers that are made there, than to look up."""

    expands: ClassVar[int]  # how many numbers an expansion has

    @abc.abstractmethod
    def expansion_reach(self) -> Scalar:
        """Return how far (m) from its place an expansion holds."""

    @abc.abstractmethod
    def expansion_frame(self) -> tuple[Vector, Matrix]:
        """Return origin (m, body axes) and axes of the frame in which expansions are, its axes to body axes."""

    @abc.abstractmethod
    def expand(self, point: Vector) -> tuple[Scalar, list[Scalar]]:
        """Return the signed distance (m) of `point` (m, body axes), and the numbers of its expansion around there."""

    @abc.abstractmethod
    def near_expansion(self, numbers: list[Scalar], place: Vector) -> tuple[Scalar, Vector]:
        """Return what `distance_and_normal` does at a `place` near that of an expansion, by its numbers; both in the frame of
        expansions."""


def cylindrical_coordinates(point: Vector, origin: Vector, axis: Vector) -> tuple[Scalar, Scalar]:
    """Return the coordinate of `point` along a unit `axis` from `origin`, and its distance from the axis (m)."""
    offset = point - origin
    along = offset.dot(axis)
    radial = offset - axis * along
    return along, jnp.sqrt(radial.dot(radial) + AXIS_SMOOTHING**2)
