"""Repeated impacts of a mechanism, coming to rest, sliding, rolling and parting again, beside closed forms."""

import numpy as np
import pytest
from plain_tables import by_name, contacts_by_name

import dockdyn
from dockdyn import backend

HEIGHT, PULL, BALL, PLATE = 0.4, 4.0, 1.5, 40.0  # m, m/s², kg, kg
RADIUS = 0.1  # m
REDUCED = BALL * PLATE / (BALL + PLATE)  # kg


def bouncing(impact, duration=4.0, **ball):
    """A ball onto which a force drives the plate of a body that hardly turns: as if the ball fell."""
    bodies = [
        {
            "name": "plate",
            "mass": PLATE,
            "inertia": [1e13] * 3,
            "surface": {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}},
        },
        {
            "name": "ball",
            "mass": BALL,
            "inertia": [0.4 * BALL * RADIUS**2] * 3,
            "position": [0, 0, RADIUS + HEIGHT],
            "feature": {"skin": {"position": [0, 0, 0], "radius": RADIUS}},
        }
        | ball,
    ]
    return {
        "schema": 2,
        "duration": duration,
        "body": by_name(bodies),
        "contact": {"skin": {"between": ["skin", "top"], "impact": impact}},
        "thruster": {"engine": {"body": "plate", "position": [0, 0, 0], "direction": [0, 0, 1], "force": PULL * PLATE}},
    }


def run(content):
    found = dockdyn.simulate(dockdyn.load(content))
    assert found.attrs["status"] == "finished"
    return found


def energy_error(found):
    """How far kinetic energy less all work is from what it was."""
    total = found.kinetic_energy.values + found.internal_energy.values - found.work.values
    return np.ptp(total) / found.kinetic_energy.values.max()


@pytest.mark.full
@pytest.mark.parametrize(
    "restitution", [0.5, pytest.param(0.8, marks=pytest.mark.full), pytest.param(0.0, marks=pytest.mark.full)]
)
def test_a_ball_bounces_until_it_rests(restitution):
    """Approach speeds are v eⁿ and hops take 2 v eⁿ/a; it rests from the first rebound below the speed of rest."""
    slow = 1e-3
    found = run(bouncing({"law": "frictionless", "restitution": restitution, "rest_speed": slow}, duration=6.0))
    speed, first = np.sqrt(2 * PULL * HEIGHT), np.sqrt(2 * HEIGHT / PULL)
    hops = 0 if restitution == 0 else int(np.floor(np.log(slow / speed) / np.log(restitution)))
    powers = restitution ** np.arange(hops + 1)
    onsets = first + np.concatenate([[0.0], np.cumsum(2 * speed * powers[1:] / PULL)])
    np.testing.assert_allclose(found.episode_onset, onsets, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.episode_approach_speed, speed * powers, rtol=1e-8)
    np.testing.assert_allclose(found.episode_impulse[:-1], REDUCED * speed * powers[:-1] * (1 + restitution), rtol=1e-8)
    np.testing.assert_array_equal(found.episode_release[:-1], found.episode_onset[:-1])
    assert np.isnan(found.episode_release[-1])
    rests = found.time.values > onsets[-1]
    np.testing.assert_allclose(found.normal_force.values[rests, 0], REDUCED * PULL, rtol=1e-9)
    np.testing.assert_allclose(found.contact_force.values[rests, 0, 2], REDUCED * PULL, rtol=1e-9)
    assert np.abs(found.depth.values[rests, 0]).max() < 1e-10
    assert not found.normal_force.values[~rests].any()
    whole = REDUCED * PULL * found.time.values[-1]
    assert dockdyn.summarise(found)["contact.impulse_N_s"] == pytest.approx(whole, rel=1e-9)
    assert energy_error(found) < 1e-9


def rolling(sideways):
    """The friction impulse after which a ball that has slid with a velocity rolls over the plate, and its velocity then."""
    impulse = sideways / (3.5 / BALL + 1 / PLATE)
    return impulse, sideways - impulse / BALL


@pytest.mark.full
def test_a_ball_that_bounces_and_slides_ends_rolling():
    """By which impacts, and in which rest, friction acts does not count: where it rolls it has given one impulse."""
    sideways = 0.6
    law = {"law": "energetic", "restitution": 0.3, "friction": 0.04, "rest_speed": 1e-3}
    found = run(bouncing(law, velocity=[sideways, 0, 0], duration=6.0))
    impulse, speed = rolling(sideways)
    assert found.velocity.values[-1, 1, :2] == pytest.approx([speed, 0], abs=1e-7)
    assert found.rate.values[-1, 1] == pytest.approx([0, 2.5 * impulse / (BALL * RADIUS), 0], abs=1e-5)
    assert 0.04 * found.impact_impulse.values[-1, 0] < impulse  # the rest of it is of sliding at rest
    assert energy_error(found) < 1e-9 and dockdyn.summarise(found)["linear_momentum_error"] < 1e-10


