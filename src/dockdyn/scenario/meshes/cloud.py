"""Points spread over a mesh, each with its share of the area."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.scenario.meshes.kept import Cloud
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_in_words, length_of
from dockdyn.scenario.meshes.nearest import MeshDistance
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.tables.part import refuse

MOVES = 60  # at most, of points that are too near to a second face
NEAR = 1e-6  # of the radius
HALVINGS = 30  # of the range of the pieces' size, in which so many are found


def cloud_in(content: bytes, suffix: str, file: MeshFile, most: int, radius: float) -> Cloud:
    """Return at most so many points of the content of a mesh file, `radius` m inside.

    The faces are cut evenly until their pieces are as small as the number allows; nothing is drawn at random.
    """
    mesh = solid_in(content, suffix, length_of(file.unit), file.repair)
    if len(mesh.faces) > most:
        refuse(f"has {len(mesh.faces)} faces; count must be at least that, or the mesh simpler")
    size = float(np.ptp(mesh.vertices, axis=0).max())
    low, high = 0.0, 2 * size
    found = _pieces(mesh, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = _pieces(mesh, middle) if _fewest(mesh, middle) <= most else None
        if tried is not None and len(tried[0]) <= most:
            found, high = tried, middle
        else:
            low = middle
    centres, normals, areas = found
    points = _shrunk(mesh, centres - radius * normals, radius, file.unit)
    return Cloud(points, areas / areas.sum(), high, size, float(areas.sum()))


def _shrunk(mesh: Any, points: np.ndarray, radius: float, unit: str | None) -> np.ndarray:  # noqa: ANN401, trimesh's
    """Return points (m) beneath one face of a mesh, moved until they are nowhere nearer to it than the `radius` (m)."""
    if not radius:
        return points
    exact = MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    for _ in range(MOVES):
        found = exact.nearest(points)
        lacking = radius + found.distances  # inside they are negative
        if lacking.max() < NEAR * radius:
            return points
        inward = -found.offsets / np.where(found.distances == 0, 1, found.distances)[:, None]
        points = points + np.maximum(lacking, 0)[:, None] * inward
    refuse(f"radius = {length_in_words(radius, unit)} is too large for what the mesh is thick")


def _fewest(mesh: Any, longest: float) -> float:  # noqa: ANN401, trimesh's
    """Return how many pieces with edges of at most `longest` (m) a mesh gives at least."""
    return float(mesh.area) / max(np.sqrt(3) / 4 * longest**2, 1e-300)


def _pieces(mesh: Any, longest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: ANN401, trimesh's
    """Return centres (m), normals and areas (m²) of the faces of a mesh, cut until no edge is longer than `longest` (m)."""
    from trimesh.remesh import subdivide_to_size

    vertices, faces, parents = subdivide_to_size(mesh.vertices, mesh.faces, longest, max_iter=40, return_index=True)
    corners = vertices[faces]
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return corners.mean(axis=1), mesh.face_normals[parents], doubled / 2
