"""Questions and tables that several mechanisms share: bodies, their approach, contacts, a rig around them.

Units: SI; masses are those of cubes of 100 kg/m³ where an inertia is asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.starters.question import (
    Amount,
    Answers,
    Rule,
    StarterQuestion,
    digits,
    fixed_bounds,
    plain,
    round_bounds,
    yes_or_no,
)

DENSITY = 100.0  # kg/m³, of a spacecraft taken for a cube
GAP = 0.05  # m, before the first touch
BESIDE = 40  # characters of a key and its value, beyond which a comment follows at once
SINKS = 0.03  # m, that a contact yields at most
CYCLES = 30.0  # times delay and cycle, that half a swing of a contact on a rig lasts at least
DAMPED = 0.8  # the largest restitution on a rig: a damping ratio of 0.07; the delay takes π/2 over CYCLES, 0.05
ON_RIG = "the bounce on the rig beside that without it, how late the rig is, and how far forces were off"
HEAD = """# {title}. Every number is a start: put in your own.
# A number without a unit is in SI units, a text has its own: "1.8 t", "30 mm/s", "2 deg".
schema = 2
"""

type Line = tuple[str, str, str]  # key, value as TOML has it, comment or nothing


def quote(text: str) -> str:
    """Return a text as TOML has it."""
    return json.dumps(text, ensure_ascii=False)


def row(values: Iterable[float]) -> str:
    """Return numbers as a list in TOML, to a micrometre or the like."""
    return f"[{', '.join(plain(round(value, 6) + 0.0) for value in values)}]"


def write_chosen(values: Iterable[float]) -> str:
    """Return numbers that were chosen, three digits of each, as a list in TOML."""
    return f"[{', '.join(map(digits, values))}]"


def table(path: str, lines: Iterable[Line], comment: str = "") -> str:
    """Return a table of a file: its heading, and a key a line, comments below each other."""
    keys = [(f"{key} = {value}", words) for key, value, words in lines]
    beside = max((len(key) for key, words in keys if words and len(key) <= BESIDE), default=0)
    rows = [f"{key:<{beside}}  # {words}" if words else key for key, words in keys]
    return "\n".join([f"[{path}]{f'  # {comment}' if comment else ''}", *rows]) + "\n"


def inline(lines: Iterable[Line]) -> str:
    """Return the same keys as a table of one line, without comments."""
    return f"{{ {', '.join(f'{key} = {value}' for key, value, _ in lines)} }}"


def write_answer(answers: Answers, name: str) -> str:
    """Return an answer as TOML has it: a text with its unit, or a number without."""
    text = answers.texts[name]
    return text if text.replace(".", "").replace("e-", "").isdigit() else quote(text)


def side(mass: float) -> float:
    """Return the side (m) of a cube of that mass (kg)."""
    return float(digits((mass / DENSITY) ** (1 / 3)))


def effective_mass(first: float, second: float) -> float:
    """Return the mass (kg) that a contact on the line of both centres of mass feels."""
    return first * second / (first + second)


def stiffness_for(mass: float, lasts: float) -> float:
    """Return the stiffness (N/m) of a contact of that effective mass (kg) that lasts so long (s)."""
    return mass * (math.pi / lasts) ** 2


def rod(mass: float, length: float) -> tuple[float, float, float]:
    """Return the moments of inertia (kg m²) of a rod along x, a tenth of its length (m) thick."""
    across = mass * length**2 / 12
    return mass * (length / 10) ** 2 / 8, across, across


def mass_of(name: str, usual: float, words: str, least: float = 1.0) -> Amount:
    """Return the question for a mass (kg)."""
    why = f"The mass of {words}."
    return Amount(name, why, "kg", "a mass", lambda answers: usual, fixed_bounds(least, 1e6))


def closing_speed(usual: float, most: float = 0.5) -> Amount:
    """Return the question for the speed (m/s) at which the two come together."""
    why = "How fast the two come together; spacecraft dock at 10 to 200 mm/s."

    def bounds(answers: Answers) -> Bounds:
        softest = math.pi / (2 * _shortest(answers)) if on_rig(answers) else math.inf  # rad/s, of a contact on a rig
        return round_bounds(usual / 8, min(most, SINKS * softest))

    return Amount("closing-speed", why, "m/s", "a speed", lambda answers: usual, bounds, told_in="mm/s")


def _shortest(answers: Answers) -> float:
    """Return how long (s) a contact on the rig lasts at least, so that its delay does not drive it."""
    return CYCLES * (answers["delay"] + answers["cycle"])


def lateral_offset(usual: Rule[float], most: Rule[float]) -> Amount:
    """Return the question for how far (m) the approach is beside the axis."""
    why = "How far the approach is beside the axis of what is approached."

    def bounds(answers: Answers) -> Bounds:
        return round_bounds(0.0, most(answers))

    return Amount("lateral-offset", why, "m", "a length", usual, bounds, told_in="mm")


def contact_questions(mass: Rule[float], lasts: float) -> tuple[StarterQuestion, ...]:
    """Return the questions for a contact in which that effective mass (kg) touches for so long (s)."""

    def usual(answers: Answers) -> float:
        return stiffness_for(mass(answers), max(lasts, 2 * _shortest(answers)) if on_rig(answers) else lasts)

    def bounds(answers: Answers) -> Bounds:
        shortest = _shortest(answers) if on_rig(answers) else 0.02 * lasts
        not_deeper = mass(answers) * (answers["closing-speed"] / SINKS) ** 2
        softest = stiffness_for(mass(answers), 5 * max(lasts, shortest))
        return round_bounds(max(softest, not_deeper), stiffness_for(mass(answers), shortest))

    why = "Force over penetration where the two touch: of their structure, or of the softest part behind it."
    return (
        Amount("stiffness", why, "N/m", "a stiffness", usual, bounds),
        Amount(
            "restitution",
            "The share of the closing speed that a head-on bounce gives back.",
            "",
            "a number",
            lambda answers: 0.5,
            lambda answers: Bounds(least=0.05, most=DAMPED if on_rig(answers) else 0.95),
        ),
        Amount(
            "friction",
            "The friction coefficient; 0.1 is of dry lubricant, 0.3 of bare metal.",
            "",
            "a number",
            lambda answers: 0.1,
            fixed_bounds(0.0, 0.6),
        ),
    )


def _normal_law(answers: Answers, mass: float, share: float) -> list[Line]:
    """Return the law of the normal force between an effective `mass` (kg), with a `share` of the stiffness.

    In space its damping grows with depth, so that the force begins without a jump; on a rig a dashpot outweighs the
    loop's delay at any depth.
    """
    stiffness = write_answer(answers, "stiffness") if share == 1 else f'"{plain(share * answers["stiffness"])} N/m"'
    if on_rig(answers):
        lost = -math.log(answers["restitution"])
        drag = 2 * lost / math.hypot(math.pi, lost) * math.sqrt(answers["stiffness"] * mass)
        law = ("law", '"spring-dashpot"', "")
        return [law, ("stiffness", stiffness, ""), ("damping", f'"{digits(share * drag)} N s/m"', "")]
    return [
        ("law", '"hunt-crossley"', ""),
        ("exponent", "1", ""),
        ("stiffness", stiffness, ""),
        ("restitution", write_answer(answers, "restitution"), ""),
        ("speed", write_answer(answers, "closing-speed"), ""),
    ]


def _contact_laws(answers: Answers, mass: float, share: float) -> list[Line]:
    """Return the laws of a contact of an effective `mass` (kg) with a `share` of the stiffness, each in one line."""
    friction = [
        ("law", '"coulomb"', ""),
        ("coefficient", write_answer(answers, "friction"), ""),
        ("regularisation", '"1 mm/s"', ""),
    ]
    return [("normal", inline(_normal_law(answers, mass, share)), ""), ("friction", inline(friction), "")]


def _law_words(answers: Answers) -> str:
    """Return what a comment says of the normal force."""
    if on_rig(answers):
        return f"k d + b v: b by a restitution of {answers.texts['restitution']}, and enough against the delay"
    return "k d (1 + c v): k the stiffness, c by the restitution of a head-on bounce at that speed"


def pair_of(pair: tuple[str, str]) -> Line:
    """Return what touches, and what it touches."""
    return "between", f"[{', '.join(map(quote, pair))}]", "what touches, and what it touches"


def contact(name: str, pair: tuple[str, str], answers: Answers, mass: float) -> str:
    """Return a contact of an effective `mass` (kg)."""
    return table(f"contact.{name}", [pair_of(pair), *_contact_laws(answers, mass, 1.0)], _law_words(answers))


def shared_law(answers: Answers, mass: float, share: float = 1.0) -> str:
    """Return the law that `contacts` share, with that share of the stiffness, in a line that stands above all tables."""
    return f"contact_law.touching = {inline(_contact_laws(answers, mass, share))}  # {_law_words(answers)}\n"


def contacts(pairs: dict[str, tuple[str, str]]) -> str:
    """Return several contacts of the law that they share, each in one line."""
    law: Line = ("law", quote("touching"), "")
    return table("contact", [(name, inline([pair_of(pair), law]), "") for name, pair in pairs.items()])


def spacecraft(name: str, answers: Answers, *lines: Line) -> str:
    """Return the body whose mass was asked, taken for a cube of 100 kg/m³."""
    mass = answers[f"{name}-mass"]
    cube = write_chosen([mass * side(mass) ** 2 / 6] * 3)
    inertia = ("inertia", cube, "kg m², of a cube of 100 kg/m³; yours, or a table of 3 by 3")
    return table(f"body.{name}", [("mass", write_answer(answers, f"{name}-mass"), ""), inertia, *lines])


def approach(of: str, to: str, answers: Answers, words: str, gap: float = GAP) -> str:
    """Return how one port comes to another."""
    lines = [
        ("of", quote(of), "what comes"),
        ("to", quote(to), "what it comes to"),
        ("distance", f'"{digits(1e3 * gap)} mm"', "before they touch"),
        ("closing_speed", write_answer(answers, "closing-speed"), "relative to what it comes to"),
        ("lateral_offset", f"[{write_answer(answers, 'lateral-offset')}, 0]", "beside the axis, in two directions"),
        ("pitch", '"0.5 deg"', "misaligned by; yaw and roll, and their rates, go likewise"),
    ]
    return table("approach", lines, words)


def on_rig(answers: Answers) -> bool:
    """Return whether mock-ups of it meet on a rig."""
    return answers.says("rig", "yes")


def opening(duration: float, words: str, answers: Answers, latches: bool = False) -> str:
    """Return the duration (s), and that `latches` have to hold, which a run is judged by; a rig has no such figure."""
    lines = f'duration = "{digits(duration)} s"  # {words}\n'
    if latches and not on_rig(answers):
        lines += "requirements = { captured = true }  # judged by dockdyn run --check\n"
    return lines


def rig_questions() -> tuple[StarterQuestion, ...]:
    """Return the questions for a rig around a mechanism."""

    return (
        yes_or_no("rig", "Whether mock-ups meet on a rig with a robot, and a computer moves the rest.", "no"),
        Amount(
            "delay",
            "From a motion to the measured force that acts on it: of robot, sensor and network together.",
            "s",
            "a delay",
            lambda answers: 0.016,
            fixed_bounds(1e-3, 0.1),
            told_in="ms",
            applies=on_rig,
        ),
        Amount(
            "cycle",
            "The period of the robot's commands: 4 ms at 250 Hz.",
            "s",
            "a period",
            lambda answers: 0.004,
            fixed_bounds(1e-3, 0.02),
            told_in="ms",
            applies=on_rig,
        ),
    )


def loop(answers: Answers) -> str:
    """Return what a rig adds, nothing where there is none."""
    if not on_rig(answers):
        return ""
    cycle = write_answer(answers, "cycle")
    return table(
        "loop",
        [
            ("delay", write_answer(answers, "delay"), "from a motion to the measured force that acts on it"),
            ("hold", f"{{ period = {cycle} }}", "of the robot's commands"),
            ("dynamics", f"{{ period = {cycle} }}", "of the computed motion"),
        ],
        "against the delay: dockdyn compare, then a [loop.compensator]",
    )


def join_tables(*tables: str) -> str:
    """Return tables of a file, a blank line between them."""
    return "\n".join(part for part in tables if part)
