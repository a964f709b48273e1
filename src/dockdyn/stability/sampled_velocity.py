"""The robot's velocity as samples of the force see it: behind a hold it moves in jerks, which instants alias.

Units: SI: s; the share dimensionless.
Source: response of a linear system to a staircase; own construction.
"""

from __future__ import annotations

import numpy as np

from dockdyn.stability.loop import Loop
from dockdyn.stability.multirate import EDGE, hyperperiod_of

ACROSS = 64  # instants that stand for the window of a sensor that averages


def sampled_velocity(loop: Loop) -> float | None:
    """Return the share of a steady velocity of the robot that the samples of the force see, 1 where they see all of it.

    As much of the contact's damping is in the measured force. The command of a steady motion is a staircase of steps h v, so
    the robot's velocity t after one of them is h v C exp(A t) (1 − exp(A h))⁻¹ B. None where nothing is sampled, and for
    a robot that follows at once. Raises ValueError for periods that never meet.
    """
    if not loop.sampled() or loop.robot is None or (loop.sensor_period is None and not loop.is_stepped()):
        return None
    from scipy.linalg import expm  # which takes long to load

    found = hyperperiod_of(loop)
    state, drive, output = (np.asarray(part) for part in (loop.robot.state, loop.robot.input, loop.robot.output))
    hold, sample = float(np.asarray(loop.hold)), float(loop.sample_period())
    asked = found.steps or found.samples  # in a cycle
    taken = np.floor(np.arange(asked) * hold * found.holds / asked / sample + EDGE) * sample
    window = 0.0 if loop.averaging is None else float(loop.averaging)
    across = window * ((np.arange(ACROSS) + 0.5) / ACROSS - 0.5) if window else np.zeros(1)
    after = np.mod(taken[:, None] - float(loop.delay) + across, hold).ravel()
    after[after <= EDGE * hold] = hold  # what is sampled with a command is what was there before it
    train = np.linalg.solve(np.eye(len(state)) - expm(state * hold), drive)
    speeds = [hold * output @ one @ train for one in expm(state * after[:, None, None])]
    return float(np.mean(speeds) / -(output @ np.linalg.solve(state, drive)))
