"""What browsers see of a rig with an assembly is what they see of the same two bodies in space."""

from __future__ import annotations

import numpy as np
from driven_rigs import IN_SPACE, driver
from numpy.testing import assert_allclose
from test_rig_assembly import in_space, of_two, read

from dockdyn.report.replay.scene import turned

POSES = np.array([[0.01, -0.02, 0.03, 0.05, -0.1, 0.2], [-0.3, 0.1, 0.0, 0.0, 0.3, -0.1]])


def test_both_ways_of_telling_two_bodies_move_alike():
    seen = []
    for tables in (in_space, of_two):
        live = driver(read(tables(), {"loop.dynamics.period": "4 ms", "rig.limits": IN_SPACE})).live_scene()
        live.move(*POSES)
        robot = live.scene.frames[1].motion
        model = next(part.motion for part in live.scene.parts if part.layer)
        assert {part.layer for part in live.scene.parts} == {"", "model (computed)"}
        places = [one.points(np.array(at))[0] for one in (robot, model) for at in np.eye(3)]
        seen.append([*places, live.scene.arrows[0].place[0]])
    assert_allclose(seen[0], seen[1], atol=1e-12)
    head = np.array([0.4, 0.0, 0.0])  # of what is carried
    assert_allclose(seen[0][-1], robot.position[0] + turned(robot.attitude[0], head), atol=1e-12)
