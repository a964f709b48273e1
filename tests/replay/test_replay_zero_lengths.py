"""Replays of what has no length: places at the origins of their bodies."""

import json

import numpy as np
import pytest
from plain_tables import by_name

import dockdyn
from dockdyn.api import scene_of
from dockdyn.report.columns import PageColumns
from dockdyn.report.scene.data import scene_data
from dockdyn.report.scene.drawable import can_be_drawn

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
    "mechanism": {
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


@pytest.mark.full_cases("rig", "two bodies")
@pytest.mark.parametrize("name", SCENES)
def test_places_at_origins_have_a_replay(load, name):
    """Everything has a finite place and size, and what is looked at has an extent."""
    scene = scene_of(dockdyn.simulate(load(SCENES[name])))
    assert can_be_drawn(scene)
    assert np.isfinite(scene.focus.place).all() and np.linalg.norm(scene.focus.axis) == pytest.approx(1.0)
    assert 0.01 < scene.focus.reach < 1e3
    columns = PageColumns()
    json.dumps([scene_data(scene, columns), columns.packed()], allow_nan=False)
