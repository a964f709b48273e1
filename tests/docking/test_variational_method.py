"""Mechanisms by the variational method: beside closed forms, beside the located method, what is kept, what is refused."""

import numpy as np
import pytest
from helpers.refusals import refused
from varied_cases import ARM, HERTZ, TWO, bouncing, by, energy, in_plane, momentum_errors, parted, touching

from dockdyn import simulate
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import load, parse

STEP = 0.01  # s


def test_a_spring_swings_as_the_midpoint_rule_says():
    """Along a line the separation is r + a cos θn with tan θ/2 = ω h/2: the discrete dispersion of the midpoint rule."""
    masses, stiffness, start, step = (10.0, 20.0), 30.0, 1.0, 0.02
    line = TWO.replace("rate = [0.1, 0.3, -0.2]\nvelocity = [0.5, 0, 0]\n", "")
    data = by(line.replace("[[0, 0.1, 0], [0, 0.2, 0.1]]", "[[0, 0, 0], [0, 0, 0]]"), step)
    omega = np.sqrt(stiffness * (1 / masses[0] + 1 / masses[1]))
    angle = 2 * np.arctan(omega * step / 2)
    count = np.round(data.time.values / step)
    apart = data.position.values[:, 1, 0] - data.position.values[:, 0, 0]
    assert np.abs(apart - (0.8 + (start - 0.8) * np.cos(angle * count))).max() < 1e-11


def test_two_bodies_bounce_as_located_ones_do():
    """Impacts between bodies that turn, with a spring: error of second order, momenta to rounding, energy back after each."""
    text = TWO + touching(bouncing(1.0))
    (coarse, own, other), (fine, *_) = parted(text, STEP), parted(text, STEP / 2)
    assert own.sizes["episode"] == other.sizes["episode"] > 0
    assert np.all(np.log2(coarse / fine) > 1.8)
    assert np.all(fine < 1e-4)  # ω³ h² t / 24, the phase that the midpoint rule loses, is 4e-5 at ω = 2.1 rad/s
    assert np.allclose(own.episode_onset, other.episode_onset, atol=1e-4)
    assert np.allclose(own.episode_approach_speed, other.episode_approach_speed, rtol=1e-3)
    assert np.allclose(own.impact_impulse.values[-1], other.impact_impulse.values[-1], rtol=1e-3)
    assert max(momentum_errors(own)) < 1e-13
    assert np.abs(energy(own) - energy(own)[0]).max() < 5e-5


@pytest.mark.full
@pytest.mark.parametrize(
    "contact", [bouncing(1.0), bouncing(0.5), bouncing(0.0), HERTZ], ids=["elastic", "half", "plastic", "hertz"]
)
def test_an_arm_moves_as_the_located_one_does(contact):
    """A flexible arm with springs, dampers, motor, thruster, phases, orbit and contact: second order of the step."""
    text = ARM + touching(contact, "hand.ball", "target.wall")
    (coarse, own, other), (fine, *_) = parted(text, STEP / 2), parted(text, STEP / 4)
    assert own.sizes["episode"] == other.sizes["episode"] > 0
    assert np.all(np.log2(coarse / fine) > 1.6)
    assert np.all(fine < 2e-3)
    assert max(momentum_errors(own)) < 1e-12
    assert np.allclose(own.phase_began, other.phase_began, atol=1e-9)


LATCH = """
[latch.capture]
between = ["left", "right"]
anchor = [[0.3, 0.1, 0], [-0.3, 0.1, 0]]
axis = [-1, 0, 0]
reach = "1 mm"
lateral = "1 m"
"""


@pytest.mark.full
@pytest.mark.parametrize("grip", ["pin", "weld"])
def test_a_rigid_latch_holds(grip):
    """A latch catches the ball at the wall: what it stops, and what moves on, is that of the located run."""
    latch = LATCH + f'grip = "{grip}"\n'
    (coarse, own, other), (fine, *_) = parted(TWO + latch, STEP), parted(TWO + latch, STEP / 2)
    assert np.isfinite(own.capture_time)
    assert np.isclose(own.capture_time, other.capture_time, atol=1e-4)
    assert np.all(coarse / fine > 3)
    assert max(momentum_errors(own)) < 1e-12
    held = own.time.values > float(own.capture_time)
    assert np.ptp(energy(own)[held]) < 1e-4


