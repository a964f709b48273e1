"""A latch that catches, holds for a minute and lets go: what parts then is in closed form, and all is accounted for."""

import numpy as np
import pytest
from held_against_pusher import HELD, check_parting, held_against_pusher
from helpers.refusals import refused
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.scenario.language.places import places_of

REACH = 1e-3  # m, in front of its seat, where the striker is caught


def docking(draw, grip="compliant"):
    """Two bodies: a latch catches, then a spring presses against it, which drives them apart once the latch lets go."""
    masses = 10 ** draw.uniform(1, 3, 2)  # kg
    mass = masses.prod() / masses.sum()
    latch, pusher = mass * draw.uniform(5, 15) ** 2, mass * draw.uniform(2, 4) ** 2  # N/m
    longer = draw.uniform(0.02, 0.1)  # m, than the way between its ends
    hook = {"reach": REACH, "grip": grip}
    if grip == "compliant":
        hook |= {"stiffness": latch, "damping": 1.2 * np.sqrt(latch * mass)}
    content = held_against_pusher(masses, draw.uniform(0.01, 0.03), hook, pusher, longer)
    return content, mass, latch, pusher, longer


@pytest.mark.full
@pytest.mark.parametrize("grip", ["compliant", "pin", "weld"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 8))])
def test_what_lets_go_parts_at_the_speed_of_the_spring(seed, grip):
    """The pusher is at rest against the latch, compressed by the room it lacks, less what a latch of stiffness k₁ yields,
    k/(k + k₁) of it; then it swings alone."""
    content, mass, latch, pusher, longer = docking(np.random.default_rng([56, seed]), grip)
    run = dockdyn.simulate(dockdyn.load(content))
    summary = dockdyn.summarise(run)
    assert summary["captured"] and summary["release_time_s"] == pytest.approx(
        summary["capture_time_s"] + HELD, abs=1e-9
    )
    compressed = (longer - REACH) * (latch / (latch + pusher) if grip == "compliant" else 1.0)
    check_parting(run, mass, pusher, compressed, summary["release_time_s"])
    held = run.latch_held.values[:, 0] > 0
    assert held.sum() * (run.time.values[1] - run.time.values[0]) == pytest.approx(HELD, rel=1e-3) and not held[-1]
    assert summary["linear_momentum_error"] < 1e-10
    total = run.kinetic_energy.values + run.internal_energy.values - run.work.values
    assert np.ptp(total) < 1e-6 * run.kinetic_energy.values.max()


@pytest.mark.full
def test_what_has_let_go_catches_again_where_a_phase_closes_it():
    content, *_ = docking(np.random.default_rng([56, 0]))
    pulls_back = {"strut.pusher.free_length": 0.28, "latch.hook.closed": True}
    content["phase"]["again"] = {"when": {"lasting": 0.5}, "set": pulls_back}
    run = dockdyn.simulate(dockdyn.load(content))
    summary, held = dockdyn.summarise(run), run.latch_held.values[:, 0]
    after = run.time.values > summary["release_time_s"]
    assert summary["captured"] and held[after][0] == 0 and held[-1] == 1
    assert np.diff(held).tolist().count(1.0) == 2


def test_a_switch_is_no_number_and_must_be_true_or_false():
    content, *_ = docking(np.random.default_rng([56, 0]))
    scenario = dockdyn.load(content)
    assert not [place.key for place in places_of(scenario) if "closed" in place.key]
    assert "phase.apart.when.lasting" in [place.key for place in places_of(scenario)]
    content["phase"]["apart"]["set"] = {"latch.hook.closed": "ajar"}
    with pytest.raises(dockdyn.ScenarioError, match=r"set\.latch\.hook\.closed = 'ajar'"):
        dockdyn.load(content)


def tumbling(draw, grip):
    """A latch off both centres of mass that catches a body which turns and slides past it, and lets go after a minute."""
    masses = 10 ** draw.uniform(1, 3, 2)
    bodies = {
        name: {
            "mass": mass,
            "inertia": (mass * np.diag(draw.uniform(0.1, 0.15, 3))).tolist(),
            "position": [x, 0, 0],
            "velocity": (0.01 * draw.normal(size=3) + [v, 0, 0]).tolist(),
            "rate": (0.03 * draw.normal(size=3)).tolist(),
        }
        for name, mass, x, v in zip(("chaser", "target"), masses, (-0.65, 0.65), (0.1, 0.0), strict=True)
    }
    hook = {
        "between": ["chaser", "target"],
        "anchor": [[0.5, 0.1, 0], [-0.5, 0.1, 0]],
        "axis": [-1, 0, 0],
        "reach": 0.05,
        "lateral": 1.0,
        "grip": grip,
    }
    phases = {
        "approach": {},
        "held": {"when": "latched"},
        "apart": {"when": {"lasting": HELD}, "set": {"latch.hook.closed": False}},
    }
    return {
        "schema": 2,
        "duration": 75.0,
        "body": bodies,
        "latch": {"hook": hook},
        "phase": phases,
    }


