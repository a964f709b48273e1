"""Vertices of a closed mesh that parts share which only touch there: each part gets its own.

Units: m.
Source: own derivation.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dockdyn.deferred import Float, Int

SAME_ANGLE = 1e-9  # rad, between faces that lie on each other


def separate_wedges(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]
) -> tuple[Float[np.ndarray, "k 3"], Int[np.ndarray, "m 3"]]:
    """Return the mesh with a vertex for each part that meets there: faces go on where the solid between them does.

    Edges of which that cannot be said, open ones and those whose faces do not take turns in being its sides, stay as they are.
    """
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    _, numbers, counts = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(numbers.ravel(), kind="stable")
    ends = np.cumsum(counts)
    two = np.flatnonzero(counts == 2)
    pairs = [np.stack([order[ends[two] - 2], order[ends[two] - 1]], axis=1)]
    for number in np.flatnonzero(counts > 2):
        pairs.append(_sides_of_wedges(vertices, faces, edges, order[ends[number] - counts[number] : ends[number]]))
    one, other = np.concatenate(pairs).T
    after_one, after_other = one - one % 3 + (one + 1) % 3, other - other % 3 + (other + 1) % 3
    against = edges[one, 0] == edges[other, 1]  # as neighbours of a closed mesh take it
    starts = np.concatenate([one, after_one])
    links = np.concatenate([np.where(against, after_other, other), np.where(against, other, after_other)])
    corners = coo_array((np.ones(len(starts), bool), (starts, links)), shape=(faces.size,) * 2)
    many, owners = connected_components(corners, directed=False)
    first = np.empty(many, np.int64)
    first[owners[::-1]] = np.arange(faces.size)[::-1]
    return vertices[faces.ravel()[first]], owners.reshape(-1, 3).astype(np.int64)


def _sides_of_wedges(vertices: np.ndarray, faces: np.ndarray, edges: np.ndarray, around: np.ndarray) -> np.ndarray:
    """Return the pairs of half-edges, of those `around` one edge, between whose faces the solid is; all with the first where
    they are no such pairs.

    About the edge, a face that takes it backwards has the solid after it, one that takes it forwards before it.
    """
    start, end = edges[around[0]]
    axis = vertices[end] - vertices[start]
    axis = axis / max(np.linalg.norm(axis), 1e-300)
    tips = vertices[faces.ravel()[around - around % 3 + (around + 2) % 3]] - vertices[start]
    across = tips - np.outer(tips @ axis, axis)
    angles = np.arctan2(np.cross(across[0], across) @ axis, across @ across[0])
    forwards = edges[around, 0] == start
    turns = np.round(angles / SAME_ANGLE) % np.round(2 * np.pi / SAME_ANGLE)
    ordered = np.lexsort([~forwards, turns])
    around, forwards = around[ordered], forwards[ordered]
    if len(around) % 2 or (forwards == np.roll(forwards, 1)).any():
        return np.stack([np.repeat(around[:1], len(around) - 1), around[1:]], axis=1)
    if forwards[0]:
        around = np.roll(around, -1)
    return around.reshape(-1, 2)
