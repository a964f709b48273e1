"""Scenarios with contacts, drawn at random over what derivatives go through: laws, exponents, friction, delay, spin, kinds.

Units of what is drawn: SI.
"""

from typing import Any

import numpy as np
from helpers.line_rig import line_rig
from on_a_line import colliding
from plain_tables import acting, by_name

Chance = np.random.Generator
LATE = 1.2  # rad: the angle by which a delay makes an oscillation in contact late, at most
IN_CONE = 0.3  # rad: the same in a cone, lest the tip be thrown through its axis, where the normal jumps
KINDS = ("two bodies", "two bodies", "mechanism", "on a line", "rig")


def draw(seed: int) -> dict[str, Any]:
    """A scenario of one of the kinds; its contacts have begun and ended, or bounce, before it ends."""
    chance = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    drawn = {"two bodies": free_flight, "mechanism": mechanism, "on a line": on_a_line, "rig": rig}[kind](chance)
    return {"schema": 2, **drawn}


def uniform(chance: Chance, low: float, high: float) -> float:
    return float(chance.uniform(low, high))


def log_uniform(chance: Chance, low: float, high: float) -> float:
    return float(np.exp(chance.uniform(np.log(low), np.log(high))))


def around(chance: Chance, size: float) -> list[float]:
    return chance.uniform(-size, size, 3).tolist()


def law(
    chance: Chance, mass: float, speed: float, contacts: int, delay: float = 0.0, late: float = LATE
) -> dict[str, Any]:
    """A law under which `mass` (kg) at `speed` (m/s) is in contact for about 0.1 to 1 s; so long that the delay (s) does not
    make it bounce ever higher within a few contacts."""
    frequency = 2 * np.pi * log_uniform(chance, 0.5, 4.0)  # rad/s
    frequency = min(frequency, late / delay) if delay else frequency
    linear = mass * frequency**2 / contacts
    which = chance.integers(4)
    if which == 0:
        damping = 2 * uniform(chance, 0.02, 0.3) * linear / frequency
        adhesion = {"adhesion": True} if chance.random() < 0.3 else {}
        return {"law": "spring-dashpot", "stiffness": linear, "damping": damping} | adhesion
    exponent = float(chance.choice([1.0, 1.5, 2.0, 3.0])) if chance.random() < 0.4 else uniform(chance, 1.0, 3.0)
    stiffness = linear * (speed / frequency) ** (1 - exponent)
    if which == 1:
        return {"law": "hertz", "stiffness": stiffness, "exponent": exponent}
    damping = uniform(chance, 0.05, 0.6) / speed
    return {"law": "hunt-crossley", "stiffness": stiffness, "exponent": exponent, "damping": damping}


def friction(chance: Chance) -> dict[str, Any]:
    if chance.random() < 0.4:
        return {}
    return {
        "friction": {
            "law": "coulomb",
            "coefficient": uniform(chance, 0.05, 0.4),
            "regularisation": log_uniform(chance, 1e-3, 1e-2),
        }
    }


def drawn_delay(chance: Chance) -> float:
    return 0.0 if chance.random() < 0.35 else log_uniform(chance, 0.005, 0.3)


def loop(delay: float) -> dict[str, Any]:
    return {"loop": {"delay": delay}} if delay else {}


def inertia(chance: Chance, mass: float) -> list[float]:
    size = uniform(chance, 0.15, 0.3) * mass
    return [size, size * uniform(chance, 0.8, 1.2), size * uniform(chance, 0.8, 1.2)]


