"""Frequencies and angular rates in each other's units: a cycle is a turn."""

import numpy as np
import pytest

import dockdyn
from dockdyn.results.requirements import judge_requirements
from dockdyn.scenario.language.requirement import requirements_of
from dockdyn.scenario.language.units import base_units, convert, scale_of

TURN = 2 * np.pi  # rad
ENDLESS = "((((((9**99)**99)**99)**99)**99)**99)"  # a number of 10^12 digits


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("50 rad/s", "Hz", 50 / TURN),
        ("60 rpm", "Hz", 1),
        ("360 deg/s", "Hz", 1),
        ("8 Hz", "Hz", 8),
        ("0.008 kHz", "Hz", 8),
        ("1 Hz", "rad/s", TURN),
        ("2 mHz", "rad/s", 0.002 * TURN),
        ("1 Hz", "deg/s", 360),
        ("0.5 Hz/s", "rad/s**2", TURN / 2),
        ("60 rpm", "rad/s", TURN),
        ("1 turn/s", "rad/s", TURN),
        ("180 deg/s", "rad/s", np.pi),
        ("3 rad/s", "rad/s", 3),
        ("3 1/s", "rad/s", 3),
        ("3 Hz", "1/s", 3),  # a rate of growth, a gain per second: no angle on either side
        ("3 rad/s", "1/s", 3),
    ],
)
def test_a_frequency_of_turns_and_of_angles(text, unit, number):
    assert convert(text, unit) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize(("text", "unit"), [("3 kg", "Hz"), ("3 Hz", "s"), ("3 Hz", "rad"), ("3 rad", "Hz")])
def test_a_frequency_is_nothing_else(text, unit):
    with pytest.raises(ValueError, match="Cannot convert"):
        convert(text, unit)


@pytest.mark.parametrize("text", ["50 1/s", "50 s^-1", "3000 / min"])
def test_a_frequency_per_second_says_neither_cycles_nor_radians(text):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("sits", {"loop.robot": {"bandwidth": text}})
    words = 'greater than 0 Hz, as a number or a text such as "5 Hz" or "30 rad/s"'
    assert str(refusal.value) == f"sits: loop.robot.bandwidth = {text!r}: must be a frequency {words}"


@pytest.mark.parametrize("rate", ["0.01 Hz", "3.6 deg/s", "0.6 rpm"])
def test_a_rate_in_a_scenario(rate):
    scenario = dockdyn.load("probe-cone", {"approach.yaw_rate": rate})
    assert scenario.content.approach.yaw_rate == pytest.approx(0.01 * TURN, rel=1e-15)


def test_a_limit_in_cycles():
    required = requirements_of({"remaining_rate_rad_s": "< 2 Hz"}, "mine.toml")
    (met,) = judge_requirements(required, {"remaining_rate_rad_s": 12.0}, "mine.toml")
    assert met["limit"] == pytest.approx(2 * TURN, rel=1e-15) and met["met"]


@pytest.mark.parametrize(
    ("unit", "wanted", "expected"), [("1e-3 N", "N", 1e-3), ("mm", "m", 1e-3), ("1000*lbf", "kN", 4.4482216152605)]
)
def test_a_unit_may_be_a_number_of_another(unit, wanted, expected):
    assert scale_of(unit, wanted) == pytest.approx(expected, rel=1e-14)


def test_no_text_is_evaluated_for_ever():
    """Neither as a number, nor for the words of its refusal, nor as a unit that somebody's FMU names."""
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("probe-cone", {"body.chaser.mass": f"{ENDLESS} kg"})
    assert str(refusal.value).endswith('must be a mass greater than 0 kg, as a number or a text such as "5 kg"')
    assert base_units(f"{ENDLESS} m") == {}
