"""Signed distances of a solid on a grid, refined until a spline through them is as near to the true ones as is asked."""

from __future__ import annotations

import contextlib
import hashlib
import io
import zipfile
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.ndimage import distance_transform_edt, map_coordinates, spline_filter
from scipy.spatial import cKDTree

from dockdyn.backend import cache_folder
from dockdyn.files import write_file
from dockdyn.scenario.meshes.nearest_face import NearestFace
from dockdyn.scenario.meshes.solid import pieces_of, solid_in
from dockdyn.scenario.meshes.spline_bounds import bounds_of
from dockdyn.scenario.tables.part import refuse
from dockdyn.translate.store import bound

COARSEST = 32  # spacings along the largest extent
FINER = 2**0.5  # between one grid and the next
BAND = 6  # spacings on both sides of where it is met, within which distances are exact
LARGE = 10.0  # m: what is touched in a docking is smaller, so that a file without a unit is hardly in m
MOST = 3_000_000  # nodes
SAMPLES = 4000  # points at which the spline is compared with true distances
SHARE = 0.99  # of them that must be within the tolerance: at edges, where two faces are as near, no grid is fine enough
MET = 1 - 1e-9  # of the radius of a tip: points that are nearer to another face than this are not met


class Grid(NamedTuple):
    """A cubic B-spline's coefficients and how well it fits."""

    coefficients: Float[np.ndarray, "x y z"]  # m
    below: Float[np.ndarray, "x y z"]  # m, at the nodes; straight lines between them are nowhere above the spline
    corner: Float[np.ndarray, "3"]  # m
    spacing: float  # m
    steepest: float  # length of the spline's gradient at most, not below 1
    error: float  # m, of `SHARE` of the samples
    largest_error: float  # m
    size: float  # m, largest extent of the mesh


@lru_cache(maxsize=8)
def grid_of(file: Path, changed: int, scale: float, stated: bool, tolerance: float, radius: float) -> Grid:
    """The grid of a mesh file (`changed`: its time of change), `scale` m for each of its units, for tips of a `radius` (m).

    It is kept in the user's cache by what it is made of. A mesh whose unit is not `stated` and that would be `LARGE` is refused
    before: a grid of it would take minutes.
    """
    content = file.read_bytes()
    facts = repr((_makers(), file.suffix.lower(), scale, tolerance, radius)).encode()
    kept = cache_folder() / "meshes" / f"{hashlib.sha256(facts + content).hexdigest()[:40]}.bin"
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile):  # damaged, or none: made again
        with np.load(kept, allow_pickle=False) as found:
            numbers = {name: float(found[name]) for name in Grid._fields[3:]}
            return Grid(found["coefficients"], found["below"], found["corner"], **numbers)
    mesh = solid_in(content, file.suffix.lower(), scale)
    if not stated and (size := _size_of(mesh)) > LARGE:
        refuse(f"is {size:g} m large; is it in mm? state unit")
    made = refined(mesh, tolerance, radius)
    data = io.BytesIO()
    np.savez(data, allow_pickle=False, **made._asdict())
    with contextlib.suppress(OSError):
        write_file(kept, data.getvalue())
        bound(kept.parent)
    return made


@cache
def _makers() -> str:
    """Of the files that make grids, and the libraries that they use."""
    digest = hashlib.sha256(repr([(one, version(one)) for one in ("numpy", "scipy", "trimesh")]).encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def refined(mesh: Any, tolerance: float, radius: float) -> Grid:  # noqa: ANN401, trimesh's
    """The coarsest grid whose spline is within the `tolerance` (m) of the distance where tips of a `radius` (m) meet a mesh."""
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
            return Grid(found.coefficients, below, corner, spacing, steepest, found.error, found.largest_error, size)
        spacing /= FINER
    if found is None:
        refuse(f"tip_radius = {radius:g} m is too large for a mesh of {size:g} m")
    refuse(
        f"tolerance = {tolerance:g} m cannot be had of a mesh {size:g} m large (in m, where no unit is stated): the finest "
        f"grid, {found.spacing:.2g} m, is off by {found.error:.2g} m; "
        "must be larger, or the tip_radius, at which it is to hold, that of the tips"
    )


def _size_of(mesh: Any) -> float:  # noqa: ANN401, trimesh's
    """The largest extent (m) of a mesh."""
    return float(np.ptp(mesh.vertices, axis=0).max())


def _box(mesh: Any, spacing: float, radius: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401, trimesh's
    """First node (m) and numbers of nodes of the grid around a mesh and the tips that meet it."""
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
    """Centres of balls of a `radius` (m) that touch a mesh from outside, over all of its faces evenly."""
    from trimesh.sample import sample_surface

    points, faces = sample_surface(mesh, SAMPLES, seed=0)
    places = np.asarray(points) + radius * mesh.face_normals[faces]
    return places[nearest.signed_distances(places) >= MET * radius] if radius else places


def spline_at(coefficients: np.ndarray, places: np.ndarray) -> np.ndarray:
    """A spline at places (n, 3) counted in nodes."""
    return map_coordinates(coefficients, places.T, order=3, mode="mirror", prefilter=False)


def _distances(
    mesh: Any,  # noqa: ANN401, trimesh's
    nearest: NearestFace,
    corner: np.ndarray,
    counts: np.ndarray,
    spacing: float,
    band: float,
) -> np.ndarray:
    """Signed distances (m) at the nodes: exact within the `band` (m), further away from the face of the nearest piece."""
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
