"""An assembly of one's own to begin with: a probe that meets a cone with a latch, or a plate."""

from __future__ import annotations

from dockdyn.scenario.start import HEAD, TwoBodies, digits, inertia, plain, side

LASTS = 1.0  # s, a contact
SPEED = 0.04  # m/s
RAMP = 0.02  # m, that the latch is pushed aside
SHARE = 1 / 3  # of the energy of the approach, that the latch takes

CONE = """shape = "cone"
apex = [{reach}, 0, 0]      # m, from the target's centre of mass
axis = [1, 0, 0]         # from the apex into the opening
half_angle = "40 deg"
rim_radius = "250 mm"
"""
PLATE = """shape = "plane"
point = [{reach}, 0, 0]     # m, from the target's centre of mass
normal = [1, 0, 0]       # out of the plate
"""
LATCH = """
[latch.latch]
between = ["chaser", "target"]
feature = "probe"
surface = "cone"
entry = "60 mm"          # from the apex to the tip's centre, where the ramp meets the latch
grip = "compliant-weld"

[latch.latch.ramp]
stiffness = "{stiffness} N/m"  # of the latch spring, across the axis: it takes a third of the energy of the approach
angle = "45 deg"
axial_length = "{ramp} mm"
"""


def probe(bodies: TwoBodies, cone: bool) -> str:
    """Return a file in which a probe comes into a `cone`, where a spring latch catches it, or bounces off a plate."""
    surface = "cone" if cone else "plate"
    title = f"A probe of {plain(bodies.chaser)} kg {'into a cone' if cone else 'against a plate'}"
    shape = (CONE if cone else PLATE).format(reach=digits(side(bodies.target) / 2))
    stiffness = digits(SHARE * bodies.effective_mass * SPEED**2 / RAMP**2)
    latch = LATCH.format(stiffness=stiffness, ramp=f"{1e3 * RAMP:g}") if cone else ""
    return f"""{HEAD.format(title=title)}title = "{title} of {plain(bodies.target)} kg"
duration = "15 s"

[approach]               # of the probe's tip, relative to the {surface}
of = "probe"
to = "{surface}"
closing_speed = "{1e3 * SPEED:g} mm/s"
distance = "50 mm"
lateral_offset = ["50 mm", "-20 mm"]
pitch = "0.5 deg"

[body.chaser]
mass = "{plain(bodies.chaser)} kg"
inertia = {inertia(bodies.chaser)}  # kg m², of a cube of 100 kg/m³; or a table of 3 by 3

[body.chaser.feature.probe]
position = [{digits(side(bodies.chaser) / 2 + 0.5)}, 0, 0]   # m, from the centre of mass
radius = "15 mm"         # of its spherical tip

[body.target]
mass = "{plain(bodies.target)} kg"
inertia = {inertia(bodies.target)}

[body.target.surface.{surface}]
{shape}
[contact.probe-{surface}]
between = ["probe", "{surface}"]

[contact.probe-{surface}.normal]
law = "spring-dashpot"
stiffness = "{digits(bodies.stiffness(LASTS))} N/m"  # a contact of both masses takes {LASTS:g} s
damping = "{digits(bodies.damping(0.1, LASTS))} N s/m"  # a tenth of critical

[contact.probe-{surface}.friction]
law = "coulomb"
coefficient = 0.1
{latch}
# On a rig the force acts late:
# [loop]
# delay = "16 ms"
"""


PROBES = {
    "probe-cone": "a probe into a cone, where a spring latch catches it",
    "plate": "a probe that bounces off a plate",
}
