"""Loads at named points of two bodies that touch in many places."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.mechanics.vector import Vector

SCENARIO = """schema = 2
title = "Many feet on a plane"
duration = "1 s"
[body.chaser]
mass = "1 t"
inertia = [500, 600, 700]
attitude = {attitude}
position = [0, 0, 0]
{features}
[body.target]
mass = "3 t"
inertia = [2000, 2100, 2200]
position = [3, 0.5, 0.2]
[body.target.surface.plane]
shape = "plane"
point = [-1, 0, 0]
normal = [-1, 0, 0]
"""
FEATURE = "[body.chaser.feature.f{}]\nposition = {}\nradius = {}\n"
CONTACT = """[contact.f{0}]
between = ["f{0}", "plane"]
[contact.f{0}.normal]
law = "hertz"
stiffness = 1e6
exponent = 1
"""


@pytest.mark.full_cases("7")
@pytest.mark.parametrize("count", [1, 2, 7])
def test_loads_are_the_sum_of_all_forces_with_their_levers(count, tmp_path):
    """Against the sum over contacts for each point: force, and moment of the places where balls are nearest to the plane."""
    rng = np.random.default_rng(count)
    quaternion = rng.normal(size=4) * 0.2 + [1, 0, 0, 0]
    quaternion /= np.linalg.norm(quaternion)
    feet, radii = rng.uniform(-0.5, 0.5, (count, 3)), rng.uniform(0.01, 0.1, count)
    features = "".join(FEATURE.format(i, feet[i].tolist(), radii[i]) for i in range(count))
    file = tmp_path / "feet.toml"
    text = SCENARIO.format(attitude=quaternion.tolist(), features=features)
    file.write_text(text + "".join(CONTACT.format(i) for i in range(count)))
    model = dockdyn.load(file).model()
    forces = rng.normal(size=(count, 3)) * 100  # N, on the chaser
    seen = model.observe(model.initial(), tuple(Vector.of(jnp.asarray(force)) for force in forces))

    turn = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
    points = feet @ turn.T + radii[:, None] * np.array([1, 0, 0])  # out of the plane is −x
    for row, point in enumerate(model.points):
        at = turn @ np.asarray(point.position) if point.body == 0 else np.add(point.position, [3, 0.5, 0.2])
        sign, axes = (1, turn) if point.body == 0 else (-1, np.eye(3))
        force, moment = sign * forces.sum(0), sign * np.cross(points - at, forces).sum(0)
        np.testing.assert_allclose(seen["load_force"][row], axes.T @ force, rtol=0, atol=1e-11 * np.abs(forces).sum())
        np.testing.assert_allclose(seen["load_moment"][row], axes.T @ moment, rtol=0, atol=1e-11 * np.abs(forces).sum())