LEVEL = TWO.replace("rate = [0.1, 0.3, -0.2]", "rate = [0, 0, -0.2]").replace("[0, 0.2, 0.1]", "[0, 0.2, 0]")


@pytest.mark.full
@pytest.mark.parametrize("contact", [bouncing(1.0), HERTZ], ids=["impact", "hertz"])
def test_bodies_in_the_plane_move_as_in_space(contact):
    """Where nothing leaves the plane the steps are the same ones, to rounding; and second order beside the located method."""
    text = LEVEL + touching(contact)
    own, space = by(in_plane(text), STEP), by(text, STEP)
    assert own.sizes["episode"] == space.sizes["episode"] > 0
    for name in ("position", "velocity", "attitude", "rate", "episode_onset"):
        assert np.allclose(own[name], space[name], rtol=0, atol=1e-10), name
    (coarse, *_), (fine, *_) = parted(in_plane(text), STEP), parted(in_plane(text), STEP / 2)
    assert np.all(np.log2(coarse / fine) > 1.8)
    assert max(momentum_errors(own)) < 1e-13


@pytest.mark.full
@pytest.mark.parametrize("grip", ["pin", "weld"])
def test_a_rigid_latch_holds_in_the_plane(grip):
    """As in space: what is held in the plane has two or three rows, in space three or six."""
    latch = LATCH + f'grip = "{grip}"\n'
    own, space = by(in_plane(LEVEL + latch), STEP), by(LEVEL + latch, STEP)
    assert np.isfinite(own.capture_time)
    for name in ("position", "velocity", "attitude", "rate", "capture_time", "element_tension"):
        assert np.allclose(own[name], space[name], rtol=0, atol=1e-9), name


LINE = """
schema = 2
title = "Two bodies on a line"
duration = "4 s"
motion = "line"
body.left = { mass = "10 kg", velocity = 0.5 }
body.right = { mass = "20 kg", position = 0.4 }

[strut.spring]
between = ["left", "right"]
anchor = [-0.5, 0.5]
stiffness = "30 N/m"
free_length = "1.2 m"
"""


@pytest.mark.full
def test_bodies_on_a_line_bounce_as_located_ones_do():
    """One coordinate each: error of second order, momentum to rounding."""
    text = LINE + '[contact.ends]\nbetween = ["left", "right"]\n' + bouncing(0.8)
    (coarse, own, other), (fine, *_) = parted(text, STEP), parted(text, STEP / 2)
    assert own.sizes["episode"] == other.sizes["episode"] > 0
    moving = coarse > 1e-12
    assert np.all(np.log2(coarse[moving] / fine[moving]) > 1.8)
    assert momentum_errors(own)[0] < 1e-13


@pytest.mark.full
def test_a_body_comes_to_rest_and_parts():
    """Pressed by a spring on the wall, then drawn off it by a motor: when it rests and parts, and where it ends."""
    flat = TWO.replace("rate = [0.1, 0.3, -0.2]\nvelocity = [0.5, 0, 0]\n", "velocity = [0.5, 0, 0]\n")
    flat = flat.replace("position = [0.2, 0.1, 0]", "position = [0.2, 0, 0]").replace('"0.8 m"', '"0.5 m"')
    flat = flat.replace("[[0, 0.1, 0], [0, 0.2, 0.1]]", "[[0, 0, 0], [0, 0, 0]]")
    text = flat + 'speed = "0.1 m/s"\n' + touching(bouncing(0.0))
    (coarse, own, other), (fine, *_) = parted(text, STEP), parted(text, STEP / 2)
    assert own.sizes["episode"] == other.sizes["episode"] == 1
    assert np.isclose(own.episode_release[0], other.episode_release[0], atol=1e-4)
    moving = coarse > 1e-9  # along the line alone
    assert np.all(coarse[moving] / fine[moving] > 3)


@pytest.mark.full
def test_an_elastic_impact_balances_the_steps_beside_it():
    """By the variational law the energy −∂L_d/∂h, which is that of the state halfway, is the same before and after."""
    text = TWO.replace("rate = [0.1, 0.3, -0.2]\n", "") + touching('impact = { law = "variational" }')
    reflected = by(TWO.replace("rate = [0.1, 0.3, -0.2]\n", "") + touching(bouncing(1.0)), STEP / 8)
    ends = [by(text, step).velocity.values[-1] for step in (STEP, STEP / 2)]
    errors = [np.abs(end - reflected.velocity.values[-1]).max() for end in ends]
    assert errors[0] / errors[1] > 3  # the reflection is its limit, of second order
    assert max(momentum_errors(by(text, STEP))) < 1e-13


