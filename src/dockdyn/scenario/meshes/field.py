"""The field of distances of a solid: a spline refined until it is as near to the true ones as is asked.

Units: m.
Source: own rules of what is near enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dockdyn.backend import show_work
from dockdyn.contact.surfaces.distance_field import DistanceField
from dockdyn.deferred import Array, Float
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.scenario.meshes import brick_tree
from dockdyn.scenario.meshes.brick_tree import BrickTree
from dockdyn.scenario.meshes.kept import SplineField
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_in_words, length_of
from dockdyn.scenario.meshes.met_places import MetPlaces, met_places
from dockdyn.scenario.meshes.nearest import MeshDistance
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.meshes.spline_bounds import steepest_of
from dockdyn.scenario.tables.part import refuse

COARSEST = 32  # spacings along the largest extent
MARGIN = 2  # spacings around where it is met
WIDEST = 8  # times the largest extent, that a tip may be
LARGE = 10.0  # m: what is touched in a docking is smaller, so that a file without a unit is hardly in m
HOPELESS = 10  # times the bricks that there may be: what would take so many, as one over the error, is refused
SHARE = 0.99  # of the places on faces that must be within the tolerance: in a sharp edge itself no field is fine enough


class FieldErrors(NamedTuple):
    """How far a field is off where tips meet a mesh (m)."""

    faces: float  # of `SHARE` of the places
    largest_on_faces: float
    convex_edges: float  # largest
    concave_edges: float  # largest


def field_in(content: bytes, suffix: str, file: MeshFile, tolerance: float, radius: float) -> SplineField:
    """Return the field of the content of a mesh file for tips of a `radius` (m).

    A mesh whose unit is not stated and that would be `LARGE` is refused before: a field of it would take a while.
    """
    mesh = solid_in(content, suffix, length_of(file.unit), file.repair)
    if file.unit is None and (size := _size_of(mesh)) > LARGE:
        refuse(f"is {size:g} m large; is it in mm? state unit")
    with show_work(f"Making the field of distances of {file.path.name}") as done:
        return refine_field(mesh, file.unit, tolerance, radius, done)


def refine_field(
    mesh: Any,  # noqa: ANN401, trimesh's
    unit: str | None,
    tolerance: float,
    radius: float,
    done: Callable[[float], None] = lambda share: None,
) -> SplineField:
    """Return the coarsest field whose spline is within the `tolerance` (m) of the distance where tips of a `radius` (m) meet a
    mesh. Lengths in refusals are in the `unit` of the mesh; `done` takes the share of the work that is done."""
    size = _size_of(mesh)
    if radius > WIDEST * size:
        stated, whole = (length_in_words(one, unit) for one in (radius, size))
        refuse(
            f"tip_radius = {stated} is too large for a mesh of {whole}; must be that of the tips that touch it, or unit another"
        )
    exact = MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    places = met_places(mesh, exact, radius)
    spacing = size / COARSEST
    margin = radius + MARGIN * spacing
    tree = BrickTree(exact.signed_distances, mesh.bounds + margin * np.array([[-1], [1]]), spacing, radius)
    errors = [_errors_of(tree, places)]
    if size > LARGE and tree.bricks() * errors[0].faces > HOPELESS * brick_tree.MOST * tolerance:
        refuse(f"{_doubt(size, unit)}tolerance = {length_in_words(tolerance, unit)} is too small for it")
    while errors[-1].faces > tolerance and tree.refine():
        errors.append(_errors_of(tree, places))
        done(min(1.0, tolerance / errors[-1].faces))  # bricks, and the time they take, go with one over the error
    if errors[-1].faces <= tolerance:
        return _field_of(tree, errors[-1], size)
    least = min(errors).faces
    stated, whole, off = (length_in_words(one, unit) for one in (tolerance, size, least))
    refuse(
        f"{_doubt(size, unit)}tolerance = {stated} cannot be had of a mesh {whole} large: the finest field, of "
        f"{brick_tree.MOST} bricks, is off by {off}; must be at least {_next_in_words(least, unit)}, or the tip_radius, at "
        "which it is to hold, larger"
    )


def _doubt(size: float, unit: str | None) -> str:
    """Return the beginning of a refusal of a mesh of this size (m) that is `LARGE`; empty of any other."""
    other = "m" if unit == "mm" else "mm"
    return f'is {size:g} m large with unit = "{unit or "m"}": is it in {other}? else ' if size > LARGE else ""


def _errors_of(tree: BrickTree, places: MetPlaces) -> FieldErrors:
    """Return how far the spline is off where tips meet the mesh."""
    surface = tree.surface()
    off = [
        np.abs(_distances_at(surface, there) - distances) if len(there) else np.zeros(1)
        for there, distances in zip(places[:3], places.distances, strict=True)
    ]
    return FieldErrors(float(np.quantile(off[0], SHARE)), *(float(one.max()) for one in off))


def _field_of(tree: BrickTree, errors: FieldErrors, size: float) -> SplineField:
    """Return what is kept of a tree."""
    coefficients, children = tree.arrays(tree.bricks())
    spacings = tree.spacings()
    steepest = steepest_of(coefficients, spacings, children == 0)
    box = tree.counts.astype(float), tree.corner, spacings[0], spacings[-1]
    return SplineField(coefficients, children, *box, steepest, *errors, size)


def _next_in_words(length: float, unit: str | None) -> str:
    """Return the least length of two digits that is not below this one (m), in the `unit` of the mesh."""
    value = length / length_of(unit)
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return length_in_words(math.ceil(value / digit) * digit * length_of(unit), unit)


def _size_of(mesh: Any) -> float:  # noqa: ANN401, trimesh's
    """Return the largest extent (m) of a mesh."""
    return float(np.ptp(mesh.vertices, axis=0).max())


@Program
def _distances_at(surface: DistanceField, points: Float[Array, "n 3"]) -> Float[Array, "n"]:
    return over_rows(lambda point: surface.signed_distance(Vector.of(point)), points)
