"""Signed distances from meshes: beside brute force in extended precision, and closed forms."""

import numpy as np
import pytest
import trimesh
from solid_cases import SOLIDS, WIDE, boulder, distances_by_force, places_around, squared_distances

from dockdyn.scenario.meshes.nearest import POINTS, MeshDistance
from dockdyn.scenario.meshes.solid import solid_in

DRAWN = [(make, seed) for make in SOLIDS for seed in range(4)]


def distance_from(mesh):
    return MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces))


@pytest.mark.full_cases(
    *(f"{make.__name__}-{seed}" for make, seed in DRAWN if seed), "slender-0", "thin_cup-0", "splintered-0"
)
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
    faces = mesh.triangles[found.faces].astype(WIDE)
    feet = [
        squared_distances(*each)[0] for each in zip((points - found.offsets).astype(WIDE), faces[:, None], strict=True)
    ]
    assert np.sqrt(max(feet)) < 1e-15 * size


def test_a_mesh_of_a_sphere_is_nearer_to_it_as_the_square_of_its_edges():
    """Beside the sphere's own distance; outside it is never nearer than the sphere, whose vertices lie on it."""
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (3000, 3))
    true = np.linalg.norm(points, axis=1) - 1
    errors, edges = [], []
    for finer in (2, 3, 4, 5):
        mesh = trimesh.creation.icosphere(finer)
        found = distance_from(mesh).signed_distances(points)
        assert (found > true - 1e-14).all()
        errors.append(np.abs(found - true)[np.abs(true) < 0.5].max())
        edges.append(mesh.edges_unique_length.max())
    assert np.polyfit(np.log(edges), np.log(errors), 1)[0] == pytest.approx(2, abs=0.1)


@pytest.mark.full
def test_a_mesh_of_a_torus_is_nearer_to_it_as_the_square_of_its_edges():
    points = np.random.default_rng(2).uniform(-1.3, 1.3, (3000, 3)) * [1, 1, 0.4]
    true = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 1, points[:, 2]) - 0.3
    near = (np.abs(true) < 0.15) & (np.hypot(points[:, 0], points[:, 1]) > 0.5)
    errors, counts = [], np.array([16, 32, 64, 128])
    for count in counts:
        mesh = trimesh.creation.torus(1, 0.3, major_sections=2 * count, minor_sections=count)
        errors.append(np.abs(distance_from(mesh).signed_distances(points) - true)[near].max())
    assert np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(-2, abs=0.1)


def test_a_mesh_of_a_box_has_the_distance_of_the_box():
    """To rounding, in any attitude: its skin is flat."""
    rng = np.random.default_rng(3)
    half, points = np.array([0.4, 0.05, 0.7]), rng.uniform(-1, 1, (3000, 3))
    beyond = np.abs(points) - half
    true = np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)
    turn = trimesh.transformations.random_rotation_matrix(rng.uniform(size=3))
    mesh = trimesh.creation.box(2 * half, transform=turn)
    found = distance_from(mesh).signed_distances(points @ turn[:3, :3].T)
    assert found == pytest.approx(true, abs=2e-15)


def two_boxes(rng):
    """Boxes that touch along an edge."""
    return trimesh.util.concatenate([trimesh.creation.box(), trimesh.creation.box().apply_translation([1, 1, 0])])


def two_spires(rng):
    """Cones that touch at their tips, with many faces there."""
    cone = trimesh.creation.cone(0.4, 1.0, sections=24)
    cone.apply_translation([0, 0, -1])
    other = cone.copy()
    other.apply_transform(trimesh.transformations.rotation_matrix(rng.uniform(1.8, 4), [1, 0, 0]))
    return trimesh.util.concatenate([cone, other])


@pytest.mark.parametrize("make", [two_boxes, two_spires])
def test_parts_may_touch_at_an_edge_or_a_corner(make):
    """Vertices there are merged when they are read; distances around are those of brute force."""
    rng = np.random.default_rng(6)
    mesh = make(rng)
    found = solid_in(mesh.export(file_type="obj", digits=17).encode(), ".obj", 1.0)
    points = np.vstack([places_around(mesh, rng, 150), rng.normal(size=(300, 3)) * 10 ** rng.uniform(-6, -1, (300, 1))])
    points[600:] += [0.5, 0.5, 0] if make is two_boxes else [0, 0, 0]
    true = distances_by_force(mesh, points)
    assert distance_from(found).signed_distances(points) == pytest.approx(true, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("count", [0, 1, 3 * POINTS + 1])
def test_each_of_many_points_has_the_distance_it_has_alone(count):
    """In whichever order they come, over several parts."""
    mesh, points = boulder(np.random.default_rng(4)), np.random.default_rng(5).uniform(-3, 3, (count, 3))
    distance = distance_from(mesh)
    found = distance.signed_distances(points)
    assert found.shape == (count,)
    turned = distance.signed_distances(points[::-1])[::-1]
    assert np.abs(found - turned).max(initial=0) < 1e-15