def test_a_ball_at_rest_slides_as_coulomb_says():
    """It lies on the plate from the start: its velocity falls by μ N/m until it rolls."""
    sideways, friction = 0.6, 0.1
    law = {"law": "energetic", "restitution": 0.5, "friction": friction}
    found = run(bouncing(law, velocity=[sideways, 0, 0], position=[0, 0, RADIUS], duration=1.0))
    pressed = REDUCED * PULL
    impulse, speed = rolling(sideways)
    rolls = impulse / (friction * pressed)
    time, velocity = found.time.values, found.velocity.values[:, 1, 0]
    slides = time < 0.9 * rolls
    np.testing.assert_allclose(velocity[slides], sideways - friction * pressed / BALL * time[slides], rtol=0, atol=1e-6)
    assert found.episode_onset.values == pytest.approx([0.0], abs=1e-12)
    assert velocity[-1] == pytest.approx(speed, abs=1e-6) and time[-1] > rolls


@pytest.mark.full
def test_what_rests_parts_when_it_is_pulled():
    """The force turns round: they part at once, and as fast as it drives them; they stay apart."""
    content = bouncing({"law": "frictionless", "restitution": 0.0}, position=[0, 0, RADIUS], duration=3.0)
    engine = content["thruster"]["engine"]
    content["thruster"]["brake"] = engine | {"direction": [0, 0, -1], "force": 0.0}
    turned = {"thruster.engine.force": 0.0, "thruster.brake.force": 0.5 * PULL * PLATE}
    content["phase"] = {"on": {}, "back": {"when": {"lasting": 1.0}, "set": turned}}
    found = run(content)
    assert found.episode_release.values == pytest.approx([1.0], abs=1e-12)
    after = found.time.values > 1.0
    apart = found.velocity.values[:, 1, 2] - found.velocity.values[:, 0, 2]
    np.testing.assert_allclose(apart[after], 0.5 * PULL * (found.time.values[after] - 1.0), rtol=0, atol=1e-9)
    assert not found.normal_force.values[after].any() and energy_error(found) < 1e-9


def four_balls(restitution):
    """Equal balls that touch in a row, the first of which comes from afar."""
    bodies = [
        {
            "name": f"ball{number}",
            "mass": 2.0,
            "inertia": [0.1] * 3,
            "position": [2 * RADIUS * number - (0.3 if number == 0 else 0.0), 0, 0],
            "feature": {f"skin{number}": {"position": [0, 0, 0], "radius": RADIUS}},
        }
        for number in range(4)
    ]
    bodies[0]["velocity"] = [0.5, 0, 0]
    impact = {"law": "frictionless", "restitution": restitution}
    contacts = [{"between": [f"skin{n}", f"skin{n + 1}"], "impact": impact} for n in range(3)]
    return {
        "schema": 2,
        "duration": 1.0,
        "body": by_name(bodies),
        "contact": contacts_by_name(contacts),
    }


@pytest.mark.full
def test_a_cradle_hands_the_motion_on():
    """Elastic balls that touch: the first one stops and the last one leaves with its velocity, at one instant."""
    found = run(four_balls(1.0))
    np.testing.assert_allclose(found.velocity.values[-1, :, 0], [0, 0, 0, 0.5], rtol=0, atol=1e-12)
    assert found.episode_onset.values == pytest.approx([0, 0, 0.6], abs=1e-12)  # two touch from the start


@pytest.mark.full
def test_balls_that_do_not_rebound_go_on_together():
    found = run(four_balls(0.0))
    np.testing.assert_allclose(found.velocity.values[-1, :, 0], [0.5 / 4] * 4, rtol=0, atol=1e-9)
    assert np.abs(found.depth.values[-1]).max() < 1e-9 and energy_error(found) < 1e-9


@pytest.mark.full
def test_a_table_stands_on_four_feet():
    """More contacts than a rigid table needs: together they carry what presses it, as it stands evenly a quarter each."""
    content = bouncing({"law": "frictionless", "restitution": 0.3, "rest_speed": 1e-3}, inertia=[0.1, 0.12, 0.15])
    places = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.3, 0.3)]
    feet = {f"foot{n}": {"position": place, "radius": 0.0} for n, place in enumerate(places)}
    content["body"]["ball"]["feature"] = feet
    impact = content["contact"]["skin"]["impact"]
    content["contact"] = {name: {"between": [name, "top"], "impact": impact} for name in feet}
    found = run(content)
    shares = found.normal_force.values[-1]
    carried = REDUCED * PULL
    assert shares.sum() == pytest.approx(carried, rel=1e-9) and shares == pytest.approx([carried / 4] * 4, rel=1e-3)
    assert np.abs(found.rate.values[-1, 1]).max() < 1e-9 and energy_error(found) < 1e-9


@pytest.mark.full
def test_both_backends_agree(monkeypatch):
    content, found = bouncing({"law": "frictionless", "restitution": 0.4}, velocity=[0.3, 0.1, 0]), {}
    for word in backend.BACKENDS:
        monkeypatch.setenv(backend.VARIABLE, word)
        found[word] = run(content)
    one, other = found["native"], found["xla"]
    assert one.sizes["episode"] == other.sizes["episode"] > 5
    for name in ("position", "velocity", "rate", "impact_impulse", "work"):
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-8 * np.abs(other[name].values).max())
