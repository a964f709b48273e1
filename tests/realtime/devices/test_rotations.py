"""Rotations as devices tell them, beside those of SciPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockdyn.realtime.devices import rotations

chance = np.random.default_rng(7)
DIRECTIONS = chance.normal(size=(20, 3))
VECTORS = [tuple(size * each / np.linalg.norm(each)) for size in (1e-12, 1e-7, 1e-3, 1, 3.1) for each in DIRECTIONS]


@pytest.mark.parametrize("vector", VECTORS)
def test_vectors_quaternions_and_angles(vector):
    quaternion = rotations.quaternion_of_vector(vector)
    expected = Rotation.from_rotvec(vector)
    np.testing.assert_allclose(quaternion, np.roll(expected.as_quat(canonical=True), 1), atol=1e-15)
    np.testing.assert_allclose(rotations.vector_of_quaternion(quaternion), vector, rtol=1e-9, atol=1e-16)
    angles = rotations.angles_of_quaternion(quaternion)
    np.testing.assert_allclose(Rotation.from_euler("ZYX", angles).as_rotvec(), vector, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(np.abs(rotations.quaternion_of_angles(angles)), np.abs(quaternion), atol=1e-15)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
@pytest.mark.parametrize("yaw", [-2.0, 0.0, 0.7])
def test_where_the_middle_angle_is_a_right_one(pitch, yaw):
    quaternion = rotations.quaternion_of_angles((yaw, pitch, 0.4))
    again = rotations.quaternion_of_angles(rotations.angles_of_quaternion(quaternion))
    assert abs(np.dot(quaternion, again)) == pytest.approx(1, abs=1e-14)


def test_one_turn_after_another():
    a, b = VECTORS[70], VECTORS[90]
    both = rotations.multiply_quaternions(rotations.quaternion_of_vector(a), rotations.quaternion_of_vector(b))
    expected = (Rotation.from_rotvec(a) * Rotation.from_rotvec(b)).as_rotvec()
    np.testing.assert_allclose(rotations.vector_of_quaternion(both), expected, atol=1e-14)
    again = rotations.divide_quaternions(both, rotations.quaternion_of_vector(b))
    np.testing.assert_allclose(rotations.vector_of_quaternion(again), a, atol=1e-14)
