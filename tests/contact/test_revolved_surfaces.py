"""Solids of revolution: beside the nearest of many points of their outline, beside the cone, and what is refused."""

import numpy as np
import pytest
import tomlkit
from helpers.surface_distances import evaluate_distances
from two_bodies import two_bodies

import dockdyn
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.revolved import Revolved

DROGUE = [[0.0, 0.0], [0.4, 0.4], [0.4, 0.5], [-0.1, 0.5], [-0.1, 0.0]]  # m
RING = [[0.0, 0.3], [0.1, 0.3], [0.1, 0.5], [0.05, 0.35], [0.0, 0.5]]
BODY = {"mass": 500, "inertia": [200, 210, 220]}


def inside(outline, points):
    """Whether points of a half plane are in an outline, by the sum of the angles under which its edges are seen."""
    ways = np.asarray(outline)[None] - points[:, None]
    angles = np.unwrap(np.arctan2(ways[..., 1], ways[..., 0]), axis=1)
    last = (angles[:, 0] - angles[:, -1] + np.pi) % (2 * np.pi) - np.pi
    return np.abs(angles[:, -1] - angles[:, 0] + last) > np.pi


@pytest.mark.full_cases("outline0", "outline1")
@pytest.mark.parametrize("outline", [DROGUE, DROGUE[::-1], RING])
def test_the_nearest_of_many_points_is_as_far(outline):
    """Of the outline turned about the axis; corners may be given in either sense."""
    rng, turn = np.random.default_rng(0), np.array([0.0, 0.6, 0.8])
    places = np.column_stack([rng.uniform(-0.4, 0.8, 300), rng.uniform(0.0, 0.8, 300)])
    surface = Revolved.of([0.2, 0.0, 0.0], [2.0, 0.0, 0.0], outline, 0.0)
    distance, normal = evaluate_distances(
        surface, np.array([0.2, 0, 0]) + places[:, :1] * [1, 0, 0] + places[:, 1:] * turn
    )
    ends = np.roll(outline, -1, axis=0)
    share = np.linspace(0, 1, 4001)[:, None]
    pieces = [a + share * (np.array(b) - a) for a, b in zip(np.array(outline), ends, strict=True) if a[1] or b[1]]
    nearest = np.linalg.norm(places[:, None] - np.concatenate(pieces), axis=2).min(axis=1)
    assert distance == pytest.approx(np.where(inside(outline, places), -1, 1) * nearest, abs=2e-6)
    assert np.linalg.norm(normal, axis=1) == pytest.approx(1.0, abs=1e-9)


def test_it_is_the_cone():
    """In the cavity, away from where the rim is as near."""
    points = np.random.default_rng(1).uniform((0.1, -0.08, -0.08), (0.3, 0.08, 0.08), (200, 3))
    cone = Cone.of((0, 0, 0), (1, 0, 0), np.pi / 4, 0.4)
    found, expected = (evaluate_distances(one, points) for one in (Revolved.of([0] * 3, [1, 0, 0], DROGUE, 0.0), cone))
    assert found[0] == pytest.approx(expected[0], abs=1e-14)
    assert found[1] == pytest.approx(expected[1], abs=1e-12)


def test_rounded_edges():
    """Flat faces stay where they are; the edge is a circle whose centre lies a rounding from both of its faces."""
    rounding = 0.02
    surface = Revolved.of([0] * 3, [1, 0, 0], DROGUE, rounding)
    distance, _ = evaluate_distances(surface, np.array([[0.2, 0.1, 0], [0.0, 0.6, 0], [-0.2, 0.1, 0], [-0.4, 0.8, 0]]))
    edge = np.hypot(0.32, 0.32) - rounding  # from the circle about (-0.08, 0.48)
    assert distance == pytest.approx([0.1 / np.sqrt(2), 0.1, 0.1, edge], abs=1e-12)


def written(folder, **keys):
    surface = {"shape": "revolved", "axis": [0, 0, 1], **keys}
    content = {
        "schema": 2,
        "title": "A tip in a drogue",
        "duration": 2,
        "chaser": {**BODY, "position": [0.1, 0, 1.5], "velocity": [0, 0, -0.8]},
        "target": {**BODY, "surface": {"drogue": surface}},
        "contact": {"tip": {"between": ["tip", "drogue"], "normal": {"law": "spring-dashpot", "stiffness": 8000}}},
    }
    content["chaser"]["feature"] = {"tip": {"position": [0, 0, -0.9], "radius": 0.03}}
    file = folder / "revolved.toml"
    file.write_text(tomlkit.dumps(two_bodies(content)))
    return file


@pytest.mark.full
def test_a_profile_from_a_file(tmp_path):
    """The same run as with the corners in the scenario, which the resolved scenario holds."""
    (tmp_path / "drogue.csv").write_text("\n".join(f"{a}, {b}" for a, b in DROGUE))
    scenario = dockdyn.load(written(tmp_path, profile="drogue.csv"))
    result, same = dockdyn.simulate(scenario), dockdyn.simulate(dockdyn.load(written(tmp_path, profile=DROGUE)))
    assert len(result.episode_onset) > 0
    np.testing.assert_array_equal(result.position, same.position)
    assert "drogue.csv" not in scenario.text()


WRONG = {
    "negative": ([[0, -0.1], [1, 0], [0, 1]], 0.0, "must be at least 0"),
    "twice": ([[0, 0], [0, 0], [1, 1]], 0.0, "are the same"),
    "crossed": ([[0, 0], [1, 1], [1, 0], [0, 1]], 0.0, "cross each other"),
    "round": (DROGUE, 0.2, "is too large for the profile"),
    "words": ("words.csv", 0.0, "of numbers alone"),
    "nowhere": ("nowhere.csv", 0.0, "profile = 'nowhere.csv': no such file"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(dock, tmp_path, name):
    profile, rounding, words = WRONG[name]
    (tmp_path / "words.csv").write_text("along, from\n0, 1\n")
    dock("run", written(tmp_path, profile=profile, rounding=rounding)).check_refused(words)
