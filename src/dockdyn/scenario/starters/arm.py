"""An arm of two links whose hand meets a payload, and grips it."""

from __future__ import annotations

import math

from dockdyn.scenario.starters.pieces import (
    GAP,
    Line,
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
    opening,
    quote,
    rig_questions,
    rod,
    row,
    side,
    spacecraft,
    stiffness_for,
    table,
    write_answer,
    write_chosen,
)
from dockdyn.scenario.starters.question import Amount, Answers, digits, plain, round_bounds, yes_or_no
from dockdyn.scenario.starters.starter import Starter

LASTS = 0.1  # s, a contact of the hand
PERIOD = 10.0  # s, of the arm on its motors
ANGLES = (40.0, -80.0)  # degrees, at the start
DAMPING = 0.7  # ratio, of the motors' control
HAND = 0.04  # m, radius of the hand
AFTER = 10.0  # s, that the run goes on


def _mass(answers: Answers) -> float:
    return effective_mass(answers["link-mass"], answers["payload-mass"])


def _moment(answers: Answers) -> float:
    """Return the moment of inertia (kg m²) that the shoulder moves, roughly."""
    carried = effective_mass(answers["spacecraft-mass"], answers["payload-mass"]) + answers["link-mass"]
    return carried * (1.5 * answers["link-length"]) ** 2


def _text(answers: Answers) -> str:
    length, shoulder = answers["link-length"], side(answers["spacecraft-mass"]) / 2
    duration = 1.5 * GAP / answers["closing-speed"] + AFTER
    front = side(answers["payload-mass"]) / 2
    plate = inline([("shape", '"plane"', ""), ("point", row([front, 0, 0]), ""), ("normal", "[1, 0, 0]", "")])
    hand = inline([("position", row([length / 2, 0, 0]), ""), ("radius", f'"{1e3 * HAND:g} mm"', "")])
    return join_tables(
        opening(duration, "for the approach and what follows", answers, answers.says("grip", "yes")),
        approach("hand", "plate", answers, "of the hand, to the payload; the spacecraft comes with it"),
        spacecraft("spacecraft", answers),
        _link("upper-arm", "spacecraft", shoulder, answers, ANGLES[0]),
        _link("forearm", "upper-arm", length / 2, answers, ANGLES[1], ("feature.hand", hand, "a ball at its end")),
        spacecraft("payload", answers, ("surface.plate", plate, "what the hand meets")),
        contact("hand-on-payload", ("hand", "plate"), answers, _mass(answers)),
        _motors(answers),
        _grip(answers, length / 2, front) if answers.says("grip", "yes") else "",
        loop(answers),
    )


def _link(name: str, on: str, joint: float, answers: Answers, angle: float, *more: Line) -> str:
    """Return a link whose joint is so far (m) along the x axis of the body that it is `on`."""
    length = answers["link-length"]
    lines = [
        ("on", quote(on), ""),
        ("position", row([joint + length / 2, 0, 0]), "m, of its middle, the joint at zero"),
        ("mass", write_answer(answers, "link-mass"), ""),
        ("inertia", write_chosen(rod(answers["link-mass"], length)), "kg m², of a rod"),
        (
            "joint",
            f'{{ kind = "revolute", position = {row([joint, 0, 0])}, axis = [0, 0, 1], start = "{angle:g} deg" }}',
            "",
        ),
    ]
    return table(f"body.{name}", [*lines, *more])


def _motors(answers: Answers) -> str:
    """Return the control that holds the joints where they began."""
    stiffness = answers["joint-stiffness"]
    drag = digits(2 * DAMPING * math.sqrt(stiffness * _moment(answers)))
    lines = [
        ("law", '"joint-pd"', "holds the joints where they began, as springs and dampers"),
        ("body", '"spacecraft"', "that bears the arm"),
        ("stiffness", f"[{plain(stiffness)}, {plain(stiffness)}]", "N m/rad: shoulder, elbow"),
        ("damping", f"[{drag}, {drag}]", "N m s/rad"),
    ]
    return table("control", lines)


def _grip(answers: Answers, hand: float, front: float) -> str:
    """Return what grips the payload, whose plate is `front` (m) of its centre, with the hand on the forearm (m)."""
    stiffness = stiffness_for(_mass(answers), LASTS)
    lines = [
        ("between", '["forearm", "payload"]', ""),
        ("anchor", f"[{row([hand, 0, 0])}, {row([front + HAND, 0, 0])}]", "m: the hand, and where it touches"),
        ("axis", "[1, 0, 0]", "out of the payload"),
        ("reach", '"0 mm"', "it falls in once they touch,"),
        ("lateral", f'"{digits(1e3 * 0.6 * side(answers["payload-mass"]))} mm"', "as near to the middle as that"),
        ("grip", '"compliant-weld"', "holds place and attitude; rigid is weld"),
        ("stiffness", quote(f"{digits(stiffness)} N/m"), "of the fingers"),
        ("damping", quote(f"{digits(math.sqrt(stiffness * _mass(answers)))} N s/m"), "half of critical"),
    ]
    return table("latch.grip", lines)


ARM = Starter(
    "an arm of two links, whose hand meets a payload and may grip it",
    (
        *rig_questions(),
        mass_of("spacecraft-mass", 1800.0, "the spacecraft that bears the arm"),
        mass_of("payload-mass", 400.0, "what the hand meets"),
        Amount(
            "link-length",
            "Of the upper arm and of the forearm, each.",
            "m",
            "a length",
            lambda answers: min(2.0, 2 * side(answers["spacecraft-mass"])),
            lambda answers: round_bounds(0.2 * side(answers["spacecraft-mass"]), 8 * side(answers["spacecraft-mass"])),
        ),
        Amount(
            "link-mass",
            "Of the upper arm and of the forearm, each.",
            "kg",
            "a mass",
            lambda answers: 0.015 * answers["spacecraft-mass"],
            lambda answers: round_bounds(3e-3 * answers["spacecraft-mass"], 0.2 * answers["spacecraft-mass"]),
        ),
        Amount(
            "joint-stiffness",
            "Torque over angle with which the motors hold the joints: the gain of their control.",
            "N*m/rad",
            "a stiffness",
            lambda answers: _moment(answers) * (2 * math.pi / PERIOD) ** 2,
            lambda answers: round_bounds(
                _moment(answers) * (2 * math.pi / (10 * PERIOD)) ** 2, _moment(answers) * (20 * math.pi / PERIOD) ** 2
            ),
            told_in="N m/rad",
        ),
        closing_speed(0.02, 0.2),
        lateral_offset(lambda answers: 0.02, lambda answers: min(0.5, 0.4 * side(answers["payload-mass"]))),
        *contact_questions(_mass, LASTS),
        yes_or_no("grip", "Whether the hand holds the payload from the first touch on."),
    ),
    _text,
    "whether and when the hand gripped, how hard it touched, what the joints bore, and how exactly momentum was kept",
    mock_ups=lambda answers: ("forearm", "payload"),
)
