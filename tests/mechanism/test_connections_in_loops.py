"""Connections that close loops of joints: a four-bar linkage on a free base, a parallelogram, by two methods."""

import math

import numpy as np
import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.scenario.load import parse

CRANK, COUPLER, START = 0.5, 1.0, 1.2  # m, m, rad
MASSES = {"base": 50.0, "crank": 2.0, "coupler": 3.0, "rocker": 2.0}  # kg
INERTIAS = {"base": 5.0, "crank": 0.05, "coupler": 0.2, "rocker": 0.05}  # kg m², about the centre of mass
RATE = 2.0  # rad/s, of the crank at the start


def bar(name, on, hinge, start, rate, length):
    """A bar, its middle half its length from its hinge, which is so far (m) from the middle of what carries it."""
    own = INERTIAS[name]
    return f"""
[body.{name}]
on = "{on}"
position = [{hinge + length / 2}, 0, 0]
mass = {MASSES[name]}
inertia = [{own}, {own}, {own}]
joint = {{ kind = "revolute", axis = [0, 0, 1], position = [{hinge}, 0, 0], start = {start}, start_rate = {rate} }}
"""


def four_bar(method, end=2.0, duration=5.0, **changed):
    """The linkage, turning: coupler parallel to the base, so that crank and rocker are parallel."""
    text = f"""
schema = 2
title = "four-bar"
duration = {duration}
[body.base]
mass = 50
inertia = [5, 5, 5]
"""
    text += bar("crank", "base", 1.0, START, RATE, CRANK)
    text += bar("coupler", "crank", CRANK / 2, -START, -RATE, COUPLER)
    text += bar("rocker", "coupler", COUPLER / 2, START - math.pi, RATE, CRANK)
    text += f"""
[connection.hinge]
between = ["rocker", "base"]
anchor = [[{CRANK / 2}, 0, 0], [{end}, 0, 0]]
grip = "pin"
[integrator]
method = "{method}"
"""
    text += "step = 0.01\n" if method == "variational" else "tolerance = 1e-11\n"
    return parse(text + "[output]\ninterval = 0.05\n", "four-bar", changed)


def energy_at_the_start():
    """About the centre of mass: crank and rocker turn, the coupler circles."""
    hinge = np.array([-math.sin(START), math.cos(START)]) * CRANK * RATE
    velocities = {"base": 0 * hinge, "crank": hinge / 2, "coupler": hinge, "rocker": hinge / 2}
    rates = {"base": 0.0, "crank": RATE, "coupler": 0.0, "rocker": RATE}
    turning = sum(INERTIAS[name] * rate**2 for name, rate in rates.items())
    return 0.5 * (turning + sum(MASSES[name] * velocity @ velocity for name, velocity in velocities.items()))


@pytest.fixture(scope="module")
def turning():
    return dockdyn.simulate(four_bar("variational"))


def test_the_loop_stays_closed(turning):
    """The rocker's end by the angles of the joints."""
    angles = np.cumsum(turning.joint_angle.values, axis=1)
    lengths = np.array([CRANK, COUPLER, CRANK])
    along, across = np.cos(angles) @ lengths, np.sin(angles) @ lengths
    assert max(np.abs(along - COUPLER).max(), np.abs(across).max()) < 1e-11
    assert np.ptp(angles[:, 0]) > 2 * math.pi  # the crank goes round, also where all bars are in line


def test_energy_and_momentum_are_kept(turning):
    """Its value at the start in closed form; it stays within a band of second order in the step."""
    summary = dockdyn.summarise(turning)
    assert summary["status"] == "finished" and not summary["captured"]
    energy = turning.kinetic_energy.values
    assert energy[0] == pytest.approx(energy_at_the_start(), rel=1e-12)
    assert np.abs(energy / energy[0] - 1).max() < 1e-4  # (0.01 s · 2 rad/s)² is 4e-4
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-12


@pytest.mark.full
def test_two_methods_turn_the_same_linkage():
    """Located steps carry the loop by forces, of which those out of the plane are held many times over."""
    located = dockdyn.simulate(four_bar("located", duration=1.5))
    energy = located.kinetic_energy.values
    assert located.attrs["status"] == "finished"
    assert np.abs(energy / energy[0] - 1).max() < 1e-9
    coarse, fine = (
        dockdyn.simulate(four_bar("variational", duration=1.5, **{"integrator.step": step})) for step in (0.01, 0.005)
    )
    beyond = (4 * fine.joint_angle[-1].values - coarse.joint_angle[-1].values) / 3
    assert np.abs(beyond - located.joint_angle[-1].values).max() < 1e-6


@pytest.mark.full
def test_a_welded_loop_is_stiff():
    """A weld at the last hinge leaves a parallelogram no motion but that of one body."""
    run = dockdyn.simulate(four_bar("variational", duration=0.5, **{"connection.hinge.grip": "weld"}))
    assert np.abs(run.joint_rate.values[1:]).max() < 1e-9


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"connection.hinge.between": ["rocker", "bas"]}, "did you mean 'base'"),
        ({"connection.hinge.anchor": None}, "anchor"),
        ({"connection.hinge.grip": "glue"}, "grip"),
        ({"end": 2.1}, r"hinge.*start 0.1 m apart; must meet"),
    ],
)
def test_bad_connections_are_refused_in_one_line(changed, words):
    with refused(match=words):
        dockdyn.simulate(four_bar("variational", **changed))
