"""Two jaws on slides that close around the ring of a launch adapter."""

from __future__ import annotations

import math

from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.starters.pieces import (
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
    row,
    shared_law,
    side,
    spacecraft,
    table,
    write_answer,
    write_chosen,
)
from dockdyn.scenario.starters.question import Amount, Answers, digits, fixed_bounds, plain, round_bounds
from dockdyn.scenario.starters.starter import Starter

LASTS = 0.05  # s, a contact of a jaw
GAP = 2.5  # of the tube's radii, before they touch
OPEN = 7.5  # of them, from the tube's middle to a jaw that is open
ARM = 3.3  # of them, along x and across, each arm of a jaw's V
EDGE = 0.5  # of them, the edges' radius
CLOSED = (1 + EDGE) * math.sqrt(2)  # of them, from the tube's middle to the V that touches it
JAW_DENSITY = 500.0  # kg/m³, of a jaw with its carriage
GUIDED = 2.0  # s, that closing takes


def _mass(answers: Answers) -> float:
    return effective_mass(answers["jaw-mass"], answers["client-mass"])


def _text(answers: Answers) -> str:
    tube, ring = answers["tube-radius"], answers["ring-diameter"] / 2
    reach, front = side(answers["servicer-mass"]) / 2 + 3 * ARM * tube, side(answers["client-mass"]) / 2
    duration = 1.5 * GAP * tube / answers["closing-speed"] + 2 * GUIDED
    palm = reach - (1 + EDGE) * tube
    across = 3 * tube
    servicer = [
        ("port.grip", f"{{ position = {row([reach, 0, 0])}, axis = [1, 0, 0] }}", "m: between the jaws"),
        (
            "feature.palm",
            inline(
                [
                    ("shape", '"edge"', ""),
                    ("points", f"[{row([palm, -across, 0])}, {row([palm, across, 0])}]", ""),
                    ("width", f'"{digits(1e3 * 5 * tube)} mm"', ""),
                    ("radius", f'"{digits(1e3 * EDGE * tube)} mm"', ""),
                ]
            ),
            "",
        ),
    ]
    client = [
        ("rate", '["0.5 deg/s", 0, 0]', "it turns about its axis"),
        (
            "feature.ring",
            inline(
                [
                    ("shape", '"circle"', ""),
                    ("centre", row([front, 0, 0]), ""),
                    ("normal", "[1, 0, 0]", ""),
                    ("major_radius", f'"{plain(round(1e3 * ring, 6))} mm"', ""),
                    ("radius", write_answer(answers, "tube-radius"), ""),
                ]
            ),
            "",
        ),
        ("port.grapple", f"{{ position = {row([front, ring, 0])}, axis = [1, 0, 0] }}", "m: a place on the ring"),
    ]
    pairs = {
        "palm": ("servicer.palm", "client.ring"),
        "upper-jaw": ("upper-jaw.edges", "client.ring"),
        "lower-jaw": ("lower-jaw.edges", "client.ring"),
    }
    return join_tables(
        opening(duration, "for the approach, closing and holding", answers) + shared_law(answers, _mass(answers)),
        approach(
            "servicer.grip", "client.grapple", answers, "of the place between the jaws, to one on the ring", GAP * tube
        ),
        spacecraft("servicer", answers, *servicer),
        _jaw("upper-jaw", 1, reach, answers),
        _jaw("lower-jaw", -1, reach, answers),
        spacecraft("client", answers, *client),
        contacts(pairs),
        _motors(answers),
    )


def _jaw(name: str, way: int, reach: float, answers: Answers) -> str:
    """Return a jaw, a V of edges on a slide, on one side of the place that is `reach` (m) of the servicer's centre."""
    tube, mass = answers["tube-radius"], answers["jaw-mass"]
    arm = ARM * tube
    points = ", ".join(row(place) for place in ([-arm, -way * arm, 0], [0, 0, 0], [arm, -way * arm, 0]))
    edges = [
        ("shape", '"edge"', ""),
        ("points", f"[{points}]", ""),
        ("width", f'"{digits(1e3 * 5 * tube)} mm"', ""),
        ("radius", f'"{digits(1e3 * EDGE * tube)} mm"', ""),
    ]
    lines = [
        ("on", '"servicer"', ""),
        ("position", row([reach, way * OPEN * tube, 0]), "m, of its middle, the jaw open"),
        ("mass", write_answer(answers, "jaw-mass"), ""),
        ("inertia", write_chosen([mass * (mass / JAW_DENSITY) ** (2 / 3) / 6] * 3), "kg m²"),
        ("joint", f'{{ kind = "prismatic", axis = {row([0, -way, 0])} }}', "it slides towards the other one"),
        ("feature.edges", inline(edges), ""),
    ]
    return table(f"body.{name}", lines)


def _motors(answers: Answers) -> str:
    """Return the motors that close the jaws once the ring touches anything."""
    tube, force = answers["tube-radius"], answers["grip-force"]
    gain = force / (0.5 * tube)
    drag = digits(2 * math.sqrt(gain * answers["jaw-mass"]))
    close = plain(round((OPEN - CLOSED + 1.0) * tube, 6))
    lines = [
        ("law", '"joint-pd"', "drives the jaws to where they are told"),
        ("body", '"servicer"', "that bears them"),
        ("stiffness", f"[{digits(gain)}, {digits(gain)}]", "N/m: the full force half a tube's radius from there"),
        ("damping", f"[{drag}, {drag}]", "N s/m"),
        ("limit", f"[{plain(force)}, {plain(force)}]", "N, of each motor"),
        ("set_point", "[0, 0]", "m: open"),
    ]
    closing = f'{{ when = "contact", over = "{GUIDED:g} s", set = {{ "control.set_point" = [{close}, {close}] }} }}'
    phases = [("open", "{}", "until the ring touches"), ("close", closing, "m: a tube's radius beyond touching it")]
    return join_tables(table("control", lines), table("phase", phases))


def _offsets(answers: Answers) -> float:
    return 1.5 * answers["tube-radius"]


GRIPPER = Starter(
    "two jaws that close around the ring of a launch adapter",
    (
        mass_of("servicer-mass", 900.0, "the spacecraft with the jaws"),
        mass_of("client-mass", 1200.0, "the spacecraft with the ring"),
        Amount(
            "ring-diameter",
            "Of the launch adapter's ring: 1194 mm and 937 mm are usual.",
            "m",
            "a diameter",
            lambda answers: 1.194,
            fixed_bounds(0.2, 5.0),
            told_in="mm",
        ),
        Amount(
            "tube-radius",
            "Of the ring's edge, taken for a tube that the jaws close around.",
            "m",
            "a radius",
            lambda answers: 0.012,
            lambda answers: Bounds(least=0.003, most=float(digits(0.05 * answers["ring-diameter"]))),
            told_in="mm",
        ),
        Amount(
            "jaw-mass",
            "Of each jaw.",
            "kg",
            "a mass",
            lambda answers: 3.0,
            lambda answers: round_bounds(0.5, 0.05 * max(answers["servicer-mass"], 20.0)),
        ),
        closing_speed(0.02, 0.1),
        lateral_offset(lambda answers: 0.4 * answers["tube-radius"], _offsets),
        Amount(
            "grip-force",
            "The largest force of the motor of each jaw.",
            "N",
            "a force",
            lambda answers: 100.0,
            lambda answers: round_bounds(5.0, min(1000.0, 100 * answers["jaw-mass"])),
        ),
        *contact_questions(_mass, LASTS),
    ),
    _text,
    "when the palm and each jaw touched the ring, with which force, and how exactly momentum and energy were kept",
)
