"""Capsules on capsules and on surfaces, against bounded least squares, Coal, dense sampling and closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest
from pair_cases import BOX, SURFACES, UP, at_rest, distances_of, ends, meetings, rows_of, still, unit
from scipy.optimize import lsq_linear

from dockdyn.contact import Plane
from dockdyn.contact.pairs import CapsuleOnCapsule, CapsuleOnSurface

MANY = 300
X, Y = np.eye(3)[:2]


def bounded_distance(first, second):
    """Distance of two segments by least squares within bounds."""
    matrix = np.stack([first[1] - first[0], second[0] - second[1]], axis=1)
    found = lsq_linear(matrix, second[0] - first[0], (0, 1), method="bvls", tol=1e-15)
    return np.linalg.norm(matrix @ found.x - (second[0] - first[0]))


def depths(firsts, seconds, radii):
    """Depths of capsules (NumPy), with ends `firsts` and `seconds` (n, 2, 3) and `radii` (n, 2)."""
    pairs = CapsuleOnCapsule(*map(jnp.asarray, (firsts, radii[:, 0], seconds, radii[:, 1])))
    return np.asarray(meetings(still(pairs, len(radii)))[0])


def nearly_parallel(rng, count):
    """Segments side by side, turned from each other by 1e-13 to 1e-1 rad, some against each other, some short."""
    firsts = np.array([ends(rng) for _ in range(count)])
    way = firsts[:, 1] - firsts[:, 0]
    turned = way + np.array([np.cross(unit(rng), one) for one in way]) * 10 ** rng.uniform(-13, -1, (count, 1))
    turned *= rng.choice([-1.0, 1.0], (count, 1)) * 10 ** rng.uniform(-3, 1, (count, 1))
    start = firsts[:, 0] + way * rng.uniform(-1, 2, (count, 1)) + 0.1 * rng.normal(size=(count, 3))
    return firsts, np.stack([start, start + turned], axis=1)


def at_random(rng, count):
    return (np.array([ends(rng) for _ in range(count)]) for _ in range(2))


def crossing(rng, count):
    """Segments that cross each other, or whose lines do."""
    firsts, seconds = at_random(rng, count)
    meet = firsts[:, :1] + (firsts[:, 1:] - firsts[:, :1]) * rng.uniform(-0.2, 1.2, (count, 1, 1))
    on_second = seconds[:, :1] + (seconds[:, 1:] - seconds[:, :1]) * rng.uniform(-0.2, 1.2, (count, 1, 1))
    return firsts, seconds + meet - on_second


WAYS = pytest.mark.parametrize("way", [at_random, nearly_parallel, crossing])


@pytest.mark.full_cases("at_random")
@WAYS
def test_capsules_against_bounded_least_squares(way):
    rng = np.random.default_rng(10)
    firsts, seconds = way(rng, MANY)
    radii = rng.uniform(0, 0.1, (MANY, 2))
    expected = [bounded_distance(*pair) for pair in zip(firsts, seconds, strict=True)]
    assert radii.sum(axis=1) - depths(firsts, seconds, radii) == pytest.approx(np.array(expected), abs=2e-9)


def sines(firsts, seconds):
    """Of the angles between segments."""
    ways = [ends[:, 1] - ends[:, 0] for ends in (firsts, seconds)]
    lengths = [np.linalg.norm(way, axis=1) for way in ways]
    return np.linalg.norm(np.cross(*ways), axis=1) / np.prod(lengths, axis=0)


@WAYS
def test_capsules_against_coal(way):
    """Where they are parallel to less than 1e-3, Coal 3.0.3 itself is up to 1.5e-7 m from least squares."""
    coal = pytest.importorskip("coal", reason="cross-check with Coal (tests only)")
    rng = np.random.default_rng(11)
    firsts, seconds = way(rng, MANY)
    radii = rng.uniform(0.01, 0.1, (MANY, 2))

    def placed(segment, radius):
        way, middle = segment[1] - segment[0], segment.mean(axis=0)
        frame = np.linalg.qr(np.column_stack([way, unit(rng), unit(rng)]))[0][:, [1, 2, 0]]
        frame[:, 0] *= np.linalg.det(frame)
        return coal.Capsule(radius, np.linalg.norm(way)), coal.Transform3s(frame, middle)

    def distance(first, second, radius):
        return coal.distance(
            *placed(first, radius[0]), *placed(second, radius[1]), coal.DistanceRequest(), coal.DistanceResult()
        )

    clear = sines(firsts, seconds) > 1e-3
    expected = [distance(*one) for one in zip(firsts[clear], seconds[clear], radii[clear], strict=True)]
    assert clear.sum() > 30
    assert -depths(firsts, seconds, radii)[clear] == pytest.approx(np.array(expected), abs=1e-9)


@WAYS
def test_exchanged_capsules_push_the_other_way_at_the_same_place(way):
    rng = np.random.default_rng(12)
    firsts, seconds = way(rng, MANY)
    pairs = CapsuleOnCapsule(*map(jnp.asarray, (firsts, np.full(MANY, 0.05), seconds, np.full(MANY, 0.02))))
    exchanged = CapsuleOnCapsule(pairs.second, pairs.second_radius, pairs.first, pairs.first_radius)
    (depth, normal, point), (other, opposite, place) = (meetings(still(one, MANY)) for one in (pairs, exchanged))
    assert np.asarray(other) == pytest.approx(np.asarray(depth), abs=2e-9)
    # near to parallel the place moves from end to end within nanoradians
    apart = (sines(firsts, seconds) > 1e-3) & (0.07 - np.asarray(depth) > 1e-6)  # where there is a normal
    assert np.asarray(opposite)[apart] == pytest.approx(-np.asarray(normal)[apart], abs=1e-8)
    assert np.asarray(place)[apart] == pytest.approx(np.asarray(point)[apart], abs=1e-8)


SHARP = {  # ends of both, distance, and the place where that is determined
    "end to end": ((0 * X, X), (X, X + Y), 0.0, X),
    "ends apart, in line": ((0 * X, X), (1.5 * X, 2 * X), 0.5, 1.25 * X),
    "one over the other": ((0 * X, X), (0.2 * X, 0.6 * X), 0.0, 0.4 * X),
    "side by side": ((0 * X, X), (0.4 * X + UP, 3 * X + UP), 1.0, 0.7 * X + UP / 2),
    "side by side, against each other": ((0 * X, X), (3 * X + UP, 0.4 * X + UP), 1.0, 0.7 * X + UP / 2),
    "parallel, past each other": ((0 * X, X), (2 * X + UP, 3 * X + UP), np.sqrt(2), 1.5 * X + UP / 2),
    "crossing": ((-X, X), (-Y, Y), 0.0, 0 * X),
    "crossing, apart": ((-X, X), (-Y + UP, Y + UP), 1.0, UP / 2),
    "a point before the middle": ((-X, X), (UP, UP), 1.0, UP / 2),
    "a point in line": ((2 * X, 2 * X), (-X, X), 1.0, 1.5 * X),
    "two points": ((0 * X, 0 * X), (UP, UP), 1.0, UP / 2),
    "one point twice": ((UP, UP), (UP, UP), 0.0, UP),
}


@pytest.mark.parametrize("name", SHARP)
def test_sharp_cases_of_two_capsules(name):
    first, second, distance, place = SHARP[name]
    (depth, normal, point), rates = at_rest(
        CapsuleOnCapsule(jnp.array(first), jnp.array(0.1), jnp.array(second), jnp.array(0.1))
    )
    assert float(0.2 - depth) == pytest.approx(distance, abs=1.1e-9)
    assert point == pytest.approx(place, abs=1e-9)
    assert np.linalg.norm(normal) == pytest.approx(float(distance > 0), abs=1e-9)
    assert all(np.isfinite(rate).all() for rate in rates)


@pytest.mark.full_cases("grid", "box")
@pytest.mark.parametrize("name", SURFACES)
def test_capsules_on_surfaces_against_dense_sampling(name):
    pairs = rows_of(f"capsule on {name}", MANY, seed=13)[0]
    start, way = np.asarray(pairs.ends[:, :1]), np.asarray(pairs.ends[:, 1:] - pairs.ends[:, :1])
    places, width, least = np.tile(np.linspace(0, 1, 4001), (MANY, 1)), 1 / 4000, np.inf
    for _ in range(9):  # finer and finer around the least
        points = start + places[..., None] * way
        found = distances_of(SURFACES[name], points.reshape(-1, 3)).reshape(points.shape[:-1])
        least = np.minimum(least, found.min(axis=1))
        middle = np.take_along_axis(places, found.argmin(axis=1)[:, None], axis=1)
        places, width = np.clip(middle + width * np.linspace(-1, 1, 41), 0, 1), width / 20
    assert np.asarray(pairs.radius - meetings(still(pairs, MANY))[0]) == pytest.approx(least, abs=1e-9)


def test_a_capsule_on_a_plane_touches_with_its_lower_end_and_level_with_its_middle():
    plane = Plane.of((0.0, 0.0, 0.0), UP)
    for tilt, place in ((1e-3, -1.0), (-1e-3, 1.0), (1e-7, -1.0), (0.0, 0.0)):
        line = np.array([[-1.0, 0.0, 0.1 - tilt], [1.0, 0.0, 0.1 + tilt]])
        (depth, normal, point), rates = at_rest(CapsuleOnSurface(jnp.array(line), jnp.array(0.2), plane))
        assert float(depth) == pytest.approx(0.1 + abs(tilt), abs=1e-9)
        assert normal == pytest.approx(UP, abs=1e-15)
        assert point == pytest.approx([place, 0.0, -0.1 - abs(tilt)], abs=1e-7)
        assert all(np.isfinite(rate).all() for rate in rates)


def test_across_the_edge_of_a_box_the_normal_is_perpendicular_to_edge_and_segment():
    rng = np.random.default_rng(14)
    for _ in range(20):
        way, place = np.array([1.0, -1.0, 0.0]) + 0.3 * rng.normal(size=3), np.array([0.3, 0.3, rng.uniform(-0.2, 0.2)])
        middle = place + rng.uniform(-0.02, 0.02) * np.array([1.0, 1.0, 0.0])
        line = np.stack([middle - way * rng.uniform(0.3, 0.6), middle + way * rng.uniform(0.3, 0.6)])
        (_, normal, _), _ = at_rest(CapsuleOnSurface(jnp.array(line), jnp.array(0.05), BOX))
        assert normal @ way == pytest.approx(0.0, abs=1e-12)
        assert np.cross(normal, np.cross(UP, way)) == pytest.approx(np.zeros(3), abs=1e-12)
        assert normal @ [1.0, 1.0, 0.0] == pytest.approx(1.0, abs=1e-12)  # a mean of the two faces' normals


@pytest.mark.full_cases("cone", "grid", "pin")
@pytest.mark.parametrize("name", SURFACES)
def test_nothing_is_no_number_on_a_surface(name):
    """On axes, through centres, without length."""
    docked, axis = (np.asarray(part.array()) for part in SURFACES[name].docking_frame())
    side = np.cross(axis, [0.3, 0.5, -0.7])
    lines = [
        (-axis, axis),
        (0 * axis, axis),
        (0 * axis, 0 * axis),
        (-side, side),
        (axis, axis),
        (side - axis, side + axis),
    ]
    for line in lines:
        found = at_rest(CapsuleOnSurface(jnp.array(docked + np.array(line)), jnp.array(0.05), SURFACES[name]))
        assert all(np.isfinite(part).all() for parts in found for part in parts)
