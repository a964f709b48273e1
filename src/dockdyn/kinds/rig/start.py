"""A rig of one's own to begin with."""

from __future__ import annotations

import math

from dockdyn.scenario.start import HEAD, Start, TwoBodies, digits, plain

LASTS = 0.5  # s, the contact
SPEED = 0.05  # m/s
BEFORE = 0.01  # m, from where it begins to the contact


def _text(bodies: TwoBodies, mechanism: str) -> str:
    both = mechanism == "spring"
    duration = 20 if both else 3  # s
    depth = math.hypot(SPEED * LASTS / math.pi, BEFORE if both else 0.0)  # m, without damping
    peak = bodies.stiffness(LASTS) * depth  # N
    title = f"A rig for a chaser of {plain(bodies.chaser)} kg and a target of {plain(bodies.target)} kg"
    return f"""{HEAD.format(title=title)}title = "{title}"
duration = "{duration} s"

[rig]
mass = "{plain(bodies.effective_mass)} kg"  # what the contact feels of both: m1 m2/(m1 + m2)

[start]
position = "-{1e3 * BEFORE:g} mm"  # where the model begins; from 0 on it touches
velocity = "{1e3 * SPEED:g} mm/s"

[contact]
bilateral = {str(both).lower()}  # whether the contact pulls, too

[contact.normal]
law = "spring-dashpot"
stiffness = "{digits(bodies.stiffness(LASTS))} N/m"  # of what is mounted on the rig; a bounce takes {LASTS:g} s
damping = "{digits(bodies.damping(0.05, LASTS))} N s/m"  # a twentieth of critical

[loop.hold]
period = "4 ms"  # between two commands to the robot

[loop.sensor]
delay = "2 ms"  # of the measured force, not the robot's lag and not the hold: these are counted by themselves
# averaging = "4 ms"  # of each sample, with [loop.dynamics]; for a robot whose velocity jumps with each command

# The robot as its data sheet has it; dockdyn identify robot finds it from a log, to be included:
# include = "robot.toml" above the first table, in the place of these lines.
[loop.robot]
bandwidth = "20 Hz"  # where its amplitude is lower by 3 dB
damping = 0.7        # ratio, of second order

# What delays do is taken back by a compensator; which one is best on this rig: dockdyn compare
[loop.compensator]
law = "lead-energy"  # tuned to this rig

# To drive the rig, take the # away, put in what your robot and mock-ups may do, and say dockdyn rig serve. Try it first on
# emulated devices: dockdyn rig emulate with the same file, in another terminal.
# [loop.dynamics]
# period = "4 ms"      # the model is advanced once a cycle
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
# condition_time = "{2 * duration} s"  # abb-egm alone: set \\CondTime of EGMRunPose beyond the duration
# # host = "192.168.0.20"  # fanuc-stream-motion and ur-rtde alone: their address; without it that of emulated ones
# # correction_limit = "2 m"  # kuka-rsi alone: set LowerLim and UpperLim of POSCORR beyond the width of the limits
# # monitor_limit = "2 m"     # kuka-rsi alone: set MaxTrans of POSCORRMON likewise
"""


START = Start(
    "a rig with hardware in the loop, along one direction",
    {"bounce": "a contact that only pushes", "spring": "a spring that pulls, too: it swings"},
    _text,
)
