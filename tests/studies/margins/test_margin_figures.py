"""Figures of margins where a loop has more than one contact, and their slopes by numbers that two leaves hold."""

import numpy as np
import pytest

from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import scenario_from
from dockdyn.studies.margins.figures import margin_figures
from dockdyn.studies.margins.slopes import margin_of, margin_slopes

SOFT, DAMPING = 3000.0, 100.0  # N/m, N s/m, of each of two noses
FIRST, SECOND = 60.0, 90.0  # kg


def two_noses(factor=1.0):
    """A rig whose ball has two noses beside each other, that meet a plate."""
    law = {"law": "spring-dashpot", "stiffness": SOFT * factor, "damping": DAMPING * factor}
    return {
        "schema": 2,
        "duration": "4 s",
        "rig": {"carries": "ball", "against": "plate"},
        "body": {
            "ball": {
                "mass": FIRST,
                "inertia": [6.0, 6.0, 6.0],
                "position": [-0.6, 0, 0],
                "velocity": [0.1, 0, 0],
                "feature": {"noses": {"positions": [[0.3, 0.25, 0.0], [0.3, -0.25, 0.0]], "radius": 0.05}},
            },
            "plate": {
                "mass": SECOND,
                "inertia": [9.0, 12.0, 15.0],
                "position": [0, 0, 0],
                "surface": {"face": {"shape": "plane", "point": [-0.2, 0, 0], "normal": [-1, 0, 0]}},
            },
        },
        "contact": {"noses": {"between": ["noses", "face"], "normal": law}},
        "loop": {
            "delay": "2 ms",
            "hold": {"period": "4 ms"},
            "dynamics": {"method": "zero-order-hold", "period": "4 ms"},
        },
    }


@pytest.mark.full
def test_the_gain_margin_of_two_contacts_is_that_by_which_both_may_be_harder(load):
    """Both noses push one mass along the line between the bodies, which is less than what turns: that decides."""
    margin = margin_figures(load(two_noses()))["gain_margin"]
    assert 1 < margin < np.inf
    below, above = (margin_figures(load(two_noses(margin * side)), gain=False) for side in (0.99, 1.01))
    assert below["growth_rate_1_s"] < 0 < above["growth_rate_1_s"]


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("part", ["0", "1"])
def test_slopes_by_both_parts_of_a_pair_of_poles_are_those_of_differences(part):
    scenario = scenario_from("sits")
    (place,) = [one for one in places_of(scenario) if one.key == f"loop.robot.poles.0.{part}"]
    _, (slope,) = margin_slopes(scenario, "growth_rate_1_s", [place])
    step = 1e-3 * abs(place.value)
    ends = [margin_of(scenario.at(place.written(place.value + side * step)), "growth_rate_1_s") for side in (1, -1)]
    assert slope != 0
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4)
