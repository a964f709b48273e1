"""Mesh files of solids: read, and refused where they are the skin of none."""

from __future__ import annotations

import io
from codecs import BOM_UTF8
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from dockdyn.scenario.meshes.counts import MOST, check_counts
from dockdyn.scenario.tables.part import refuse

NO_AREA = 1e-12  # of the square of the largest extent
NO_VOLUME = 1e-9  # of the cube of the largest extent
FINEST = 256  # pieces along the largest extent, into which faces are cut where pairs of them are looked for
CHUNK = 200_000  # pairs of faces at once


def solid_in(content: bytes, suffix: str, scale: float) -> Any:  # noqa: ANN401, trimesh's
    """Return the mesh in a file, `scale` m for each of its units; refused where it is not the skin of a solid, seen from
    outside."""
    import trimesh

    check_counts(content, suffix)
    try:
        found = trimesh.load_mesh(
            io.BytesIO(content.removeprefix(BOM_UTF8)), file_type=suffix.lstrip("."), process=True
        )
        vertices, faces = scale * np.asarray(found.vertices, float), np.asarray(found.faces)
    except Exception:  # a damaged file can fail anywhere inside the readers
        refuse("cannot be read as a mesh")
    if not 0 < len(faces) <= MOST:
        refuse(f"has {len(faces)} faces; must have 1 to {MOST}")
    if not np.isfinite(vertices).all():
        refuse("has a vertex that is no number")
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    with np.errstate(divide="ignore", invalid="ignore"):  # trimesh's mass properties of what has no volume
        return _checked_solid(mesh)


def _checked_solid(mesh: Any) -> Any:  # noqa: ANN401, trimesh's
    """Return the mesh with its vertices merged; refused where it is not the skin of a solid, seen from outside."""
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    size = float(np.ptp(mesh.vertices, axis=0).max())
    if flat := int(np.count_nonzero(~(mesh.area_faces > NO_AREA * size**2))):
        refuse(f"has {flat} {_faces(flat)} without area; must have none")
    _, sharing = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
    if single := int(np.count_nonzero(sharing == 1)):
        refuse(f"is open: {single} of its edges have a face on one side only; must be closed")
    if not mesh.is_watertight or not mesh.is_winding_consistent:
        refuse("is not the skin of a solid: neighbouring faces do not agree on which side is outside")
    volume = float(mesh.volume)
    if volume < -NO_VOLUME * size**3:
        refuse("is inside out: its faces must be counterclockwise, seen from outside")
    if volume < NO_VOLUME * size**3:
        refuse("encloses no volume")
    if crossed := _crossing_faces(mesh):
        refuse(
            f"intersects itself: {crossed} of its faces {'is' if crossed == 1 else 'are'} crossed by edges of others"
        )
    return mesh


def _faces(count: int) -> str:
    return "face" if count == 1 else "faces"


def pieces_of(mesh: Any, longest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: ANN401, trimesh's
    """Return the faces of a mesh cut into triangles with edges of at most `longest` m: their centres, the number of the face
    that each is of, and the largest distance (m) of each piece's points from its centre."""
    from trimesh.remesh import subdivide_to_size

    vertices, faces, parents = subdivide_to_size(mesh.vertices, mesh.faces, longest, max_iter=40, return_index=True)
    corners = vertices[faces]
    centres = corners.mean(axis=1)
    return centres, parents, np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)


def _crossing_faces(mesh: Any) -> int:  # noqa: ANN401, trimesh's
    """Return how many faces are crossed by an edge of a face with which they share no vertex."""
    finest = float(np.ptp(mesh.vertices, axis=0).max()) / FINEST
    centres, parents, radii = pieces_of(mesh, max(finest, float(np.median(mesh.edges_unique_length))))
    near = np.sort(parents[cKDTree(centres).query_pairs(2 * radii.max(), output_type="ndarray")], axis=1)
    pairs = np.stack(np.divmod(np.unique(near[:, 0] * len(mesh.faces) + near[:, 1]), len(mesh.faces)), axis=1)
    crossed: set[int] = set()
    for start in range(0, len(pairs), CHUNK):
        first, second = pairs[start : start + CHUNK].T
        apart = ~(mesh.faces[first][:, :, None] == mesh.faces[second][:, None, :]).any(axis=(1, 2))
        for one, other in ((first[apart], second[apart]), (second[apart], first[apart])):
            crossed.update(one[_crossed(mesh.triangles[one], mesh.triangles[other])].tolist())
    return len(crossed)


def _crossed(faces: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return whether an edge of each of the triangles `others` (n, 3, 3) goes through that of `faces` (Möller and Trumbore
    1997)."""
    origin, first, second = faces[:, 0], faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]
    found = np.zeros(len(faces), bool)
    for corner in range(3):
        start, way = others[:, corner], others[:, corner - 2] - others[:, corner]
        across, offset = np.cross(way, second), start - origin
        with np.errstate(divide="ignore", invalid="ignore"):  # an edge in the plane of the face crosses it nowhere
            inverse = 1 / np.einsum("ij,ij->i", first, across)
            u = np.einsum("ij,ij->i", offset, across) * inverse
            around = np.cross(offset, first)
            v = np.einsum("ij,ij->i", way, around) * inverse
            t = np.einsum("ij,ij->i", second, around) * inverse
            found |= (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0) & (t <= 1)
    return found
