"""A wheel that is full for a while is told, also where it has emptied again by the end: times by a closed form."""

import re

import numpy as np
import pytest
from scipy.optimize import brentq

import dockdyn

CAPACITY, SPEED = 0.05, 0.3  # N m s, rad/s of 1 kg m²
BALL = {"mass": 10.0, "inertia": [1.0, 1.0, 1.0]}
SPINNING = {
    "schema": 2,
    "title": "a body that spins faster than its wheel can stop",
    "duration": 17.0,
    "body": {
        "a": BALL | {"rate": [0, 0, SPEED], "feature": {"f": {"position": [0.1, 0, 0], "radius": 0.02}}},
        "b": BALL
        | {
            "position": [9.0, 0, 0],
            "surface": {"p": {"shape": "plane", "point": [-0.1, 0, 0], "normal": [-1, 0, 0]}},
        },
    },
    "contact": {"c": {"between": ["f", "p"], "normal": {"law": "spring-dashpot", "stiffness": 1e3}}},
    "control": {
        **{"body": "a", "law": "attitude-hold", "base_stiffness": 3.0, "base_damping": 3.0},
        **{"base_limit": 1.0, "base_capacity": CAPACITY},
    },
}
# near its capacity C the wheel gives (C − h) / 1 s: h = C (1 − exp −t), until the attitude's error has gone half a turn
FULL, TURNED = np.log(100), brentq(lambda t: (SPEED - CAPACITY) * t + CAPACITY * (1 - np.exp(-t)) - np.pi, 1, 20)


def told(changes):
    run = dockdyn.simulate(dockdyn.load(SPINNING, changes))
    return [words for words in dockdyn.summarise(run)["warnings"] if "wheel" in words]


@pytest.mark.parametrize(("duration", "until", "end"), [(17.0, TURNED, ""), (10.0, 10.0, " and at its end")])
def test_since_when_and_how_long_it_was_full(duration, until, end):
    (words,) = told({"duration": duration})
    first, share = map(float, re.search(r"first at t = (\S+) s, for (\S+) % of the run" + end + ":", words).groups())
    assert first == pytest.approx(FULL, abs=0.02) and first >= FULL  # the first sample then
    assert share == pytest.approx(100 * (until - FULL) / duration, abs=0.6)
    assert f"its {CAPACITY:g} N m s" in words


def test_a_wheel_that_has_room_is_not_told():
    assert told({"control.base_capacity": 1.0}) == [] and told({"duration": 4.0}) == []
