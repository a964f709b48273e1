"""A hand with a guiding cone on a compliant wrist, over a pin: a snare catches the pin and draws it in."""

from __future__ import annotations

import math

from dockdyn.scenario.starters.pieces import (
    GAP,
    approach,
    closing_speed,
    contact,
    contact_questions,
    effective_mass,
    inline,
    join_tables,
    lateral_offset,
    loop,
    mass_of,
    on_rig,
    opening,
    quote,
    rig_questions,
    row,
    side,
    spacecraft,
    stiffness_for,
    table,
    write_answer,
    write_chosen,
)
from dockdyn.scenario.starters.question import Amount, Answers, digits, fixed_bounds, round_bounds
from dockdyn.scenario.starters.starter import Starter

LASTS = 0.1  # s, a contact of the hand
SWING = 2.0  # s, half a swing of the spacecraft on the wrist
HALF_ANGLE = 35.0  # degrees, of the guiding cone
WRIST = 0.3  # m, from the spacecraft to the hand
STANDS = 0.15  # m, that the pin stands out
DAMPING = 0.3  # ratio, of the wrist
SNARE = 0.2  # of the mouth's radius, as near to the axis as the snare catches
LEVER = 0.5  # m, at which the wrist's stiffness resists turning


def _mass(answers: Answers) -> float:
    return effective_mass(answers["hand-mass"], answers["target-mass"])


def _both(answers: Answers) -> float:
    return effective_mass(answers["chaser-mass"], answers["target-mass"])


def _text(answers: Answers) -> str:
    mouth, mass = answers["mouth-radius"], answers["hand-mass"]
    depth = mouth / math.tan(math.radians(HALF_ANGLE))
    swing = math.pi * math.sqrt(_both(answers) / answers["wrist-stiffness"])
    duration = 1.5 * (GAP + depth) / answers["closing-speed"] + 6 * swing
    base, out = side(answers["chaser-mass"]) / 2, side(answers["target-mass"]) / 2 + STANDS
    hand = [
        ("on", '"chaser"', "it begins there, and moves with it as the wrist lets it"),
        ("position", row([base + WRIST, 0, 0]), "m, from the chaser's centre of mass"),
        ("mass", write_answer(answers, "hand-mass"), ""),
        ("inertia", write_chosen([0.4 * mass * max(mouth, 0.1) ** 2] * 3), "kg m²"),
    ]
    guide = [
        ("shape", '"cone"', ""),
        ("apex", "[0, 0, 0]", "m, from the hand's centre of mass"),
        ("axis", "[1, 0, 0]", "from the apex into the opening"),
        ("half_angle", f'"{HALF_ANGLE:g} deg"', "of the wall against the axis"),
        ("rim_radius", write_answer(answers, "mouth-radius"), "of the mouth"),
    ]
    head = inline([("position", row([out, 0, 0]), ""), ("radius", write_answer(answers, "pin-radius"), "")])
    return join_tables(
        opening(duration, "for the approach and some swings on the wrist", answers, True),
        approach("pin", "guide", answers, "of the pin's head, at the mouth of the hand"),
        spacecraft("chaser", answers),
        table("body.hand", hand),
        table("body.hand.surface.guide", guide),
        spacecraft("target", answers, ("feature.pin", head, "m: its round head, before the centre of mass")),
        contact("pin-in-hand", ("pin", "guide"), answers, _mass(answers)),
        _wrist(answers, base),
        _snare(answers, out),
        loop(answers),
        _write_stability(answers),
    )


def _wrist(answers: Answers, base: float) -> str:
    """Return the wrist at `base` (m): springs and dampers along and about three axes."""
    along = answers["wrist-stiffness"]
    drag = 2 * DAMPING * math.sqrt(along * _both(answers))
    values = {
        "stiffness": (along, "N/m, along three axes"),
        "damping": (drag, "N s/m"),
        "turning_stiffness": (along * LEVER**2, "N m/rad, about them"),
        "turning_damping": (drag * LEVER**2, "N m s/rad"),
    }
    lines = [(key, write_chosen([value] * 3), words) for key, (value, words) in values.items()]
    where = ("position", row([base, 0, 0]), "m, on the chaser")
    return table("bushing.wrist", [("between", '["hand", "chaser"]', ""), where, *lines])


