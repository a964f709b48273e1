"""How far a rig goes on after a stop: the command as its limits say, the emulated robot behind it as its own lag says."""

import math

import numpy as np
import pytest
from driven_rigs import CYCLE, driver, in_space, needs_compiler

from dockdyn.hil.operation import OperationState, Request
from dockdyn.realtime.exchange import pad_to_six_axes
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.lockstep import ComputerInSteps

pytestmark = needs_compiler


def drawn(seed):
    """What matters to a stop: the approach, the robot, the limits."""
    rng = np.random.default_rng(seed)
    speed = float(np.exp(rng.uniform(np.log(5e-3), np.log(0.1))))
    return {
        "approach__closing_speed": speed,
        "approach__distance": 0.3,
        "rig__limits__acceleration": float(np.exp(rng.uniform(np.log(0.2), np.log(10.0)))),
        "loop__robot__bandwidth": float(rng.uniform(4.0, 20.0)),
        "loop__robot__damping": float(rng.uniform(0.4, 1.2)),
        "duration": 1.0 / speed,  # the contact is in it
    }, int(rng.integers(20, 300))


def overshoot_time(bandwidth, damping):
    """∫ max(s(t) − 1, 0) dt (s) of the step response s of a robot of second order: v times it is the most by which the robot
    goes beyond a command that comes from a speed v to rest, however it brakes."""
    omega, time = 2 * math.pi * bandwidth, np.linspace(0, 4.0, 400_001)
    state = np.array([[0.0, 1.0], [-(omega**2), -2 * damping * omega]])
    values, vectors = np.linalg.eig(state)
    start = np.linalg.solve(vectors, np.array([-1.0, 0.0]).astype(complex))
    beyond = np.real((vectors[0] * start) @ np.exp(np.outer(values, time)))  # s(t) − 1
    return float(np.trapezoid(np.maximum(beyond, 0.0), time))


def stopped(changes, moment):
    """Commands and encoders of a run that its operator stops: from the cycle before the stop to rest of both."""
    made = driver(in_space(**changes))
    computer = ComputerInSteps(made.cycle(running=True), made.axes)
    laboratory = LaboratoryInSteps(made.laboratory(following=True), made.axes)
    commands, encoders, states = [], [], []
    for cycle in range(moment + 1200):
        load, pose = laboratory.tell()
        found = computer.answer(load, pose, Request.STOP if cycle == moment else Request.NONE)
        laboratory.take(pad_to_six_axes(found["command"]))
        commands.append(found["command"][:3].copy())
        encoders.append(pose.values[:3].copy())
        states.append(int(found["state"]))
    assert states[moment - 1] == OperationState.RUNNING and states[moment] == OperationState.STOPPING
    return np.array(commands), np.array(encoders)


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 60))])
def test_a_stop_ends_within_the_distance_that_follows_from_speed_and_limits(seed):
    """The command within v²/(2 a), after ⌈v/(a h)⌉ cycles; the robot at the last command, and on its way never farther than
    that, what it was behind, and its own overshoot."""
    changes, moment = drawn(seed)
    commands, encoders = stopped(changes, moment)
    acceleration = changes["rig__limits__acceleration"]
    way = (commands[moment - 1] - commands[moment - 2]) / CYCLE
    speed = float(np.linalg.norm(way))
    covered = np.linalg.norm(commands[moment:] - commands[moment - 1], axis=1)
    derived = speed**2 / (2 * acceleration)
    assert covered.max() <= derived * (1 + 1e-9)
    cycles = math.ceil(speed / (acceleration * CYCLE) * (1 - 1e-9))
    assert (commands[moment + cycles - 1 :] == commands[-1]).all()
    behind = np.linalg.norm(commands[moment - 1] - encoders[moment])
    beyond = speed * overshoot_time(changes["loop__robot__bandwidth"], changes["loop__robot__damping"])
    travelled = np.linalg.norm(encoders[moment:] - encoders[moment], axis=1)
    np.testing.assert_allclose(encoders[-1], commands[-1], rtol=0, atol=1e-9)
    assert travelled.max() <= (behind + derived + beyond) * (1 + 1e-3)
