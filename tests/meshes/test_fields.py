"""Fields of distances in bricks: how near they are to solids in closed form and to meshes, and how smooth across bricks."""

import time
from itertools import pairwise

import numpy as np
import pytest
import trimesh
from helpers.surface_distances import evaluate_distances
from petal_ring import petal_ring
from pydantic_core import PydanticCustomError
from solid_cases import SOLIDS

from dockdyn.scenario.meshes.brick_tree import BrickTree
from dockdyn.scenario.meshes.field import refine_field
from dockdyn.scenario.meshes.nearest import MeshDistance


def sphere(points):
    return np.linalg.norm(points - [0.01, 0.02, -0.01], axis=1) - 0.2


def torus(points):
    return np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.17, points[:, 2] - 0.01) - 0.06


def hollow_cylinder(points):
    beyond = np.abs(np.stack([np.hypot(points[:, 0], points[:, 1]) - 0.16, points[:, 2]])) - np.array([[0.05], [0.1]])
    return np.linalg.norm(np.maximum(beyond, 0), axis=0) + np.minimum(beyond.max(axis=0), 0)


def cone(points):
    """Its tip up, 0.2 m high and wide: the profile is a triangle, whose distance is that of its three sides."""
    place = np.stack([np.hypot(points[:, 0], points[:, 1]), points[:, 2]], axis=1)
    corners = np.array([[0.0, 0.1], [0.2, -0.1], [0.0, -0.1]])
    best, inside = np.full(len(points), np.inf), np.ones(len(points), bool)
    for start, end in ((corners[0], corners[1]), (corners[1], corners[2])):
        way = end - start
        share = np.clip((place - start) @ way / (way @ way), 0, 1)
        best = np.minimum(best, np.linalg.norm(place - start - share[:, None] * way, axis=1))
        inside &= way[0] * (place[:, 1] - start[1]) - way[1] * (place[:, 0] - start[0]) < 0
    return np.where(inside, -best, best)


CLOSED = {"sphere": sphere, "torus": torus, "hollow cylinder": hollow_cylinder, "cone": cone}
BOX = np.array([[-0.32, -0.33, -0.31], [0.32, 0.31, 0.33]])  # m


def near(distance, band, count=20_000, seed=0):
    """Points of the box that are so near to a solid."""
    points = np.random.default_rng(seed).uniform(*BOX, (40 * count, 3))
    return points[np.abs(distance(points)) < band][:count]


@pytest.mark.full_cases("hollow cylinder", "cone")
@pytest.mark.parametrize("name", CLOSED)
def test_a_field_is_as_near_to_a_solid_as_its_limit(name):
    """At points of their own within half a spacing of it, to what the middles of cells do not see of an edge, at most half of
    it again; the coarser bricks are off by more than the limit somewhere."""
    tree = BrickTree(CLOSED[name], BOX, 0.02)
    while tree.limit > 4e-4:
        before = tree.bricks()
        assert tree.refine()
        assert tree.bricks() > before
    points = near(CLOSED[name], 0.5 * tree.levels[-1].spacing)
    off = np.abs(evaluate_distances(tree.surface(), points)[0] - CLOSED[name](points))
    assert np.quantile(off, 0.99) < tree.limit and off.max() < 1.5 * tree.limit


@pytest.mark.full
@pytest.mark.parametrize("name", ["sphere", "torus"])
def test_smooth_solids_are_met_in_fourth_order(name):
    spacings, errors = np.array([0.02, 0.01, 0.005]), []
    points = near(CLOSED[name], 0.02, 3000)
    for spacing in spacings:
        surface = BrickTree(CLOSED[name], BOX, spacing).surface()
        errors.append(np.abs(evaluate_distances(surface, points)[0] - CLOSED[name](points)).max())
    assert np.polyfit(np.log(spacings), np.log(errors), 1)[0] > 3.7


def refined_tree(name="hollow cylinder", limit=5e-4):
    tree = BrickTree(CLOSED[name], BOX, 0.02)
    while tree.limit > limit:
        tree.refine()
    return tree


