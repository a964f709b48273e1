"""A rig of one's own to begin with."""

from __future__ import annotations

from dockdyn.scenario.start import HEAD, Start, TwoBodies, digits, plain

LASTS = 0.5  # s, the contact


def _text(bodies: TwoBodies, mechanism: str) -> str:
    both = mechanism == "spring"
    title = f"A rig for a chaser of {plain(bodies.chaser)} kg and a target of {plain(bodies.target)} kg"
    return f"""{HEAD.format(title=title)}kind = "rig"
title = "{title}"
duration = "{20 if both else 3} s"
mass = "{plain(bodies.effective_mass)} kg"  # what the contact feels of both: m1 m2/(m1 + m2)

[start]
position = "-10 mm"  # where the model begins; from 0 on it touches
velocity = "50 mm/s"

[contact]
bilateral = {str(both).lower()}  # whether the contact pulls, too

[contact.normal]
law = "spring-dashpot"
stiffness = "{digits(bodies.stiffness(LASTS))} N/m"  # of what is mounted on the rig; a bounce takes {LASTS:g} s
damping = "{digits(bodies.damping(0.05, LASTS))} N s/m"  # a twentieth of critical

[loop.hold]
period = "4 ms"  # between two commands to the robot

[loop.sensor]
delay = "2 ms"  # of the measured force

# The robot as its data sheet has it; dockdyn identify robot finds it from a log, to be included:
# include = "robot.toml" above the first table, in the place of these lines.
[loop.robot]
bandwidth = "20 Hz"  # where its amplitude is lower by 3 dB
damping = 0.7        # ratio, of second order

# What delays do is taken back by a compensator; which one is best on this rig: dockdyn compare
[loop.compensator]
law = "lead-energy"  # tuned to this rig
"""


START = Start(
    "a rig with hardware in the loop, along one direction",
    {"bounce": "a contact that only pushes", "spring": "a spring that pulls, too: it swings"},
    _text,
)
