"""Numbers that phases take to others over a time: set-points of joints, and what elements state."""

import numpy as np
import pytest
from helpers.refusals import refused
from scipy.integrate import solve_ivp

import dockdyn
from dockdyn.scenario.load import parse

BASE, LINK = 8.0, 2.0  # kg m², about the joint's axis: the joint is where both centres of mass are
STIFFNESS, DAMPING = 3.0, 1.5  # N m/rad, N m s/rad
START, AIM, OVER, BEGINS = 0.2, 1.1, 2.0, 0.5  # rad, rad, s, s

TWO = f"""
schema = 2
title = "a link on a base"
duration = 4
[body.base]
mass = 40
inertia = [{BASE}, {BASE}, {BASE}]
[body.link]
on = "base"
position = [0, 0, 0]
mass = 10
inertia = [{LINK}, {LINK}, {LINK}]
[body.link.joint]
kind = "revolute"
axis = [0, 0, 1]
position = [0, 0, 0]
start = {START}
"""
CONTROL = f"""
[control]
law = "joint-pd"
body = "base"
stiffness = [{STIFFNESS}]
damping = [{DAMPING}]
set_point = [{START}]
[phase.wait]
[phase.turn]
when = {{ lasting = {BEGINS} }}
over = {OVER}
set = {{ "control.set_point" = [{AIM}] }}
"""


def quintic(t):
    """The share of the way at so long (s) after the beginning, and its rate."""
    u = np.clip(t / OVER, 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u**2), 30 * u**2 * (1 - u) ** 2 / OVER


def angle_by_scipy(effort):
    """The joint's angle (rad) at the end, by the effort (N m) of time, angle and rate."""
    reduced = BASE * LINK / (BASE + LINK)
    found = solve_ivp(
        lambda t, x: [x[1], effort(t, *x) / reduced],
        (0, 4),
        [START, 0],
        "DOP853",
        rtol=1e-12,
        atol=1e-13,
        max_step=0.05,
    )
    return found.y[0, -1]


def to_set_point(t, angle, rate):
    share, speed = quintic(t - BEGINS)
    way = AIM - START
    return -STIFFNESS * (angle - START - share * way) - DAMPING * (rate - speed * way)


def test_a_joint_follows_a_set_point_that_moves():
    """Located, against the equation of the reduced inertia."""
    run = dockdyn.simulate(parse(TWO + CONTROL, "case"))
    assert float(run.joint_angle[-1, 0]) == pytest.approx(angle_by_scipy(to_set_point), abs=1e-8)
    share, _ = quintic(run.time.values - BEGINS)
    np.testing.assert_allclose(run.set_point.values[:, 0], START + share * (AIM - START), atol=1e-9)
    assert dockdyn.summarise(run)["status"] == "finished"


@pytest.mark.full
def test_the_variational_method_follows_it_to_second_order():
    ends = []
    for step in (0.02, 0.01):
        method = f'[integrator]\nmethod = "variational"\nstep = {step}\n'
        ends.append(float(dockdyn.simulate(parse(TWO + CONTROL + method, "case")).joint_angle[-1, 0]))
    expected = angle_by_scipy(to_set_point)
    assert ends[0] - expected == pytest.approx(4 * (ends[1] - expected), rel=0.02)
    assert (4 * ends[1] - ends[0]) / 3 == pytest.approx(expected, abs=1e-7)


@pytest.mark.full
def test_a_spring_that_grows_stiff_does_work():
    """Its stiffness goes from 1 to 5 N m/rad; what that gives counts as work."""
    spring = "stiffness = 1\nrest = 1\n"
    phases = f"""
[phase.soft]
[phase.stiff]
when = {{ lasting = {BEGINS} }}
over = {OVER}
set = {{ "body.link.joint.stiffness" = 5 }}
"""
    run = dockdyn.simulate(parse(TWO + spring + phases, "case"))

    def effort(t, angle, rate):
        return -(1 + 4 * quintic(t - BEGINS)[0]) * (angle - 1)

    assert float(run.joint_angle[-1, 0]) == pytest.approx(angle_by_scipy(effort), abs=1e-8)
    assert abs(float(run.work[-1])) > 0.01
    total = (run.kinetic_energy + run.internal_energy - run.work).values
    assert np.abs(total - total[0]).max() < 1e-9


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"control.set_point": [1, 2]}, "2 entries for 1 joint"),
        ({"control.law": "rate-damping", "control.stiffness": None}, "drives joints to none"),
        ({"phase.turn.set": {"control.set_point": [1, 2]}}, "must be a list of 1 numbers"),
        ({"phase.turn.set": {"control.set_point": ["1 m"]}}, "an angle|a set-point"),
        ({"phase.turn.set": {}}, "sets no number"),
        ({"phase.turn.set": {"control.set_pint": [1]}}, "set.control.set_pint"),
    ],
)
def test_bad_set_points_are_refused_in_one_line(changed, words):
    with refused(match=words):
        parse(TWO + CONTROL, "case", changed)
