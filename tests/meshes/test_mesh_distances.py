"""Signed distances from meshes: beside brute force in extended precision, and closed forms."""

import numpy as np
import pytest
import trimesh
from solid_cases import SOLIDS, distances_by_force, places_around

from dockdyn.scenario.meshes.nearest import MeshDistance

DRAWN = [(make, seed) for make in SOLIDS for seed in range(4)]


def distance_from(mesh):
    return MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces))


@pytest.mark.full_cases(*(f"{make.__name__}-{seed}" for make, seed in DRAWN if seed))
@pytest.mark.parametrize(("make", "seed"), DRAWN, ids=[f"{make.__name__}-{seed}" for make, seed in DRAWN])
def test_distances_and_signs_are_those_of_brute_force(make, seed):
    """Everywhere, near edges and near vertices; no sign differs beyond rounding."""
    rng = np.random.default_rng(seed)
    mesh = make(rng)
    points = places_around(mesh, rng, 60)
    true, found = distances_by_force(mesh, points), distance_from(mesh).nearest(points)
    size = np.abs(mesh.vertices).max()
    assert np.abs(np.abs(found.distances) - np.abs(true)).max() < 4e-16 * size * 4
    clear = np.abs(true) > 1e-13 * size
    assert clear.sum() > 200 and np.array_equal(np.sign(found.distances[clear]), np.sign(true[clear]))
    assert (true < 0).sum() > 10 and (true > 0).sum() > 10
    assert np.linalg.norm(found.offsets, axis=1) == pytest.approx(np.abs(found.distances), rel=1e-12, abs=1e-15)
    feet = points - found.offsets
    on_face = trimesh.triangles.closest_point(mesh.triangles[found.faces], feet)
    assert np.abs(feet - on_face).max() < 1e-9 * size


if __name__ == "__main__":
    for make, seed in DRAWN:
        rng = np.random.default_rng(seed)
        mesh = make(rng)
        points = places_around(mesh, rng, 60)
        true, found = distances_by_force(mesh, points), distance_from(mesh).nearest(points)
        bad = np.sign(true) != np.sign(found.distances)
        print(make.__name__, seed, mesh.is_watertight, len(mesh.faces), mesh.volume, np.abs(np.abs(found.distances) - np.abs(true)).max() / np.abs(mesh.vertices).max(), bad.sum(), np.abs(true[bad]).max(initial=0), (true < 0).sum())
