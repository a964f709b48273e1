"""Whether the outcome of a mechanism with latches is open when a run ends, in a run and in a batch of cases."""

import numpy as np
import pytest
from plain_tables import acting
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.studies.cases.batch import run_cases

REACH, NEAR, ASIDE, DURATION = 0.05, 0.01, 0.02, 1.0  # m, m, m, s
TURN = Rotation.from_rotvec([0.1, -0.2, 0.3])  # of the target
SEAT = np.array([0.5, 0.1, -0.2])  # m


def approaching(gap, speed):
    """A striker `gap` (m) short of where the first of two latches catches it, which closes that at `speed` (m/s)."""
    latch = {
        "kind": "latch",
        "between": ["probe", "target"],
        "anchor": [[0.0] * 3, SEAT.tolist()],
        "lateral": 0.1,
        "stiffness": 1e-3,
    }
    turned = {"attitude": TURN.as_quat(scalar_first=True).tolist(), "velocity": [0.0] * 3, "rate": [0.0] * 3}
    along = np.array([REACH + gap, ASIDE, 0.0])
    place = TURN.apply(SEAT + along)
    return {
        "schema": 2,
        "duration": DURATION,
        "body": {
            "probe": {
                "mass": 10.0,
                "inertia": [1.0] * 3,
                "position": place.tolist(),
                "velocity": TURN.apply([-speed, 0.0, 0.0]).tolist(),
            },
            "target": {"mass": 1000.0, "inertia": [100.0] * 3, "position": [0.0] * 3, **turned},
        },
        **acting({**latch, "name": "wide", "reach": REACH}, {**latch, "name": "narrow", "reach": NEAR}),
    }


@pytest.mark.full_cases("0.4-0.1-True-3.0", "0.4--0.1-False-nan", "0.02-0.05-True-0.2")
@pytest.mark.parametrize(
    ("gap", "speed", "is_open", "left"),
    [
        (0.4, 0.1, True, 3.0),  # still on its way
        (0.4, -0.1, False, np.nan),  # flies away
        (0.02, 0.05, True, 0.2),  # one holds, the other is (0.02 + 0.05 - 0.01) / 0.05 s away
        (-0.005, -0.01, True, np.nan),  # one holds, the other recedes
        (0.02, 0.1, False, np.nan),  # both hold
    ],
)
def test_it_is_open_while_a_striker_comes_or_some_latches_hold(gap, speed, is_open, left, load):
    scenario = load(approaching(gap, speed))
    figures = dockdyn.summarise(dockdyn.simulate(scenario))
    batch = run_cases(scenario, ["body.probe.mass"], np.array([[10.0]])).figures
    assert bool(figures["outcome_open"]) == bool(batch["outcome_open"][0]) == is_open
    found = figures["approach_left_s"]
    for value in (np.nan if found is None else found, batch["approach_left_s"][0]):
        assert value == pytest.approx(left, rel=1e-4, nan_ok=True)
