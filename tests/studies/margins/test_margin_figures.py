"""Figures of margins where a loop has more than one contact, and their slopes by numbers that two leaves hold."""

import numpy as np
import pytest
from helpers.refusals import refused

from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import scenario_from
from dockdyn.studies.margins.answer import margins
from dockdyn.studies.margins.figures import margin_figures
from dockdyn.studies.margins.slopes import CRITICAL, GROWTH, margin_of, margin_slopes

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


@pytest.mark.parametrize("friction", [{}, {"law": "stick-slip", "coefficient": 0.3}], ids=["smooth", "sticks"])
def test_a_mechanism_on_a_rig_without_stiffness_is_refused_by_its_depth(load, friction):
    """Hertz's law has none where contact begins."""
    law = {"law": "hunt-crossley", "stiffness": 1e6, "exponent": 1.5, "damping": 0.0}
    noses = {"between": ["noses", "face"], "normal": law} | ({"friction": friction} if friction else {})
    with refused("stability.depth: where contact begins", "0 N/m"):
        margins(load(two_noses() | {"contact": {"noses": noses}}))


def test_an_exponent_of_one_has_no_slope_on_a_mechanism(load):
    """A little more and nothing is stiff where contact begins; the others have theirs."""
    law = {"law": "hunt-crossley", "stiffness": SOFT, "exponent": 1.0, "damping": 0.0}
    noses = two_noses() | {"contact": {"noses": {"between": ["noses", "face"], "normal": law}}}
    found = margins(load(noses))
    told = [words for words in found["warnings"] if "no slope for" in words]
    assert len(told) == 1 and "contact.noses.normal.exponent" in told[0]
    assert "contact.noses.normal.exponent" not in found["sensitivities"]
    assert (
        np.isfinite(list(found["sensitivities"].values())).all()
        and "contact.noses.normal.stiffness" in found["sensitivities"]
    )


VARIED = [
    *("body.ball.mass", "body.ball.inertia.1.1", "contact.noses.normal.stiffness", "contact.noses.normal.damping"),
    *("contact.noses.friction.stiffness", "contact.noses.friction.retardation_time"),
    *("loop.delay", "loop.robot.denominator.2"),
]


def drawn_noses(seed):
    """Return two noses that a robot with a lag carries, without or with friction that sticks, and a delay at no instant."""
    draw, tables = np.random.default_rng([53, seed]), two_noses(10 ** np.random.default_rng(seed).uniform(-0.5, 1))
    sticks = {"law": "stick-slip", "coefficient": 0.3, "stiffness": 300.0, "retardation_time": 0.1}
    tables["contact"]["noses"] |= {"friction": sticks} if seed % 2 else {}
    fast = draw.uniform(150.0, 400.0)  # 1/s
    robot = {"numerator": [fast**2], "denominator": [1.0, 1.4 * fast, fast**2]}
    return tables | {"loop": tables["loop"] | {"delay": draw.uniform(2.2e-3, 3.8e-3), "robot": robot}}


@pytest.mark.full_cases(*(f"{seed}-{of}" for seed in range(1, 8) for of in (GROWTH, CRITICAL)))
@pytest.mark.parametrize("of", [GROWTH, CRITICAL])
@pytest.mark.parametrize("seed", range(8))
def test_slopes_of_a_mechanism_on_a_rig_are_those_of_differences(load, seed, of):
    """Whose loop is reduced to what its contacts see: with the pose of the first contact held, and moving with the numbers."""
    scenario = load(drawn_noses(seed))
    places = [place for place in places_of(scenario) if place.key in VARIED]
    assert len(places) == 6 + 2 * (seed % 2)
    slopes, differences = margin_slopes(scenario, of, places)[1], []
    for place in places:
        less, more = (margin_of(scenario.at(place.written(place.value * factor)), of) for factor in (0.9999, 1.0001))
        differences.append((more - less) / 2e-4)
    told = [slope * place.value for slope, place in zip(slopes, places, strict=True)]
    exact = 1e-5 * np.abs(differences).max()
    np.testing.assert_allclose(told, differences, rtol=0, atol=exact)
    own = margins(scenario)
    if own["sensitivity_of"] == (of if of == GROWTH else "delay_margin_s"):
        held = [own["sensitivities"].get(place.key, 0.0) for place in places]
        lateness = [float(of == CRITICAL and place.key == "loop.delay") * place.value for place in places]
        np.testing.assert_allclose(held, np.subtract(told, lateness), rtol=0, atol=exact)


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
