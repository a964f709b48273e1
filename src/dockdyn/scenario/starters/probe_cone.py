"""A probe into a cone, where a spring latch may catch it."""

from __future__ import annotations

import math

from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.starters.pieces import (
    GAP,
    approach,
    closing_speed,
    contact,
    contact_questions,
    effective_mass,
    join_tables,
    lateral_offset,
    loop,
    mass_of,
    opening,
    rig_questions,
    row,
    side,
    spacecraft,
    table,
    write_answer,
)
from dockdyn.scenario.starters.question import Amount, Answers, digits, fixed_bounds, round_bounds, yes_or_no
from dockdyn.scenario.starters.starter import Starter

LASTS = 1.0  # s, a contact
BOOM = 0.5  # m, from the chaser to the probe's tip
SHARE = 1 / 3  # of the energy of the approach, that the latch takes
RAMP = 4 / 3  # tip radii, that the latch is pushed aside


def _mass(answers: Answers) -> float:
    return effective_mass(answers["chaser-mass"], answers["target-mass"])


def _tip_bounds(answers: Answers) -> Bounds:
    """Return the radii (m) of tips that come as far as a latch near the apex."""
    angle = answers["half-angle"]
    deepest = 0.6 * answers["rim-radius"] / math.tan(angle)  # m, from the apex
    return round_bounds(1e-3, deepest / (1 / math.sin(angle) + RAMP + 1))


def _entry(answers: Answers) -> float:
    """Return how far (m) from the apex the tip's centre is where the latch begins."""
    return answers["tip-radius"] * (1 / math.sin(answers["half-angle"]) + RAMP + 1)


def _text(answers: Answers) -> str:
    speed, mass, angle = answers["closing-speed"], _mass(answers), answers["half-angle"]
    depth = answers["rim-radius"] / math.tan(angle)
    swing = math.pi * math.sqrt(mass / answers["stiffness"])
    duration = 1.5 * (GAP + depth) / speed + 5 * swing
    tip, apex = side(answers["chaser-mass"]) / 2 + BOOM, side(answers["target-mass"]) / 2
    probe = [
        ("position", row([tip, 0, 0]), "m, of the tip's middle, from the centre of mass"),
        ("radius", write_answer(answers, "tip-radius"), "of its spherical tip"),
    ]
    cone = [
        ("shape", '"cone"', ""),
        ("apex", row([apex, 0, 0]), "m, from the centre of mass"),
        ("axis", "[1, 0, 0]", "from the apex into the opening"),
        ("half_angle", write_answer(answers, "half-angle"), "of the wall against the axis"),
        ("rim_radius", write_answer(answers, "rim-radius"), "of the mouth"),
    ]
    return join_tables(
        opening(duration, "for the approach and a few bounces", answers, answers.says("latch", "yes")),
        approach("probe", "cone", answers, "of the probe's tip, at the mouth of the cone"),
        spacecraft("chaser", answers),
        table("body.chaser.feature.probe", probe),
        spacecraft("target", answers),
        table("body.target.surface.cone", cone),
        contact("probe-in-cone", ("probe", "cone"), answers, mass),
        *(_latch(answers, speed, mass) if answers.says("latch", "yes") else ()),
        loop(answers),
    )


def _latch(answers: Answers, speed: float, mass: float) -> list[str]:
    """Return the latch in the throat of the cone, and that it has to catch."""
    length = RAMP * answers["tip-radius"]
    ramp = [
        ("stiffness", f'"{digits(SHARE * mass * speed**2 / length**2)} N/m"', "takes a third of the approach's energy"),
        ("angle", '"45 deg"', "of the ramp against the axis"),
        ("axial_length", f'"{digits(1e3 * length)} mm"', "over which it pushes the latch aside"),
    ]
    latch = [
        ("between", '["chaser", "target"]', ""),
        ("feature", '"probe"', ""),
        ("surface", '"cone"', ""),
        ("entry", f'"{digits(1e3 * _entry(answers))} mm"', "of the tip's middle from the apex, where the latch begins"),
        ("grip", '"compliant-weld"', "as stiff as the contact, where no stiffness is stated"),
    ]
    return [
        table("latch.capture", latch),
        table("latch.capture.ramp", ramp),
    ]


PROBE_CONE = Starter(
    "a probe into a cone, where a spring latch may catch it",
    (
        *rig_questions(),
        mass_of("chaser-mass", 1800.0, "the spacecraft with the probe"),
        mass_of("target-mass", 3200.0, "the spacecraft with the cone"),
        closing_speed(0.04),
        Amount(
            "half-angle",
            "Of the cone's wall against its axis.",
            "rad",
            "an angle",
            lambda answers: math.radians(40),
            fixed_bounds(math.radians(20), math.radians(60)),
            told_in="deg",
        ),
        Amount(
            "rim-radius",
            "Of the cone's mouth: it catches what comes within it.",
            "m",
            "a radius",
            lambda answers: 0.25,
            fixed_bounds(0.02, 1.0),
            told_in="mm",
        ),
        Amount(
            "tip-radius",
            "Of the ball at the probe's end.",
            "m",
            "a radius",
            lambda answers: 0.06 * answers["rim-radius"],
            _tip_bounds,
            told_in="mm",
        ),
        lateral_offset(
            lambda answers: 0.2 * answers["rim-radius"],
            lambda answers: 0.8 * (answers["rim-radius"] - answers["tip-radius"]),
        ),
        *contact_questions(_mass, LASTS),
        yes_or_no("latch", "Whether a spring latch in the throat of the cone catches the probe."),
    ),
    _text,
    "whether and when a latch caught the probe, how hard it touched, and how exactly momentum and energy were kept",
    mock_ups=lambda answers: ("chaser", "target"),
)
