"""Pieces of meshes: together they stay the mesh, and their points integrate over it."""

import numpy as np
import pytest
import trimesh

from dockdyn.scenario.meshes.pieces import MeshPieces


def cut_at_random(mesh, seed, times=6):
    """The faces of a mesh, some of them halved again and again."""
    rng, pieces = np.random.default_rng(seed), MeshPieces(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    for _ in range(times):
        count = len(pieces.faces)
        pieces.halve(np.sort(rng.choice(count, rng.integers(1, count), replace=False)))
    return pieces


@pytest.mark.parametrize("seed", range(5))
def test_a_function_of_second_degree_is_integrated_exactly(seed):
    """Over an ellipsoid of triangles, beside the midpoints of the mesh's own edges, whose rule is of second degree, too."""
    mesh, rng = trimesh.creation.icosphere(2), np.random.default_rng(seed)
    mesh.apply_transform(np.diag([1.0, 2.0, 0.5, 1]))
    form, way = rng.normal(size=(3, 3)), rng.normal(size=3)

    def value(points):
        return np.einsum("...i,ij,...j", points, form, points) + points @ way + 1

    corners = mesh.triangles
    known = (mesh.area_faces * value((corners + np.roll(corners, -1, axis=1)) / 2).mean(axis=1)).sum()
    points, _, areas = cut_at_random(mesh, seed).points()
    assert areas @ value(points) == pytest.approx(known, rel=1e-12)
    assert areas.sum() == pytest.approx(mesh.area, rel=1e-13)


def test_halves_cover_their_piece_and_share_their_corners():
    mesh = trimesh.creation.box((1, 2, 3))
    pieces = cut_at_random(mesh, 1, times=10)
    made = trimesh.Trimesh(pieces.vertices, pieces.faces, process=False)
    assert made.volume == pytest.approx(6, rel=1e-13)  # all are wound as their faces
    assert len(np.unique(pieces.vertices, axis=0)) == len(pieces.vertices)  # none is there twice
    _, ways, areas = pieces.points()
    assert np.linalg.norm(ways, axis=1) == pytest.approx(1, abs=1e-12)
    middles = ways[: len(pieces.faces)]
    assert (areas[: len(pieces.faces)] @ middles) == pytest.approx(np.zeros(3), abs=1e-12)
