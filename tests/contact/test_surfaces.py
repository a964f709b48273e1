"""Signed distances of surfaces against closed forms and against the nearest of all points of the surface, searched for.

The search knows a surface only by a parametrisation of its patches and a rule that says which side is solid. Surfaces
are placed and turned at random, so the package's own axes never coincide with those of the search.
"""

import jax.numpy as jnp
import numpy as np
import pytest
import tomlkit
from helpers.surface_distances import evaluate_distances
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from two_bodies import two_bodies

import dockdyn
from dockdyn.contact.surfaces.combined import Intersection, Union
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.cylinder import Cylinder
from dockdyn.contact.surfaces.plane import Plane
from dockdyn.contact.surfaces.sphere import Sphere
from dockdyn.contact.surfaces.torus import Torus

SMOOTHED = 2e-9  # m; distances from an axis are smoothed over a nanometre, which shifts distances by no more than that

sampled = settings(max_examples=60, deadline=None, derandomize=True, database=None)
# a search takes long, so a failure is shown as found, not made smaller
searched = settings(max_examples=15, deadline=None, derandomize=True, database=None, phases=[Phase.generate])


def measured(surface, points):
    """Signed distances and normals (NumPy) at `points` (n, 3)."""
    return tuple(np.asarray(part) for part in evaluate_distances(surface, points))


class Place:
    """A frame: the search works in its own axes, the package in those the frame turns and shifts them to."""

    def __init__(self, origin, turn):
        self.origin, self.turn = origin, turn

    def point(self, own):
        return self.turn.apply(own) + self.origin

    def direction(self, own):
        return self.turn.apply(own)


def numbers(low, high):
    return st.floats(low, high, allow_subnormal=False)


def coordinates(reach):
    return st.tuples(*[numbers(-reach, reach)] * 3).map(np.array)


places = st.builds(Place, coordinates(2.0), coordinates(np.pi).map(Rotation.from_rotvec))
clouds = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).uniform(-1.5, 1.5, (40, 3)))


# --- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.full
@sampled
@given(place=places, points=clouds, stretch=numbers(0.1, 10))
def test_plane(place, points, stretch):
    """Height over the plane, whatever the length of the normal that was given."""
    surface = Plane.of(place.point([0.0, 0.0, 0.0]), stretch * place.direction([0.0, 0.0, 1.0]))
    distance, normal = measured(surface, place.point(points))
    assert distance == pytest.approx(points[:, 2], abs=1e-14)
    assert normal == pytest.approx(np.tile(place.direction([0.0, 0.0, 1.0]), (len(points), 1)), abs=1e-14)


@pytest.mark.parametrize("inside", [False, True])
@sampled
@given(place=places, points=clouds, radius=numbers(0.05, 1.2))
def test_sphere(place, points, radius, inside):
    centre = place.point([0.0, 0.0, 0.0])
    side = -1 if inside else 1
    distance, normal = measured(Sphere(jnp.array(centre), jnp.array(radius), inside), place.point(points))
    size = np.linalg.norm(points, axis=1)
    assert distance == pytest.approx(side * (size - radius), abs=SMOOTHED)
    assert normal == pytest.approx(side * place.direction(points / size[:, None]), abs=1e-12)


@pytest.mark.parametrize("inside", [False, True])
@sampled
@given(place=places, points=clouds, radius=numbers(0.05, 1.2), stretch=numbers(0.1, 10))
def test_cylinder(place, points, radius, stretch, inside):
    axis = stretch * place.direction([1.0, 0.0, 0.0])
    surface = Cylinder.of(place.point([0.3, 0.0, 0.0]), axis, radius, inside)
    side = -1 if inside else 1
    distance, normal = measured(surface, place.point(points))
    across = points * [0, 1, 1]
    size = np.linalg.norm(across, axis=1)
    assert distance == pytest.approx(side * (size - radius), abs=SMOOTHED)
    assert normal == pytest.approx(side * place.direction(across / size[:, None]), abs=1e-12)


@sampled
@given(place=places, points=clouds, major=numbers(0.3, 1.0), share=numbers(0.1, 0.9))
def test_torus(place, points, major, share):
    minor = share * major
    surface = Torus.of(place.point([0.0, 0.0, 0.0]), place.direction([0.0, 0.0, 3.0]), major, minor)
    distance, normal = measured(surface, place.point(points))
    ring = points * [1, 1, 0]
    ring = major * ring / np.linalg.norm(ring, axis=1)[:, None]  # nearest point of the centre line
    size = np.linalg.norm(points - ring, axis=1)
    assert distance == pytest.approx(size - minor, abs=SMOOTHED)
    assert normal == pytest.approx(place.direction((points - ring) / size[:, None]), abs=1e-9)


