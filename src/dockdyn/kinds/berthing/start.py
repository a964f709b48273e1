"""A berthing of one's own to begin with: an arm of two links meets a payload."""

from __future__ import annotations

from dockdyn.scenario.start import HEAD, Start, TwoBodies, digits, inertia, plain, side

IMPACT = {
    "grip": 'law = "weld"             # the hand holds from the first touch on\n',
    "bounce": 'law = "energetic"\nrestitution = 0.5        # half of the closing speed comes back\nfriction = 0.0\n',
}


LENGTH = 3.0  # m, of a link
SHARES = (0.02, 0.015)  # of the lighter body's mass, those of the links


def _rod(mass: float) -> str:
    """The moments of inertia (kg m²) of a link of that mass (kg) and a tenth of its length across."""
    across = digits(mass * LENGTH**2 / 12)
    return f"[{digits(mass * (LENGTH / 10) ** 2 / 8)}, {across}, {across}]"


def _text(bodies: TwoBodies, mechanism: str) -> str:
    masses = [share * min(bodies.chaser, bodies.target) for share in SHARES]
    grips = mechanism == "grip"
    title = f"An arm on {plain(bodies.chaser)} kg {'grips' if grips else 'meets'} {plain(bodies.target)} kg"
    shoulder, radius = digits(side(bodies.chaser) / 2), digits(side(bodies.target) / 2)
    return f"""{HEAD.format(title=title)}kind = "berthing"
title = "{title}"
duration = "20 s"        # from the first touch on
motion = "planar"        # all axes are z; left out, the arm moves in space

[[chaser.link]]
name = "spacecraft"
mass = "{plain(bodies.chaser)} kg"
inertia = {inertia(bodies.chaser)}  # kg m², of a cube of 100 kg/m³; the last one counts in the plane

[[chaser.link]]
name = "upper arm"
parent = "spacecraft"
coordinate = "shoulder"
mount = [0, {shoulder}, 0]     # m, in the axes of its parent
start = "70 deg"
mass = "{digits(masses[0])} kg"
centre = [{LENGTH / 2:g}, 0, 0]     # m, from its joint
inertia = {_rod(masses[0])}

[[chaser.link]]
name = "forearm"
parent = "upper arm"
coordinate = "elbow"
mount = [{LENGTH:g}, 0, 0]
start = "-60 deg"
start_rate = "0.5 deg/s" # how the arm moves when it touches
mass = "{digits(masses[1])} kg"
centre = [{LENGTH / 2:g}, 0, 0]
inertia = {_rod(masses[1])}

[target]
velocity = ["-20 mm/s", "0 m/s", "0 m/s"]
rate = ["0 deg/s", "0 deg/s", "-1 deg/s"]

[[target.link]]
name = "payload"
mass = "{plain(bodies.target)} kg"
inertia = {inertia(bodies.target)}

[contact]
chaser = "forearm"       # the link that touches, and where on it
chaser_position = [{LENGTH:g}, 0, 0]
target = "payload"
target_radius = "{radius} m"  # along the normal, towards the hand

[impact]
{IMPACT[mechanism]}normal = "hand"          # along the last link
"""


START = Start(
    "a berthing: an arm meets a payload",
    {"grip": "the hand holds the payload from the first touch on", "bounce": "the payload bounces off the hand"},
    _text,
    ("spacecraft with the arm", "payload"),
    (10000.0, 1000.0),
)
