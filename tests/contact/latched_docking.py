"""A tip that flies into the cone of another body, where a latch waits for it, as a scenario; and what tests know of it."""

import math

import numpy as np

TEXT = """
schema = 2
duration = {duration}
[body.chaser]
mass = 700
inertia = [[210, 6, 3], [6, 330, -8], [3, -8, 280]]
position = [{x}, 0, {z}]
attitude = [0, 0, 0, 1]
velocity = [{speed}, 0, {sideways}]
rate = {rate}
feature.tip = {{ position = [0.9, 0, 0] }}
[body.target]
mass = 1500
inertia = [900, 1100, 1000]
surface.cone = {{ shape = "cone", apex = [0.5, 0, 0], axis = [1, 0, 0], half_angle = "40 deg" }}
[latch.capture]
between = ["chaser", "target"]
feature = "tip"
surface = "cone"
entry = "80 mm"
ramp = {{ stiffness = "1000 N/m", angle = "40 deg", axial_length = "25 mm", preload = "3 N" }}
grip = "{grip}"
{more}
"""
MASS = 700 * 1500 / 2200  # kg
INERTIA = np.array([[210, 6, 3], [6, 330, -8], [3, -8, 280.0]])  # kg m², of the chaser
START = 0.5 + 0.08 + 0.9  # m: the tip, which points back along x, where the ramp begins
SLOPE = math.tan(math.radians(40))
TIP = np.array([0.9, 0, 0])


def latched(speed, more, grip="compliant", rate=(0, 0, 0), z=0.0, sideways=0.0, duration=3.0):
    """The approach along x as a scenario's text; `more` is what follows on the keys of the latch."""
    numbers = {"x": START + 0.01, "z": z, "speed": -speed, "sideways": sideways, "rate": list(rate)}
    return TEXT.format(duration=duration, grip=grip, more=more, **numbers)


def matrix(q):
    """Rotation matrix of a unit quaternion, scalar first."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
