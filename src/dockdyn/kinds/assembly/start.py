"""An assembly of one's own to begin with: soft capture by a ring on six struts, or by a probe on a bushing."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dockdyn.kinds.assembly.start_arm import arm_text
from dockdyn.kinds.assembly.start_bay import bay
from dockdyn.kinds.assembly.start_on_line import ON_LINE
from dockdyn.kinds.assembly.start_probe import PROBES, probe
from dockdyn.scenario.start import HEAD, Start, TwoBodies, digits, inertia, plain, side

RING_RADIUS = 0.6  # m, of a ring on a large spacecraft
PETAL_HEIGHT = 0.11 / RING_RADIUS  # lengths of the ring count in its radius
PETAL_CORNERS = ((0.0, 0.9825, -26.0), (1.0, 0.9825, -11.0), (1.0, 0.9825, 11.0), (0.0, 0.9825, 26.0))
LATCH_CIRCLE = 0.967
REFERENCE_MASS = 12000.0  # kg, for which the forces and stiffnesses of the ring are stated

SPEED = 0.05  # m/s, of the probe
YIELD = 0.05  # m, in which the brake of the probe's mount stops the chaser
SWING = 2.0  # s, half a swing of the chaser on the probe's mount
TOUCH = 0.1  # s, half a swing of the probe on the cone
TIP = 0.015  # m, radius of the probe's tip
HALF_ANGLE = 40.0  # degrees, of the cone

LAW = """normal = {{ law = "hunt-crossley", stiffness = "{stiffness} N/m", exponent = 1, damping = "1.5 s/m" }}
friction = {{ law = "coulomb", coefficient = 0.1, regularisation = "1 mm/s" }}
"""

RING = """duration = "{duration} s"

[approach]                 # of the ring's face, at the target's
of = "ring.front"
to = "target.port"
distance = "{distance} mm"
closing_speed = "80 mm/s"
lateral_offset = ["{offset[0]} mm", "{offset[1]} mm"]
pitch = "1 deg"
roll = "1 deg"

[body.chaser]
mass = "{chaser_mass} kg"
inertia = {chaser_inertia}  # kg m², of a cube of 100 kg/m³; or a table of 3 by 3

[body.chaser.port.interface]  # where the struts stand: loads are told there
position = [{base}, 0, 0]  # m, from the centre of mass
axis = [1, 0, 0]           # out of the body

[body.ring]
on = "chaser"              # it begins there, and moves with it until forces part them
position = [{ring}, 0, 0]
mass = "{ring_mass} kg"
inertia = {ring_inertia}
{ring_features}
[body.ring.feature.face]  # a row of balls, so that the rings lie flat on each other
position = {face}
radius = "{face_radius} mm"
copies = 12

[body.ring.port.front]
position = [0, 0, 0]
axis = [1, 0, 0]

[body.target]
mass = "{target_mass} kg"
inertia = {target_inertia}
{target_features}
[body.target.surface.face]
shape = "plane"
point = [{port}, 0, 0]
normal = [1, 0, 0]

[body.target.port.port]
position = [{port}, 0, 0]
axis = [1, 0, 0]

[contact.petals-on-petals]
between = ["ring.petals", "target.petals"]
{law}
[contact.petals-on-target-rim]
between = ["ring.petals", "target.rim"]
{law}
[contact.target-petals-on-rim]
between = ["target.petals", "ring.rim"]
{law}
[contact.faces]
between = ["ring.face", "target.face"]
{law}
[strut.strut]
between = ["ring", "chaser"]
stiffness = "{strut_stiffness} N/m"
damping = "{strut_damping} N s/m"
slip = "{slip} N"          # of a brake that limits the force of the spring
speed = 0                  # of a motor, set by phases
moved_mass = "{moved_mass} kg"  # inertia of motor and screw, as felt along the strut
stroke = ["-{stroke[0]} mm", "{stroke[1]} mm"]
stop_stiffness = "{stiffness} N/m"
stop_damping = "{stop_damping} N s/m"

[strut.strut.hexapod]          # six of them, in pairs on two circles
ring_radius = "{radius} m"
base_radius = "{base_radius} m"
ring_spread = "20 deg"
base_spread = "20 deg"
base_position = [{base}, 0, 0]

[latch.latch]
between = ["ring", "target"]
anchors = [                # striker on the ring, its seat on the target
{seats}
]
reach = "{reach} mm"       # out of the seat along its axis,
lateral = "{lateral} mm"   # and across it
stiffness = "{latch_stiffness} N/m"
damping = "{stop_damping} N s/m"
play = "1 mm"

[phase.ready]

[phase.lunge]  # the struts push the ring on
when = "contact"
set = {{ "strut.strut.speed" = "50 mm/s" }}