@pytest.mark.full
def test_a_beam_swings_at_the_frequency_of_the_midpoint_rule():
    """A cantilever on a base far heavier: its first mode at ω₁ = 1.8751² √(EI/μL⁴), seen as 2/h atan(ω₁ h/2)."""
    step, stiffness, length, density = 0.02, 2000.0, 2.0, 10.0
    text = f"""
schema = 2
duration = "20 s"
title = "Cantilever"

[body.base]
mass = 1e9
inertia = [1e9, 1e9, 1e9]

[body.beam]
on = "base"
position = [{length / 2}, 0, 0]
mass = {density * length}
inertia = [0.1, {density * length**3 / 12}, {density * length**3 / 12}]

[body.beam.joint]
kind = "locked"
position = [0, 0, 0]

[body.beam.flexible]
kind = "beam"
root = [{-length / 2}, 0, 0]
axis = [1, 0, 0]
across = [0, 1, 0]
length = {length}
mass_per_length = {density}
bending_stiffness = [{stiffness}, {stiffness}]
bending_modes = [1, 0]

[thruster.push]
body = "beam"
position = [{length / 2}, 0, 0]
direction = [0, 1, 0]
force = "1 N"
"""
    data = by(text, step)
    omega = 1.875104**2 * np.sqrt(stiffness / (density * length**4))
    angle = 2 * np.arctan(omega * step / 2)
    bent = data.modal_coordinate.values[:, 0]
    expected = bent.max() / 2 * (1 - np.cos(angle * data.time.values / step))
    assert np.abs(bent - expected).max() < 2e-3 * bent.max()


def drift(data):
    """Mean of the energy in the first and the last tenth of a run, each against the start (J), and its largest swing."""
    found = energy(data) - energy(data)[0]
    tenth = len(found) // 10
    return found[:tenth].mean(), found[-tenth:].mean(), np.abs(found).max()


@pytest.mark.full
def test_energy_of_the_elastic_arm_over_a_thousand_steps():
    data = simulate(load("elastic-arm").at({"duration": 5.0}))
    assert drift(data)[2] < 1e-4  # of 3.75 J that its springs hold at the start
    assert max(momentum_errors(data)) < 1e-13


@pytest.mark.full
def test_energy_of_the_elastic_arm_over_100_000_steps():
    """Through two dozen impacts the energy swings within one per cent and does not drift; momenta are kept to rounding."""
    data = simulate(load("elastic-arm").at({"duration": 500.0}))
    _, last, swing = drift(data)
    assert data.attrs["steps"] >= 100_000
    assert data.sizes["episode"] > 20
    assert swing < 0.01 * 3.75
    assert abs(last) < 0.003 * 3.75
    assert max(momentum_errors(data)) < 1e-13


@pytest.mark.full
def test_the_elastic_arm_is_that_of_the_located_method():
    """Two seconds in which links swing at 9 and 13 Hz: the error is of second order of the step, phases of modes and all."""
    scenario = load("elastic-arm").at({"duration": 2.0, "output.interval": 0.02})
    other = simulate(scenario.at({"integrator.method": "located", "integrator.step": 0.0005}))
    runs = [simulate(scenario.at({"integrator.step": step})) for step in (0.00125, 0.000625)]
    for name in ("joint_angle", "modal_coordinate", "position", "attitude"):
        coarse, fine = (np.abs(run[name] - other[name]).max() for run in runs)
        assert 3.6 < coarse / fine < 4.4, name


def test_steps_that_are_far_too_long_end_the_run_with_the_reason():
    scenario = parse(
        TWO.replace('"30 N/m"', '"1e9 N/m"') + "\n[integrator]\nmethod = 'variational'\nstep = 0.5\n", "case"
    )
    data = simulate(scenario)
    assert not data.attrs["finished"]
    assert "a shorter integrator.step may" in data.attrs["status"]


@pytest.mark.full
def test_samples_are_where_they_are_asked_for():
    how = '[integrator]\nmethod = "variational"\nstep = "5 ms"\n[output]\ninterval = "12 ms"\n'
    data = simulate(parse(f"{TWO}\n{how}", "case").at({"duration": 0.12}))
    assert np.allclose(data.time, 0.012 * np.arange(11), atol=1e-12)
    assert data.attrs["step_s"] == pytest.approx(0.004)


