"""Solid of revolution: drogues, cups, guide rings, probes with collars.

Units: lengths m.
Source: geometry: exact distance from conical frusta and from the circles in which they meet.
"""

from __future__ import annotations

import numpy as np

from dockdyn.contact.surfaces.surface import Extent, Surface, cylindrical_coordinates
from dockdyn.deferred import Array, ArrayLike, Bool, Float, jax, jit_when_called, jnp, xp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.programs import Program


class Revolved(Surface):
    """A closed outline of straight pieces, turned about `axis` through `point`; its convex edges have a radius `rounding`.

    The distance is that of the outline set back by the rounding, less the rounding: exact everywhere outside, and as near to
    faces as the rounding inside.
    """

    point: Float[Array, "3"]  # m, body axes
    axis: Float[Array, "3"]  # unit vector, body axes
    corners: Float[Array, "n 2"]  # m, of the outline set back: along the axis, from it; the solid to the left
    rounding: Float[Array, ""]  # m

    @staticmethod
    def of(point: ArrayLike, axis: ArrayLike, profile: ArrayLike, rounding: ArrayLike) -> Revolved:
        """Return the surface of the corners (n, 2) of its outline: along the axis from `point`, and from the axis (m)."""
        axis, outline, rounding = jnp.asarray(axis, float), jnp.asarray(profile, float), jnp.asarray(rounding, float)
        return Revolved(jnp.asarray(point, float), axis / jnp.linalg.norm(axis), core_of(outline, rounding), rounding)

    def reference(self) -> Vector:
        return Vector.of(self.point)

    def docking_frame(self) -> tuple[Vector, Vector]:
        axis = Vector.of(self.axis)
        return Vector.of(self.point) + axis * (xp.max(self.corners[:, 0]) + self.rounding), axis

    def is_exact_distance(self) -> bool:
        return True

    def extent(self, reach: float) -> Extent:
        along, from_axis = np.asarray(self.corners).T
        far = 1.02 * (from_axis.max() + self.rounding)
        margin = 0.02 * far + self.rounding
        return Extent(far, along.min() - margin, along.max() + margin, whole=True)

    def signed_distance(self, point: Vector) -> Scalar:
        along, radius = cylindrical_coordinates(point, Vector.of(self.point), Vector.of(self.axis))
        return _from_outline(along, radius, self.corners) - self.rounding


type Corner = Float[Array, "2"]


@Program
def core_of(outline: Float[Array, "n 2"], rounding: Scalar) -> Float[Array, "n 2"]:
    """Return corners (m) of an outline, in either order, set back by its rounding (m), with the solid to the left."""
    after = jnp.roll(outline, -1, axis=0)
    area = jnp.sum(outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0])
    return _set_back(jnp.where(area > 0, outline, outline[::-1]), rounding)


def _set_back(outline: Float[Array, "n 2"], depth: Scalar) -> Float[Array, "n 2"]:
    """Return an outline with every edge moved into the solid on its left by a depth (m), but for one on the axis."""
    edge = jnp.roll(outline, -1, axis=0) - outline
    after = jnp.stack([edge[:, 1], -edge[:, 0]], axis=1) / jnp.linalg.norm(edge, axis=1)[:, None]  # out of the solid
    before = jnp.roll(after, 1, axis=0)
    between = (before + after) / (1 + jnp.sum(before * after, axis=1))[:, None]
    from_axis = jnp.where(jnp.roll(outline, 1, axis=0)[:, 1] == 0, after[:, 0], before[:, 0])
    on_axis = jnp.stack([1 / jnp.where(from_axis == 0, 1.0, from_axis), jnp.zeros(len(outline))], axis=1)
    return outline - depth * jnp.where(outline[:, 1:] == 0, on_axis, between)


@jit_when_called  # so that it is traced once
def _from_outline(along: Scalar, radius: Scalar, outline: Float[Array, "n 2"]) -> Scalar:
    """Return the signed distance (m) from a closed outline with the solid on its left."""

    def look(edge: Scalar, found: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        inside, nearest, is_end = found
        start, end = outline[edge - 1], outline[edge]
        distance, at_end = _from_edge(along, radius, start, end)
        nearer = (jnp.abs(distance) < jnp.abs(nearest)) | jnp.isnan(distance)  # what is no number stays none
        nearest, is_end = jnp.where(nearer, distance, nearest), jnp.where(nearer, at_end, is_end)
        return inside ^ _is_below(along, radius, start, end), nearest, is_end

    no = jnp.asarray(False)
    inside, nearest, is_end = jax.lax.fori_loop(0, len(outline), look, (no, jnp.asarray(jnp.inf), no))
    return jnp.where(inside & is_end, -nearest, nearest)


def _is_below(along: Scalar, radius: Scalar, start: Corner, end: Corner) -> Scalar:
    """Return whether a straight line from a place away from the axis crosses an edge."""
    passes = (start[0] > along) != (end[0] > along)
    length = jnp.where(passes, end[0] - start[0], 1.0)
    return passes & (radius < start[1] + (end[1] - start[1]) * (along - start[0]) / length)


def _from_edge(along: Scalar, radius: Scalar, start: Corner, end: Corner) -> tuple[Scalar, Bool[Array, ""]]:
    """Return the distance (m) from an edge of which the solid is on the left, infinite for one on the axis, and whether one of
    its ends is nearest: the distance has a sign only where none is."""
    way, offset = (end[0] - start[0], end[1] - start[1]), (along - start[0], radius - start[1])
    squared = way[0] ** 2 + way[1] ** 2
    share = (offset[0] * way[0] + offset[1] * way[1]) / squared
    beside = (share > 0) & (share < 1)
    end_share = jnp.where(share < 0.5, 0.0, 1.0)
    from_end = (offset[0] - end_share * way[0]) ** 2 + (offset[1] - end_share * way[1]) ** 2
    at_end = jnp.sqrt(jnp.where(beside | (from_end == 0), 1.0, from_end)) * (from_end > 0)
    straight = (offset[0] * way[1] - offset[1] * way[0]) / jnp.sqrt(squared)
    on_axis = (start[1] == 0) & (end[1] == 0)
    return jnp.where(on_axis, jnp.inf, jnp.where(beside, straight, at_end)), ~beside
