"""Capsules on rings and rings on planes, against dense sampling and closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest
from compiled import by_rows
from pair_cases import ORIGIN, UP, at_rest, ends, meetings, rows_of, still, unit

from dockdyn.contact import Plane
from dockdyn.contact.pairs import BallOnSurface, CapsuleOnRing, RingOnPlane, balls_of_ring
from dockdyn.contact.surfaces.torus import Torus
from dockdyn.mechanics.vector import Vector

MANY = 400
LEVEL = 1e-6  # rad, within which a flat ring's place goes to the middle
X, Y = np.eye(3)[:2]


def at_random(rng):
    return ends(rng), 0.5


def grazing(rng):
    """Near the circle's plane and line, where a segment has two places that are nearly as near."""
    angle, length = rng.uniform(0, 2 * np.pi), 10 ** rng.uniform(-2, 1.5)
    radial, along = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0]])
    middle = 0.5 * radial * (1 + 0.1 * rng.normal()) + 0.05 * rng.normal() * UP
    way = along + rng.normal(size=3) * rng.choice([0.0, 0.03, 0.3])
    return np.stack([middle - way * length * rng.uniform(), middle + way * length * rng.uniform()]), 0.5


def flat(rng):
    """Nearly in the circle's plane, long beside it."""
    squeeze = np.array([1.0, 1.0, 10 ** rng.uniform(-6, 0)])
    return ends(rng, 10 ** rng.uniform(-1, 2)) * squeeze, 0.5


def least_distance(line, radius):
    """Distance of a segment from a circle about z, by finer and finer samples around the four nearest minima."""
    way = line[1] - line[0]
    size = np.linalg.norm(way)
    middle = -line[0] @ way / size**2
    low, high = np.clip([middle - radius / size, middle + radius / size], 0, 1)
    places = np.union1d(np.linspace(0, 1, 2001), np.linspace(low, high, 8001))

    def distance(places):
        points = line[0] + places[:, None] * way
        return np.hypot(points[:, 2], np.hypot(points[:, 0], points[:, 1]) - radius)

    found = distance(places)
    minima = np.flatnonzero((found <= np.append(found[1:], np.inf)) & (found <= np.append(np.inf, found[:-1])))
    least = np.inf
    for index in minima[np.argsort(found[minima])][:4]:
        low, high = places[max(index - 1, 0)], places[min(index + 1, len(places) - 1)]
        for _ in range(9):
            finer = np.linspace(low, high, 41)
            values = distance(finer)
            best = np.argmin(values)
            low, high, least = finer[max(best - 1, 0)], finer[min(best + 1, 40)], min(least, values[best])
    return least


def check(way, count, seed):
    rng = np.random.default_rng(seed)
    lines, radii = (np.array(part) for part in zip(*(way(rng) for _ in range(count)), strict=True))
    rings = CapsuleOnRing(
        *map(
            jnp.asarray,
            (lines, np.full(count, 0.02), np.zeros((count, 3)), np.tile(UP, (count, 1)), radii, 0.03 + 0 * radii),
        )
    )
    expected = [least_distance(line, radius) for line, radius in zip(lines, radii, strict=True)]
    # distances are smoothed over a nanometre, and found to a few
    assert 0.05 - np.asarray(meetings(still(rings, count))[0]) == pytest.approx(np.array(expected), abs=3e-9)


@pytest.mark.full
@pytest.mark.parametrize("way", [at_random, grazing, flat])
def test_capsules_on_a_ring_against_dense_sampling(way):
    check(way, MANY, 20)


@pytest.mark.full
@pytest.mark.parametrize("way", [at_random, grazing, flat])
def test_capsules_on_a_ring_in_full(way):
    check(way, 10_000, 21)


def test_a_capsule_meets_the_torus_where_it_is_deepest():
    """Depth, normal and point are those of the ball about the place that was found, on a torus."""
    rows = rows_of("capsule on ring", MANY, seed=22)
    pairs = rows[0]
    depth, normal, point = meetings(still(pairs, MANY))

    def at_centre(pair, normal, point):
        ring = Torus(pair.centre, pair.axis, pair.major_radius, pair.minor_radius)
        centre = Vector.of(point + normal * pair.radius)
        distance, gradient = ring.distance_and_normal(centre)
        way = pair.ends[1] - pair.ends[0]
        share = (centre.array() - pair.ends[0]) @ way / (way @ way)
        return pair.radius - distance, gradient.array(), share, (normal @ way) / jnp.linalg.norm(way)

    found, gradient, share, along = by_rows(at_centre)(pairs, normal, point)
    assert found == pytest.approx(np.asarray(depth), abs=1e-12)
    assert gradient == pytest.approx(np.asarray(normal), abs=1e-9)
    inside = (share > 1e-9) & (share < 1 - 1e-9)
    assert along[inside] == pytest.approx(0.0, abs=1e-6) and 0.2 < inside.mean() < 0.99