def parts(chance: Chance, delay: float) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A spinning body with one to three balls before a plate or in a cone, the other body, and their contacts."""
    masses, speed = (log_uniform(chance, 100, 2000), log_uniform(chance, 100, 2000)), log_uniform(chance, 0.02, 0.1)
    effective = masses[0] * masses[1] / sum(masses)
    count = int(chance.integers(1, 4))
    angles = uniform(chance, 0, 6) + 2 * np.pi * np.arange(count) / count
    spread = 0.0 if count == 1 else uniform(chance, 0.1, 0.3)
    balls = [
        {
            "name": f"tip{i}",
            "position": [-1.0, float(spread * np.cos(a)), float(spread * np.sin(a))],
            "radius": uniform(chance, 0.01, 0.05),
        }
        for i, a in enumerate(angles)
    ]
    visitor = {
        "mass": masses[0],
        "inertia": inertia(chance, masses[0]),
        "position": [2.1, *around(chance, 0.05)[:2]],
        "velocity": [-speed, *around(chance, 0.3 * speed)[:2]],
        "rate": around(chance, 0.02),
        "feature": by_name(balls),
    }
    plate = {"name": "plate", "shape": "plane", "point": [1.0, 0, 0], "normal": [1.0, *around(chance, 0.1)[:2]]}
    if count == 1 and chance.random() < 0.4:
        plate = {"name": "plate", "shape": "cone", "apex": [0.85, 0, 0], "axis": [1.0, 0, 0], "half_angle": 0.7}
        plate["rim_radius"] = 1.0
    target = {"mass": masses[1], "inertia": inertia(chance, masses[1]), "surface": by_name([plate])}
    late = IN_CONE if plate["shape"] == "cone" else LATE
    normal, rubbing = law(chance, effective, speed, count, delay, late), friction(chance)
    contacts = {one["name"]: {"between": [one["name"], "plate"], "normal": normal, **rubbing} for one in balls}
    return visitor, target, contacts


def free_flight(chance: Chance) -> dict[str, Any]:
    delay = drawn_delay(chance)
    visitor, target, contacts = parts(chance, delay)
    bodies = {"chaser": visitor, "target": target}
    return {"duration": 6.0, "body": bodies, "contact": contacts, **loop(delay)}


def mechanism(chance: Chance) -> dict[str, Any]:
    """The same with what is struck mounted on a third body, by a bushing."""
    delay = drawn_delay(chance)
    visitor, target, contacts = parts(chance, delay)
    base: dict[str, Any] = {"mass": log_uniform(chance, 300, 3000), "position": [-0.5, 0, 0]}
    base["inertia"] = inertia(chance, base["mass"])
    stiff = target["mass"] * uniform(chance, 5, 20) ** 2
    mount = {"kind": "bushing", "name": "mount", "between": ["target", "base"], "position": around(chance, 0.1)}
    mount |= {"stiffness": [stiff] * 3, "damping": [0.02 * stiff] * 3}
    mount |= {"turning_stiffness": [0.1 * stiff] * 3, "turning_damping": [0.002 * stiff] * 3}
    bodies = {"chaser": visitor, "target": target, "base": base}
    return {"duration": 6.0, "body": bodies, "contact": contacts, **acting(mount), **loop(delay)}


def on_a_line(chance: Chance) -> dict[str, Any]:
    masses = [[log_uniform(chance, 5, 50), log_uniform(chance, 2, 20)] for _ in range(2)]
    stiffness = [log_uniform(chance, 200, 5000) for _ in range(2)]
    effective = masses[0][1] * masses[1][0] / (masses[0][1] + masses[1][0])
    speed = log_uniform(chance, 0.02, 0.1)
    springs = tuple({"stiffness": one} for one in stiffness)
    normal = law(chance, effective, speed, 1)
    return colliding(*masses, normal, speed=speed, inside=springs, duration=2.0)


def rig(chance: Chance) -> dict[str, Any]:
    mass, speed = log_uniform(chance, 100, 1000), log_uniform(chance, 0.02, 0.1)
    looped: dict[str, Any] = {}
    if chance.random() < 0.7:
        looped["hold"] = {"period": uniform(chance, 1e-3, 8e-3)}
    if chance.random() < 0.7:
        looped["sensor"] = {"delay": uniform(chance, 1e-3, 1e-2)}
    if chance.random() < 0.5:
        looped["robot"] = {"zeros": [-206.5679], "poles": [[-181.7836, 185.4564], [-181.7836, -185.4564]]}
        looped["robot"]["gain"] = 326.4756
    if "hold" not in looped:
        looped["dynamics"] = {"method": "zero-order-hold", "period": 4e-3}
    normal = law(chance, mass, speed, 1)
    bilateral = normal["law"] == "spring-dashpot" and bool(chance.random() < 0.3)
    rest = {"duration": 3.0, "stability": {"depth": 1e-3}, "loop": looped}
    return line_rig(mass, normal, velocity=speed, bilateral=bilateral, **rest)
