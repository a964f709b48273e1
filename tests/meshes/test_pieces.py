"""Pieces of meshes: together they stay the mesh, and their points integrate over it."""

import numpy as np
import pytest
import trimesh

from dockdyn.scenario.meshes.pieces import MeshPieces, spread_coordinates


def cut_at_random(mesh, seed, times=6):
    """The faces of a mesh, some of them halved again and again."""
    rng, pieces = np.random.default_rng(seed), MeshPieces(np.array(mesh.triangles))
    for _ in range(times):
        count = len(pieces.triangles)
        pieces.halve(np.sort(rng.choice(count, rng.integers(1, count), replace=False)))
    return pieces


@pytest.mark.parametrize("seed", range(5))
def test_a_function_of_first_degree_is_integrated_exactly_over_each_piece(seed):
    """Over an ellipsoid of triangles, beside the middles of its pieces."""
    mesh, rng = trimesh.creation.icosphere(2), np.random.default_rng(seed)
    mesh.apply_transform(np.diag([1.0, 2.0, 0.5, 1]))
    way = rng.normal(size=3)
    pieces = cut_at_random(mesh, seed)
    points, ways, areas = pieces.points()
    middles, out, whole = pieces.middles()
    assert (areas * (points @ way + 1)).reshape(-1, 3).sum(axis=1) == pytest.approx(
        whole * (middles @ way + 1), rel=1e-11
    )
    assert np.array_equal(ways[::3], out)
    assert areas.sum() == pytest.approx(mesh.area, rel=1e-13)


def test_halves_cover_their_piece():
    mesh = trimesh.creation.box((1, 2, 3))
    pieces = cut_at_random(mesh, 1, times=10)
    made = trimesh.Trimesh(
        pieces.triangles.reshape(-1, 3), np.arange(3 * len(pieces.triangles)).reshape(-1, 3), process=False
    )
    assert made.volume == pytest.approx(6, rel=1e-13)  # all are wound as their faces
    _, ways, areas = pieces.points()
    assert np.linalg.norm(ways, axis=1) == pytest.approx(1, abs=1e-12)
    assert areas @ ways == pytest.approx(np.zeros(3), abs=1e-12)
    for axis, area in enumerate((6, 3, 2)):
        assert areas[ways[:, axis] > 0.5].sum() == pytest.approx(area, rel=1e-13)


def test_coordinates_are_spread_evenly():
    """As often nearer to a side than a share s of the height as the area is there, 1 − (1 − s)²; none is outside."""
    count = 20_000
    found = spread_coordinates(count)
    assert found.min() >= 0 and found.sum(axis=1) == pytest.approx(1, abs=1e-15)
    for column in found.T:
        shares = np.arange(1, count + 1) / count
        assert np.abs(1 - (1 - np.sort(column)) ** 2 - shares).max() < 1e-3
