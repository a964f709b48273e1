"""An assembly on a line of one's own to begin with: an impact of two soft spacecraft, and a latch behind a ramp."""

from __future__ import annotations

import math

from dockdyn.scenario.start import HEAD, TwoBodies, digits, plain

FRONT = 0.1  # of a spacecraft's mass, that of its docking mechanism
SWINGS = 2.0  # Hz, the mechanism on its spacecraft
LASTS = 0.02  # s, the contact of the two mechanisms
SPEED = 0.05  # m/s
RAMP = 0.02  # m, that the latch is pushed aside
SHARE = 0.5  # of the energy of the approach, that the latch takes


def soft_impact(bodies: TwoBodies) -> str:
    """Return two spacecraft, each with a docking mechanism on a spring, that meet."""
    fronts = TwoBodies(FRONT * bodies.chaser, FRONT * bodies.target)
    springs = [digits(front * (2 * math.pi * SWINGS) ** 2) for front in (fronts.chaser, fronts.target)]
    rests = [digits((1 - FRONT) * mass) for mass in (bodies.chaser, bodies.target)]
    title = f"Impact of {plain(bodies.chaser)} kg on {plain(bodies.target)} kg, each with a soft mechanism"
    return f"""{HEAD.format(title=title)}motion = "line"         # places and velocities are numbers, and nothing turns
title = "{title}"
duration = "2 s"

[body.chaser]
mass = "{rests[0]} kg"
on = "mechanism"        # a tenth of the mass is the docking mechanism, which swings on it at {SWINGS:g} Hz
joint = {{ stiffness = "{springs[0]} N/m" }}

[body.mechanism]
mass = "{digits(fronts.chaser)} kg"
position = "-1 mm"      # before what it meets
velocity = "{1e3 * SPEED:g} mm/s"

[body.target-mechanism]
mass = "{digits(fronts.target)} kg"

[body.target]
mass = "{rests[1]} kg"
on = "target-mechanism"
joint = {{ stiffness = "{springs[1]} N/m" }}

[contact.mechanisms]             # hard against what is inside: it takes {1e3 * LASTS:g} ms
between = ["mechanism", "target-mechanism"]  # the first comes along the line

[contact.mechanisms.normal]
law = "spring-dashpot"
stiffness = "{digits(fronts.stiffness(LASTS))} N/m"
damping = "{digits(fronts.damping(0.1, LASTS))} N s/m"  # a tenth of critical
"""


def ramp_latch(bodies: TwoBodies) -> str:
    """Return two spacecraft, one of which latches on to the other."""
    stiffness = digits(SHARE * bodies.effective_mass * SPEED**2 / RAMP**2)
    title = f"{plain(bodies.chaser)} kg latch on to {plain(bodies.target)} kg"
    return f"""{HEAD.format(title=title)}motion = "line"         # places and velocities are numbers, and nothing turns
title = "{title}"
duration = "3 s"

[body.chaser]
mass = "{plain(bodies.chaser)} kg"
position = "-10 mm"     # before the ramp meets the latch
velocity = "{1e3 * SPEED:g} mm/s"

[body.target]
mass = "{plain(bodies.target)} kg"

[latch.latch]
between = ["chaser", "target"]
anchor = [0, "{1e3 * RAMP:g} mm"]  # the tip on the chaser; its seat on the target, where the ramp ends
grip = "weld"

[latch.latch.ramp]
stiffness = "{stiffness} N/m"  # across the line of motion: it takes half of the energy
angle = "45 deg"
axial_length = "{1e3 * RAMP:g} mm"

[requirements]
captured = true
"""


ON_LINE = {
    "soft-impact": ("on a line: two spacecraft meet, each with a docking mechanism on a spring", soft_impact),
    "ramp-latch": ("on a line: a spacecraft latches on to another behind a ramp", ramp_latch),
}
