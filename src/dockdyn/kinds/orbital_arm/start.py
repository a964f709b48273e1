"""An arm in orbit of one's own to begin with: it lowers a payload on to the floor of a bay."""

from __future__ import annotations

import math

from dockdyn.scenario.start import HEAD, Start, TwoBodies, digits, inertia, plain

LINKS = (6.0, 6.0)  # m
SHARES = (0.15, 0.12)  # of the lighter body's mass, those of the links
SETTLES = 40.0  # s, a period of the shoulder under its gains
LOWERED = 4.0  # m, where the floor is


def _gains(payload: float, masses: list[float]) -> tuple[str, str]:
    """Stiffness (N m/rad) and damping (N m s/rad, 0.7 of critical) for a period of the stretched arm."""
    reach = sum(LINKS)
    moment = payload * reach**2 + sum(mass * reach**2 / 3 for mass in masses)  # kg m², about the shoulder, roughly
    natural = 2 * math.pi / SETTLES
    return digits(moment * natural**2), digits(2 * 0.7 * moment * natural)


def _text(bodies: TwoBodies, mechanism: str) -> str:
    title = f"An arm lowers {plain(bodies.target)} kg on to a station of {plain(bodies.chaser)} kg"
    masses = [share * min(bodies.chaser, bodies.target) for share in SHARES]
    stiffness, damping = _gains(bodies.target, masses)
    links = [
        (digits(mass), digits(length / 2), digits(mass * length**2 / 12), digits(mass * length**2 / 800))
        for mass, length in zip(masses, LINKS, strict=True)
    ]
    return f"""{HEAD.format(title=title)}kind = "orbital-arm"
title = "{title}"
duration = "120 s"
motion = "planar"        # all axes are z; left out, the arm moves in space

[orbit]
semi_major_axis = "6771 km"

[[arm.link]]
name = "station"
mass = "{plain(bodies.chaser)} kg"
inertia = {inertia(bodies.chaser)}  # kg m², of a cube of 100 kg/m³; the last one counts in the plane

[[arm.link]]
name = "upper arm"
parent = "station"
coordinate = "shoulder"
start = "60 deg"
mass = "{links[0][0]} kg"
centre = [{links[0][1]}, 0, 0]        # m, from its joint
inertia = [{links[0][3]}, {links[0][2]}, {links[0][2]}]

[[arm.link]]
name = "forearm"
parent = "upper arm"
coordinate = "elbow"
mount = [{LINKS[0]:g}, 0, 0]         # m, in the axes of its parent
start = "-60 deg"
mass = "{links[1][0]} kg"
centre = [{links[1][1]}, 0, 0]
inertia = [{links[1][3]}, {links[1][2]}, {links[1][2]}]

[[arm.link]]
name = "payload"
parent = "forearm"
joint = "locked"
mount = [{LINKS[1]:g}, 0, 0]
mass = "{plain(bodies.target)} kg"
inertia = [0, 0, 0]      # a point mass

[contact]
link = "payload"

[[contact.surface]]
name = "floor"           # of the bay
shape = "plane"
point = [0, {LOWERED:g}, 0]       # m, in the axes of the station
normal = [0, 1, 0]

[impact]
law = "frictionless"
restitution = 0.5

[control]                # of every joint: towards its set-point
law = "joint-pd"
stiffness = [{stiffness}, {stiffness}]  # N m/rad: the shoulder would swing in {SETTLES:g} s
damping = [{damping}, {damping}]  # N m s/rad: 0.7 of critical

[[control.phase]]
name = "lower"
set_point = ["45 deg", "-50 deg"]

[integrator]
step = "20 ms"
"""


START = Start(
    "an arm in orbit that lowers a payload into a bay",
    {"bay": "the payload bounces on the floor of a bay"},
    _text,
    ("station", "payload"),
    (400000.0, 1000.0),
)
