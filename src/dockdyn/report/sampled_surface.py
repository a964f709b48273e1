"""Contact surfaces as figures and replays see them: their distance and normal at many points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.deferred import Array, Float, PyTree
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.trees import map_leaves

SIZES = (64, 512, 4096)  # rows at once: another number of rows is seldom another program


def plain_components(vector: Vector) -> Float[np.ndarray, "3"]:
    """Return the components of a vector of plain numbers."""
    return np.array([float(vector.x), float(vector.y), float(vector.z)])


def signed_distances(surface: Surface, points: Float[np.ndarray, "... 3"]) -> Float[np.ndarray, "..."]:
    """Return the signed distance (m) of points (m, body axes) from a surface."""
    return in_pieces(lambda rows: _distances_at(surface, rows), points.reshape(-1, 3)).reshape(points.shape[:-1])


def surface_normals(surface: Surface, points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
    """Return the gradient of the signed distance at points (m, body axes): unit normals out of the solid."""
    return in_pieces(lambda rows: _normals_at(surface, rows), points)


def in_pieces(sample: Callable[..., PyTree], *rows: np.ndarray) -> PyTree:
    """Return what `sample` gives for rows, arrays with a leading axis of one length, asked for a fixed number at a time."""
    count = len(rows[0])
    size = next((one for one in SIZES if count <= one), SIZES[-1])
    padded = [np.concatenate([one, np.repeat(one[-1:], -count % size, axis=0)]) for one in rows]
    pieces = [sample(*(one[at : at + size] for one in padded)) for at in range(0, len(padded[0]), size)]
    return map_leaves(lambda *parts: np.concatenate(parts)[:count], *pieces)


@Program
def _distances_at(surface: Surface, points: Float[Array, "n 3"]) -> Float[Array, "n"]:
    return over_rows(lambda point: surface.signed_distance(Vector.of(point)), points)


@Program
def _normals_at(surface: Surface, points: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
    return over_rows(lambda point: surface.distance_and_normal(Vector.of(point))[1].array(), points)
