"""Points spread over a mesh, each with its share of the area."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.deferred import Float, Int
from dockdyn.scenario.meshes.box_tree import box_tree
from dockdyn.scenario.meshes.kept import Cloud
from dockdyn.scenario.meshes.mesh_file import MeshFile, length_in_words, length_of
from dockdyn.scenario.meshes.nearest import MeshDistance
from dockdyn.scenario.meshes.solid import solid_in
from dockdyn.scenario.tables.part import refuse

MOVES = 60  # at most, of points that are too near to a second face
NEAR = 1e-6  # of the radius
LEAF = 12  # points of a ball that is not divided
SHORTER = 2**0.25  # edges that are longer than the longest by less are cut together


def cloud_in(content: bytes, suffix: str, file: MeshFile, most: int, radius: float) -> Cloud:
    """Return at most so many points of the content of a mesh file, `radius` m inside.

    The faces are cut evenly until their pieces are as small as the number allows; nothing is drawn at random.
    """
    mesh = solid_in(content, suffix, length_of(file.unit), file.repair)
    if len(mesh.faces) > most:
        refuse(f"has {len(mesh.faces)} faces; count must be at least that, or the mesh simpler")
    size = float(np.ptp(mesh.vertices, axis=0).max())
    pieces, parents, longest = _cut(mesh, most)
    areas = np.linalg.norm(np.cross(pieces[:, 1] - pieces[:, 0], pieces[:, 2] - pieces[:, 0]), axis=1) / 2
    centres, normals = pieces.mean(axis=1), mesh.face_normals[parents]
    points = _shrunk(mesh, centres - radius * normals, radius, file.unit)
    order, balls, children = ball_tree(points)
    return Cloud(points[order], (areas / areas.sum())[order], longest, size, float(areas.sum()), balls, children)


def ball_tree(
    points: Float[np.ndarray, "n 3"],
) -> tuple[Int[np.ndarray, "n"], Float[np.ndarray, "balls 4"], Int[np.ndarray, "balls 2"]]:
    """Return the order of points (m) in a tree, balls about all of them beneath, and the children of these."""
    tree = box_tree(points[:, None], len(points), LEAF)
    used = np.flatnonzero(tree.children[:, 1] > 0).max() + 1  # the last box is a leaf
    boxes, children = tree.boxes[:used], tree.children[:used]
    balls = np.column_stack(
        [(boxes[:, :3] + boxes[:, 3:]) / 2, np.linalg.norm(boxes[:, 3:] - boxes[:, :3], axis=1) / 2]
    )
    return tree.order, balls, children


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


def _cut(mesh: Any, most: int) -> tuple[np.ndarray, np.ndarray, float]:  # noqa: ANN401, trimesh's
    """Return the corners (m) of the faces of a mesh, halved across their longest edges until they are about `most`, the faces
    that they are of, and the longest edge (m) that is left."""
    pieces, parents = np.asarray(mesh.vertices)[mesh.faces], np.arange(len(mesh.faces))
    lengths = _longest_edges(pieces)
    while len(large := np.flatnonzero(lengths[0] > lengths[0].max() / SHORTER)) <= most - len(pieces):
        halves = _halved(pieces[large], lengths[1][large])
        pieces = np.concatenate([np.delete(pieces, large, axis=0), halves])
        parents = np.concatenate([np.delete(parents, large), np.repeat(parents[large], 2)])
        new = _longest_edges(halves)
        lengths = [np.concatenate([np.delete(old, large), one]) for old, one in zip(lengths, new, strict=True)]
    return pieces, parents, float(lengths[0].max())


def _longest_edges(pieces: np.ndarray) -> list[np.ndarray]:
    """Return the length (m) of the longest edge of each piece, and after which corner it comes."""
    lengths = np.linalg.norm(np.roll(pieces, -1, axis=1) - pieces, axis=2)
    return [lengths.max(axis=1), lengths.argmax(axis=1)]


def _halved(pieces: np.ndarray, longest: np.ndarray) -> np.ndarray:
    """Return both halves of pieces, one after another, cut across the edge after these corners."""
    rows = np.arange(len(pieces))
    one, two, three = (pieces[rows, (longest + turn) % 3] for turn in range(3))
    middle = (one + two) / 2
    halves = np.stack([np.stack([one, middle, three], axis=1), np.stack([middle, two, three], axis=1)], axis=1)
    return halves.reshape(-1, 3, 3)