SHARP = {  # ends, and distance from a circle of 0.5 m about z
    "through the centre": ((-X, X), 0.0),
    "from the centre": ((0 * X, 0.2 * X), 0.3),
    "on the axis": ((-UP, UP), 0.5),
    "on the axis, above": ((0.3 * UP, UP), np.hypot(0.3, 0.5)),
    "the centre": ((0 * X, 0 * X), 0.5),
    "a point of the circle": ((0.5 * X, 0.5 * X), 0.0),
    "across the circle's plane": ((0.5 * X - UP, 0.5 * X + UP), 0.0),
    "beside the axis": ((0.2 * X - UP, 0.2 * X + UP), 0.3),
    "tangent": ((0.5 * X - Y, 0.5 * X + Y), 0.0),
    "over the tangent": ((0.5 * X - Y + 0.1 * UP, 0.5 * X + Y + 0.1 * UP), 0.1),
    "outside": ((0.8 * X - Y, 0.8 * X + Y), 0.3),
    "ends on the circle": ((-0.5 * Y, -0.5 * Y - 0.3 * UP), 0.0),
}


@pytest.mark.parametrize("name", SHARP)
def test_sharp_cases_of_a_capsule_on_a_ring(name):
    line, distance = SHARP[name]
    numbers = (line, 0.02, ORIGIN, UP, 0.5, 0.03)
    (depth, _, _), rates = at_rest(CapsuleOnRing(*(jnp.array(one, float) for one in numbers)))
    assert float(0.05 - depth) == pytest.approx(distance, abs=2e-9)
    assert all(np.isfinite(rate).all() for rate in rates)


def test_a_ring_on_a_plane_against_all_points_of_its_circle():
    rng = np.random.default_rng(23)
    angle = np.linspace(0, 2 * np.pi, 20_001)
    for tilt in [*10 ** rng.uniform(-4, 0, 60), 1.0, np.pi / 2]:
        normal, across = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
        axis = np.cos(tilt) * normal + np.sin(tilt) * across
        centre, place = rng.normal(size=(2, 3))
        numbers = (centre, axis, 0.6, 0.03, place, normal)
        (depth, found, point), _ = at_rest(RingOnPlane(*(jnp.array(one, float) for one in numbers)))
        sides = np.linalg.svd(axis[None])[2][1:]
        circle = centre + 0.6 * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ sides
        heights = (circle - place) @ normal
        assert float(depth) == pytest.approx(0.03 - heights.min(), abs=0.6 * LEVEL**2 / tilt + 4e-8 * tilt)
        assert found == pytest.approx(normal, abs=1e-15)
        assert point == pytest.approx(circle[np.argmin(heights)] - 0.03 * normal, abs=4e-4)


def test_the_place_of_a_flat_ring_goes_smoothly_to_the_middle():
    """By s / √(s² + ε²) of the radius, down to no tilt at all."""
    for tilt in (0.0, 1e-9, 3e-7, 1e-6, 1e-5, 1e-3):
        axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
        numbers = (0.02 * UP, axis, 0.6, 0.03, ORIGIN, UP)
        (depth, _, point), rates = at_rest(RingOnPlane(*(jnp.array(one, float) for one in numbers)))
        assert point[0] == pytest.approx(0.6 * tilt / np.hypot(tilt, LEVEL), abs=1e-6)
        assert float(depth) == pytest.approx(0.01 + 0.6 * np.hypot(tilt, LEVEL), abs=1e-8)
        assert all(np.isfinite(rate).all() for rate in rates)


def test_balls_stand_for_a_ring():
    """As deep as the ring but for the sagitta between two of them, and level all touch alike."""
    rng, count = np.random.default_rng(24), 24
    for tilt in (0.0, 0.1, 0.7):
        axis = unit(rng)
        normal = np.cos(tilt) * axis + np.sin(tilt) * np.cross(axis, unit(rng) * [1, 1, 0]) / 2
        normal /= np.linalg.norm(normal)
        centres = balls_of_ring(0.1 * X, axis, 0.6, count)
        assert np.linalg.norm(centres - 0.1 * X, axis=1) == pytest.approx(0.6, abs=1e-14)
        assert (np.asarray(centres) - 0.1 * X) @ axis == pytest.approx(0.0, abs=1e-14)
        plane = Plane.of(ORIGIN, normal)
        balls = np.array([at_rest(BallOnSurface(one, jnp.array(0.03), plane))[0][0] for one in centres])
        numbers = (0.1 * X, axis, 0.6, 0.03, ORIGIN, normal)
        (depth, _, _), _ = at_rest(RingOnPlane(*(jnp.array(one, float) for one in numbers)))
        sine = np.linalg.norm(np.cross(axis, normal))
        assert 0.0 <= float(depth) - balls.max() <= 0.6 * sine * (1 - np.cos(np.pi / count)) + 0.6 * LEVEL
