"""A bushing turned by more than half a turn: beyond its law, and told so with its name and when."""

from __future__ import annotations

import numpy as np

import dockdyn

RATE, STIFFNESS, OWN, OTHER = 1.5, 0.1, 2.0, 400.0  # rad/s, N m/rad, kg m², kg m²
BODY = {"mass": 10.0, "inertia": [OWN] * 3}
HINGE = {
    "schema": 1,
    "kind": "assembly",
    "duration": 4.0,
    "body": [BODY | {"name": "arm", "rate": [RATE, 0.0, 0.0]}, BODY | {"name": "base", "inertia": [OTHER] * 3}],
    "element": [
        {
            "kind": "bushing",
            "name": "hinge",
            "between": ["arm", "base"],
            "position": [0.0, 0.0, 0.0],
            "stiffness": [1e3] * 3,
            "turning_stiffness": [STIFFNESS] * 3,
        }
    ],
}


def angle(time):
    """Two bodies on a torsion spring, by the closed form."""
    frequency = np.sqrt(STIFFNESS * (1 / OWN + 1 / OTHER))
    return RATE / frequency * np.sin(frequency * time)


def test_the_turn_is_told_up_to_half_a_turn_and_beyond_it_warned_of(load):
    run = dockdyn.simulate(load(HINGE))
    time, turn = run.time.values, run.bushing_turn.sel(bushing="hinge").values
    within = angle(time) < np.pi
    assert 0.3 < within.mean() < 0.9
    np.testing.assert_allclose(turn[within], angle(time)[within], atol=1e-6)
    assert (turn[~within] > np.pi).all()
    (told,) = [words for words in dockdyn.summarise(run)["warnings"] if "hinge" in words]
    assert f"bushing 'hinge' is turned by more than half a turn at t = {time[~within][0]:.6g} s" in told


def test_a_bushing_that_stays_below_is_not_warned_of(load):
    body = HINGE["body"][0] | {"rate": [0.1, 0.0, 0.0]}
    run = dockdyn.simulate(load(HINGE | {"body": [body, HINGE["body"][1]]}))
    assert run.bushing_turn.max() < np.pi
    assert not [words for words in dockdyn.summarise(run)["warnings"] if "hinge" in words]
