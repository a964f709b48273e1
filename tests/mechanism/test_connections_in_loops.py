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


PANEL = """
schema = 2
title = "panel"
duration = 1.5
[body.base]
mass = 100
inertia = [10, 12, 14]
rate = [0.01, 0, 0.02]
[body.panel]
on = "base"
position = [1, 0, 0]
mass = 10
inertia = [1, 2, 3]
[integrator]
tolerance = 1e-11
[output]
interval = 0.1
[body.panel.joint]
"""
HINGE = """
kind = "revolute"
position = [0.5, 0, 0.4]
axis = [0, 0, 1]
start_rate = 0.2
rest = 0.5
stiffness = 5
"""
SLIDE = """
kind = "prismatic"
axis = [1, 0, 0]
start_rate = 0.2
rest = 0.1
stiffness = 50
"""


def holding(joint, grip, at, then=""):
    """The panel on a joint, held besides at a point of the base (m) that the panel has there, too."""
    between = f'between = ["panel", "base"]\nanchor = [[{at[0] - 1}, {at[1]}, {at[2]}], {list(at)}]\ngrip = "{grip}"\n'
    return parse(f"{PANEL}{joint}[connection.more]\n{between}{then}", "panel", {})


@pytest.mark.parametrize("at", [(0.5, 0.0, 0.4), (0.5, 0.0, -0.4)], ids=["in-its-middle", "second-hinge"])
def test_a_pin_on_the_axis_of_a_hinge_changes_nothing(at):
    """The hinge holds already all that it holds."""
    plain, held = dockdyn.simulate(parse(PANEL + HINGE, "panel", {})), dockdyn.simulate(holding(HINGE, "pin", at))
    for name in ("position", "rotation", "joint_angle", "joint_rate"):
        np.testing.assert_allclose(held[name].values, plain[name].values, rtol=0, atol=1e-9)
    assert np.abs(plain["joint_angle"].values).max() > 0.1


RELEASED = """
[phase.held]
[phase.released]
when = { lasting = 0.5 }
set = { "connection.more.closed" = false }
"""


@pytest.mark.parametrize(("joint", "own"), [(HINGE, (0.5, 0.0, 0.4)), (SLIDE, (1.0, 0.0, 0.0))], ids=["hinge", "slide"])
def test_a_weld_that_is_let_go_holds_alike_at_the_joint_and_away_from_it(joint, own):
    """Of a launch lock: at the joint some of its rows are zero whatever moves."""
    runs = [dockdyn.simulate(holding(joint, "weld", at, RELEASED)) for at in (own, (1.3, 0.2, -0.1))]
    for name in ("position", "rotation", "joint_angle", "joint_rate"):
        first, second = (run[name].values for run in runs)
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-8)
    moved = np.ravel(runs[0]["joint_angle"].values)
    assert np.ptp(moved[:5]) < 1e-12 and np.ptp(moved[6:]) > 1e-2


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
