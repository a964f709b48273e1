"""An assembly of one's own to begin with: an arm in orbit that lowers a payload on to the floor of a bay."""

from __future__ import annotations

import math

from dockdyn.scenario.start import HEAD, TwoBodies, digits, inertia, plain

LINKS = (6.0, 6.0)  # m
SHARES = (0.15, 0.12)  # of the lighter body's mass, those of the links
SETTLES = 40.0  # s, a period of the shoulder under its gains
LOWERED = 4.0  # m, where the floor is
RATE = 1.13313e-3  # rad/s, of an orbit at 6771 km

TEXT = """title = "{title}"
duration = "120 s"

[orbit]
semi_major_axis = "6771 km"

[body.station]
mass = "{station} kg"
inertia = {station_inertia}  # kg m², of a cube of 100 kg/m³
rate = [0, 0, {rate:g}]     # rad/s, as the orbit goes round

[body.station.surface.floor]  # of the bay
shape = "plane"
point = [0, {floor:g}, 0]       # m, in the axes of the station
normal = [0, 1, 0]

[body.upper-arm]
on = "station"
position = [{halves[0]:g}, 0, 0]  # m, of its centre of mass, with the joint at zero
mass = "{masses[0]} kg"
inertia = [{thin[0]}, {moments[0]}, {moments[0]}]

[body.upper-arm.joint]
kind = "revolute"
position = [0, 0, 0]     # m, in the axes of the station
axis = [0, 0, 1]
start = "60 deg"

[body.forearm]
on = "upper-arm"
position = [{elbow_to_middle:g}, 0, 0]
mass = "{masses[1]} kg"
inertia = [{thin[1]}, {moments[1]}, {moments[1]}]

[body.forearm.joint]
kind = "revolute"
position = [{halves[0]:g}, 0, 0]
axis = [0, 0, 1]
start = "-60 deg"

[body.payload]
on = "forearm"
position = [{halves[1]:g}, 0, 0]
mass = "{payload} kg"
inertia = [0, 0, 0]      # a point mass
joint = {{ kind = "locked" }}

[body.payload.feature.tip]
shape = "point"
position = [0, 0, 0]

[contact.floor]
between = ["payload.tip", "station.floor"]

[contact.floor.impact]         # velocities jump; normal would state a force
law = "frictionless"
restitution = 0.5

[control]                # of every joint: towards its set-point
law = "joint-pd"
body = "station"
stiffness = [{stiffness}, {stiffness}]  # N m/rad: the shoulder would swing in {settles:g} s
damping = [{damping}, {damping}]  # N m s/rad: 0.7 of critical
set_point = ["45 deg", "-50 deg"]

[integrator]
method = "variational"   # energy does not drift over long times
step = "20 ms"
"""


def bay(bodies: TwoBodies) -> str:
    """Return a file in which an arm on the chaser, a station, lowers the target, a payload."""
    title = f"An arm lowers {plain(bodies.target)} kg on to a station of {plain(bodies.chaser)} kg"
    masses = [share * min(bodies.chaser, bodies.target) for share in SHARES]
    stiffness, damping = _gains(bodies.target, masses)
    return HEAD.format(title=title) + TEXT.format(
        title=title,
        station=plain(bodies.chaser),
        station_inertia=inertia(bodies.chaser),
        rate=RATE,
        floor=LOWERED,
        halves=[length / 2 for length in LINKS],
        elbow_to_middle=sum(LINKS) / 2,
        masses=[digits(mass) for mass in masses],
        moments=[digits(mass * length**2 / 12) for mass, length in zip(masses, LINKS, strict=True)],
        thin=[digits(mass * length**2 / 800) for mass, length in zip(masses, LINKS, strict=True)],
        payload=plain(bodies.target),
        stiffness=stiffness,
        damping=damping,
        settles=SETTLES,
    )


def _gains(payload: float, masses: list[float]) -> tuple[str, str]:
    """Return the stiffness (N m/rad) and damping (N m s/rad, 0.7 of critical) for a period of the stretched arm."""
    reach = sum(LINKS)
    moment = payload * reach**2 + sum(mass * reach**2 / 3 for mass in masses)  # kg m², about the shoulder, roughly
    natural = 2 * math.pi / SETTLES
    return digits(moment * natural**2), digits(2 * 0.7 * moment * natural)
