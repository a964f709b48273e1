"""How near a striker came to a latch that never fell in, by straight flights past it, and what the report says of it."""

import numpy as np
import pytest
from plain_tables import acting
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.dataset import Dataset
from dockdyn.docking.views.report import _last_latch
from dockdyn.pages import report_of

REACH, LATERAL, DURATION = 0.01, 0.02, 1.0  # m, m, s
TURN = Rotation.from_rotvec([0.1, -0.2, 0.3])  # of the target
SEAT = np.array([0.5, 0.1, -0.2])  # m


def flight(begins, velocity, **latch):
    """A run in which a striker flies past a latch: from a place, at a velocity (m, m/s), both from the seat in its axes."""
    return dockdyn.simulate(flight_of(begins, velocity, **latch))


def flight_of(begins, velocity, **latch):
    """The scenario of that flight."""
    hook = {"kind": "latch", "name": "hook", "between": ["probe", "target"], "anchor": [[0.0] * 3, SEAT.tolist()]}
    level = {"position": [0.0] * 3, "velocity": [0.0] * 3, "rate": [0.0] * 3}
    content = {
        "schema": 2,
        "duration": DURATION,
        "body": {
            "probe": {
                "mass": 10.0,
                "inertia": [1.0] * 3,
                "position": TURN.apply(SEAT + begins).tolist(),
                "velocity": TURN.apply(velocity).tolist(),
            },
            "target": {
                "mass": 1e3,
                "inertia": [100.0] * 3,
                "attitude": TURN.as_quat(scalar_first=True).tolist(),
                **level,
            },
        },
        **acting({**hook, "reach": REACH, "lateral": LATERAL, "stiffness": 1e3, **latch}),
    }
    return dockdyn.load(content)


@pytest.mark.full_cases("begins0-velocity0-latch0-1.0-0.04--0.02-40.0 mm short along its axis, near enough to it")
@pytest.mark.parametrize(
    ("begins", "velocity", "latch", "when", "short", "beyond", "words"),
    [
        # it comes to 50 mm and goes on for the rest of the run, straight at it
        ([0.25, 0.0, 0.0], [-0.2, 0.0, 0.0], {}, 1.0, 0.04, -0.02, "40.0 mm short along its axis, near enough to it"),
        # it crosses the axis 60 mm in front
        ([0.07, 0.5, 0.0], [0.0, -1.0, 0.0], {}, None, 0.06, None, "60.0 mm short along its axis, near enough to it"),
        # it drifts towards the axis and past the seat: 0.15 − 0.1 t aside
        ([0.05, 0.15, 0.0], [-0.1, -0.1, 0.0], {}, 1.0, -0.06, 0.03, "30.0 mm too far aside of its axis, deep enough along it"),
        # it recedes from where it begins
        ([0.03, 0.0, 0.05], [0.1, 0.0, 0.1], {}, 0.0, 0.02, 0.03,
         "20.0 mm short along its axis and 30.0 mm too far aside of it"),
        # it flies through a latch that is open
        ([0.05, 0.0, 0.0], [-0.1, 0.0, 0.0], {"closed": False}, None, None, -0.02,
         "within reach, but the latch was not closed then"),
    ],
)  # fmt: skip
def test_a_missed_latch_says_by_what_it_was_missed(begins, velocity, latch, when, short, beyond, words):
    run = flight(begins, velocity, **latch)
    assert np.isnan(run.latch_time[0])
    nearest = {"gap": short, "aside": beyond, "time": when}
    for name, value in nearest.items():
        if value is not None:  # alike for a while, where it is none
            assert run[f"latch_nearest_{name}"][0] == pytest.approx(value, abs=1e-9)
    verdict = report_of(run).verdict
    assert "Not captured: 0 of 1 latches hold at the end. Latch 'hook' came nearest at t = " in verdict
    assert f"s: {words}." in verdict


def test_a_latch_that_fell_in_was_not_missed():
    run = flight([0.05, 0.0, 0.0], [-0.1, 0.0, 0.0])
    assert run.latch_closed[0] == 1 and np.isnan(run.latch_nearest_gap[0])
    assert "came nearest" not in report_of(run).verdict


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([2.0], "the latch fell in"),
        ([2.0, 2.0, 2.0], "all 3 latches fell in at once"),
        ([1.0, 2.0], "capture 2, the last of 2 latches, fell in"),
        ([2.0, 1.0, 2.0], "capture 1, capture 3, the last of 3 latches, fell in"),
        ([1.0, 1.5], "the last of the latches fell in"),  # one had let go meanwhile
    ],
)
def test_which_latch_fell_in_last_is_said(times, words):
    names = [f"capture {number}" for number in range(1, len(times) + 1)]
    found = Dataset(
        {"latch_time": ("latch", np.array(times), {}), "capture_time": ((), np.array(2.0), {})},
        {"latch": ("latch", names, {})},
    )
    assert _last_latch(found) == words
