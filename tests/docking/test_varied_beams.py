"""Trees with large beams by the variational method: beside DOP853 on the continuous equations, what is kept, impacts."""

import numpy as np
import pytest
from helpers.refusals import refused
from scipy.integrate import solve_ivp
from varied_cases import bouncing, by, energy, in_plane, momentum_errors, parted, touching

import dockdyn
from dockdyn.integrate.model import State, pack_tree, unpack_tree
from dockdyn.programs import Program
from dockdyn.scenario.load import load, parse
from dockdyn.scenario.made import model_of

STEP = 0.005  # s
NAMES = ("position", "velocity", "attitude", "rate", "joint_angle", "modal_coordinate")

ARM = """
schema = 2
title = "An arm that bends far"
duration = "1 s"

[body.base]
mass = "100 kg"
inertia = [20, 30, 25]
velocity = [0.1, -0.05, 0.02]
rate = [0.05, 0.1, -0.15]

[body.boom]
on = "base"
position = [1.5, 0.1, 0]
mass = "22 kg"
inertia = [0.4, 6.8, 6.8]

[body.boom.joint]
kind = "revolute"
position = [0.5, 0.1, 0]
axis = [0, 0.2, 1]
start = "0.3 rad"
start_rate = "0.6 rad/s"
stiffness = "200 N m/rad"

[body.boom.flexible]
kind = "beam"
basis = "polynomial"
length = "2 m"
mass_per_length = "10 kg/m"
bending_stiffness = [400, 600]
torsional_stiffness = 200
polar_inertia = 0.15
bending_modes = [2, 1]
twist_modes = 1

[body.elbow]
on = "boom"
position = [1.3, 0, 0.1]
mass = "3 kg"
inertia = [0.1, 0.2, 0.15]

[body.elbow.joint]
kind = "revolute"
position = [1, 0, 0]
axis = [0, 1, 0]
start = "0.4 rad"
locked = true

[body.hand]
on = "elbow"
position = [0.5, 0, 0]
mass = "5 kg"
inertia = [0.1, 0.15, 0.2]

[body.hand.joint]
kind = "spherical"
position = [0.3, 0, 0]
start_rate = [0.5, -0.8, 0.3]

[body.hand.feature.ball]
position = [0.2, 0, 0]
radius = "0.1 m"

[body.target]
mass = "30 kg"
inertia = [3, 2, 4]
rate = [0.1, -0.2, 0.1]
position = [3.0, 1.3, -0.35]
velocity = [-0.3, -0.3, 0]

[body.target.surface.skin]
shape = "sphere"
centre = [0, 0, 0]
radius = "0.3 m"

[strut.spring]
between = ["elbow", "target"]
anchor = [[0, 0.1, 0], [0, 0.2, 0.1]]
stiffness = "40 N/m"
free_length = "0.8 m"
"""
DAMPED = (
    ARM.replace("start_rate = [0.5", 'damping = "0.7 N m s/rad"\nstart_rate = [0.5')
    .replace('stiffness = "200 N m/rad"', 'stiffness = "200 N m/rad"\ndamping = "4 N m s/rad"\ntorque = "3 N m"')
    .replace("twist_modes = 1", 'twist_modes = 1\ndamping = "2 ms"')
)


@Program
def rate_of(mechanism, x, row):
    """How fast coordinates and velocities change by the mechanism's continuous equations, in a row."""
    q, v = unpack_tree(row, (x.q, x.v))
    now = State(q, v, x.mode, x.memory)
    rate = mechanism.flow(0.0, now, mechanism.signal(0.0, now))
    return pack_tree((rate.q, rate.v))


@Program
def begun(mechanism):
    x = mechanism.initial()
    return x, pack_tree((x.q, x.v))


@Program
def seen(mechanism, x, row):
    now = State(*unpack_tree(row, (x.q, x.v)), x.mode, x.memory)
    found = mechanism.observe(now, mechanism.signal(0.0, now))
    return {name: found[name] for name in NAMES}


