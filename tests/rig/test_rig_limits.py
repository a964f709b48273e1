"""A rig that a limit of its robot or its sensor holds back is told so, and since when: times by closed forms."""

import json
import re

import numpy as np
import pytest
from helpers.line_rig import line_rig
from helpers.refusals import refused

import dockdyn
from dockdyn.rig.comparison.compare import comparison_answer
from dockdyn.rig.comparison.report import comparison_report

HOLD, START, SPEED, PUSH = 5e-3, -0.01, -0.02, 0.01  # s, m, m/s, m/s²: away at first, then back, all along pushed
RIG = line_rig(
    300,
    {"law": "spring-dashpot", "stiffness": 2e4, "damping": 60},
    velocity=SPEED,
    position=START,
    duration=5.5,
    thruster={"push": {"body": "target", "direction": 1, "force": 300 * PUSH}},
    loop={"hold": {"period": HOLD}, "dynamics": {"period": HOLD}, "sensor": {"delay": 2 * HOLD}},
)
HOLDS = np.arange(1, 1000)


def place(t):
    """Where (m) the model is before it touches."""
    return START + SPEED * t + PUSH / 2 * t**2


def warned(changes, case=RIG):
    """The warnings of a run that say since when a limit holds something back."""
    told = dockdyn.summarise(dockdyn.simulate(dockdyn.load(case, changes)))["warnings"]
    return [words for words in told if "first at t = " in words]


def first_told(line, key):
    assert line.startswith(f"{key} ")
    return float(re.search(r"first at t = (\S+) s", line)[1])


@pytest.mark.parametrize("robot", [{"bandwidth": 15.0}, {"poles": [[-90.0, 0.0]], "gain": 90.0}])
def test_since_when_commands_are_held_back_by_their_rate(robot):
    """A command goes on by v h, of the velocity in the middle between it and the last one."""
    limit = {"loop.robot": robot | {"rate_limit": 0.023}}
    steps = np.abs(place(HOLDS * HOLD) - place((HOLDS - 1) * HOLD))
    expected = HOLDS[np.argmax(steps > 0.023 * HOLD)] * HOLD
    assert place(expected) < 0  # it has not touched yet
    (line,) = warned(limit)
    assert first_told(line, "loop.robot.rate_limit") == pytest.approx(expected, abs=1e-9)
    assert warned({"loop.robot": robot | {"rate_limit": 0.2}}) == []


def test_since_when_commands_are_held_back_by_their_size():
    limit = {"loop.robot": {"bandwidth": 15.0, "position_limit": 0.015}}
    expected = HOLDS[np.argmax(np.abs(place(HOLDS * HOLD)) > 0.015)] * HOLD
    (line,) = warned(limit)
    assert first_told(line, "loop.robot.position_limit") == pytest.approx(expected, abs=1e-9)
    assert warned({"loop.robot": {"bandwidth": 15.0, "position_limit": 0.1}}) == []


APPROACH = RIG | {
    "duration": 0.5,
    "thruster": {},
    "body": RIG["body"] | {"target": {"mass": 300, "position": -5.1e-3, "velocity": 0.05}},
    "loop": {"hold": {"period": 4e-3}, "dynamics": {"period": 2e-3}, "sensor": {"delay": 4e-3, "period": 2e-3}},
}


def test_since_when_the_sensor_is_at_its_range():
    """The robot is told at 104 ms to be 0.1 mm in; the sensor tells a delay later, of just before and of just after that."""
    springy = {"contact.spring.normal.damping": 0.0, "loop.sensor.range": 1.5}
    assert 2e4 * (-5.1e-3 + 0.05 * 0.104) == pytest.approx(2.0)
    (line,) = warned(springy, APPROACH)
    assert first_told(line, "loop.sensor.range") == pytest.approx(0.104 + 4e-3 + 2e-3, abs=1e-9)
    assert warned(springy | {"loop.sensor.range": 1e3}, APPROACH) == []
    assert warned(springy | {"duration": 0.109}, APPROACH) == []  # that is over before


def test_an_approach_at_the_limit_itself_is_not_held_back():
    """Rounding of a command's change is no change."""
    assert warned({"loop.robot": {"bandwidth": 15.0, "rate_limit": 0.05}, "duration": 0.2}, APPROACH) == []


def test_a_run_that_begins_beyond_its_limits_is_refused():
    slow, near = (
        {"loop.robot": {"bandwidth": 15.0, **limit}} for limit in ({"rate_limit": 0.03}, {"position_limit": 4e-3})
    )
    with refused("loop.robot.rate_limit = 0.03 m/s", "0.05 m/s along x", "rig.robot = 'at-rest'"):
        warned(slow, APPROACH)
    with refused("loop.robot.position_limit = 0.004 m", "0.0051 m"):
        warned(near, APPROACH)
    with refused("loop.robot.rate_limit"):
        dockdyn.compare(dockdyn.load(APPROACH, slow), ["none"], [2e4])
    (line,) = warned(
        slow | {"rig.robot": "at-rest"}, APPROACH
    )  # where it stood is its first command, so the second is late
    assert first_told(line, "loop.robot.rate_limit") == pytest.approx(4e-3, abs=1e-9)


def test_a_comparison_tells_which_runs_a_limit_held_back():
    """Of two contacts of which the softer alone lets the robot in as far as its limit."""
    changes = {
        "duration": 0.25,
        "loop.robot": {"bandwidth": 15.0, "position_limit": 6e-3},
        "loop.sensor.averaging": 2e-3,
    }
    dataset = dockdyn.compare(dockdyn.load(APPROACH, changes), ["none", "command-lead"], [1e4, 4e4])
    runs = dockdyn.summarise(
        dockdyn.simulate(dockdyn.load(APPROACH, changes | {"contact.spring.normal.stiffness": 1e4}))
    )
    (own,) = [words for words in runs["warnings"] if "position_limit" in words]
    answer = comparison_answer(dataset)
    (line,) = [words for words in answer["warnings"] if "position_limit" in words]
    assert "in 2 of 4 runs" in line and "with every compensator" in line
    assert first_told(line, "loop.robot.position_limit") <= first_told(own, "loop.robot.position_limit")
    assert line in comparison_report(dataset).warnings and json.dumps(answer)


def test_where_no_compensator_serves_none_is_recommended():
    """The bounce without rig ends within the run, that of the rig does not."""
    changes = {"duration": 0.5, "loop.delay": 0.03, "contact.spring.normal.damping": 0.0}
    dataset = dockdyn.compare(dockdyn.load(APPROACH, changes), ["none"], [2e4])
    answer = comparison_answer(dataset)
    assert np.isfinite(dataset.ideal_restitution.values).all()
    assert answer["worst_error"] == {"none": None}
    assert (answer["recommended"], answer["alike"], answer["runner_up"]) == (None, [], None)


def test_margins_tell_that_they_leave_limits_out():
    robot = {"bandwidth": 15.0, "rate_limit": 0.1}
    told = dockdyn.margins(dockdyn.load(APPROACH, {"loop.robot": robot, "loop.sensor.range": 1e3}))["warnings"]
    assert any(words.startswith("loop.robot.rate_limit and loop.sensor.range are left out") for words in told)
