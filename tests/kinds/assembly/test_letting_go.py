"""A latch that catches, holds for a minute and lets go: what parts then is in closed form, and all is accounted for."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.language.places import places_of

HELD, REACH = 60.0, 1e-3  # s; m, in front of its seat, where the striker is caught


def docking(draw):
    """Two bodies: a latch catches, then a spring presses against it, which drives them apart once the latch lets go."""
    masses = 10 ** draw.uniform(1, 3, 2)  # kg
    mass = masses.prod() / masses.sum()
    latch, pusher = mass * draw.uniform(5, 15) ** 2, mass * draw.uniform(2, 4) ** 2  # N/m
    longer = draw.uniform(0.02, 0.1)  # m, than the way between its ends
    bodies = [
        {"name": name, "mass": m, "inertia": [m / 10] * 3, "position": [x, 0, 0], "velocity": [v, 0, 0]}
        for name, m, x, v in zip(
            ("chaser", "target"), masses, (-0.05, 0.0), (draw.uniform(0.01, 0.03), 0.0), strict=True
        )
    ]
    between = {"between": ["chaser", "target"]}
    hook = {
        "kind": "latch",
        "name": "hook",
        "anchor": [[0, 0, 0], [0, 0, 0]],
        "axis": [-1, 0, 0],
        "reach": REACH,
        "lateral": 1e-2,
        "stiffness": latch,
        "damping": 1.2 * np.sqrt(latch * mass),
    }
    strut = {
        "kind": "strut",
        "name": "pusher",
        "anchor": [[0, 0, 0], [0.3, 0, 0]],
        "stiffness": 1e-9,
        "free_length": 0.3,
    }
    phases = [
        {"name": "approach"},
        {"name": "held", "when": "latched", "set": {"pusher.stiffness": pusher, "pusher.free_length": 0.3 + longer}},
        {"name": "apart", "when": {"lasting": HELD}, "set": {"hook.closed": False}},
    ]
    content = {
        "schema": 1,
        "kind": "assembly",
        "duration": HELD + 12.0,
        "body": bodies,
        "element": [hook | between, strut | between],
        "phase": phases,
    }
    return content, mass, latch, pusher, longer


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 8))])
def test_what_lets_go_parts_at_the_speed_of_the_spring(seed):
    """The pusher is at rest against the latch, compressed by k₁/(k + k₁) of the room it lacks; then it swings alone."""
    content, mass, latch, pusher, longer = docking(np.random.default_rng([56, seed]))
    run = dockdyn.simulate(dockdyn.load(content))
    summary = dockdyn.summarise(run)
    assert summary["captured"] and summary["release_time_s"] == pytest.approx(
        summary["capture_time_s"] + HELD, abs=1e-9
    )
    after = run.time.values > summary["release_time_s"]
    speed = (run.velocity.values[after, 1] - run.velocity.values[after, 0])[:, 0]
    compressed = (longer - REACH) * latch / (latch + pusher)
    swung = np.sqrt(pusher / mass) * (run.time.values[after] - summary["release_time_s"])
    expected = compressed * np.sqrt(pusher / mass) * np.sin(swung)
    assert np.abs(speed - expected).max() < 1e-8 * np.abs(expected).max()
    held = run.latch_held.values[:, 0] > 0
    assert held.sum() * (run.time.values[1] - run.time.values[0]) == pytest.approx(HELD, rel=1e-3) and not held[-1]
    assert summary["linear_momentum_error"] < 1e-10
    total = run.kinetic_energy.values + run.internal_energy.values - run.work.values
    assert np.ptp(total) < 1e-6 * run.kinetic_energy.values.max()


def test_what_has_let_go_catches_again_where_a_phase_closes_it():
    content, *_ = docking(np.random.default_rng([56, 0]))
    pulls_back = {"pusher.free_length": 0.28, "hook.closed": True}
    content["phase"].append({"name": "again", "when": {"lasting": 0.5}, "set": pulls_back})
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
    content["phase"][2]["set"] = {"hook.closed": "ajar"}
    with pytest.raises(dockdyn.ScenarioError, match=r"set\.hook\.closed = 'ajar'"):
        dockdyn.load(content)
