"""Replays of what has no length: places at the origins of their bodies."""

import numpy as np
import pytest
from plain_tables import by_name

import dockdyn
from dockdyn.api import scene_of

NOWHERE = [0.0, 0.0, 0.0]
HEAVY = {"mass": 120.0, "inertia": [10.0, 12.0, 14.0]}
SPRING = {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10.0}
TWO = {
    "chaser": HEAVY | {"position": [-0.01, 0.0, 0.0], "velocity": [0.1, 0.0, 0.0]},
    "target": HEAVY | {"surface": {"face": {"shape": "plane", "point": NOWHERE, "normal": [-1.0, 0.0, 0.0]}}},
}
TIP = {"feature": {"tip": {"position": NOWHERE}}}
TOUCH = {"contact": {"tip": {"between": ["tip", "face"], "normal": SPRING}}, "duration": 0.5, "schema": 2}
SCENES = {
    "two bodies": TWO | {"chaser": TWO["chaser"] | TIP} | TOUCH,
    "assembly": {
        "body": by_name(
            [{"name": "one"} | TWO["chaser"] | TIP, {"name": "other"} | TWO["target"] | {"position": NOWHERE}]
        ),
        "strut": {
            "strut": {"between": ["one", "other"], "anchor": [NOWHERE, NOWHERE], "stiffness": 100.0, "free_length": 0.1}
        },
    }
    | TOUCH,
    "rig": {"rig": {"carries": "one", "against": "other"}, "loop": {"hold": {"period": 0.004}}}
    | {"body": by_name([{"name": "one"} | TWO["chaser"] | TIP, {"name": "other"} | TWO["target"]])}
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
