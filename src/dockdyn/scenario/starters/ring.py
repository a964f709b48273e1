"""A ring with guide petals on six struts, which latches catch on a ring like it."""

from __future__ import annotations

import math

from dockdyn.scenario.starters.pieces import (
    Line,
    approach,
    closing_speed,
    contact_questions,
    contacts,
    effective_mass,
    inline,
    join_tables,
    lateral_offset,
    mass_of,
    opening,
    quote,
    row,
    shared_law,
    side,
    spacecraft,
    table,
    write_chosen,
)
from dockdyn.scenario.starters.question import Amount, Answers, digits, round_bounds
from dockdyn.scenario.starters.starter import Starter

SIZE = 0.6  # m, radius of a ring for which lengths are stated
MASS = 12000.0  # kg, effective mass for which forces and stiffnesses are stated
HEIGHT = 0.11  # m, of the petals
CORNERS = ((0.0, -26.0), (1.0, -11.0), (1.0, 11.0), (0.0, 26.0))  # share of the height, degrees: of a petal
CIRCLE = 0.9825  # of the ring's radius, where petals stand
STRIKERS = 0.967  # of it, where the latches are
LASTS = 0.05  # s, a contact of the ring, with 35 kg of its own


def _mass(answers: Answers) -> float:
    return effective_mass(answers["chaser-mass"], answers["target-mass"])


def _smaller(answers: Answers) -> float:
    """Return the side (m) of the smaller spacecraft."""
    return side(min(answers["chaser-mass"], answers["target-mass"]))


def _ring_mass(answers: Answers) -> float:
    return 35.0 / MASS * _mass(answers)  # kg


def _on_circle(along: float, radius: float, degrees: float) -> list[float]:
    """Return a place (m) on a circle about the x axis, counted from y."""
    angle = math.radians(degrees)
    return [along, radius * math.cos(angle), radius * math.sin(angle)]


def _guides(place: float, radius: float) -> list[Line]:
    """Return petals and rim of a ring whose face is at x = `place` (m)."""
    size = radius / SIZE
    points = ", ".join(
        row(_on_circle(place + high * HEIGHT * size, CIRCLE * radius - high * HEIGHT * size, angle))
        for high, angle in CORNERS
    )
    edge = f'"{digits(4 * size)} mm"'
    petals = [("shape", '"edge"', ""), ("points", f"[{points}]", ""), ("radius", edge, ""), ("copies", "3", "")]
    rim = [
        ("shape", '"circle"', ""),
        ("centre", row([place, 0, 0]), ""),
        ("normal", "[1, 0, 0]", ""),
        ("major_radius", f'"{plain_length(radius)}"', ""),
        ("radius", edge, ""),
    ]
    return [("feature.petals", inline(petals), ""), ("feature.rim", inline(rim), "")]


def plain_length(value: float) -> str:
    """Return a length (m) with its unit."""
    return f"{round(value, 6):g} m"


def _text(answers: Answers) -> str:
    radius = answers["ring-radius"]
    size, mass = radius / SIZE, _mass(answers) / MASS
    base, port = side(answers["chaser-mass"]) / 2, side(answers["target-mass"]) / 2
    gap, speed = 0.24 * size, answers["closing-speed"]
    face = inline([("position", row(_on_circle(0.0, 1.033 * radius, 15.0)), ""), *_balls(size)])
    ring = [
        ("on", '"chaser"', "it begins there, and moves with it as the struts let it"),
        ("position", row([base + 0.33 * size, 0, 0]), "m, from the chaser's centre of mass"),
        ("mass", f'"{digits(_ring_mass(answers))} kg"', ""),
        ("inertia", write_chosen(value * mass * size**2 for value in (13, 7, 7)), "kg m²"),
        ("port.front", "{ position = [0, 0, 0], axis = [1, 0, 0] }", ""),
        ("feature.face", face, ""),
        *_guides(0.0, radius),
    ]
    plane = [("shape", '"plane"', ""), ("point", row([port, 0, 0]), ""), ("normal", "[1, 0, 0]", "")]
    target = [
        ("port.front", f"{{ position = {row([port, 0, 0])}, axis = [1, 0, 0] }}", "m"),
        ("surface.face", inline(plane), ""),
        *_guides(port, radius),
    ]
    interface = f"{{ position = {row([base, 0, 0])}, axis = [1, 0, 0] }}"
    return join_tables(
        opening(gap / speed + 5 * size, "for the approach, capture and attenuation", answers, True)
        + "integrator = { tolerance = 1e-7 }  # of a step's error; loads to about four digits\n"
        + shared_law(answers, _ring_mass(answers)),
        approach("ring.front", "target.front", answers, "of the ring's face, at the target's", gap),
        spacecraft("chaser", answers, ("port.interface", interface, "m, where the struts stand: loads are told there")),
        table("body.ring", ring),
        spacecraft("target", answers, *target),
        contacts(
            {
                "petals-on-petals": ("ring.petals", "target.petals"),
                "petals-on-rim": ("ring.petals", "target.rim"),
                "rim-on-petals": ("target.petals", "ring.rim"),
                "faces": ("ring.face", "target.face"),
            }
        ),
        _struts(answers, base, size, mass),
        _latches(answers, port, size, mass),
    )