[phase.attenuate]
when = "latched"

[phase.attenuate.set]
"strut.strut.slip" = "{holding} N"
"strut.strut.damping" = "{holding_damping} N s/m"
"strut.strut.speed" = "0 mm/s"

[requirements]
captured = true

[integrator]
tolerance = 1e-7           # of a step's error; loads to about four digits
"""

FEATURES = """
[body.{body}.feature.petals]
shape = "edge"             # rounded edges along these corners: base, tip, tip, base of one petal
points = [
{corners}
]
radius = "{edge} mm"
copies = 3                 # around the body's x axis

[body.{body}.feature.rim]
shape = "circle"
centre = [{place}, 0, 0]
normal = [1, 0, 0]
major_radius = "{radius} m"
radius = "{edge} mm"
"""

PROBE = """duration = "10 s"

[approach]                 # of the tip, at the mouth of the cone
of = "probe.tip"
to = "target.mouth"
distance = "50 mm"
closing_speed = "{speed} mm/s"
lateral_offset = ["40 mm", "-20 mm"]
pitch = "0.5 deg"

[body.chaser]
mass = "{chaser_mass} kg"
inertia = {chaser_inertia}  # kg m², of a cube of 100 kg/m³; or a table of 3 by 3

[body.chaser.port.interface]  # where the mount stands: loads are told there
position = [{base}, 0, 0]  # m, from the centre of mass
axis = [1, 0, 0]           # out of the body

[body.probe]
on = "chaser"              # it begins there, and moves with it until forces part them
position = [{probe}, 0, 0]
mass = "{probe_mass} kg"
inertia = [{probe_inertia[0]}, {probe_inertia[1]}, {probe_inertia[1]}]

[body.probe.feature.head]
position = [0.2, 0, 0]
radius = "{tip} mm"

[body.probe.port.tip]
position = [{foremost}, 0, 0]
axis = [1, 0, 0]

[body.target]
mass = "{target_mass} kg"
inertia = {target_inertia}

[body.target.surface.cone]
shape = "cone"
apex = [{port}, 0, 0]
axis = [1, 0, 0]           # from the apex into the opening
half_angle = "{half_angle} deg"
depth = "200 mm"

[body.target.port.mouth]
position = [{mouth}, 0, 0]
axis = [1, 0, 0]

[contact.head]
between = ["probe.head", "target.cone"]
{law}
[bushing.mount]  # the probe's mount: springs and dampers along and about three axes
between = ["probe", "chaser"]
position = [{base}, 0, 0]
stiffness = [{along}, {along}, {along}]  # N/m
turning_stiffness = [{turning}, {turning}, {turning}]  # N m/rad
damping = [{drag}, {drag}, {drag}]  # N s/m
turning_damping = [{turning_drag}, {turning_drag}, {turning_drag}]  # N m s/rad
slip = "{slip} N"  # of a brake that limits the force along x: it stops the chaser within about {way} mm

[latch.capture-latch]
between = ["probe", "target"]
anchor = [[0.2, 0, 0], [{seat}, 0, 0]]  # m: the striker, in the head; its seat, where the head lies in the cone
reach = "10 mm"            # along the seat's axis,
lateral = "10 mm"          # and across it
stiffness = "{stiffness} N/m"
damping = "{latch_damping} N s/m"

[requirements]
captured = true