@pytest.mark.full
def test_bricks_that_touch_are_at_most_twice_as_large():
    levels = refined_tree().levels
    assert len(levels) >= 4
    for coarse, level in pairwise(levels):
        around = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        beside = (level.keys[:, None] + around).reshape(-1, 3)
        box = np.ceil((BOX[1] - BOX[0]) / 0.16 - 1e-9) * 0.02 / level.spacing
        beside = beside[((beside >= 0) & (beside < box)).all(axis=1)]
        assert (coarse.find(beside // 2) >= 0).all()


@pytest.mark.full
def test_value_slope_and_curvature_have_no_jump_between_bricks():
    """On both sides of faces of bricks of all sizes, at random, across the face."""
    tree, rng = refined_tree(), np.random.default_rng(0)
    surface, curved = tree.surface(), 0.0
    for level in tree.levels:
        size, count = 8 * level.spacing, 400
        keys, axes, rows = (
            level.keys[rng.integers(len(level.keys), size=count)],
            rng.integers(3, size=count),
            range(count),
        )
        keys[rows, axes] = np.maximum(keys[rows, axes], 1)  # the first face is the end of the box
        places = tree.corner + size * (keys + rng.uniform(0, 1, keys.shape))
        places[rows, axes] = tree.corner[axes] + size * keys[rows, axes]
        sides = []
        for width in (-0.01 * level.spacing, 0.01 * level.spacing):
            shifts = 1e-12 * np.sign(width) + width * np.arange(3)
            shifted = places[:, None] + shifts[:, None] * np.eye(3)[axes][:, None]
            values, slopes = map(np.asarray, evaluate_distances(surface, shifted.reshape(-1, 3)))
            slopes = slopes.reshape(shifted.shape)[rows, :, axes]
            # the slope is a parabola within a cell: three of its values give its derivative at the first
            curvature = (-3 * slopes[:, 0] + 4 * slopes[:, 1] - slopes[:, 2]) / (2 * width)
            sides.append((values.reshape(shifted.shape[:2])[:, 0], slopes[:, 0], curvature))
        value, slope, curvature = (np.abs(one - other).max() for one, other in zip(*sides, strict=True))
        assert value < 5e-12 and slope < 1e-8 and curvature < 1e-4
        curved = max(curved, np.abs(sides[0][2]).max())
    assert curved > 10  # 1/m, in cells at edges


@pytest.mark.parametrize("name", CLOSED)
def test_the_gradient_is_that_of_the_spline(name):
    surface = refined_tree(name, 2e-3).surface()
    points, step = near(CLOSED[name], 0.05, 500), 2e-7  # m: third derivatives are up to 1/h²
    _, slopes = evaluate_distances(surface, points)
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        ahead, behind = (np.asarray(evaluate_distances(surface, points + side * shift)[0]) for side in (1, -1))
        assert np.asarray(slopes)[:, axis] == pytest.approx((ahead - behind) / (2 * step), abs=2e-8)


def met_error(mesh, field, radius, seed=5):
    """Errors of a field where balls touch a mesh, at points of their own."""
    exact = MeshDistance(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    points, faces = trimesh.sample.sample_surface(mesh, 6000, seed=seed)
    places = np.asarray(points) + radius * mesh.face_normals[faces]
    true = exact.signed_distances(places)
    met = true >= radius * (1 - 1e-9) if radius else np.ones(len(places), bool)
    return np.abs(distances_in(field, places[met]) - true[met])


def distances_in(field, points):
    from dockdyn.contact.surfaces.distance_field import DistanceField

    frame = np.zeros(3), np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 0])
    spacings = np.array(field.spacing), np.array(field.finest)
    numbers = field.coefficients, field.children, field.counts, field.corner, *spacings
    return np.asarray(evaluate_distances(DistanceField(*numbers, np.array(field.steepest), *frame), points)[0])


@pytest.mark.full
@pytest.mark.parametrize("radius", [0.0, 0.02])
@pytest.mark.parametrize("solid", SOLIDS)
def test_a_field_of_a_polyhedron_is_within_its_tolerance(solid, radius):
    """By the exact tree, at points of their own."""
    mesh = solid(np.random.default_rng(3))
    size = float(np.ptp(mesh.vertices, axis=0).max())
    field = refine_field(mesh, None, 4e-3 * size, radius * size)
    off = met_error(mesh, field, radius * size)
    assert field.error <= 4e-3 * size
    assert np.quantile(off, 0.98) < 4e-3 * size and off.max() < 2 * max(
        field.largest_error, field.convex_error, field.concave_error
    )


@pytest.mark.full
def test_a_mesh_in_another_unit_than_stated_is_told_so():
    """At once, and not as a tolerance that cannot be had; what is large and can be had is no such mesh."""
    ring = petal_ring()
    ring.apply_scale(1000.0)
    with pytest.raises(
        PydanticCustomError, match=r'm large with unit = "m": is it in mm\? else tolerance = 0\.0002 m is too small'
    ):
        refine_field(ring, "m", 2e-4, 5e-3)
    assert refine_field(trimesh.creation.box((20.0, 15.0, 10.0)), "m", 5e-3, 0.1).error <= 5e-3


def test_a_large_mesh_whose_tolerance_cannot_be_had_is_told_its_unit_first(monkeypatch):
    monkeypatch.setattr("dockdyn.scenario.meshes.brick_tree.MOST", 400)
    told = r'is 20 m large with unit = "m": is it in mm\? else tolerance = 0\.01 m cannot be had of a mesh 20 m large'
    with pytest.raises(PydanticCustomError, match=told):
        refine_field(trimesh.creation.icosphere(2, 10.0), "m", 1e-2, 0.1)
    with pytest.raises(PydanticCustomError, match=r"^tolerance = 0\.001 m cannot be had of a mesh 2 m large"):
        refine_field(trimesh.creation.icosphere(2, 1.0), "m", 1e-3, 0.01)


def test_the_field_of_a_petal_ring():
    """1.3 m wide, within 1 mm where balls of 5 mm touch it; a grid of one spacing was refused."""
    mesh = petal_ring()
    assert mesh.is_watertight and np.ptp(mesh.vertices, axis=0)[:2] == pytest.approx([1.3, 1.3])
    began = time.process_time()
    field = refine_field(mesh, "m", 1e-3, 5e-3)
    assert time.process_time() - began < 30  # s: 3 alone
    assert field.error <= 1e-3 and len(field.coefficients) < 3000
    off = met_error(mesh, field, 5e-3)
    assert np.quantile(off, 0.98) < 1e-3 and off.max() < 2 * max(field.largest_error, field.convex_error)
