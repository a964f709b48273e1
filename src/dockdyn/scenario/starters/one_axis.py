"""A rig on a line: two spacecraft, a robot, and what is mounted before its force sensor."""

from __future__ import annotations

import math

from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.starters.pieces import (
    ON_RIG,
    effective_mass,
    join_tables,
    mass_of,
    stiffness_for,
    table,
    write_answer,
)
from dockdyn.scenario.starters.question import Amount, Answers, digits, fixed_bounds, round_bounds, yes_or_no
from dockdyn.scenario.starters.starter import Starter

LASTS = 0.5  # s, the contact
BEFORE = 0.01  # m, from where it begins to the contact
DAMPING = 0.05  # ratio, of the contact


def _effective_mass(answers: Answers) -> float:
    return effective_mass(answers["chaser-mass"], answers["target-mass"])


def _text(answers: Answers) -> str:
    mass, stiffness, speed = _effective_mass(answers), answers["stiffness"], answers["speed"]
    pulls, swing = answers.says("pulls", "yes"), math.pi * math.sqrt(mass / stiffness)
    duration = digits(20 * swing if pulls else 2 * BEFORE / speed + 4 * swing)
    depth = math.hypot(speed * math.sqrt(mass / stiffness), BEFORE if pulls else 0.0)  # m, without damping
    normal = [
        ("law", '"spring-dashpot"', ""),
        ("stiffness", write_answer(answers, "stiffness"), "of what is mounted on the rig"),
        ("damping", f'"{digits(2 * DAMPING * math.sqrt(stiffness * mass))} N s/m"', "a twentieth of critical"),
    ]
    return join_tables(
        f'motion = "line"\nduration = "{duration} s"\n',
        table("rig", [("carries", '"chaser"', "by a robot, as seen from the other"), ("against", '"target"', "")]),
        table(
            "body.chaser",
            [
                ("mass", write_answer(answers, "chaser-mass"), ""),
                ("position", f'"-{1e3 * BEFORE:g} mm"', "where it begins; from 0 on it touches"),
                ("velocity", write_answer(answers, "speed"), ""),
            ],
        ),
        table("body.target", [("mass", write_answer(answers, "target-mass"), "")]),
        table(
            "contact.touch",
            [
                ("between", '["chaser", "target"]', ""),
                ("bilateral", str(pulls).lower(), "whether the contact pulls, too"),
            ],
        ),
        table("contact.touch.normal", normal),
        table(
            "loop",
            [
                ("hold.period", write_answer(answers, "cycle"), "between two commands to the robot"),
                (
                    "sensor.delay",
                    write_answer(answers, "sensor-delay"),
                    "of the force; not the robot's lag, nor the hold's",
                ),
                ("robot.bandwidth", write_answer(answers, "bandwidth"), "where its amplitude is lower by 3 dB"),
                ("robot.damping", "0.7", "ratio, of second order; dockdyn identify robot finds both from a log"),
                ("compensator.law", '"lead-energy"', "takes back what delays do; which is best: dockdyn compare"),
            ],
        ),
        _write_driven_tables(stiffness * depth, float(duration), write_answer(answers, "cycle")),
    )


def _write_driven_tables(peak: float, duration: float, cycle: str) -> str:
    """Return what drives the rig, in comments, for a contact that presses with a `peak` (N)."""
    return f"""\
# To drive the rig, take the # away, put in what your robot and mock-ups may do, and say dockdyn rig serve. Try it
# first on emulated devices: dockdyn rig emulate with the same file, in another terminal.
# [loop.dynamics]
# period = {cycle}      # the model is advanced once a cycle
#
# [rig.limits]         # beyond any of these the rig brakes
# lowest = ["-1 m"]    # of the command and of the encoders
# highest = ["0.5 m"]
# speed = "0.5 m/s"
# acceleration = "20 m/s**2"
# tracking = "50 mm"   # between command and encoders
# force = "{digits(4 * peak)} N"  # above peak_measured_force_N of dockdyn run
# sensor_silence = "20 ms"
# robot_silence = "20 ms"
#
# [rig.device.sensor]  # or raw-udp, whose packets you state
# kind = "ati-netft"
# host = "127.0.0.1"   # of the sensor; this one of emulated devices
#
# [rig.device.robot]   # or kuka-rsi, fanuc-stream-motion, ur-rtde, raw-udp, with the lines below that are theirs
# kind = "abb-egm"
# condition_time = "{digits(2 * duration)} s"  # abb-egm alone: set \\CondTime of EGMRunPose beyond the duration
# # host = "192.168.0.20"  # fanuc-stream-motion and ur-rtde alone: their address; without it that of emulated ones
# # correction_limit = "2 m"  # kuka-rsi alone: set LowerLim and UpperLim of POSCORR beyond the width of the limits
# # monitor_limit = "2 m"     # kuka-rsi alone: set MaxTrans of POSCORRMON likewise
"""


def _stiffness_bounds(answers: Answers) -> Bounds:
    return round_bounds(
        stiffness_for(_effective_mass(answers), 4 * LASTS), stiffness_for(_effective_mass(answers), 0.2 * LASTS)
    )


ONE_AXIS = Starter(
    "a rig on a line, for hardware that meets on one axis",
    (
        mass_of("chaser-mass", 1800.0, "the one spacecraft"),
        mass_of("target-mass", 3200.0, "the other one"),
        yes_or_no("pulls", "Whether the contact pulls, too, as a spring between both does.", "no"),
        Amount(
            "speed",
            "With which they meet; spacecraft dock at 10 to 200 mm/s.",
            "m/s",
            "a speed",
            lambda answers: 0.05,
            fixed_bounds(2e-3, 0.5),
            told_in="mm/s",
        ),
        Amount(
            "stiffness",
            "Force over penetration of what is mounted on the rig.",
            "N/m",
            "a stiffness",
            lambda answers: stiffness_for(_effective_mass(answers), LASTS),
            _stiffness_bounds,
        ),
        Amount(
            "cycle",
            "The period of the robot's commands: 4 ms at 250 Hz.",
            "s",
            "a period",
            lambda answers: 0.004,
            fixed_bounds(1e-3, 0.01),
            told_in="ms",
        ),
        Amount(
            "sensor-delay",
            "By which the measured force is late; the robot's lag counts by itself.",
            "s",
            "a delay",
            lambda answers: 0.002,
            fixed_bounds(0.0, 0.01),
            told_in="ms",
        ),
        Amount(
            "bandwidth",
            "Of the robot: the frequency at which its amplitude is lower by 3 dB.",
            "Hz",
            "a frequency",
            lambda answers: 20.0,
            fixed_bounds(5.0, 100.0),
        ),
    ),
    _text,
    ON_RIG,
)
