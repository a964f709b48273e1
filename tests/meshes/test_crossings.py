"""Faces that cross each other, or that do not bound the solid: beside linear programs, and solids made so that it is known."""

import numpy as np
import pytest
import trimesh
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from solid_cases import SOLIDS

from dockdyn.scenario.meshes.crossings import look_at_faces

SIDES = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, -1], [0, -1, 0], [-1, 0, 0]], float)


def faults_of(*meshes):
    """What is wrong with meshes taken as one."""
    mesh = trimesh.util.concatenate(meshes)
    return look_at_faces(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def depth_of_overlap(one, other):
    """Radius of the largest ball inside both of two convex hulls; below zero, how much both must grow to touch."""
    rows = np.vstack([one.equations, other.equations])
    lengths = np.linalg.norm(rows[:, :3], axis=1)
    found = linprog([0, 0, 0, -1], np.column_stack([rows[:, :3], lengths]), -rows[:, 3], bounds=[(None, None)] * 4)
    return -found.fun


def is_within(one, other):
    """Whether a convex hull lies inside another."""
    return (one.points @ other.equations[:, :3].T + other.equations[:, 3] < 0).all()


@pytest.mark.full
def test_convex_solids_cross_where_a_linear_program_says_so():
    """Drawn so that they overlap, do not, or lie inside each other, each often."""
    rng, counts = np.random.default_rng(0), {"cross": 0, "apart": 0, "inside": 0}
    for _ in range(250):
        points = [
            rng.normal(size=(rng.integers(4, 40), 3)) * 10 ** rng.uniform(-0.6, 0, 3) * size + rng.uniform(-1, 1, 3)
            for size in 10 ** rng.uniform(-1.2, 0.3, 2)
        ]
        hulls = [ConvexHull(each) for each in points]
        depth = depth_of_overlap(*hulls)
        if abs(depth) < 1e-6:
            continue
        inside = is_within(*hulls) or is_within(*hulls[::-1])
        case = "apart" if depth < 0 else "inside" if inside else "cross"
        counts[case] += 1
        found = faults_of(*(trimesh.convex.convex_hull(each) for each in points))
        assert found.crossed.any() == (case == "cross")
        assert found.wrong.any() == (case != "apart") or case == "cross"
        if case == "inside":  # all of the inner one, and nothing of the outer one
            inner = len(trimesh.convex.convex_hull(points[0]).faces)
            first = is_within(*hulls)
            assert found.wrong[:inner].all() == first and found.wrong[inner:].all() != first
            assert (found.before[found.wrong] == 1).all()
    assert min(counts.values()) > 10, counts


@pytest.mark.full_cases(*(f"{seed}-{make.__name__}" for make in SOLIDS for seed in range(1, 6)))
@pytest.mark.parametrize("make", SOLIDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_wrong_with_sound_solids(make, seed):
    """Slender, thin and splintered ones, too."""
    found = faults_of(make(np.random.default_rng(seed)))
    assert not found.crossed.any() and not found.wrong.any()


@pytest.mark.full
@pytest.mark.parametrize("turned", [False, True])
def test_slender_faces_are_no_fault(turned):
    """20,000 of them, along an axis of the file or not."""
    mesh = trimesh.creation.cylinder(0.3, 2, sections=5000)
    if turned:
        mesh.apply_transform(trimesh.transformations.random_rotation_matrix(np.array([0.1, 0.4, 0.7])))
    found = faults_of(mesh)
    assert len(found.crossed) == 20_000 and not found.crossed.any() and not found.wrong.any()


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 3e-9])
def test_what_is_near_does_not_cross_and_what_overlaps_as_little_does(gap):
    """A corner before a face, of a unit's size."""
    rng = np.random.default_rng(7)
    for _ in range(5):
        corner = trimesh.creation.box(
            (0.5, 0.4, 0.3), transform=trimesh.transformations.random_rotation_matrix(rng.uniform(size=3))
        )
        wall = trimesh.creation.box((1, 1, 1))
        place = [*rng.uniform(-0.2, 0.2, 2), 0.5 - corner.bounds[0, 2]]
        for sign in (1, -1):
            moved = corner.copy().apply_translation([*place[:2], place[2] + sign * gap])
            assert faults_of(wall, moved).crossed.any() == (sign < 0)


@pytest.mark.parametrize(("height", "crosses"), [(-0.6, False), (-0.97, False), (-1.03, True), (-2, True)])
def test_a_dent_pushed_out_of_the_other_side_crosses(height, crosses):
    """One corner of a ball goes through its middle, by as many radii."""
    mesh = trimesh.creation.icosphere(3)
    for number in range(0, len(mesh.vertices), 100):
        dented = mesh.copy()
        dented.vertices[number] *= height
        assert faults_of(dented).crossed.any() == crosses


def box(size=1.0, place=(0, 0, 0), inverted=False):
    mesh = trimesh.creation.box((size,) * 3).apply_translation(place)
    if inverted:
        mesh.invert()
    return mesh


PARTS = {
    "one": ([box()], set()),
    "two": ([box(), box(place=(1.2, 0, 0))], set()),
    "two that touch": ([box(), box(place=(1, 0, 0))], set()),
    "a cavity": ([box(), box(0.5, inverted=True)], set()),
    "a box in a cavity": ([box(), box(0.5, inverted=True), box(0.3)], set()),
    "inside out": ([box(inverted=True)], {-1}),
    "one of two inside out": ([box(), box(place=(1.2, 0, 0), inverted=True)], {-1}),
    "one in another": ([box(), box(0.5)], {1}),
    "two in flush with each other": ([box(), box(place=(0.5, 0, 0))], {1}),
}


@pytest.mark.parametrize("name", PARTS)
def test_each_face_has_the_solid_behind_it_alone(name):
    parts, before = PARTS[name]
    found = faults_of(*parts)
    assert not found.crossed.any()
    assert set(found.before[found.wrong]) == before
    assert found.covered.any() == (name in ("two that touch", "two in flush with each other"))
