"""Signed distances of a solid on a grid, refined until a spline through them is as near to the true ones as is asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt, map_coordinates, spline_filter
from scipy.spatial import cKDTree

from dockdyn.deferred import Float
from dockdyn.scenario.meshes.kept import SplineGrid
from dockdyn.scenario.meshes.nearest_face import NearestFace
from dockdyn.scenario.meshes.solid import pieces_of, solid_in
from dockdyn.scenario.meshes.spline_bounds import bounds_of
from dockdyn.scenario.tables.part import refuse

COARSEST = 32  # spacings along the largest extent
FINER = 2**0.5  # between one grid and the next
BAND = 6  # spacings on both sides of where it is met, within which distances are exact
LARGE = 10.0  # m: what is touched in a docking is smaller, so that a file without a unit is hardly in m
MOST = 3_000_000  # nodes
SAMPLES = 4000  # points at which the spline is compared with true distances
SHARE = 0.99  # of them that must be within the tolerance: at edges, where two faces are as near, no grid is fine enough
MET = 1 - 1e-9  # of the radius of a tip: points that are nearer to another face than this are not met


def grid_in(content: bytes, suffix: str, scale: float, stated: bool, tolerance: float, radius: float) -> SplineGrid:
    """Return the grid of what a mesh file holds, `scale` m for each of its units, for tips of a `radius` (m).

    A mesh whose unit is not `stated` and that would be `LARGE` is refused before: a grid of it would take minutes.
    """
    mesh = solid_in(content, suffix, scale)
    if not stated and (size := _size_of(mesh)) > LARGE:
        refuse(f"is {size:g} m large; is it in mm? state unit")
    return refined(mesh, tolerance, radius)


def refined(mesh: Any, tolerance: float, radius: float) -> SplineGrid:  # noqa: ANN401, trimesh's
    """Return the coarsest grid whose spline is within the `tolerance` (m) of the distance where tips of a `radius` (m) meet a
    mesh."""
    size = _size_of(mesh)
    spacing, found = size / COARSEST, None
    while True:
        corner, counts = _box(mesh, spacing, radius)
        if np.prod(counts) > MOST:
            break
        found = _fitted(mesh, corner, counts, spacing, radius)
        if found.error <= tolerance:
            below, slope = bounds_of(found.values, found.coefficients)
            steepest = max(1.0, slope / spacing)
            return SplineGrid(
                found.coefficients, below, corner, spacing, steepest, found.error, found.largest_error, size
            )
        spacing /= FINER
    if found is None:
        refuse(f"tip_radius = {radius:g} m is too large for a mesh of {size:g} m")
    refuse(
        f"tolerance = {tolerance:g} m cannot be had of a mesh {size:g} m large (in m, where no unit is stated): the finest "
        f"grid, {found.spacing:.2g} m, is off by {found.error:.2g} m; "
        "must be larger, or the tip_radius, at which it is to hold, that of the tips"
    )


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


def _fitted(mesh: Any, corner: np.ndarray, counts: np.ndarray, spacing: float, radius: float) -> _Fit:  # noqa: ANN401, trimesh's
    band = radius + BAND * spacing
    nearest = NearestFace(mesh, band)
    values = _distances(mesh, nearest, corner, counts, spacing, band)
    coefficients = spline_filter(values, order=3, mode="mirror")
    places = met_points(mesh, nearest, radius)
    errors = np.abs(spline_at(coefficients, (places - corner) / spacing) - nearest.signed_distances(places))
    return _Fit(values, coefficients, spacing, float(np.quantile(errors, SHARE)), float(errors.max()))


def met_points(mesh: Any, nearest: NearestFace, radius: float) -> Float[np.ndarray, "n 3"]:  # noqa: ANN401, trimesh's
    """Return centres of balls of a `radius` (m) that touch a mesh from outside, over all of its faces evenly."""
    from trimesh.sample import sample_surface

    points, faces = sample_surface(mesh, SAMPLES, seed=0)
    places = np.asarray(points) + radius * mesh.face_normals[faces]
    return places[nearest.signed_distances(places) >= MET * radius] if radius else places


def spline_at(coefficients: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return a spline at places (n, 3) counted in nodes."""
    return map_coordinates(coefficients, places.T, order=3, mode="mirror", prefilter=False)


def _distances(
    mesh: Any,  # noqa: ANN401, trimesh's
    nearest: NearestFace,
    corner: np.ndarray,
    counts: np.ndarray,
    spacing: float,
    band: float,
) -> np.ndarray:
    """Return signed distances (m) at the nodes: exact within the `band` (m), further away from the face of the nearest
    piece."""
    centres, parents, radii = pieces_of(mesh, 2 * spacing)
    empty = np.ones(counts, bool)
    empty[tuple(np.rint((centres - corner) / spacing).astype(int).T)] = False
    near = distance_transform_edt(empty) * spacing <= band + radii.max() + spacing
    values = np.zeros(counts)
    values[near] = nearest.signed_distances(corner + spacing * np.argwhere(near))
    if not near.all():
        beside = distance_transform_edt(~near, return_distances=False, return_indices=True)
        places = corner + spacing * np.argwhere(~near)
        _, pieces = cKDTree(centres).query(places, workers=-1)
        away = np.abs(nearest.from_faces(places, parents[pieces]))
        values[~near] = np.copysign(away, values[tuple(part[~near] for part in beside)])
    return values
