"""Sensitivities where two motions decide alike, as those of a body of revolution across its axis, beside own differences."""

import numpy as np
import pytest

import dockdyn

RADIUS, DEPTH = 0.05, 2.5e-3  # m
KEYS = (
    "loop.delay",
    "body.chaser.mass",
    "contact.touch.friction.stiffness",
    "contact.touch.friction.retardation_time",
)
STEP = 1e-3


def stuck(draw, angle):
    """A ball that sticks to a plane which a thruster presses it into, both bodies of revolution about the normal, turned."""
    across = [float(draw.uniform(8, 20)), float(draw.uniform(80, 200))]
    bodies = {}
    for name, inertia, mass, place in zip(
        ("chaser", "target"), across, draw.uniform(80, 300, 2), (DEPTH - RADIUS - 0.5, 0.0), strict=True
    ):
        bodies[name] = {"mass": float(mass), "inertia": [10.0, inertia, inertia], "position": [place, 0.0, 0.0]}
        bodies[name]["attitude"] = {"axis": [1, 0, 0], "angle": angle}
    bodies["chaser"]["feature"] = {"probe": {"positions": [[0.5, 0.0, 0.0]], "radius": RADIUS}}
    face = {"shape": "plane", "point": [0.0] * 3, "normal": [-1.0, 0.0, 0.0]}
    bodies["target"]["surface"] = {"face": face}
    friction = {"law": "stick-slip", "coefficient": 0.5, "stiffness": float(draw.uniform(1e4, 2e4))}
    friction["retardation_time"] = float(draw.uniform(8e-3, 12e-3))
    normal = {"law": "spring-dashpot", "stiffness": 2e4, "damping": 800.0}
    touch = {"between": ["probe", "face"], "normal": normal, "friction": friction}
    push = {"body": "chaser", "position": [-0.5, 0.0, 0.0], "direction": [1.0, 0.0, 0.0], "force": 50.0}
    tables = {
        "body": bodies,
        "contact": {"touch": touch},
        "thruster": {"push": push},
        "loop": {"delay": 4e-3},
        "stability": {"time": 0.0},
    }
    return {"schema": 2, "duration": 0.1} | tables


@pytest.mark.parametrize("seed", [0, 1])
def test_what_keeps_the_two_alike_has_the_slope_of_differences_and_what_parts_them_none(seed):
    draw = np.random.default_rng([76, seed])
    stated = stuck(draw, float(draw.uniform(0.1, 1.4)))
    found = dockdyn.margins(dockdyn.load(stated))

    def margin(key, value):
        return dockdyn.margins(dockdyn.load(stated, {key: value}))["delay_margin_s"]

    for key in KEYS:
        own = value_of(stated, key)
        slope = (margin(key, own * (1 + STEP)) - margin(key, own * (1 - STEP))) / (2 * STEP)
        assert found["sensitivities"][key] == pytest.approx(slope, rel=1e-4, abs=1e-9)
    (words,) = [words for words in found["warnings"] if "decide alike" in words]
    for key in ("body.chaser.inertia.1.1", "body.chaser.inertia.2.2"):
        up, down = (
            sign * (margin(key, value_of(stated, key) * (1 + sign * STEP)) - found["delay_margin_s"])
            for sign in (1, -1)
        )
        assert abs(up - down) > 0.1 * max(abs(up), abs(down))
        assert key in words and key not in found["sensitivities"]


def value_of(stated, key):
    """The number that a key names."""
    if ".inertia." in key:
        return stated["body"]["chaser"]["inertia"][int(key[-1])]
    for part in key.split("."):
        stated = stated[part]
    return stated
