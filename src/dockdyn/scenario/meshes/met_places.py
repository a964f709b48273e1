"""Where balls touch a mesh from outside: on its faces, at its convex and at its concave edges.

Units: m.
Source: own derivation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Float, Int
from dockdyn.scenario.meshes.nearest import MeshDistance

SAMPLES = 4000  # of faces, and of edges of either kind
SHARP = np.radians(20)  # rad, between faces that meet in an edge, not in a facet of something round
MET = 1 - 1e-9  # of the radius of a ball: places that are nearer to another face than this are not met


class MetPlaces(NamedTuple):
    """Centres of balls that touch a mesh, and their distances from it."""

    faces: Float[np.ndarray, "n 3"]  # m, over all faces evenly
    convex: Float[np.ndarray, "n 3"]  # m, over edges evenly, all around them
    concave: Float[np.ndarray, "n 3"]  # m, where both faces are touched
    distances: tuple[Float[np.ndarray, "n"], ...]  # m, of the three


def met_places(mesh: Any, exact: MeshDistance, radius: float) -> MetPlaces:  # noqa: ANN401, trimesh's
    """Return centres of balls of a `radius` (m) that touch a mesh from outside."""
    from trimesh.sample import sample_surface

    points, faces = sample_surface(mesh, SAMPLES, seed=0)
    convex, concave = _at_edges(mesh, radius)
    found = []
    for places in (np.asarray(points) + radius * mesh.face_normals[faces], convex, concave):
        distances = exact.signed_distances(places)
        met = distances >= MET * radius if radius else np.ones(len(places), bool)
        found.append((places[met], distances[met]))
    (on_faces, one), (at_convex, other), (at_concave, third) = found
    return MetPlaces(on_faces, at_convex, at_concave, (one, other, third))


def feature_edges(mesh: Any) -> tuple[Int[np.ndarray, "n 2"], Float[np.ndarray, "n 2 3"], np.ndarray]:  # noqa: ANN401
    """Return the sharp edges of a mesh: their vertices, the normals of their faces, whether they are convex."""
    sharp = mesh.face_adjacency_angles > SHARP
    normals = mesh.face_normals[mesh.face_adjacency[sharp]]
    return mesh.face_adjacency_edges[sharp], normals, mesh.face_adjacency_convex[sharp]


def _at_edges(mesh: Any, radius: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401, trimesh's
    """Return centres (m) of balls at convex and at concave edges, some of which other faces may keep away."""
    edges, normals, convex = feature_edges(mesh)
    found = []
    for those in (convex, ~convex):
        ends, ways = mesh.vertices[edges[those]], normals[those]
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        if not lengths.sum():
            found.append(np.zeros((0, 3)))
            continue
        along = (np.arange(SAMPLES) + 0.5) / SAMPLES * lengths.sum()
        number = np.minimum(np.searchsorted(np.cumsum(lengths), along), len(lengths) - 1)
        share = np.clip((along - (np.cumsum(lengths) - lengths)[number]) / lengths[number], 0, 1)[:, None]
        points = ends[number, 0] * (1 - share) + ends[number, 1] * share
        one, other = ways[number, 0], ways[number, 1]
        if those is convex:
            part = np.random.default_rng(0).uniform(0, 1, (SAMPLES, 1))
            way = one * part + other * (1 - part)
            way /= np.linalg.norm(way, axis=1)[:, None]
        else:
            way = (one + other) / np.maximum(1 + np.einsum("ij,ij->i", one, other), 1e-9)[:, None]
        found.append(points + radius * way)
    return found[0], found[1]
