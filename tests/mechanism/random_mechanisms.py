"""Mechanisms drawn at random over pairs of what they may have: contacts as of `random_contacts`, and what `FEATURES` add.

Units of what is drawn: SI.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from plain_tables import acting, elements_of
from random_contacts import Chance, around, inertia, log_uniform, parts, uniform

Tables = dict[str, Any]
MOST = 8  # bodies
SPREAD = 4.0  # m: how far from its carrier a body is at most; nothing but what states a contact touches


def draw(seed: int) -> tuple[Tables, tuple[str, str]]:
    """Return a mechanism of two to eight bodies that touch, and the two features that it has for sure."""
    chance = np.random.default_rng([51, seed])
    pair = PAIRS[seed % len(PAIRS)]
    delay = log_uniform(chance, 0.002, 0.05) if "delay" in pair else 0.0
    visitor, target, contacts = parts(chance, delay)
    found: Tables = {
        "schema": 2,
        "duration": 4.0,
        "body": {"chaser": visitor, "target": target},
        "contact": contacts,
    }
    found |= {"output": {"interval": 0.02}}
    if delay:
        found["loop"] = {"delay": delay}
    for contact in contacts.values():
        contact.pop("friction", None)
    for feature in FEATURES:  # in one order: latches come before what lets go of them
        if feature in pair:
            FEATURES[feature](chance, found)
    spare = int(chance.integers(0, MOST - len(found["body"]) + 1)) if chance.random() < 0.4 else 0
    for _ in range(spare):
        free_body(chance, found)
    return found, pair


def carried(chance: Chance, found: Tables) -> Tables:
    """Return a body on one that is there, beside the line along which bodies meet."""
    carriers = [name for name, body in found["body"].items() if "flexible" not in body]
    mass = log_uniform(chance, 5, 60)
    place = [uniform(chance, -0.5, 0.5), *(chance.choice([-1, 1], 2) * chance.uniform(0.8, SPREAD, 2)).tolist()]
    body = {"on": str(chance.choice(carriers)), "mass": mass, "inertia": inertia(chance, mass)}
    return body | {"position": place}


def free_body(chance: Chance, found: Tables) -> None:
    """Add a body that a strut alone holds."""
    name = f"free{len(found['body'])}"
    body = carried(chance, found)
    found["body"][name] = body
    strut(chance, found, (body["on"], name))


def tree(chance: Chance, found: Tables) -> None:
    """Add one to five bodies on joints, on any body that is there."""
    for _ in range(int(chance.integers(1, 6))):
        body = carried(chance, found)
        kind = str(chance.choice(["revolute", "prismatic", "locked"], p=[0.5, 0.3, 0.2]))
        joint: Tables = {"kind": kind, "position": (0.5 * np.array(body["position"])).tolist()}
        if kind != "locked":
            size = body["mass"] if kind == "prismatic" else 20 * body["mass"]
            joint |= {"axis": chance.normal(size=3).tolist(), "start": uniform(chance, -0.1, 0.1)}
            joint |= {"start_rate": uniform(chance, -0.03, 0.03), "stiffness": size * log_uniform(chance, 0.1, 10)}
            joint |= {"damping": size * uniform(chance, 0, 0.5)}
        found["body"][f"link{len(found['body'])}"] = body | {"joint": joint}


def beam(chance: Chance, found: Tables) -> None:
    """Add a body that is a beam, clamped or on a hinge, with up to four modes."""
    carrier, length = str(chance.choice(["chaser", "target"])), uniform(chance, 1.0, 4.0)
    heavy = uniform(chance, 1.0, 5.0)  # kg/m
    stiff = [heavy * (length / 1.8751) ** 4 * (2 * np.pi * log_uniform(chance, 0.3, 2.0)) ** 2 for _ in range(2)]
    flexible = {"kind": "beam", "root": [0.0, -length / 2, 0.0], "axis": [0.0, 1.0, 0.0], "across": [1.0, 0.0, 0.0]}
    flexible |= {
        "length": length,
        "mass_per_length": heavy,
        "bending_stiffness": stiff,
        "torsional_stiffness": 0.3 * stiff[0],
    }
    flexible |= {"polar_inertia": 0.05 * heavy, "damping_ratio": 0.01, "bending_modes": [int(chance.integers(1, 3)), 1]}
    flexible |= {"twist_modes": int(chance.integers(0, 2))}
    mass, slender = heavy * length, heavy * length**3 / 12
    joint: Tables = {"kind": "locked", "position": [0.0, 1.0, 0.0]}
    if chance.random() < 0.5:
        joint |= {"kind": "revolute", "axis": [1.0, 0.0, 0.0], "stiffness": slender * log_uniform(chance, 0.5, 5)}
    body = {"on": carrier, "mass": mass, "position": [0.0, 1.0 + length / 2, 0.0]}
    body |= {"inertia": [slender, 0.05 * mass, slender], "joint": joint, "flexible": flexible}
    found["body"]["panel"] = body


def friction(chance: Chance, found: Tables) -> None:
    for contact in found["contact"].values():
        if "impact" not in contact:
            rubs = {"law": "coulomb", "coefficient": uniform(chance, 0.05, 0.4), "regularisation": 5e-3}
            contact["friction"] = rubs


def impact(chance: Chance, found: Tables) -> None:
    """Give each contact an impact law in place of a force."""
    for contact in found["contact"].values():
        law = str(chance.choice(["frictionless", "energetic", "poisson"]))
        given: Tables = {"law": law, "restitution": uniform(chance, 0, 1), "rest_speed": 1e-4}
        if law != "frictionless":
            given["friction"] = uniform(chance, 0, 0.5)
        del contact["normal"]
        contact["impact"] = given


def orbit(chance: Chance, found: Tables) -> None:
    found["orbit"] = {"semi_major_axis": uniform(chance, 6.7e6, 8e6), "gravity_gradient": bool(chance.random() < 0.7)}


def control(chance: Chance, found: Tables) -> None:
    mass = found["body"]["chaser"]["mass"]
    law = {"body": "chaser", "law": "attitude-hold", "period": uniform(chance, 0.02, 0.2), "base_stiffness": 0.1 * mass}
    law |= {"base_damping": 0.2 * mass, "base_limit": 0.05 * mass, "velocity_damping": 0.2 * mass}
    found["control"] = law | {"velocity": found["body"]["chaser"]["velocity"], "thruster_force": 0.02 * mass}


def add(found: Tables, element: Tables) -> None:
    """Add an element, its kind and its name inside."""
    found |= acting(*elements_of(found), element)


def latch(chance: Chance, found: Tables) -> None:
    """Catch a ball of the chaser where the plate is, by a compliant or a rigid grip."""
    ball = next(iter(found["body"]["chaser"]["feature"].values()))
    tip = (np.array(ball["position"]) - [ball["radius"], 0, 0]).tolist()
    hook = {"kind": "latch", "name": "hook", "between": ["chaser", "target"], "axis": [1.0, 0.0, 0.0]}
    hook |= {"anchor": [tip, [0.998, ball["position"][1], ball["position"][2]]], "reach": 5e-3, "lateral": 0.5}
    grip = str(chance.choice(["compliant", "pin", "weld"]))
    if any("impact" in contact for contact in found["contact"].values()):
        grip = "compliant"
    mass = found["body"]["chaser"]["mass"]
    own = {"stiffness": 400 * mass, "damping": 20 * mass} if grip == "compliant" else {"grip": grip}
    add(found, hook | own)


def strut(chance: Chance, found: Tables, between: tuple[str, str] | None = None) -> None:
    """Add a strut with or without a brake, or a bushing, between two bodies."""
    names = [name for name, body in found["body"].items() if "flexible" not in body]
    one, other = between or tuple(chance.choice(names, 2, replace=False).tolist())
    mass = min(body["mass"] for body in found["body"].values())
    line: Tables = {"kind": "strut", "name": f"strut{len(elements_of(found))}", "between": [one, other]}
    line |= {"anchor": [around(chance, 0.3), around(chance, 0.3)], "stiffness": mass * log_uniform(chance, 0.3, 30)}
    line |= {"damping": mass * uniform(chance, 0, 0.5)}
    if chance.random() < 0.4:
        line["slip"] = mass * log_uniform(chance, 3e-3, 0.1)
    add(found, line)


def phase(chance: Chance, found: Tables) -> None:
    """Add a thruster that pushes from the first contact on, and then less."""
    push = {"kind": "thruster", "name": "jet", "body": "target", "position": around(chance, 0.3)}
    force = found["body"]["target"]["mass"] * log_uniform(chance, 1e-3, 3e-2)
    add(found, push | {"direction": chance.normal(size=3).tolist(), "force": 0.0})
    less = {"when": {"lasting": uniform(chance, 0.1, 0.5)}, "set": {"thruster.jet.force": 0.3 * force}}
    pushed = {"when": "contact", "set": {"thruster.jet.force": force}}
    found["phase"] = {"free": {}, "pushed": pushed, "less": less}


FEATURES: dict[str, Callable[[Chance, Tables], None]] = {
    "delay": lambda chance, found: None,
    "tree": tree,
    "beam": beam,
    "impact": impact,
    "friction": friction,
    "latch": latch,
    "orbit": orbit,
    "control": control,
    "strut": strut,
    "phase": phase,
}
# no sensor measures a jump; a law of impacts has its own friction
PAIRS = [pair for pair in combinations(FEATURES, 2) if set(pair) not in ({"delay", "impact"}, {"impact", "friction"})]
