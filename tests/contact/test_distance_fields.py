"""Solids by signed distances in bricks, beside the same solid in closed form: contacts of a ball with a cone.

The distances at the nodes are exact, so that what differs is the spline between them.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pair_cases import BOX, distances_of, field_from, gridded

from dockdyn import contact, integrate
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.torus import Torus
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics import Pose, RigidBody, Twist
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.programs import Program
from dockdyn.scenario.meshes.brick_tree import BrickTree

RADIUS = 0.015  # m, of the ball
STIFFNESS = 1e4  # N/m
CONE = Cone.of((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), np.pi / 4)


RING = Torus.of((0.0, 0.1, 0.0), (0.3, 0.0, 1.0), 0.3, 0.1)


solve = Program(integrate.solve_located)


def distances(surface, points):
    return distances_of(surface, points.reshape(-1, 3)).reshape(points.shape[:-1])


@Program
def bounds_of(grid, centres, radii):
    """What no place in balls is nearer than."""
    return over_rows(lambda place, radius: grid.least_distance(Vector.of(place), radius), centres, radii)


@Program
def normals_of(surface, points):
    return over_rows(lambda row: surface.distance_and_normal(Vector.of(row))[1].array(), points)


def grid_around(surface, low, high, spacing):
    """The surface by its distances at the nodes of bricks of one size."""
    return field_from(BrickTree(partial(distances_of, surface), np.array([low, high]), spacing))


def docking(surface):
    """A ball that strikes the wall of a cone, 0.1 m from its axis, and leaves it again."""
    ball = RigidBody.of(2.0, 0.008 * jnp.eye(3))
    tip = BallOnSurface(jnp.array([0.02, 0.01, 0.0]), jnp.array(RADIUS), surface)
    law = contact.SpringDashpot(stiffness=jnp.array(STIFFNESS), damping=jnp.array(0.0), adhesion=False)
    poses = Pose.at((0.135, 0.09, 0.01)), Pose.at((0.0, 0.0, 0.0))
    twists = Twist.of((-0.1, 0.01, 0.02)), Twist.of((0.0, 0.0, 0.0))
    groups = (ContactGroup.of([tip], (0, 1), law),)
    return Mechanism(bodies=(ball, ball), groups=groups, poses=poses, twists=twists, delay=None, base=1)


GRIDS = {spacing: grid_around(CONE, (0.04, 0.03, -0.07), (0.22, 0.18, 0.09), spacing) for spacing in (0.005, 0.01)}


def run_with(surface):
    settings = integrate.Settings(duration=0.4, tolerance=1e-12)
    model = docking(surface)
    found = solve(model, settings)
    released = jax.tree.map(lambda values: values[1], found.log.state)
    return found, float(model.kinetic_energy(released) / model.kinetic_energy(model.initial())) - 1


@pytest.mark.full
def test_a_grid_gives_the_contact_of_the_cone():
    """At 5 mm: onset, peak and energy of a lossless contact."""
    (exact, _), (found, gain) = run_with(CONE), run_with(GRIDS[0.005])
    assert float(exact.log.peaks.max()) > 1  # N
    assert np.asarray(found.log.time[:2]) == pytest.approx(np.asarray(exact.log.time[:2]), abs=1e-6)
    assert float(found.log.peaks.max()) == pytest.approx(float(exact.log.peaks.max()), rel=1e-6)
    assert abs(gain) < 1e-10


@pytest.mark.full_cases("box")
@pytest.mark.parametrize("surface", [RING, BOX], ids=["ring", "box"])
def test_no_place_in_a_ball_is_nearer_than_its_bound(surface):
    """In and beyond the box of the bricks, near its edges, at kinks of the distance."""
    field, rng = gridded(surface, -0.6, 0.6, 0.05), np.random.default_rng(2)
    centres, radii = rng.uniform(-0.9, 0.9, (20_000, 3)), rng.uniform(0, 0.2, 20_000)
    ways = rng.normal(size=centres.shape)
    within = radii * rng.uniform(0, 1, 20_000) ** (1 / 3) / np.linalg.norm(ways, axis=1)
    bounds = bounds_of(field, centres, radii)
    least = distances(field, centres + ways * within[:, None])
    assert (least >= np.asarray(bounds) - 1e-15).all()


@pytest.mark.full
@pytest.mark.parametrize("surface", [RING, BOX], ids=["ring", "box"])
def test_a_field_is_nowhere_steeper_than_it_says(surface):
    """And nearly so at a place of those looked at, the nodes and three between; also where bricks are refined."""
    tree = BrickTree(partial(distances_of, surface), np.array([[-0.6] * 3, [0.6] * 3]), 0.05)
    for _ in range(2):
        field, side = field_from(tree), np.linspace(-0.6, 0.6, 97)
        places = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
        largest = np.linalg.norm(np.asarray(normals_of(field, places)), axis=1).max()
        assert largest <= field.steepest < 1.05 * max(largest, 1.0)
        assert tree.refine()


def released(surface, **settings):
    """Velocities after the contact (m/s, rad/s)."""
    found = solve(docking(surface), integrate.Settings(duration=0.33, **settings))
    twists = jax.tree.map(lambda values: float(values[1]), found.log.state.v)
    return np.array(jax.tree.leaves(twists))


@pytest.mark.full
def test_steps_of_one_length_keep_fourth_order():
    """The spline's force is twice continuously differentiable, over many cells of 5 mm."""
    surface = GRIDS[0.005]
    best = released(surface, tolerance=1e-13)
    steps = np.array([2e-3, 1e-3, 5e-4])
    errors = [np.abs(released(surface, tolerance=np.inf, step=step) - best).max() for step in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] >= 3.7


