"""Masses on a line of one's own to begin with: an impact of two soft spacecraft, and a latch."""

from __future__ import annotations

import math

from dockdyn.scenario.start import HEAD, Start, TwoBodies, digits, plain

FRONT = 0.1  # of a spacecraft's mass, that of its docking mechanism
SWINGS = 2.0  # Hz, the mechanism on its spacecraft
LASTS = 0.02  # s, the contact of the two mechanisms
SPEED = 0.05  # m/s
RAMP = 0.02  # m, that the latch is pushed aside
SHARE = 0.5  # of the energy of the approach, that the latch takes


def _four_mass(bodies: TwoBodies, mechanism: str) -> str:
    fronts = TwoBodies(FRONT * bodies.chaser, FRONT * bodies.target)
    springs = [digits(front * (2 * math.pi * SWINGS) ** 2) for front in (fronts.chaser, fronts.target)]
    rests = [digits((1 - FRONT) * mass) for mass in (bodies.chaser, bodies.target)]
    title = f"Impact of {plain(bodies.chaser)} kg on {plain(bodies.target)} kg, each with a soft mechanism"
    return f"""{HEAD.format(title=title)}kind = "four-mass"
title = "{title}"
duration = "2 s"
speed = "{1e3 * SPEED:g} mm/s"  # of the chaser; the target rests

[chaser]                # a tenth of its mass is the docking mechanism, which swings on it at {SWINGS:g} Hz
masses = ["{rests[0]} kg", "{digits(fronts.chaser)} kg"]  # the second one meets the target
stiffness = "{springs[0]} N/m"

[target]
masses = ["{digits(fronts.target)} kg", "{rests[1]} kg"]
stiffness = "{springs[1]} N/m"

[contact.normal]        # hard against what is inside: the contact of the mechanisms takes {1e3 * LASTS:g} ms
law = "spring-dashpot"
stiffness = "{digits(fronts.stiffness(LASTS))} N/m"
damping = "{digits(fronts.damping(0.1, LASTS))} N s/m"  # a tenth of critical
"""


def _latch(bodies: TwoBodies, mechanism: str) -> str:
    stiffness = digits(SHARE * bodies.effective_mass * SPEED**2 / RAMP**2)
    title = f"{plain(bodies.chaser)} kg latch on to {plain(bodies.target)} kg"
    return f"""{HEAD.format(title=title)}kind = "latch"
title = "{title}"
duration = "3 s"
speed = "{1e3 * SPEED:g} mm/s"  # of the chaser; the target rests
gap = "10 mm"           # before the ramp meets the latch

[chaser]
masses = ["{plain(bodies.chaser)} kg"]

[target]
masses = ["{plain(bodies.target)} kg"]

[latch]
stiffness = "{stiffness} N/m"  # across the line of motion: it takes half of the energy
angle = "45 deg"        # of the ramp
axial_length = "{1e3 * RAMP:g} mm"
"""


FOUR_MASS = Start(
    "an impact of two soft spacecraft on a line",
    {"soft": "a docking mechanism on a spring on each spacecraft"},
    _four_mass,
)
LATCH = Start("a latch between two spacecraft on a line", {"ramp": "a ramp that pushes a spring latch aside"}, _latch)