JET = 'between = ["left", "right"]\nanchor = [[0, 0, 0], [0, 0, 0]]\n'
CONTROL = '[control]\nbody = "left"\nlaw = "rate-damping"\nbase_damping = 1.0\n'
STRIKERS = JET.replace("anchor = [[0, 0, 0], [0, 0, 0]]", "anchors = [[[0, 0, 0], [0, 0, 0]]]")
SEAT = "reach = 0.01\nlateral = 0.1\nstiffness = 100.0\n"
REFUSED = {
    "loop.delay": (touching(HERTZ) + "[loop]\ndelay = 0.01\n", "loop.delay"),
    "control.period": (CONTROL + "period = 0.1\n", "control.period"),
    "slip": (f"[strut.other]\n{JET}stiffness = 10.0\nslip = 5.0\n", "strut.other.slip"),
    "stroke": (f"[strut.other]\n{JET}stroke = [-0.1, 0.1]\n", "strut.other.stroke"),
    "cable": (f"[cable.other]\n{JET}stiffness = 10.0\n", "cable.other: its damper"),
    "motor of a latch": (f"[latch.other]\n{JET}{SEAT}draw_speed = 0.01\n", "latch.other.draw_speed"),
    "several strikers": (f"[latch.other]\n{STRIKERS}{SEAT}", "latch.other.anchors"),
    "ramp": (
        f"[latch.other]\n{JET}lateral = 0.1\ngrip = 'pin'\n"
        "ramp = { stiffness = 100.0, angle = '20 deg', axial_length = 0.01 }\n",
        "latch.other.ramp",
    ),
    "phase": (
        '[phase.a]\n[phase.b]\nwhen = { speed = 0.1, between = ["left", "right"], lasting = 1.0 }\n',
        "when.speed",
    ),
    "impact.friction": (
        touching('impact = { law = "energetic", restitution = 0.5, friction = 0.2 }'),
        "contact.ball.impact.friction",
    ),
    "friction": (
        touching(HERTZ + '\nfriction = { law = "coulomb", coefficient = 0.2, regularisation = "1 mm/s" }'),
        "contact.ball.friction",
    ),
    "normal": (
        touching('normal = { law = "spring-dashpot", stiffness = 1000.0, damping = 10.0 }'),
        "contact.ball.normal",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_jumps_slips_or_remembers_is_refused(case):
    more, key = REFUSED[case]
    with refused("integrator.method", key):
        parse(f'{TWO}{more}\n[integrator]\nmethod = "variational"\n', "case")
    parse(f"{TWO}{more}\n", "case")  # runs otherwise


def test_joint_friction_and_stops_are_refused():
    for key in ("friction = '1 N m'", "stroke = [-1.0, 1.0]\nstop_stiffness = 100.0"):
        text = ARM.replace('torque = "1 N m"', key)
        with pytest.raises(ScenarioError, match=f"upper.joint.{key.split()[0]}"):
            parse(f'{text}\n[integrator]\nmethod = "variational"\n', "case")


def test_the_law_that_balances_steps_needs_the_method():
    with pytest.raises(
        ScenarioError, match=r"contact.ball.impact.law = 'variational': integrator.method must be 'variational'"
    ):
        parse(TWO + touching('impact = { law = "variational" }'), "case")


def test_a_held_ball_is_part_of_what_carries_it():
    base = {"mass": 50.0, "inertia": [5.0, 6.0, 7.0], "rate": [0.1, 0.2, 0.1]}
    arm = {"on": "base", "position": [1.2, 0, 0], "mass": 10.0, "inertia": [0.1, 1.0, 1.0]}
    panel = {"on": "base", "position": [-1, 0, 0], "mass": 4.0, "inertia": [0.1, 0.5, 0.5]}
    hinge = {"kind": "revolute", "position": [0.5, 0, 0], "axis": [0, 0, 1], "stiffness": 9.0, "start_rate": 0.2}
    held = {"kind": "spherical", "position": [0.2, 0, 0], "locked": True}
    ends = []
    for joint in (held, {"kind": "locked", "position": [0.2, 0, 0]}):
        bodies = {"base": base, "arm": arm | {"joint": joint}, "panel": panel | {"joint": hinge}}
        method = {"method": "variational", "step": 0.01}
        found = simulate(load({"schema": 2, "duration": 1.0, "body": bodies, "integrator": method}))
        ends.append(found["position"].values[-1])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-10)
