"""A beam without a basis that bends by more than a tenth of its length is told: when, by the closed form of its modes."""

import re

import numpy as np
import pytest
from mechanism_cases import simulated
from scipy.optimize import brentq

from dockdyn.docking.run_warnings import mechanism_doubts

LENGTH, STIFFNESS, HEAVY = 3.0, 2.0, 1e6  # m, N m², kg of what carries it, beside 1 kg/m
BEAM = {
    "kind": "beam",
    "root": [0, -LENGTH / 2, 0],
    "axis": [0, 1, 0],
    "across": [1, 0, 0],
    "length": LENGTH,
    "mass_per_length": 1.0,
    "bending_stiffness": [STIFFNESS, STIFFNESS],
    "bending_modes": [2, 2],
}
BOOM = {"on": "bus", "position": [0, LENGTH / 2, 0], "mass": 3.0, "inertia": [2.25, 0.01, 2.25]}
CARRIED = {
    "schema": 2,
    "title": "a boom on what is pushed",
    "duration": 4.0,
    "output": {"interval": 0.01},
    "body": {
        "bus": {"mass": HEAVY, "inertia": [1e8] * 3},
        "boom": BOOM | {"joint": {"kind": "locked", "position": [0, 0, 0]}, "flexible": BEAM},
    },
    "thruster": {"t": {"body": "bus", "position": [0, 0, 0], "direction": [1, 0, 0], "force": 0.05 * HEAVY}},
}


def tip(t, acceleration):
    """Deflection (m) of the tip of a cantilever at rest whose root is accelerated (m/s²) from t = 0 on, by two modes."""
    total = 0.0
    for root, sigma, sign in ((1.8751040687, 0.7340955138, 1), (4.6940911330, 1.0184673190, -1)):
        rate = root**2 * np.sqrt(STIFFNESS / LENGTH**4)
        total += sign * 4 * sigma / root * acceleration / rate**2 * (1 - np.cos(rate * t))
    return total


def bent(load, case, force):
    told = mechanism_doubts(simulated(load, case, {"thruster.t.force": force}))
    return [line for line in told if "bends by up to" in line]


@pytest.mark.parametrize("direction", [[1, 0, 0], [0.6, 0, 0.8]])
def test_a_beam_that_bends_far_is_told(load, direction):
    case = CARRIED | {"thruster": {"t": CARRIED["thruster"]["t"] | {"direction": direction}}}
    (words,) = bent(load, case, 0.05 * HEAVY)
    assert words.startswith("flexible link 'boom'") and "body.boom.flexible.basis" in words
    size, share, first = map(float, re.search(r"to (\S+) m, (\S+) % .* t = (\S+) s", words).groups())
    assert first == pytest.approx(brentq(lambda t: tip(t, 0.05) - LENGTH / 10, 0.1, 4.0), abs=0.02)
    assert size == pytest.approx(tip(4.0, 0.05), rel=0.02) and share == pytest.approx(100 * size / LENGTH, rel=0.05)


def test_one_that_bends_little_or_has_a_basis_is_not_told(load):
    assert tip(4.0, 0.02) < LENGTH / 10 < tip(4.0, 0.05)
    assert bent(load, CARRIED, 0.02 * HEAVY) == []
    large = {key: BEAM[key] for key in ("kind", "length", "mass_per_length", "bending_stiffness", "bending_modes")}
    turned = {"attitude": {"axis": [0, 0, 1], "angle": np.pi / 2}, "inertia": [0.01, 2.25, 2.25]}
    boom = CARRIED["body"]["boom"] | turned | {"flexible": large | {"basis": "craig-bampton"}}
    assert bent(load, CARRIED | {"body": CARRIED["body"] | {"boom": boom}}, 0.05 * HEAVY) == []
