"""What browsers see of a rig that is driven: mock-ups where the robot's axes put them."""

import numpy as np
import pytest
from driven_rigs import IN_SPACE, driver
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from test_rig_mechanism import BEGIN, of_two, read

POSES = np.array([[0.01, -0.02, 0.03, 0.05, -0.1, 0.2], [-0.3, 0.1, 0.0, 0.0, 0.3, -0.1]])


@pytest.mark.full
def test_robot_and_model_are_where_their_axes_say():
    """Axes are a place and a rotation vector since t = 0; the arrow of the force is at the ball that is carried."""
    live = driver(read(of_two(), {"loop.dynamics.period": "4 ms", "rig.limits": IN_SPACE})).live_scene()
    position, attitude = live.placed(*POSES)
    carried, standing, model = (
        list(live.scene.bodies).index(name) for name in ("chaser", "target", "model (computed)")
    )
    assert len(live.scene.bodies) == 3 and {part.body for part in live.scene.parts} <= live.scene.bodies.keys()
    begun = Rotation.from_quat(BEGIN["attitude"], scalar_first=True)
    for body, pose in zip((carried, model), POSES, strict=True):
        turn = Rotation.from_rotvec(pose[3:]) * begun
        found = Rotation.from_quat(attitude[body], scalar_first=True)
        for place in np.eye(3):
            assert_allclose(position[body] + found.apply(place), pose[:3] + turn.apply(place), atol=1e-12)
    assert_allclose(np.concatenate([position[standing], attitude[standing]]), [0, 0, 0, 1, 0, 0, 0])
    (force,) = live.scene.forces
    assert_allclose(force.place[0], [0.4, 0.0, 0.0])
    assert force.carrier is live.scene.bodies["chaser"]
    assert_allclose(live.acting(np.arange(6.0)), [0, 1, 2])
