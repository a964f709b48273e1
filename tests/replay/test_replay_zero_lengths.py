"""Replays of what has no length: places at the origins of their bodies, points without radius, arms of one body."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn
from dockdyn.api import scene_of

NOWHERE = [0.0, 0.0, 0.0]
HEAVY = {"mass": 120.0, "inertia": [10.0, 12.0, 14.0]}
SPRING = {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10.0}


def berthing(law, target, *links):
    """Bodies that touch at places which are given as changes of both sides' own origins."""
    return {
        "schema": 1,
        "kind": "berthing",
        "duration": 0.5,
        "chaser": {"velocity": [0.0, 0.1, 0.0], "link": [{"name": "hub"} | HEAVY, *links]},
        "target": {"link": [{"name": "payload"} | HEAVY]},
        "contact": {"chaser": links[-1]["name"] if links else "hub", "target": "payload"} | target,
        "impact": {"law": law} | ({"restitution": 0.5, "friction": 0.0} if law == "energetic" else {}),
    }


ARM = [
    {"name": "arm", "parent": "hub", "mount": [0.0, 0.5, 0.0], "mass": 5.0, "inertia": [0.1, 0.1, 0.1]},
    {"name": "hand", "parent": "arm", "mount": NOWHERE, "mass": 2.0, "inertia": [0.01, 0.01, 0.01]},
]
PLATE = {"shape": "plane", "point": NOWHERE, "normal": [0.0, -1.0, 0.0]}
TWO = {
    "chaser": HEAVY | {"position": [-0.01, 0.0, 0.0], "velocity": [0.1, 0.0, 0.0]},
    "target": HEAVY | {"surface": [{"name": "face", "shape": "plane", "point": NOWHERE, "normal": [-1.0, 0.0, 0.0]}]},
}
TIP = {"feature": [{"name": "tip", "position": NOWHERE}]}
TOUCH = {"contact": [{"feature": "tip", "surface": "face", "normal": SPRING}], "duration": 0.5, "schema": 1}
SCENES = {
    "arms that touch at the target's origin": berthing("weld", {"target_position": NOWHERE}, *ARM),
    "a surface there": berthing("energetic", {"target_position": NOWHERE, "surface": PLATE}, *ARM),
    "bodies alone at both origins": berthing("weld", {"target_position": NOWHERE}),
    "free flight": {"kind": "free-flight"} | TWO | {"chaser": TWO["chaser"] | TIP} | TOUCH,
    "assembly": {
        "kind": "assembly",
        "body": [{"name": "one"} | TWO["chaser"] | TIP, {"name": "other"} | TWO["target"] | {"position": NOWHERE}],
        "element": [
            {
                "kind": "strut",
                "name": "strut",
                "between": ["one", "other"],
                "anchor": [NOWHERE, NOWHERE],
                "stiffness": 100.0,
                "free_length": 0.1,
            }
        ],
    }
    | TOUCH,
    "rig": {"kind": "rig", "mode": "6-dof", "loop": {"hold": {"period": 0.004}}}
    | TWO
    | {"chaser": TWO["chaser"] | TIP}
    | TOUCH,
}


@pytest.mark.parametrize("name", SCENES)
def test_places_at_origins_have_a_replay(load, name):
    """Everything has a finite place, and cameras stand away from what they look at."""
    scene = scene_of(dockdyn.simulate(load(SCENES[name])))
    for part in scene.parts:
        numbers = (part.mesh.vertices, part.motion.position, part.motion.attitude)
        assert all(np.isfinite(each).all() for each in numbers), part.name
    assert max(np.ptp(part.mesh.vertices) for part in scene.parts) > 0.01
    for view in scene.views:
        assert 0.01 < np.linalg.norm(view.position - view.target) < 1e3, view.name
