"""Arms with a beam that carries and touches things beside its axis, and what an impact makes of them."""

from __future__ import annotations

import re

import jax
import numpy as np
import tomlkit
from places import DOCS

from dockdyn.kinds.berthing.run import build, strike

SCENARIOS = (DOCS / "scenario.md").read_text(encoding="utf-8")
LENGTH, MASS, STIFFNESS = 5.0, 15.0, 600.0  # m, kg, N m²
SPEED, PAYLOAD = 0.05, 30.0  # m/s, kg
BEAM = {"length": LENGTH, "mass": MASS, "bending": STIFFNESS}
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2


def struck(scenario):
    found, _ = strike(build(scenario.content))
    return jax.tree.map(np.asarray, found)


def example():
    """The first berthing of the documentation: it touches at the end of its beam."""
    block = next(b for b in re.findall(r"```toml\n(.*?)```", SCENARIOS, re.S) if 'kind = "berthing"' in b)
    return tomlkit.parse(block).unwrap()


ANGLE, SHOULDER = np.radians(60.0), np.array([0.0, 1.2])
ALONG, ACROSS = np.array([np.cos(ANGLE), np.sin(ANGLE)]), np.array([-np.sin(ANGLE), np.cos(ANGLE)])


def laden():
    """The documentation's arm, touched beside the middle of its beam, which carries a body and what is mounted on it."""
    content = example()
    content["flexible"] = {}
    spacecraft, arm = content["chaser"]["link"]
    arm |= {"mass": 6.0, "centre": [2.0, 0.3, 0], "inertia": [1, 1, 0.7]}
    camera = {"name": "camera", "parent": "arm", "joint": "locked", "mount": [3.5, -0.2, 0]}
    camera |= {"mass": 2.5, "centre": [0.1, 0, 0], "inertia": [0.3, 0.3, 0.4]}
    content["chaser"]["link"] = [spacecraft, arm, camera]
    content["contact"]["chaser_position"] = [2.6, 0.25, 0]
    content["impact"] = {"law": "frictionless", "restitution": 0.4, "normal": [-0.5, -0.87, 0]}
    content["target"]["velocity"] = [-0.05, -0.08, 0]
    return content


def facing():
    """Two arms: the end of a bracket on one beam is before a plane that is carried along by the other beam."""
    content = laden()
    content["chaser"]["link"] = content["chaser"]["link"][:2]
    content["target"] = {
        "link": [
            {"name": "station", "mass": 900.0, "inertia": [700, 800, 900]},
            {"name": "boom", "parent": "station", "mount": [0, -0.4, 0], "beam": {**BEAM, "mass": 9.0}},
        ]
    }
    plane = {"shape": "plane", "point": [0, 0.2, 0], "normal": [0.1, 1, 0]}
    content["contact"] = {
        "chaser": "arm",
        "chaser_position": [3.0, 0.25, 0],
        "target": "boom",
        "target_position": [2.0, 0.0, 0],
        "surface": plane,
    }
    content["impact"] = {"law": "frictionless", "restitution": 0.4, "again": True}
    del content["control"]
    return content
