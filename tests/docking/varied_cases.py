"""Mechanisms that the variational method runs, and that others do, too."""

import numpy as np

from dockdyn import simulate, summarise
from dockdyn.scenario.load import parse

TWO = """
schema = 2
title = "Two bodies and a spring"
duration = "4 s"

[body.left]
mass = "10 kg"
inertia = [1, 2, 1.5]
rate = [0.1, 0.3, -0.2]
velocity = [0.5, 0, 0]

[body.left.feature.ball]
position = [0.2, 0.1, 0]
radius = "0.1 m"

[body.right]
mass = "20 kg"
inertia = [3, 2, 4]
position = [1, 0, 0]

[body.right.surface.wall]
shape = "plane"
point = [-0.3, 0, 0]
normal = [-1, 0, 0]

[strut.spring]
between = ["left", "right"]
anchor = [[0, 0.1, 0], [0, 0.2, 0.1]]
stiffness = "30 N/m"
free_length = "0.8 m"
"""

ARM = """
schema = 2
title = "An arm that bends"
duration = "6 s"

[body.base]
mass = "500 kg"
inertia = [100, 200, 150]
rate = [0.01, 0.02, -0.01]

[body.upper]
on = "base"
position = [1.5, 0, 0]
mass = "20 kg"
inertia = [0.1, 6.7, 6.7]

[body.upper.joint]
kind = "revolute"
position = [0.5, 0, 0]
axis = [0, 0, 1]
stiffness = "200 N m/rad"
damping = "3 N m s/rad"
start = "0.2 rad"
torque = "1 N m"

[body.upper.flexible]
kind = "beam"
root = [-1, 0, 0]
axis = [1, 0, 0]
across = [0, 1, 0]
length = "2 m"
mass_per_length = "10 kg/m"
bending_stiffness = [2000, 2000]
damping_ratio = 0.01
bending_modes = [1, 1]

[body.hand]
on = "upper"
position = [1.2, 0, 0]
mass = "10 kg"
inertia = [0.2, 0.3, 0.3]

[body.hand.joint]
kind = "revolute"
position = [1, 0, 0]
axis = [0, 1, 0]
stiffness = "100 N m/rad"

[body.hand.feature.ball]
position = [0.2, 0, 0]
radius = "0.1 m"

[body.target]
mass = "50 kg"
inertia = [3, 2, 4]
position = [3.4, 0.3, 0]
velocity = [-0.1, 0, 0]

[body.target.surface.wall]
shape = "plane"
point = [-0.3, 0, 0]
normal = [-1, 0, 0]

[strut.motor]
between = ["hand", "target"]
anchor = [[0, 0.1, 0], [0, 0.2, 0.1]]
stiffness = "10 N/m"
damping = "1 N s/m"
speed = "3 mm/s"

[thruster.jet]
body = "base"
position = [0, 0.3, 0]
direction = [1, 0, 0]
force = "0.5 N"

[phase.burn]

[phase.coast]
when = { lasting = "2.3 s" }
set = { "thruster.jet.force" = "0 N", "strut.motor.stiffness" = "30 N/m" }

[orbit]
semi_major_axis = "6800 km"
"""

HERTZ = 'normal = { law = "hertz", stiffness = "10 kN/m", exponent = 1.0 }'


def touching(law, feature="left.ball", surface="right.wall"):
    """A contact with these laws."""
    return f'\n[contact.ball]\nbetween = ["{feature}", "{surface}"]\n{law}\n'


def bouncing(restitution):
    return f'impact = {{ law = "frictionless", restitution = {restitution} }}'


def by(text, step=None, tolerance=1e-10):
    """A run by the variational method with a step (s), or without one by the located one."""
    how = f'method = "variational"\nstep = {step}' if step else f"tolerance = {tolerance}"
    return simulate(parse(f"{text}\n[integrator]\n{how}\n[output]\ninterval = 0.02\n", "case"))


def in_plane(text):
    """The same in the x–y plane."""
    return text.replace("duration =", 'motion = "plane"\nduration =', 1)


def momentum_errors(data):
    """Of linear and angular momentum, over their scales."""
    found = summarise(data)
    return found["linear_momentum_error"], found["angular_momentum_error"]


def parted(text, step):
    """How far a run by the method ends from one by the located one, in all poses and velocities."""
    own, other = by(text, step), by(text)
    assert own.attrs["finished"] and other.attrs["finished"]
    names = [
        name for name in ("position", "velocity", "attitude", "rate", "joint_angle", "modal_coordinate") if name in own
    ]
    return np.array([np.abs(own[name].values[-1] - other[name].values[-1]).max() for name in names]), own, other


def energy(data):
    """The energy less what came in (J)."""
    found = data.kinetic_energy + data.internal_energy - data.work
    return (found - data.gravity_work if "gravity_work" in data else found).values
