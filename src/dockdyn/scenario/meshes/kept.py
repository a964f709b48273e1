"""What is made of mesh files, kept in the user's cache by what it is made of: what makes it takes long, and long to load.

Units: m.
Source: definition.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn import kept
from dockdyn.backend import cache_folder
from dockdyn.deferred import Float, Int
from dockdyn.files import read_file
from dockdyn.scenario.language.given_file import MESH
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_of

ALIGNED = 64  # bytes: a line of the processor's cache
AT_ONCE = 8  # meshes of a scenario that a process holds, and that stay kept beside each other
MOST_KEPT = AT_ONCE * 2**28  # bytes: a field of the most bricks has nearly 2**28


class SplineField(NamedTuple):
    """A cubic B-spline in an octree of bricks, as `DistanceField` has it, and how well it fits."""

    coefficients: Float[np.ndarray, "bricks nodes nodes nodes"]  # m
    children: Int[np.ndarray, "bricks 8"]
    counts: Float[np.ndarray, "3"]
    corner: Float[np.ndarray, "3"]  # m
    spacing: float  # m, of the bricks that fill the box
    finest: float  # m, least spacing
    steepest: float  # length of the spline's gradient at most, not below 1
    error: float  # m, of 99 % of the places where tips touch faces
    largest_error: float  # m, of all of them
    convex_error: float  # m, the largest where tips touch convex edges
    concave_error: float  # m, the largest where tips touch both faces of a concave edge
    size: float  # m, largest extent of the mesh


class Cloud(NamedTuple):
    """Points of the pieces of a mesh, moved inside so that balls about them touch it, and a tree over them, whose order they
    have."""

    points: Float[np.ndarray, "n 3"]  # m
    shares: Float[np.ndarray, "n"]  # of the mesh's area, that each stands for
    spacing: float  # m, the longest edge of a piece
    finest: float  # m, the shortest of the longest edges of pieces
    size: float  # m, of the mesh
    area: float  # m², of it
    balls: Float[np.ndarray, "balls 4"]  # m, centre and radius of balls about all points beneath
    children: Int[np.ndarray, "balls 2"]  # as those of a `BoxTree`


class Solid(NamedTuple):
    """The skin of a solid."""

    vertices: Float[np.ndarray, "n 3"]  # m
    faces: np.ndarray  # (n, 3), whole numbers


@lru_cache(maxsize=AT_ONCE)
def field_of(mesh: MeshFile, tolerance: float, radius: float) -> SplineField:
    """Return the field of a mesh file for tips of a `radius` (m).

    A mesh whose unit is not stated and that would be large is refused before: a field of it would take a while.
    """

    def make(content: bytes, suffix: str) -> SplineField:
        from dockdyn.scenario.meshes.field import field_in

        return field_in(content, suffix, mesh, tolerance, radius)

    return _keep_or_make(SplineField, mesh, (tolerance, radius), make)


@lru_cache(maxsize=AT_ONCE)
def cloud_of(mesh: MeshFile, most: int, radius: float) -> Cloud:
    """Return at most so many points of a mesh file, `radius` m inside."""

    def make(content: bytes, suffix: str) -> Cloud:
        from dockdyn.scenario.meshes.cloud import cloud_in

        return cloud_in(content, suffix, mesh, most, radius)

    return _keep_or_make(Cloud, mesh, (most, radius), make)


@lru_cache(maxsize=AT_ONCE)
def solid_of(mesh: MeshFile) -> Solid:
    """Return the skin (m) of the solid in a mesh file."""

    def make(content: bytes, suffix: str) -> Solid:
        from dockdyn.scenario.meshes.solid import solid_in

        found = solid_in(content, suffix, length_of(mesh.unit), mesh.repair)
        return Solid(np.asarray(found.vertices), np.asarray(found.faces))

    return _keep_or_make(Solid, mesh, (), make)


def _keep_or_make[Made: Any](
    made: type[Made], mesh: MeshFile, facts: tuple[float, ...], make: Callable[[bytes, str], Made]
) -> Made:
    """Return what is kept of a file's content under these `facts`, or what is made of it now."""
    content, suffix = read_file(mesh.path, MESH.most), mesh.path.suffix.lower()
    makers = kept.makers_of(Path(__file__).parent, ("numpy", "scipy", "trimesh"))
    words = repr((made.__name__, makers, suffix, mesh.unit, mesh.repair, *facts)).encode()
    place, name = cache_folder() / "meshes", hashlib.sha256(words + content).hexdigest()[:40]
    if (stored := kept.find_entry(place, name)) is not None:
        return made(*unpack_arrays(stored))
    new = make(content, suffix)
    kept.keep_entry(place, name, pack_arrays(list(new)), MOST_KEPT)
    return new


def pack_arrays(numbers: list[Any]) -> bytes:
    """Return arrays and numbers in one file: what each is, in a line of JSON, then their bytes, so that none is copied as they
    are read."""
    arrays = [np.ascontiguousarray(one) for one in numbers]
    starts = np.cumsum([0, *(-(-one.nbytes // ALIGNED) * ALIGNED for one in arrays)])
    head = json.dumps([(np.asarray(one).shape, array.dtype.str) for one, array in zip(numbers, arrays, strict=True)])
    first = -(-(len(head) + 1) // ALIGNED) * ALIGNED
    data = bytearray(first + int(starts[-1]))
    data[:first] = (head.ljust(first - 1) + "\n").encode()
    for start, array in zip(starts, arrays, strict=False):
        data[first + start : first + start + array.nbytes] = array.tobytes()
    return bytes(data)


def unpack_arrays(stored: bytes) -> list[Any]:
    """Return them."""
    at = stored.index(b"\n") + 1
    found: list[Any] = []
    for shape, kind in json.loads(stored[:at]):
        count = math.prod(shape)
        array = np.frombuffer(stored, kind, count, at).reshape(shape)
        found.append(array if shape else float(array))
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    return found
