"""Trees with large beams by the variational method: beside DOP853 on the continuous equations, what is kept, impacts, limits."""

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
position = [3.0, 1.0, -0.35]
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


@pytest.mark.parametrize("text", [ARM, pytest.param(DAMPED, marks=pytest.mark.full)], ids=["free", "damped"])
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