# On a rig the forces of contacts act late:
# [loop]
# delay = "5 ms"
"""


def _text(bodies: TwoBodies, mechanism: str) -> str:
    if mechanism.startswith("arm-"):
        return arm_text(bodies, mechanism)
    if mechanism in PROBES:
        return probe(bodies, mechanism == "probe-cone")
    if mechanism == "bay":
        return bay(bodies)
    if mechanism in ON_LINE:
        return ON_LINE[mechanism][1](bodies)
    ring = mechanism == "ring-petals"
    title = f"{'A ring with petals' if ring else 'A probe on a mount'}, {plain(bodies.chaser)} kg"
    named = {
        "chaser_mass": plain(bodies.chaser),
        "target_mass": plain(bodies.target),
        "chaser_inertia": inertia(bodies.chaser),
        "target_inertia": inertia(bodies.target),
    }
    start = f'title = "{title} to {plain(bodies.target)} kg"\n'
    return HEAD.format(title=title) + start + (_ring(bodies, named) if ring else _probe(bodies, named))


def _ring(bodies: TwoBodies, named: dict[str, str]) -> str:
    """Return the ring, made similar to one of 0.6 m: at the same speeds forces grow as mass over length."""
    radius = float(digits(min(RING_RADIUS, 0.4 * min(side(bodies.chaser), side(bodies.target)))))
    size, mass = radius / RING_RADIUS, bodies.effective_mass / REFERENCE_MASS
    force, stiffness = mass / size, mass / size**2
    base, port = (float(digits(side(one) / 2)) for one in (bodies.chaser, bodies.target))
    angles = (60.0, 180.0, 300.0)
    seats = [
        f"  [{_on_circle(0.0, LATCH_CIRCLE * radius, a)}, {_on_circle(port, LATCH_CIRCLE * radius, 180 - a)}],"
        for a in angles
    ]
    return RING.format(
        **named,
        duration=digits(8 * size),
        distance=digits(240 * size),
        offset=[digits(40 * size), digits(-20 * size)],
        base=plain(base),
        ring=plain(round(base + 0.33 * size, 6)),
        port=plain(port),
        ring_mass=digits(35 * mass),
        ring_inertia=_row(digits(value * mass * size**2) for value in (13, 7, 7)),
        ring_features=_features("ring", 0.0, radius),
        target_features=_features("target", port, radius),
        face=_on_circle(0.0, 1.033 * radius, 15.0),
        face_radius=digits(3 * size),
        law=LAW.format(stiffness=digits(5e5 * stiffness)),
        stiffness=digits(5e5 * stiffness),
        strut_stiffness=digits(2e5 * stiffness),
        strut_damping=digits(300 * force),
        slip=digits(60 * force),
        moved_mass=digits(15 * mass),
        stroke=[digits(180 * size), digits(100 * size)],
        stop_damping=digits(2000 * force),
        radius=plain(radius),
        base_radius=digits(1.05 * radius),
        seats="\n".join(seats),
        reach=digits(6 * size),
        lateral=digits(20 * size),
        latch_stiffness=digits(3e5 * stiffness),
        holding=digits(900 * force),
        holding_damping=digits(2500 * force),
    )


def _features(body: str, place: float, radius: float) -> str:
    """Return petals and rim of a ring whose face is at x = `place` (m)."""
    rows = [
        f"  {_on_circle(place + high * PETAL_HEIGHT * radius, radius * (share - high * PETAL_HEIGHT), angle)},"
        for high, share, angle in PETAL_CORNERS
    ]
    edge = digits(4 * radius / RING_RADIUS)
    return FEATURES.format(body=body, corners="\n".join(rows), place=plain(place), radius=plain(radius), edge=edge)


def _probe(bodies: TwoBodies, named: dict[str, str]) -> str:
    base, port = (float(digits(side(one) / 2)) for one in (bodies.chaser, bodies.target))
    mass = 0.02 * bodies.chaser
    along, touch = bodies.stiffness(SWING), bodies.stiffness(TOUCH, mass)
    return PROBE.format(
        **named,
        speed=digits(1e3 * SPEED),
        base=plain(base),
        probe=plain(round(base + 0.3, 6)),
        port=plain(port),
        mouth=plain(round(port + 0.2, 6)),
        seat=plain(round(port + TIP / math.sin(math.radians(HALF_ANGLE)), 4)),
        half_angle=plain(HALF_ANGLE),
        tip=plain(1e3 * TIP),
        foremost=plain(0.2 + TIP),
        probe_mass=digits(mass),
        probe_inertia=[digits(mass * 0.05**2), digits(mass * 0.5**2 / 12)],
        along=digits(along),
        turning=digits(along * 0.5**2),
        drag=digits(bodies.damping(0.3, SWING)),
        turning_drag=digits(bodies.damping(0.3, SWING) * 0.5**2),
        slip=digits(bodies.effective_mass * SPEED**2 / (2 * YIELD)),
        way=plain(1e3 * YIELD),
        law=LAW.format(stiffness=digits(touch)),
        stiffness=digits(touch),
        latch_damping=digits(0.6 * math.sqrt(touch * mass)),
    )


def _on_circle(along: float, radius: float, degrees: float) -> str:
    """Return a place on a circle about the x axis, counted from y, as a file has it."""
    angle = math.radians(degrees)
    return _row(plain(round(value, 6) + 0.0) for value in (along, radius * math.cos(angle), radius * math.sin(angle)))


def _row(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"


START = Start(
    "two or more spacecraft that dock: bodies, contacts and what acts between them",
    {
        **PROBES,
        "ring-petals": "a ring with guide petals on six struts, caught by latches",
        "probe-mount": "a probe on a sprung mount, into a cone with a capture latch",
        "arm-grip": "an arm whose hand holds a payload from the first touch on",
        "arm-bounce": "an arm off whose hand a payload bounces",
        "bay": "an arm in orbit on the chaser lowers the target into a bay",
        **{name: words for name, (words, _) in ON_LINE.items()},
    },
    _text,
)