def by_dop853(text, duration):
    """Where the continuous equations end, by SciPy's DOP853."""
    mechanism = model_of(parse(text, "case").content)
    x, row = begun(mechanism)
    found = solve_ivp(
        lambda t, y: rate_of(mechanism, x, y), (0, duration), row, method="DOP853", rtol=1e-11, atol=1e-12
    )
    assert found.success
    return seen(mechanism, x, found.y[:, -1])


@pytest.mark.full
@pytest.mark.parametrize("text", [ARM, DAMPED], ids=["free", "damped"])
def test_the_error_beside_dop853_is_of_second_order(text):
    """Beams that bend and twist, a ball, a held joint, springs and dampers: each half of a step quarters the error."""
    expected = by_dop853(text, 1.0)
    errors = []
    for step in (STEP, STEP / 2, STEP / 4):
        own = by(text, step)
        errors.append([np.abs(own[name].values[-1] - expected[name]).max() for name in NAMES])
    orders = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    assert np.all(np.abs(orders - 2) < 0.15), orders
    assert np.max(errors[-1]) < 2e-3
    assert np.ptp(own.modal_coordinate.values, axis=0).min() > 1e-4  # all shapes take part
    assert max(momentum_errors(own)) < 1e-12


GENTLE = (  # so fast that beams bend by a tenth of their length it is chaotic: then energy wanders, by the second order
    ARM.replace('"0.6 rad/s"', '"0.2 rad/s"')
    .replace('"0.3 rad"', '"0.1 rad"')
    .replace("[0.5, -0.8, 0.3]", "[0.15, -0.2, 0.1]")
    .replace('"40 N/m"', '"10 N/m"')
    .replace('duration = "1 s"', 'duration = "25 s"')
)


@pytest.mark.full
def test_energy_over_10_000_steps():
    """It swings within 2e-6 of itself about where it began and does not drift; momenta are kept to rounding."""
    data = by(GENTLE, STEP / 2)
    found = energy(data) - energy(data)[0]
    half, swing = len(found) // 2, np.abs(found).max()
    assert data.attrs["steps"] == 10_000
    assert swing < 2e-6 * energy(data)[0]
    assert abs(np.polyfit(data.time.values, found, 1)[0]) * 25 < 0.3 * swing
    assert np.abs(found[half:]).max() < 1.5 * np.abs(found[:half]).max()
    assert max(momentum_errors(data)) < 1e-12


@pytest.mark.full
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_a_blow_at_the_tip_is_that_of_the_located_method(restitution):
    """The hand at the end of the boom is struck: when, how fast, by what impulse, and what follows, to second order."""
    text = ARM + touching(bouncing(restitution), "hand.ball", "target.skin")
    (coarse, own, other), (fine, *_) = parted(text, STEP / 2), parted(text, STEP / 4)
    assert own.sizes["episode"] == other.sizes["episode"] > 0
    assert np.all(np.abs(np.log2(coarse / fine) - 2) < 0.2)
    np.testing.assert_allclose(own.episode_onset, other.episode_onset, atol=1e-6)
    np.testing.assert_allclose(own.episode_approach_speed, other.episode_approach_speed, rtol=1e-5)
    np.testing.assert_allclose(own.impact_impulse.values[-1], other.impact_impulse.values[-1], rtol=1e-5)
    assert np.abs(energy(own) - energy(own)[0]).max() < 2e-5 * energy(own)[0]
    assert max(momentum_errors(own)) < 1e-12