def _snare(answers: Answers, out: float) -> str:
    """Return the latch that draws a pin, whose head is `out` (m) of its spacecraft's centre, into the hand."""
    stiffness = stiffness_for(_mass(answers), LASTS)
    drag = 2 * DAMPING * math.sqrt(stiffness * _mass(answers))
    seat, beside = _seat(answers)
    lines = [
        ("between", '["hand", "target"]', ""),
        ("anchor", f"[{row([seat, 0, 0])}, {row([out, 0, 0])}]", "m: where the head lies in the hand, and the head"),
        ("axis", "[1, 0, 0]", "out of the target"),
        ("reach", f'"{digits(2e3 * beside)} mm"', "the snare closes once the head is that near to its seat,"),
        ("lateral", f'"{digits(1e3 * beside)} mm"', "and so near to the axis"),
        ("grip", '"compliant-weld"', "holds place and attitude"),
        ("stiffness", quote(f"{digits(stiffness)} N/m"), "of snare and carriage"),
        ("damping", quote(f"{digits(drag)} N s/m"), ""),
        ("draw_speed", '"20 mm/s"', "of the carriage that draws it in"),
    ]
    return table("latch.snare", lines)


GRAPPLE = Starter(
    "a hand on a compliant wrist, over a pin that its snare draws in",
    (
        *rig_questions(),
        mass_of("chaser-mass", 1800.0, "the spacecraft with the hand"),
        Amount(
            "hand-mass",
            "The mass of the hand, in front of the wrist.",
            "kg",
            "a mass",
            lambda answers: 0.01 * answers["chaser-mass"],
            lambda answers: round_bounds(1e-3 * answers["chaser-mass"], 0.2 * answers["chaser-mass"]),
        ),
        mass_of("target-mass", 3200.0, "the spacecraft with the pin"),
        closing_speed(0.03, 0.2),
        Amount(
            "mouth-radius",
            "Of the hand's mouth: it guides what comes within it.",
            "m",
            "a radius",
            lambda answers: 0.12,
            fixed_bounds(0.03, 0.5),
            told_in="mm",
        ),
        Amount(
            "pin-radius",
            "Of the pin's round head.",
            "m",
            "a radius",
            lambda answers: 0.1 * answers["mouth-radius"],
            lambda answers: round_bounds(0.03 * answers["mouth-radius"], 0.25 * answers["mouth-radius"]),
            told_in="mm",
        ),
        lateral_offset(
            lambda answers: 0.3 * answers["mouth-radius"],
            lambda answers: 0.8 * (answers["mouth-radius"] - answers["pin-radius"]),
        ),
        Amount(
            "wrist-stiffness",
            "Force over displacement of the hand on its wrist, along each axis.",
            "N/m",
            "a stiffness",
            lambda answers: stiffness_for(_both(answers), SWING),
            lambda answers: round_bounds(
                stiffness_for(_both(answers), 4 * SWING), stiffness_for(_both(answers), 0.2 * SWING)
            ),
        ),
        *contact_questions(_mass, LASTS),
    ),
    _text,
    "whether and when the snare caught the pin, how hard the hand touched it, and what the wrist bore",
    mock_ups=lambda answers: ("hand", "target"),
)


def _seat(answers: Answers) -> tuple[float, float]:
    """Return how far (m) the head's seat is from the apex, and how far from the axis a head may be caught there.

    A head that is caught as far as can be from the axis just touches the wall.
    """
    angle, beside = math.radians(HALF_ANGLE), SNARE * answers["mouth-radius"]
    return (answers["pin-radius"] + beside * math.cos(angle)) / math.sin(angle), beside


def _write_stability(answers: Answers) -> str:
    """Return where on the wall a rig's loop is judged, as the snare may catch before anything touches; nothing without one."""
    if not on_rig(answers):
        return ""
    angle, (seat, beside) = math.radians(HALF_ANGLE), _seat(answers)
    distance = quote(f"{digits(1e3 * (seat * math.cos(angle) + beside * math.sin(angle)))} mm")
    return table("stability", [("distance", distance, "from the apex along the wall: where the loop is judged")])