@pytest.mark.full
@pytest.mark.parametrize("grip", ["pin", "weld"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 8))])
def test_a_rigid_grip_keeps_momenta_and_its_hold(seed, grip):
    """The striker stays where it was caught to 1e-9 m, a weld the attitude, too; energy falls with the catch alone."""
    content = tumbling(np.random.default_rng([57, seed]), grip)
    run = dockdyn.simulate(dockdyn.load(content))
    summary = dockdyn.summarise(run)
    assert summary["captured"] and summary["release_time_s"] == pytest.approx(
        summary["capture_time_s"] + HELD, abs=1e-9
    )
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-10
    held = run.latch_held.values[:, 0] > 0
    turns = [Rotation.from_quat(run.attitude.values[held, body], scalar_first=True) for body in (0, 1)]
    striker = run.position.values[held, 0] + turns[0].apply(content["latch"]["hook"]["anchor"][0])
    seen = turns[1].inv().apply(striker - run.position.values[held, 1])
    assert np.abs(seen - seen[0]).max() < 1e-9
    if grip == "weld":
        turned = (turns[1].inv() * turns[0]).as_quat()
        assert np.abs(np.abs(np.sum(turned * turned[0], axis=1)) - 1).max() < 1e-12
    assert [words for words in summary["warnings"] if words.startswith("latch 'hook' holds rigidly")]
    energy = run.kinetic_energy.values
    before, after = energy[run.time.values < summary["capture_time_s"]], energy[held]
    assert before[0] - after[0] > 0 and np.ptp(after) < 1e-9 * after[0] and np.ptp(before) < 1e-9 * before[0]
    assert np.abs(energy[0] - energy[-1] + run.work.values[-1]) < 1e-9 * energy[0]


@pytest.mark.full
def test_a_weld_carries_what_keeps_two_bodies_on_their_circles():
    """Two bodies that were caught while they turn about a common axis: the force in the grip is m ω² r of either."""
    masses, rate, apart = np.array([30.0, 70.0]), 0.4, 1.5
    radii = apart * masses[::-1] / masses.sum()
    bodies = {
        name: {
            "mass": mass,
            "inertia": [mass] * 3,
            "position": [x, 0, 0],
            "velocity": [0, rate * x, 0],
            "rate": [0, 0, rate],
        }
        for name, mass, x in zip(("chaser", "target"), masses, (-radii[0], radii[1]), strict=True)
    }
    content = tumbling(np.random.default_rng(0), "weld") | {
        "body": bodies,
        "duration": 5.0,
        "phase": {"all": {}},
    }
    content["latch"]["hook"] |= {"anchor": [[0.5, 0, 0], [-1.0, 0, 0]], "reach": 0.01}
    run = dockdyn.simulate(dockdyn.load(content))
    assert run.latch_held.values[:, 0].all()
    expected = masses[0] * rate**2 * radii[0]
    assert run.element_tension.values[:, 0] == pytest.approx(np.full(run.sizes["time"], expected), rel=1e-9)


@pytest.mark.full
def test_a_run_ends_with_the_capture_where_its_latches_say_so():
    content, *_ = docking(np.random.default_rng([56, 0]))
    whole = dockdyn.summarise(dockdyn.simulate(dockdyn.load(content)))
    content["latch"]["hook"]["ends_run"] = True
    ended = dockdyn.summarise(dockdyn.simulate(dockdyn.load(content)))
    assert ended["captured"] and ended["end_time_s"] == ended["capture_time_s"] == whole["capture_time_s"]
    assert ended["status"] == "finished"


def test_rigid_grips_that_cannot_be_are_refused():
    content = tumbling(np.random.default_rng(0), "weld")
    hook, second = content["latch"]["hook"], content["body"]["target"]
    jointed = {key: second[key] for key in ("mass", "inertia", "position")} | {
        "on": "chaser",
        "joint": {"kind": "locked"},
    }
    for tables, words in (
        ({"latch": {"hook": hook, "other": hook}}, "'hook' holds these bodies together, too"),
        ({"latch": {"hook": hook | {"stiffness": 1.0}}}, "stiffness: a weld is rigid"),
        ({"latch": {"hook": hook | {"play": 1.0}}}, "play: a weld is rigid"),
        ({"latch": {"hook": hook | {"grip": "compliant"}}}, "stiffness: missing"),
        ({"body": content["body"] | {"target": jointed}}, "joints hold its bodies together"),
    ):
        with refused(words):
            dockdyn.load(content | tables)