def _balls(size: float) -> list[Line]:
    """Return the balls of the ring's face, so that the rings lie flat on each other."""
    return [("radius", f'"{digits(3 * size)} mm"', ""), ("copies", "12", "")]


def _struts(answers: Answers, base: float, size: float, mass: float) -> str:
    """Return the six struts that stand at `base` (m), for a ring of a `size` and `mass` relative to the stated ones."""
    radius = answers["ring-radius"]
    circles = [
        ("ring_radius", f'"{plain_length(radius)}"', ""),
        ("base_radius", f'"{plain_length(1.05 * radius)}"', ""),
        ("ring_spread", '"20 deg"', ""),
        ("base_spread", '"20 deg"', ""),
        ("base_position", row([base, 0, 0]), ""),
    ]
    lines = [
        ("between", '["ring", "chaser"]', ""),
        ("hexapod", inline(circles), ""),
        ("stiffness", f'"{digits(2e5 * mass / size**2)} N/m"', "of each"),
        ("damping", f'"{digits(300 * mass / size)} N s/m"', ""),
        ("slip", f'"{digits(60 * mass / size)} N"', "of a brake that limits the spring's force, weak until capture"),
        ("speed", "0", "of a motor, set by phases"),
        ("moved_mass", f'"{digits(15 * mass)} kg"', "of motor and screw, as felt along the strut"),
    ]
    after = {
        "slip": f"{digits(900 * mass / size)} N",
        "damping": f"{digits(2500 * mass / size)} N s/m",
        "speed": "0 mm/s",
    }
    changed = ", ".join(f'"strut.leg.{key}" = {quote(value)}' for key, value in after.items())
    phases = [
        ("ready", "{}", "until they touch"),
        ("lunge", '{ when = "contact", set = { "strut.leg.speed" = "50 mm/s" } }', "the struts push the ring on"),
        ("attenuate", f'{{ when = "latched", set = {{ {changed} }} }}', ""),
    ]
    return join_tables(table("strut.leg", lines), table("phase", phases))


def _latches(answers: Answers, port: float, size: float, mass: float) -> str:
    """Return three latches on the ring, whose seats are at x = `port` (m) of the target."""
    radius = STRIKERS * answers["ring-radius"]
    seats = ", ".join(
        f"[{row(_on_circle(0.0, radius, angle))}, {row(_on_circle(port, radius, 180 - angle))}]"
        for angle in (60.0, 180.0, 300.0)
    )
    lines = [
        ("between", '["ring", "target"]', ""),
        ("anchors", f"[{seats}]", ""),
        ("reach", f'"{digits(6 * size)} mm"', "of a striker from its seat along the axis,"),
        ("lateral", f'"{digits(20 * size)} mm"', "and across it"),
        ("stiffness", f'"{digits(3e5 * mass / size**2)} N/m"', ""),
        ("damping", f'"{digits(2000 * mass / size)} N s/m"', ""),
    ]
    return table("latch.hook", lines, "anchors, m: the striker on the ring, its seat on the target")


RING = Starter(
    "a ring with guide petals on six struts, caught by latches",
    (
        mass_of("chaser-mass", 12000.0, "the spacecraft with the active ring", 200.0),
        mass_of("target-mass", 20000.0, "the spacecraft with the passive ring", 200.0),
        Amount(
            "ring-radius",
            "Of both rings; 0.6 m is that of large spacecraft.",
            "m",
            "a radius",
            lambda answers: min(SIZE, 0.4 * _smaller(answers)),
            lambda answers: round_bounds(0.1 * _smaller(answers), min(2.0, 0.8 * _smaller(answers))),
        ),
        closing_speed(0.08, 0.2),
        lateral_offset(lambda answers: 0.06 * answers["ring-radius"], lambda answers: 0.12 * answers["ring-radius"]),
        *contact_questions(_ring_mass, LASTS),
    ),
    _text,
    "whether and when the latches caught, the largest loads at the interface, and how hard the petals touched",
)
