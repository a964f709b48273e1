"""Limits of actuators that hold back what control asks for are told: since when and for how long, by an own integration."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dockdyn

BALL = {"mass": 10.0, "inertia": [1.0, 1.0, 1.0]}
FACE = {"p": {"shape": "plane", "point": [-0.1, 0, 0], "normal": [-1, 0, 0]}}


def spinning(rate, gains, limits):
    """A free body that turns about one axis, held at an attitude within limits."""
    return {
        "schema": 2,
        "duration": 12.0,
        "body": {
            "a": BALL | {"rate": [0, 0, rate], "feature": {"f": {"position": [0.1, 0, 0], "radius": 0.02}}},
            "b": BALL | {"position": [9.0, 0, 0], "surface": FACE},
        },
        "contact": {"c": {"between": ["f", "p"], "normal": {"law": "spring-dashpot", "stiffness": 1e3}}},
        "control": {
            "body": "a",
            "law": "attitude-hold",
            "base_stiffness": gains[0],
            "base_damping": gains[1],
            **limits,
        },
    }


def told(scenario):
    return [words for words in dockdyn.summarise(dockdyn.simulate(scenario))["warnings"] if "is reached" in words]


@pytest.mark.full_cases("base_limit-0", "thruster_torque-0")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("key", ["base_limit", "thruster_torque"])
def test_a_limit_is_told_for_as_long_as_it_holds(load, seed, key):
    """θ̈ = −clip(K θ + D θ̇) about one axis, of a turn that stays below half of one."""
    draw = np.random.default_rng([11, seed])
    gains, rate = draw.uniform(0.5, 2.0, 2), draw.uniform(0.1, 0.3)
    limit = draw.uniform(0.2, 0.6) * gains[1] * rate
    within = solve_ivp(
        lambda _, x: [x[1], -np.clip(gains @ x, -limit, limit)],
        (0, 12),
        [0.0, rate],
        rtol=1e-9,
        atol=1e-12,
        max_step=1e-2,
    )
    reached = np.abs(gains @ within.y) >= limit
    share = np.trapezoid(reached.astype(float), within.t) / 12
    (words,) = told(load(spinning(rate, gains.tolist(), {key: limit})))
    first, percent = map(float, re.search(r"first at t = (\S+) s, for (\S+) % of the run:", words).groups())
    assert words.startswith(f"control.{key} is reached") and first == 0
    assert percent == pytest.approx(100 * share, abs=0.02 * 100 * share + 0.3)
    assert told(load(spinning(rate, gains.tolist(), {key: 3 * gains[1] * rate}))) == []


def test_motors_of_an_arm_at_their_limit_are_told():
    run = dockdyn.simulate(dockdyn.load("cyril-controlled", {"duration": "0.5 s"}))
    effort, limit = np.abs(run.motor_effort.values), np.array([30.0, 30.0, 10.0])
    (words,) = [words for words in dockdyn.summarise(run)["warnings"] if "is reached" in words]
    first = run.time.values[(effort >= limit).any(axis=1).argmax()]
    assert words.startswith(f"control.limit is reached, first at t = {first:.6g} s")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"base_limit": 1.0}, "control.base_limit is left out: "),
        ({"base_limit": 1.0, "thruster_torque": 2.0}, "control.base_limit and control.thruster_torque are left out: "),
        ({}, None),
    ],
)
def test_margins_say_that_they_leave_limits_out(load, limits, words):
    tables = spinning(0.0, [1.0, 1.0], limits)
    tables["body"]["b"]["position"] = [0.22, 0.0, 0.0]
    found = [one for one in dockdyn.margins(load(tables))["warnings"] if "left out" in one]
    assert [one[: len(words)] for one in found] == [words] if words else not found


@pytest.mark.parametrize("seed", range(4))
def test_thrusters_that_take_over_from_a_wheel_cost_few_steps(load, seed):
    """What is left for them is nothing but rounding until the wheel is at its limit: that is no corner to step to again and
    again, for tens of thousands of steps."""
    draw = np.random.default_rng([12, seed])
    gains, rate = draw.uniform(20, 60, 2), draw.uniform(0.1, 0.3)
    limit = draw.uniform(0.2, 0.6) * gains[1] * rate
    tables = spinning(0.0, gains.tolist(), {"base_limit": limit, "thruster_torque": 0.5 * limit})
    tables["body"]["a"]["rate"] = (rate * draw.normal(size=3)).tolist()
    tables["thruster"] = {
        "push": {"body": "a", "position": [0.0, 0.2, 0.0], "direction": [1.0, 0.0, 0.0], "force": 3.0 * limit}
    }
    steps = dockdyn.simulate(load(tables)).attrs["steps"]
    alone = dockdyn.simulate(load(spinning(rate, gains.tolist(), {"base_limit": limit}))).attrs["steps"]
    assert steps < 5 * alone + 200, (steps, alone)
