"""Rigs that computers drive, for tests."""

import shutil
from functools import cache

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.setups import setup_named

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")

ALONG = {"lowest": [-1.0], "highest": [0.5], "speed": 0.5, "acceleration": 20.0, "tracking": 0.05, "force": 1e4}
IN_SPACE = {
    "lowest": [-6.0, -6.0, -6.0],
    "highest": [6.0, 6.0, 6.0],
    "speed": 1.0,
    "acceleration": 20.0,
    "tracking": 0.1,
    "force": 1e3,
    "torque": 1e3,
    "turn": 3.0,
    "turning_speed": 3.0,
    "turning_acceleration": 30.0,
    "tracking_turn": 0.3,
}
KUKA_SET = {  # what is set on the controller, so that it lets the robot go where these rigs go
    "precision": 6,
    "correction_limit": "20 m",
    "correction_turn_limit": "180 deg",
    "monitor_limit": "40 m",
    "monitor_turn_limit": "180 deg",
}
ABB_SET = {"comm_timeout": "20 ms", "condition_time": "1 h"}
LINE = {
    "loop.compensator.law": "lead-energy",
    "loop.dynamics.period": "4 ms",
    "loop.sensor.delay": "4 ms",
    "contact.spring.bilateral": False,
    "body.target.position": "-10 mm",
}
SPACE = {"loop.robot.bandwidth": "8 Hz", "loop.robot.damping": 0.7, "loop.delay": "8 ms", "duration": "14 s"}


def on_a_line(**changed):
    """A rig along one direction: a mass that approaches a wall."""
    limits = {f"rig.limits.{name}": value for name, value in ALONG.items()}
    return dockdyn.load("sits", LINE | limits | {k.replace("__", "."): v for k, v in changed.items()})


def in_space(**changed):
    """A probe and a cone."""
    limits = {f"rig.limits.{name}": value for name, value in IN_SPACE.items()}
    return dockdyn.load("epos-like", SPACE | limits | {k.replace("__", "."): v for k, v in changed.items()})


class Made:
    """The driver of a scenario, which makes each of its programs once: they are texts and images, which nobody changes."""

    def __init__(self, made):
        self.made, self.cycle, self.laboratory = made, cache(made.cycle), cache(made.laboratory)

    def __getattr__(self, name):
        return getattr(self.made, name)


_made: dict[str, Made] = {}


def driver(scenario):
    """What drives the rig of a scenario, made once for all tests of a process."""
    text = scenario.text()
    if text not in _made:
        _made[text] = Made(setup_named(scenario.setup).driver(scenario))
    return _made[text]


CYCLE = 4e-3  # s


def keeps_limits(sent, due, lowest, highest, speed, acceleration):
    """Commands of cycles that keep their limits; where none is `due` the robot stays where it is, and either goes on from
    there as before or does not."""
    assert (sent >= np.array(lowest) - 1e-12).all() and (sent <= np.array(highest) + 1e-12).all()
    assert (sent[1:][~due[1:]] == sent[:-1][~due[1:]]).all()
    rates = np.diff(sent, axis=0) / CYCLE
    assert np.linalg.norm(rates, axis=1).max() <= speed * (1 + 1e-9)
    before, stood = None, False
    for rate, is_due in zip(rates, due[1:], strict=True):
        if not is_due:
            stood = True
            continue
        if before is not None:  # the rate at which it was running is that of the first
            change = np.linalg.norm(rate - before)
            least = min(change, np.linalg.norm(rate) if stood else change)
            assert least <= acceleration * CYCLE * (1 + 1e-6) + 1e-11
        before, stood = rate, False
