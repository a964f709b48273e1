"""Exact signed distances of points from a closed mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from dockdyn.deferred import Float, Int
from dockdyn.scenario.meshes.solid import pieces_of

FIRST, MORE = 12, 3  # pieces that are looked at around a point, and how many times as many when these do not decide
CHUNK = 20_000  # points at once


class NearestFace:
    """Finds the nearest point of a mesh: among the faces of the nearest pieces, of which a tree of their centres knows.

    The sign is that of the pseudonormal of the face, edge or vertex on which the nearest point lies (Bærentzen and Aanæs
    2005, IEEE Transactions on Visualization and Computer Graphics 11:243): exact for a mesh that is closed.
    """

    def __init__(self, mesh: Any, longest: float):  # noqa: ANN401, trimesh's
        """`longest`: edges of the pieces (m), into which larger faces are cut."""
        self.triangles = np.asarray(mesh.triangles)
        self.centres, self.parents, self.radii = pieces_of(mesh, longest)
        self.radius = self.radii.max()
        self.tree = cKDTree(self.centres)
        self.normals = _pseudonormals(mesh)

    def signed_distances(self, points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n"]:
        """Return distances (m) of points (m): negative inside the solid."""
        parts = [self._of_chunk(points[at : at + CHUNK]) for at in range(0, len(points), CHUNK)]
        return np.concatenate([np.zeros(0), *parts])

    def _of_chunk(self, points: np.ndarray) -> np.ndarray:
        _, pieces = self.tree.query(points, workers=-1)
        found, rows, count = self.from_faces(points, self.parents[pieces]), np.arange(len(points)), FIRST
        while len(rows):
            count = min(count, len(self.centres))
            far, pieces = self.tree.query(points[rows], np.arange(1, count + 1), workers=-1)
            self._improve(found, points, rows, pieces, far)
            known = far[:, -1] - self.radius >= np.abs(found[rows])
            if count == len(self.centres):
                break
            rows, count = rows[~known], MORE * count
        return found

    def _improve(
        self, found: np.ndarray, points: np.ndarray, rows: np.ndarray, pieces: np.ndarray, far: np.ndarray
    ) -> None:
        """Take into the distances `found` of the `rows` of points the faces of the `pieces`, whose centres are `far` (m)."""
        can = far - self.radii[pieces] < np.abs(found[rows])[:, None]
        of = np.broadcast_to(rows[:, None], far.shape)[can]
        of, faces = np.divmod(np.unique(of * len(self.triangles) + self.parents[pieces[can]]), len(self.triangles))
        distances = self.from_faces(points[of], faces)
        farthest_first = np.argsort(-np.abs(distances), kind="stable")
        nearest = np.full(len(found), np.inf)
        nearest[of[farthest_first]] = distances[farthest_first]
        better = np.abs(nearest) < np.abs(found)
        found[better] = nearest[better]

    def from_faces(self, points: np.ndarray, faces: Int[np.ndarray, "n"]) -> np.ndarray:
        """Return signed distances of points from a face each."""
        offsets, parts = nearest_on_triangles(points, self.triangles[faces])
        return np.copysign(np.linalg.norm(offsets, axis=-1), _dot(offsets, self.normals[faces, parts]))


def nearest_on_triangles(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what leads from the nearest points of triangles (..., 3, 3) to points (..., 3), and on which part that nearest
    point lies: 0 inside the face, 1 to 3 on the edge after that corner, 4 to 6 at that corner."""
    normal = np.cross(triangles[..., 1, :] - triangles[..., 0, :], triangles[..., 2, :] - triangles[..., 0, :])
    ways, ats, sides = [], [], []
    for corner in range(3):
        start = triangles[..., corner, :]
        edge, offset = triangles[..., (corner + 1) % 3, :] - start, points - start
        share = np.clip(_dot(offset, edge) / _dot(edge, edge), 0, 1)
        ways.append(offset - share[..., None] * edge)
        ats.append(np.where(share == 0, 4 + corner, np.where(share == 1, 4 + (corner + 1) % 3, 1 + corner)))
        sides.append(_dot(np.cross(edge, offset), normal) >= 0)
    way, at, within = np.stack(ways, axis=-2), np.stack(ats, axis=-1), np.all(sides, axis=0)
    best = _dot(way, way).argmin(axis=-1)[..., None]
    on_edge = np.take_along_axis(way, best[..., None], axis=-2)[..., 0, :]
    straight = (_dot(points - triangles[..., 0, :], normal) / _dot(normal, normal))[..., None] * normal
    found = np.where(within[..., None], straight, on_edge)
    return found, np.where(within, 0, np.take_along_axis(at, best, axis=-1)[..., 0])


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", one, other)


def _pseudonormals(mesh: Any) -> np.ndarray:  # noqa: ANN401, trimesh's
    """Return directions (faces, 7, 3) out of the solid: of the face, of the edges after its corners, at its corners."""
    faces, normals = np.asarray(mesh.faces), np.asarray(mesh.face_normals)
    edges = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2), axis=2)  # those after the corners
    _, numbers = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1, 3)
    of_edges, of_vertices = np.zeros((numbers.max() + 1, 3)), np.zeros((len(mesh.vertices), 3))
    np.add.at(of_edges, numbers, normals[:, None])
    np.add.at(of_vertices, faces, np.asarray(mesh.face_angles)[..., None] * normals[:, None])
    return np.concatenate([normals[:, None], of_edges[numbers], of_vertices[faces]], axis=1)
