"""An arm of one's own to begin with: its hand grips a payload, or the payload bounces off it."""

from __future__ import annotations

import math

from dockdyn.scenario.start import HEAD, TwoBodies, digits, inertia, plain, side

LENGTH = 3.0  # m, of a link
SHARES = (0.02, 0.015)  # of the lighter body's mass, those of the links
ANGLES = (70.0, -60.0)  # degrees, at the start
GRIP = """
[latch.grip]
between = ["forearm", "payload"]
anchor = [[{half}, 0, 0], {seat}] # m: the hand, and its seat on the payload
reach = "1 mm"           # they touch: it falls in at once
lateral = "1 mm"
grip = "weld"
"""
BOUNCE = """
[contact.hand]
between = ["forearm.hand", "payload.ball"]

[contact.hand.impact]
law = "energetic"
restitution = 0.5        # half of the closing speed comes back
friction = 0.0
"""
HAND = """
[body.forearm.feature.hand]
position = [{half}, 0, 0]
"""
BALL = """
[body.payload.surface.ball]
shape = "sphere"
centre = [0, 0, 0]
radius = "{radius} m"
"""
ARM = """duration = "20 s"        # from the first touch on
motion = "plane"         # all axes are z; left out, the arm moves in space

[body.spacecraft]
mass = "{chaser} kg"
inertia = {chaser_inertia}  # kg m², of a cube of 100 kg/m³; the last one counts in the plane

[body.upper-arm]
on = "spacecraft"
position = [{half}, {shoulder}, 0] # m, of its centre of mass, the joint's angle zero
mass = "{masses[0]} kg"
inertia = {rods[0]}

[body.upper-arm.joint]             # the shoulder
kind = "revolute"
position = [0, {shoulder}, 0] # m, in the axes of the spacecraft
axis = [0, 0, 1]
start = "{angles[0]:g} deg"

[body.forearm]
on = "upper-arm"
position = [{length}, 0, 0]
mass = "{masses[1]} kg"
inertia = {rods[1]}
{hand}
[body.forearm.joint]             # the elbow
kind = "revolute"
position = [{half}, 0, 0]
axis = [0, 0, 1]
start = "{angles[1]:g} deg"
start_rate = "0.5 deg/s" # how the arm moves when it touches

[body.payload]
mass = "{target} kg"
inertia = {target_inertia}
position = {place} # m: the hand touches it
velocity = ["-20 mm/s", "0 m/s", "0 m/s"]
rate = ["0 deg/s", "0 deg/s", "-1 deg/s"]
{ball}{meets}
[integrator]
method = "adaptive"      # nothing touches after t = 0; located finds what does
"""


def arm_text(bodies: TwoBodies, mechanism: str) -> str:
    """Return the file of an arm whose hand grips the payload or bounces off it."""
    grips = mechanism == "arm-grip"
    masses = [share * min(bodies.chaser, bodies.target) for share in SHARES]
    shoulder, radius = (float(digits(side(mass) / 2)) for mass in (bodies.chaser, bodies.target))
    first, second = math.radians(ANGLES[0]), math.radians(sum(ANGLES))
    ahead = math.cos(second), math.sin(second)
    tip = [LENGTH * (turn(first) + turn(second)) for turn in (math.cos, math.sin)]
    centre = [tip[0] + radius * ahead[0], shoulder + tip[1] + radius * ahead[1]]
    half = plain(LENGTH / 2)
    title = f"An arm on {plain(bodies.chaser)} kg {'grips' if grips else 'meets'} {plain(bodies.target)} kg"
    seat = [-radius * part for part in ahead]
    body = ARM.format(
        chaser=plain(bodies.chaser),
        target=plain(bodies.target),
        chaser_inertia=inertia(bodies.chaser),
        target_inertia=inertia(bodies.target),
        half=half,
        length=plain(LENGTH),
        shoulder=plain(shoulder),
        masses=[digits(mass) for mass in masses],
        rods=[_rod(mass) for mass in masses],
        angles=ANGLES,
        place=_row(centre),
        hand="" if grips else HAND.format(half=half),
        ball="" if grips else BALL.format(radius=plain(radius)),
        meets=GRIP.format(half=half, seat=_row(seat)) if grips else BOUNCE,
    )
    return f'{HEAD.format(title=title)}title = "{title}"\n{body}'


def _rod(mass: float) -> str:
    """Return the moments of inertia (kg m²) of a link of that mass (kg) and a tenth of its length across."""
    across = digits(mass * LENGTH**2 / 12)
    return f"[{digits(mass * (LENGTH / 10) ** 2 / 8)}, {across}, {across}]"


def _row(place: list[float]) -> str:
    """Return a place in the plane as a file has it, to where nothing is between what touches."""
    return f"[{place[0]:.12f}, {place[1]:.12f}, 0]"