# --- the nearest of all points ---------------------------------------------------------------------------------------


SECTORS = 8


def nearest_distance(patches, point):
    """Least distance of `point` from patches, each a function of (u, v) in the unit square, by ever finer grids.

    It goes down from the best place in each of several strips of v, so that a pole, where v has no meaning, is no trap.
    """
    best = np.inf
    for patch in patches:
        for sector in range(SECTORS):
            centre, half = np.array([0.5, (sector + 0.5) / SECTORS]), np.array([0.5, 0.75 / SECTORS])
            for count in [41, *[15] * 14]:
                u, v = (np.clip(np.linspace(c - h, c + h, count), 0, 1) for c, h in zip(centre, half, strict=True))
                u, v = (grid.ravel() for grid in np.meshgrid(u, v))
                size = np.linalg.norm(patch(u, v) - point, axis=-1)
                # of equally near places the middle one
                i = np.argmin(size + 1e-13 * np.abs(v - centre[1]))
                best, centre = min(best, size[i]), np.array([u[i], v[i]])
                half = half * ([0.06, 1.0] if count == 41 else 0.3)
    return best


def around(axial, radius, angle):
    """Points by cylindrical coordinates about x."""
    return np.stack([axial, radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def turn_of(v):
    return 2 * np.pi * v


class Receptacle:
    """A cone about x, apex at the origin, cut into a cylinder of the rim's radius, or endless."""

    def __init__(self, half_angle, rim):
        self.slope, self.rim = half_angle, rim
        self.reach = 6.0 if rim is None else rim  # m, as far as the search goes

    def patches(self):
        wall = [lambda u, v: around(u**2 * self.reach / np.tan(self.slope), u**2 * self.reach, turn_of(v))]
        if self.rim is None:
            return wall
        mouth = self.rim / np.tan(self.slope)
        return [*wall, lambda u, v: around(mouth - 8 * u, np.full_like(u, self.rim), turn_of(v))]

    def solid(self, point):
        radius = np.hypot(point[1], point[2])
        behind_wall = point[0] * np.tan(self.slope) < radius
        return behind_wall and (self.rim is None or radius < self.rim)

    def surface(self, place):
        apex, axis = place.point([0.0, 0.0, 0.0]), 2.5 * place.direction([1.0, 0.0, 0.0])
        return Cone.of(apex, axis, self.slope, self.rim)

    def signed(self, point):
        return nearest_distance(self.patches(), point) * (-1 if self.solid(point) else 1)

    def behind_apex(self, point):
        """Where the apex is nearest: deep in the solid, where the package's distance is that of the wall carried on."""
        radius = np.hypot(point[1], point[2])
        return point[0] * np.cos(self.slope) + radius * np.sin(self.slope) < 0


angles = numbers(np.radians(8), np.radians(75))
cylindrical = st.tuples(numbers(-0.5, 2.0), numbers(0.01, 1.5), numbers(0, 2 * np.pi))


def check_against_search(shape, place, points):
    points = [point for point in points if not shape.behind_apex(point)]
    assume(points)
    distance, normal = measured(shape.surface(place), place.point(np.array(points)))
    expected = np.array([shape.signed(point) for point in points])
    # the search ends with cells of 1e-9; a distance depends on them in second order, or at an edge in first
    assert distance == pytest.approx(expected, abs=1e-8)
    clear = np.abs(expected) > 1e-6
    assert np.linalg.norm(normal[clear], axis=1) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.full
@searched
@given(place=places, half_angle=angles, spots=st.lists(cylindrical, min_size=6, max_size=6))
def test_endless_cone(place, half_angle, spots):
    check_against_search(Receptacle(half_angle, None), place, [around(*spot) for spot in spots])


@pytest.mark.full
@searched
@given(place=places, half_angle=angles, rim=numbers(0.2, 1.0), spots=st.lists(cylindrical, min_size=6, max_size=6))
def test_cone_with_a_rim(place, half_angle, rim, spots):
    check_against_search(Receptacle(half_angle, rim), place, [around(*spot) for spot in spots])


around_edge = given(
    place=places,
    half_angle=angles,
    rim=numbers(0.2, 1.0),
    spots=st.lists(st.tuples(numbers(1e-4, 0.1), numbers(0, 2 * np.pi), numbers(0, 2 * np.pi)), min_size=5, max_size=5),
)


def check_around_edge(place, half_angle, rim, spots):
    mouth = rim / np.tan(half_angle)
    points = [
        around(mouth + size * np.cos(way), rim + size * np.sin(way), angle)
        for size, way, angle in spots
        if rim + size * np.sin(way) > 0.05
    ]
    assume(points)
    check_against_search(Receptacle(half_angle, rim), place, points)


@pytest.mark.full
@searched
@around_edge
def test_all_around_the_edge_of_a_rim(place, half_angle, rim, spots):
    """Up to a decimetre from the edge, in every direction: wall, edge, outside, solid."""
    check_around_edge(place, half_angle, rim, spots)


@pytest.mark.full
@settings(searched, max_examples=200)
@around_edge
def test_all_around_the_edge_in_full(place, half_angle, rim, spots):
    check_around_edge(place, half_angle, rim, spots)


def test_a_tip_rolls_around_the_rim():
    """Past the edge the normal turns from the wall's to the cylinder's; distance is that of the edge, by hand."""
    half_angle, rim = np.radians(35), 0.4
    mouth = rim / np.tan(half_angle)
    surface = Receptacle(half_angle, rim).surface(Place(np.zeros(3), Rotation.identity()))
    wall, outward = np.array([np.sin(half_angle), -np.cos(half_angle)]), np.array([0.0, 1.0])
    corner = np.arccos(wall @ outward)
    for share in (0.01, 0.3, 0.7, 0.99):
        # between the two normals, in the plane of axis and radius
        way = (np.sin((1 - share) * corner) * wall + np.sin(share * corner) * outward) / np.sin(corner)
        distance, normal = measured(surface, np.array([[mouth + 0.03 * way[0], rim + 0.03 * way[1], 0.0]]))
        assert distance[0] == pytest.approx(0.03, abs=1e-12)
        assert normal[0] == pytest.approx([way[0], way[1], 0.0], abs=1e-9)


@pytest.mark.parametrize(
    ("keys", "rim"),
    [
        ({"rim_radius": "40 cm"}, 0.4),
        ({"depth": 0.5}, 0.5 * np.tan(np.radians(35))),
        ({"rim_radius": 0.3, "depth": 0.5}, 0.3),
        ({"rim_radius": 0.6, "depth": 0.5}, 0.5 * np.tan(np.radians(35))),
    ],
)
def test_the_wall_ends_where_the_scenario_says(tmp_path, keys, rim):
    """At the rim's radius, at the depth, or at the nearer of the two: a hand's breadth beyond its edge, straight ahead."""
    wall = {"shape": "cone", "apex": [0, 0, 0], "axis": [1, 0, 0], "half_angle": "35 deg", **keys}
    body = {"mass": 100, "inertia": [10, 10, 10]}
    content = {
        "schema": 2,
        "duration": 1,
        "chaser": {**body, "position": [2, 0, 0], "feature": {"tip": {"position": [-1, 0, 0]}}},
        "target": {**body, "surface": {"cone": wall}},
        "contact": {"tip": {"between": ["tip", "cone"], "normal": {"law": "spring-dashpot", "stiffness": 1000}}},
    }
    file = tmp_path / "rim.toml"
    file.write_text(tomlkit.dumps(two_bodies(content)))
    surface = dockdyn.load(file).model().groups[0].surface
    distance, normal = measured(surface, np.array([[rim / np.tan(np.radians(35)) + 0.08, 0.0, rim]]))
    assert distance[0] == pytest.approx(0.08, abs=1e-12)
    assert normal[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)


# --- surfaces made of surfaces ---------------------------------------------------------------------------------------


@pytest.mark.full
@searched
@given(place=places, points=clouds, radius=numbers(0.3, 0.8), apart=numbers(0.2, 0.9), share=numbers(0.4, 1.0))
def test_union_of_two_balls(place, points, radius, apart, share):
    """Outside, the distance from the nearest of all points of both; inside, the sign, and no more than the distance."""
    other = share * radius
    parts = (
        Sphere(jnp.array(place.point([0.0, 0.0, 0.0])), jnp.array(radius), False),
        Sphere(jnp.array(place.point([apart, 0.0, 0.0])), jnp.array(other), False),
    )
    distance, normal = measured(Union(parts), place.point(points))
    first, second = (np.linalg.norm(points - [x, 0, 0], axis=1) for x in (0.0, apart))
    solid = (first < radius) | (second < other)
    assert np.array_equal(distance < 0, solid)

    def kept(centre, size, also_centre, also_size):
        """A ball's sphere without what the other ball covers."""

        def patch(u, v):
            spot = around(centre + size * np.cos(np.pi * u), size * np.sin(np.pi * u), turn_of(v))
            covered = np.linalg.norm(spot - [also_centre, 0, 0], axis=-1) < also_size
            return np.where(covered[:, None], np.inf, spot)

        return patch

    patches = [kept(0.0, radius, apart, other), kept(apart, other, 0.0, radius)]
    for i in np.flatnonzero(~solid)[:3]:
        assert distance[i] == pytest.approx(nearest_distance(patches, points[i]), abs=1e-6)
        assert np.linalg.norm(normal[i]) == pytest.approx(1.0, abs=1e-9)
    for i in np.flatnonzero(solid)[:2]:
        assert -distance[i] <= nearest_distance(patches, points[i]) + 1e-6


@searched
@given(place=places, points=clouds, size=numbers(0.3, 0.8), opening=numbers(0.6, 2.4))
def test_intersection_of_two_half_spaces(place, points, size, opening):
    """A wedge: inside exact, outside exact off its faces and a lower bound off its edge; the sign is always right."""
    faces = [
        np.array([np.sin(opening / 2), np.cos(opening / 2), 0]),
        np.array([np.sin(opening / 2), -np.cos(opening / 2), 0]),
    ]
    edge = np.array([size, 0.0, 0.0])
    planes = tuple(Plane.of(place.point(edge), place.direction(face)) for face in faces)
    distance, normal = measured(Intersection(planes), place.point(points))
    heights = np.stack([(points - edge) @ face for face in faces], axis=1)
    solid = np.all(heights < 0, axis=1)
    assert np.array_equal(distance < 0, solid)
    # faces run from the edge against x, at half the opening angle to either side
    runs = [
        np.array([-np.cos(opening / 2), np.sin(opening / 2), 0]),
        np.array([-np.cos(opening / 2), -np.sin(opening / 2), 0]),
    ]
    along = np.stack([(points - edge) @ run for run in runs], axis=1)
    flat = (points - edge) * [1, 1, 0]
    feet = [flat - np.maximum(along[:, i], 0)[:, None] * runs[i] for i in range(2)]
    exact = np.min([np.linalg.norm(foot, axis=1) for foot in feet], axis=0) * np.where(solid, -1, 1)
    off_edge = ~solid & np.all(along < 0, axis=1)
    assert distance[~off_edge] == pytest.approx(exact[~off_edge], abs=1e-12)
    assert np.all(distance[off_edge] <= exact[off_edge] + 1e-12)
    assert np.linalg.norm(normal, axis=1) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.full
def test_a_union_within_an_intersection(run):
    """From a scenario file, parts within parts: a half space with a ball on it, cut off at the side. A point of the chaser
    meets the ball where geometry says."""
    wall = {"shape": "plane", "point": [0.5, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    dome = {"shape": "sphere", "centre": [0.5, 0.1, 0.0], "radius": "25 cm"}
    side = {"shape": "plane", "point": [0.0, 0.6, 0.0], "normal": [0.0, 1.0, 0.0]}
    dataset = run(
        {
            "duration": 2.0,
            "chaser": {
                "mass": 500,
                "inertia": [90, 90, 90],
                "position": [1.75, 0.25, 0.0],
                "velocity": [-0.08, 0.0, 0.0],
                "feature": {"pin": {"position": [-0.9, 0.0, 0.0]}},
            },
            "target": {
                "mass": 900,
                "inertia": [200, 200, 200],
                "surface": {
                    "block": {"shape": "intersection", "parts": [{"shape": "union", "parts": [wall, dome]}, side]}
                },
            },
            "contact": {"pin": {"between": ["pin", "block"], "normal": {"law": "spring-dashpot", "stiffness": 8000}}},
        }
    )
    # the pin, at y = 0.25 m, is on the dome where (x − 0.5)² + 0.15² = 0.25²: x = 0.7 m; it starts at 0.85 m
    assert float(dataset.episode_onset[0]) == pytest.approx(0.15 / 0.08, rel=1e-9)
    assert float(dataset.episode_approach_speed[0]) == pytest.approx(0.08 * 0.2 / 0.25, rel=1e-9)