@pytest.mark.full
def test_what_comes_to_rest_on_an_arm_and_parts_is_that_of_the_located_method():
    """Without restitution the hand rests on what struck it, until the beams pull it away within a step, to second order."""
    text = ARM + touching(bouncing(0.0), "hand.ball", "target.skin")
    (coarse, own, other), (fine, *_) = parted(text, STEP / 2), parted(text, STEP / 4)
    assert dockdyn.summarise(own)["status"] == "finished"
    assert own.sizes["episode"] == other.sizes["episode"] == 2
    rested = (other.episode_release - other.episode_onset).values
    assert rested.max() > 4 * STEP / 2
    np.testing.assert_allclose((own.episode_release - own.episode_onset).values, rested, atol=STEP / 2)
    assert np.all(np.abs(np.log2(coarse / fine) - 2) < 0.2)
    assert max(momentum_errors(own)) < 1e-12


def struck_at_once(**changes):
    """The arm of Cyril et al. that a payload touches at t = 0, for a while."""
    return load("cyril-elastic").at({"duration": 0.5, "output.interval": 0.02, **changes})


@pytest.mark.full
def test_a_blow_at_once_is_the_same_blow():
    """Of beams that are struck at the start: there both methods have one state, so the impulse and what it leaves are the
    same; 2 µs later nothing else has had time to tell."""
    short = {"duration": 2e-6, "output.interval": 1e-6}
    own, other = (
        dockdyn.simulate(struck_at_once(**short, **how))
        for how in ({"integrator.method": "variational", "integrator.step": 1e-6}, {})
    )
    np.testing.assert_allclose(own.impact_impulse.values[-1], other.impact_impulse.values[-1], rtol=1e-12)
    for name in ("velocity", "rate", "kinetic_energy"):
        scale = np.abs(other[name].values).max()
        np.testing.assert_allclose(own[name][-1], other[name][-1], rtol=0, atol=1e-11 * scale, err_msg=name)


@pytest.mark.full
def test_beams_in_the_plane_move_as_in_space():
    """Where nothing leaves the plane the steps are the same ones, to rounding; two beams, a held wrist, a blow at the tip."""
    how = {"integrator.method": "variational", "integrator.step": 2e-3}
    own, space = (dockdyn.simulate(struck_at_once(motion=motion, **how)) for motion in ("plane", "space"))
    for name in (*NAMES, "impact_impulse"):
        np.testing.assert_allclose(own[name], space[name], rtol=0, atol=1e-9, err_msg=name)
    errors = []
    for step in (2e-3, 1e-3):
        run, other = (dockdyn.simulate(struck_at_once(**one)) for one in (how | {"integrator.step": step}, {}))
        errors.append(
            [np.abs(run[name] - other[name])[1:].max() for name in NAMES]
        )  # at t = 0 one tells what was before
    assert np.all(np.abs(np.log2(np.divide(*errors)) - 2) < 0.1)


@pytest.mark.full
def test_a_weld_holds_what_an_arm_of_beams_has_caught():
    """`berthing-3d`: what the grip stops at the start, motors and a wheel that damp, to second order beside its own method."""
    short = load("berthing-3d").at({"duration": 1.0, "output.interval": 0.05})
    other, errors = dockdyn.simulate(short), []
    for step in (2e-3, 1e-3):
        own = dockdyn.simulate(short.at({"integrator.method": "variational", "integrator.step": step}))
        errors.append([np.abs(own[name] - other[name]).max() for name in NAMES])
    assert np.all(np.abs(np.log2(np.divide(*errors)) - 2) < 0.1)
    assert float(own.capture_time) == 0 and max(momentum_errors(own)) < 1e-12


def test_what_no_tree_of_large_beams_has_is_refused_as_by_any_method():
    """In the plane, too, where rigid bodies alone may have followers and motors with inertia."""
    table = 'kind = "beam"\nroot = [-1, 0, 0]\naxis = [1, 0, 0]\nacross = [0, 1, 0]'
    for text in (ARM, in_plane(ARM)):
        other = text.replace('kind = "beam"\nbasis = "polynomial"', table)
        with refused(match="flexible"):
            parse(f'{other}\n[integrator]\nmethod = "variational"\n', "case")