def test_the_normal_is_the_gradient_of_the_distance():
    """By differences; beyond the bricks the distance is a bound of the true one, from below."""
    surface, rng = GRIDS[0.01], np.random.default_rng(0)
    points = rng.uniform((0.06, 0.05, -0.05), (0.2, 0.16, 0.07), (50, 3))
    step = 1e-6 * np.eye(3)
    differences = [(distances(surface, points + one) - distances(surface, points - one)) / 2e-6 for one in step]
    found = normals_of(surface, points)
    assert np.asarray(found) == pytest.approx(np.stack(differences, axis=1), abs=1e-7)


@pytest.mark.full
@pytest.mark.parametrize("shift", [0.0, 0.37])
def test_a_ball_at_a_sharp_rim(shift):
    """Of three spacings, against the rim of a pin's flat end, all around and from all sides: where the distance of its centre
    is that of the circle; its curvature jumps where rim and flat or side meet. Nodes lie on the rim's planes, or between."""
    spacing, radius, half, rng = 0.005, 0.08, 0.05, np.random.default_rng(0)

    def pin(points):
        beyond = np.stack([np.hypot(points[:, 0], points[:, 1]) - radius, np.abs(points[:, 2]) - half], axis=-1)
        return np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(axis=-1), 0)

    around, up = rng.uniform(0, 2 * np.pi, 5000), rng.uniform(0, np.pi / 2, 5000)
    away = radius + 3 * spacing * np.cos(up)
    centres = np.stack([away * np.cos(around), away * np.sin(around), half + 3 * spacing * np.sin(up)], axis=-1)
    found = distances(
        field_from(BrickTree(pin, np.array([[-0.14 + shift * spacing] * 3, [0.14] * 3]), spacing)), centres
    )
    assert np.abs(found - 3 * spacing).max() < 0.015 * spacing  # 0.037 h² / R is 0.0123 h


@pytest.mark.full
def test_beyond_the_bricks_the_distance_is_a_bound_from_below():
    """Of a ball, far enough from the faces of the box: it goes on without a jump and never says too much."""
    ball = contact.Sphere(jnp.zeros(3), jnp.array(0.1), inside=False)
    surface = grid_around(ball, (-0.2,) * 3, (0.2,) * 3, 0.01)
    points = np.random.default_rng(1).uniform(-0.6, 0.6, (500, 3))
    points = points[np.abs(points).max(axis=1) > 0.2]
    found, true = distances(surface, points), np.linalg.norm(points, axis=1) - 0.1
    assert (found < true + 1e-6).all() and (found > 0.09 - 1e-6).all()
    ray = np.linspace(0.15, 0.4, 2000)[:, None] * np.array([1.0, 0.3, 0.2])
    assert np.abs(np.diff(distances(surface, ray))).max() < 2 * np.linalg.norm(ray[1] - ray[0])
