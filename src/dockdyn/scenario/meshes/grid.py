"""Signed distances of a solid on a grid, refined until a spline through them is as near to the true ones as is asked."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import map_coordinates, spline_filter

from dockdyn.deferred import Float
from dockdyn.scenario.meshes.kept import SplineGrid
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_in_words, length_of
from dockdyn.scenario.meshes.nearest import MeshDistance
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.meshes.spline_bounds import bounds_of
from dockdyn.scenario.tables.part import refuse

COARSEST = 32  # spacings along the largest extent
FINER = 2**0.5  # between one grid and the next
BAND = 6  # spacings around where it is met
LARGE = 10.0  # m: what is touched in a docking is smaller, so that a file without a unit is hardly in m
MOST = 3_000_000  # nodes
SAMPLES = 4000  # points at which the spline is compared with true distances
SHARE = 0.99  # of them that must be within the tolerance: at edges, where two faces are as near, no grid is fine enough
MET = 1 - 1e-9  # of the radius of a tip: points that are nearer to another face than this are not met


def grid_in(content: bytes, suffix: str, file: MeshFile, tolerance: float, radius: float) -> SplineGrid:
    """Return the grid of the content of a mesh file for tips of a `radius` (m).

    A mesh whose unit is not stated and that would be `LARGE` is refused before: a grid of it would take a while.
    """
    mesh = solid_in(content, suffix, length_of(file.unit), file.repair)
    if file.unit is None and (size := _size_of(mesh)) > LARGE:
        refuse(f"is {size:g} m large; is it in mm? state unit")
    return refined(mesh, file.unit, tolerance, radius)


def refined(mesh: Any, unit: str | None, tolerance: float, radius: float) -> SplineGrid:  # noqa: ANN401, trimesh's
    """Return the coarsest grid whose spline is within the `tolerance` (m) of the distance where tips of a `radius` (m) meet a
    mesh. Lengths in refusals are in the `unit` of the mesh."""
    size = _size_of(mesh)
    spacing, found = size / COARSEST, None
    exact = MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    while True:
        corner, counts = _box(mesh, spacing, radius)
        if np.prod(counts) > MOST:
            break
        found = _fitted(mesh, exact, corner, counts, spacing, radius)
        if found.error <= tolerance:
            below, slope = bounds_of(found.values, found.coefficients)
            steepest = max(1.0, slope / spacing)
            return SplineGrid(
                found.coefficients, below, corner, spacing, steepest, found.error, found.largest_error, size
            )
        spacing /= FINER
    stated, whole = (length_in_words(one, unit) for one in (radius if found is None else tolerance, size))
    if found is None:
        refuse(f"tip_radius = {stated} is too large for a mesh of {whole}; must be that of the tips that touch it")
    finest, off = (length_in_words(one, unit) for one in (found.spacing, found.error))
    refuse(
        f"tolerance = {stated} cannot be had of a mesh {whole} large: the finest grid, of {finest}, is off by {off}; must be "
        f"at least {_next_in_words(found.error, unit)}, or the tip_radius, at which it is to hold, larger"
    )


def _next_in_words(length: float, unit: str | None) -> str:
    """Return the least length of two digits that is not below this one (m), in the `unit` of the mesh."""
    value = length / length_of(unit)
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return length_in_words(math.ceil(value / digit) * digit * length_of(unit), unit)


def _size_of(mesh: Any) -> float:  # noqa: ANN401, trimesh's
    """Return the largest extent (m) of a mesh."""
    return float(np.ptp(mesh.vertices, axis=0).max())


def _box(mesh: Any, spacing: float, radius: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401, trimesh's
    """Return the first node (m) and numbers of nodes of the grid around a mesh and the tips that meet it."""
    margin = radius + BAND * spacing
    low, high = mesh.bounds[0] - margin, mesh.bounds[1] + margin
    return low, np.ceil((high - low) / spacing).astype(int) + 1


class _Fit(NamedTuple):
    """A spline through distances, and how far it is off."""

    values: np.ndarray  # m, at the nodes
    coefficients: np.ndarray  # m
    spacing: float  # m
    error: float  # m
    largest_error: float  # m


def _fitted(
    mesh: Any,  # noqa: ANN401, trimesh's
    exact: MeshDistance,
    corner: np.ndarray,
    counts: np.ndarray,
    spacing: float,
    radius: float,
) -> _Fit:
    nodes = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    values = exact.signed_distances(corner + spacing * nodes).reshape(counts)
    coefficients = spline_filter(values, order=3, mode="mirror")
    places = met_points(mesh, exact, radius)
    errors = np.abs(spline_at(coefficients, (places - corner) / spacing) - exact.signed_distances(places))
    return _Fit(values, coefficients, spacing, float(np.quantile(errors, SHARE)), float(errors.max()))


def met_points(mesh: Any, exact: MeshDistance, radius: float) -> Float[np.ndarray, "n 3"]:  # noqa: ANN401, trimesh's
    """Return centres of balls of a `radius` (m) that touch a mesh from outside, over all of its faces evenly."""
    from trimesh.sample import sample_surface

    points, faces = sample_surface(mesh, SAMPLES, seed=0)
    places = np.asarray(points) + radius * mesh.face_normals[faces]
    return places[exact.signed_distances(places) >= MET * radius] if radius else places


def spline_at(coefficients: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return a spline at places (n, 3) counted in nodes."""
    return map_coordinates(coefficients, places.T, order=3, mode="mirror", prefilter=False)
