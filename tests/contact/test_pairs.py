"""What holds for the geometry of every pair: invariance, a potential, derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import by_rows
from pair_cases import PAIRS, SURFACES, meetings, numbers, placed, rates, rows_of, unit
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.vector import Vector

MANY = 300
every = pytest.mark.parametrize("name", PAIRS)


@pytest.mark.full_cases("capsule on grid", "ball on grid", "capsule on cone", "capsule on torus", "capsule on box")
@every
def test_it_does_not_depend_on_the_frame(name):
    """Both bodies turned and shifted together: the same depth, normal and point turned and shifted with them."""
    pair, own, other = rows = rows_of(name, MANY)
    rng = np.random.default_rng(1)
    axis, shift = unit(rng), rng.normal(size=3)
    turn = Rotation.from_rotvec(2.0 * axis)
    matrix = turn.as_matrix()

    def moved(motion):
        position, attitude, velocity, rate = motion
        turned = (turn * Rotation.from_quat(attitude, scalar_first=True)).as_quat(scalar_first=True)
        return position @ matrix.T + shift, turned, velocity, rate

    depth, normal, point = meetings(rows)
    for found, expected in zip(
        meetings((pair, moved(own), moved(other))), (depth, normal @ matrix.T, point @ matrix.T + shift), strict=True
    ):
        assert np.asarray(found) == pytest.approx(np.asarray(expected), abs=1e-9)
    assert np.asarray(meetings((pair, moved(own), moved(other)))[0]) == pytest.approx(np.asarray(depth), abs=1e-13)


@pytest.mark.full_cases("capsule on grid", "ball on grid", "capsule on cone", "capsule on torus", "capsule on box")
@every
def test_the_force_has_a_potential(name):
    """The depth grows as both bodies' material approaches along the normal, at the place where the force acts."""
    rows = rows_of(name, MANY, seed=2)
    _, normal, point = meetings(rows)

    def approach(motions, normal, point):
        own, other = (placed(motion) for motion in motions)
        at = Vector.of(point)
        return -(own.velocity(at) - other.velocity(at)).dot(Vector.of(normal))

    expected = by_rows(approach)(rows[1:], normal, point)
    assert np.asarray(rates(rows)[0]) == pytest.approx(np.asarray(expected), abs=1e-8)


@pytest.mark.full_cases("capsule on grid", "ball on grid", "capsule on cone", "capsule on box")
@every
def test_derivatives_are_those_of_differences(name):
    """Of the depth everywhere; of normal and point where they do not jump."""
    rows, step = rows_of(name, MANY, seed=3), 1e-5
    ahead, behind = meetings(rows, step), meetings(rows, -step)
    for found, a, b in zip(rates(rows), ahead, behind, strict=True):
        error = np.abs(np.asarray(found) - np.asarray(a - b) / (2 * step)).reshape(MANY, -1).max(axis=1)
        assert np.mean(error < 1e-6) > 0.97, sorted(error)[-20:]
    (found, *_), (a, *_), (b, *_) = rates(rows), ahead, behind
    assert np.asarray(found) == pytest.approx(np.asarray(a - b) / (2 * step), abs=1e-4)


@pytest.mark.parametrize("surface", SURFACES)
def test_a_ball_without_radius_is_a_point(surface):
    rows = rows_of(f"ball on {surface}", MANY, seed=5)

    def of_points(ball, own, other):
        return numbers(replace(ball, radius=None).touch(placed(own), placed(other)))

    ball, point = meetings(rows), by_rows(of_points)(*rows)
    assert np.asarray(point[0]) == pytest.approx(np.asarray(ball[0] - rows[0].radius), abs=1e-15)
    local = by_rows(lambda ball, own, _: placed(own).point(Vector.of(ball.centre)).array())(*rows)
    assert np.asarray(point[2]) == pytest.approx(np.asarray(local), abs=1e-15)
