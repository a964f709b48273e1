"""Hooks: latches that draw what they have caught to their seats, at once or once a phase says so."""

import numpy as np
import pytest

import dockdyn

SPEED, DRAW, DEPTH = 0.05, 0.02, 0.03  # m/s of the probe, m/s of the motor, m from the seat where it is caught


def hooks(**latch):
    """A probe comes straight to its seat, caught `DEPTH` before it by a stiff and well damped latch."""
    return {
        "schema": 2,
        "duration": 8.0,
        "body": {
            "probe": {"mass": 50.0, "inertia": [1.0] * 3, "position": [0.1, 0, 0], "velocity": [-SPEED, 0, 0]},
            "socket": {"mass": 150.0, "inertia": [10.0] * 3},
        },
        "latch": {
            "hook": {
                "between": ["probe", "socket"],
                "anchor": [[0.0] * 3] * 2,
                "reach": DEPTH,
                "lateral": 0.01,
                "stiffness": 2e4,
                "damping": 1500.0,
                **latch,
            }
        },
    }


def distance(result):
    return np.asarray(result["position"])[:, 0, 0] - np.asarray(result["position"])[:, 1, 0]


@pytest.mark.full
def test_a_hook_draws_to_its_seat_and_holds_there(load):
    """It takes the depth over the speed of the motor; a hold without motor stays where it caught."""
    drawn, held = (dockdyn.simulate(load(hooks(**more))) for more in ({"draw_speed": DRAW}, {}))
    caught = (0.1 - DEPTH) / SPEED
    assert distance(drawn)[-1] == pytest.approx(0.0, abs=1e-9)
    assert distance(held)[-1] == pytest.approx(DEPTH, abs=1e-9)
    time = np.asarray(drawn["time"])
    halfway = np.interp(caught + 0.5 * DEPTH / DRAW, time, distance(drawn))
    assert halfway == pytest.approx(0.5 * DEPTH, abs=2e-4)
    for result in (drawn, held):
        summary = dockdyn.summarise(result)
        assert summary["captured"]
        assert summary["work_energy_error"] < 1e-9
        assert summary["linear_momentum_error"] < 1e-12


@pytest.mark.full
def test_a_phase_starts_the_motor(load):
    """Ready, held two seconds, then drawn in."""
    data = hooks(draw_speed=0.0) | {
        "phase": {
            "ready": {},
            "hold": {"when": "latched"},
            "draw-in": {"when": {"lasting": 2.0}, "set": {"latch.hook.draw_speed": DRAW}},
        }
    }
    result = dockdyn.simulate(load(data))
    time, way = np.asarray(result["time"]), distance(result)
    begun = (0.1 - DEPTH) / SPEED + 2.0
    assert np.interp(begun - 0.01, time, way) == pytest.approx(DEPTH, abs=1e-6)
    assert way[-1] == pytest.approx(0.0, abs=1e-9)
    assert dockdyn.summarise(result)["work_energy_error"] < 1e-9


def test_bad_speeds_are_one_line(load):
    with pytest.raises(dockdyn.ScenarioError, match=r"draw_speed.*0"):
        load(hooks(draw_speed=-0.01))
    with pytest.raises(dockdyn.ScenarioError, match="draw_speed"):
        load(hooks(draw_speed="2 N"))
