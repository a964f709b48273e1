"""Rotations against scipy.spatial.transform.Rotation, over all angles: tiny, ordinary, near half a turn."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.rotation import Quaternion, from_x_axis, roll_pitch_yaw
from dockdyn.mechanics.vector import Matrix, Vector
from dockdyn.programs import Program

EXACT = 1e-15 * 8  # a handful of roundings of numbers of order one

sampled = settings(max_examples=100, deadline=None, derandomize=True, database=None)

numbers = st.floats(-1, 1, allow_subnormal=False)
directions = (
    st.tuples(numbers, numbers, numbers)
    .filter(lambda v: np.linalg.norm(v) > 1e-3)
    .map(lambda v: np.array(v) / np.linalg.norm(v))
)
# anywhere; tiny, down to where squares vanish; and within a microradian to a tenth of half a turn
sizes = st.one_of(
    st.floats(0, np.pi),
    st.floats(-160, -1).map(lambda power: 10.0**power),
    st.floats(-15, -1).map(lambda power: np.pi - 10.0**power),
    st.sampled_from([0.0, 0.02, 0.0199999, 0.0200001, np.pi / 2]),  # series and closed forms meet at 0.02 rad
)
rotation_vectors = st.builds(lambda way, size: way * size, directions, sizes)


def vector(array):
    return Vector.of(jnp.asarray(array, float))


def quaternion(rotation):
    return Quaternion.of(jnp.asarray(rotation.as_quat(scalar_first=True)))


def same_rotation(q, expected, tolerance=EXACT):
    """Unit length, and the same rotation: q and −q are one."""
    found, wanted = np.asarray(q.array()), expected.as_quat(scalar_first=True)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=tolerance)
    assert found * np.sign(found @ wanted) == pytest.approx(wanted, abs=tolerance)


@Program
def exponential_of(rotation):
    return Quaternion.exponential(Vector.of(rotation))


@Program
def logarithm_of(components):
    return Quaternion.of(components).logarithm().array()


@Program
def quaternion_of(matrix):
    return Quaternion.from_matrix(Matrix.of(matrix))


@sampled
@given(rotation_vectors)
def test_exponential(rotation):
    q = exponential_of(jnp.asarray(rotation))
    same_rotation(q, Rotation.from_rotvec(rotation))
    # the vector part to its own last digits, however small: sin(θ/2) along the axis
    size = math.hypot(*rotation)
    axis = rotation / size if size > 0 else rotation
    assert np.asarray(q.vector().array()) == pytest.approx(np.sin(size / 2) * axis, rel=1e-13, abs=1e-300)


@sampled
@given(rotation_vectors)
def test_logarithm(rotation):
    """Back to the vector, relative to its own size. Near half a turn either of two opposite vectors is right."""
    components = Rotation.from_rotvec(rotation).as_quat(scalar_first=True)
    for sign in (1, -1):
        found = np.asarray(logarithm_of(jnp.asarray(sign * components)))
        size = math.hypot(*rotation)
        if size > np.pi - 1e-9 and found @ rotation < 0:
            found = found * (1 - 2 * np.pi / np.linalg.norm(found))
        assert found == pytest.approx(rotation, rel=0, abs=1e-14 * size + 1e-300)
        assert np.linalg.norm(found) <= np.pi + 1e-14


@sampled
@given(rotation_vectors)
def test_matrix_and_back(rotation):
    expected = Rotation.from_rotvec(rotation)
    matrix = quaternion(expected).matrix()
    assert np.asarray(matrix.array()) == pytest.approx(expected.as_matrix(), abs=EXACT)
    back = quaternion_of(jnp.asarray(expected.as_matrix()))
    same_rotation(back, expected)
    assert float(back.w) >= 0


@pytest.mark.full
@sampled
@given(first=rotation_vectors, second=rotation_vectors, point=directions)
def test_product_turns_by_one_after_the_other(first, second, point):
    a, b = Rotation.from_rotvec(first), Rotation.from_rotvec(second)
    product = quaternion(a) * quaternion(b)
    same_rotation(product, a * b)
    turned = product.matrix() @ vector(point)
    assert np.asarray(turned.array()) == pytest.approx(a.apply(b.apply(point)), abs=2 * EXACT)
    back = product.conjugate().matrix() @ turned
    assert np.asarray(back.array()) == pytest.approx(point, abs=3 * EXACT)
    assert np.asarray(product.matrix().transposed_times(turned).array()) == pytest.approx(point, abs=3 * EXACT)


@pytest.mark.full
@sampled
@given(roll=st.floats(-np.pi, np.pi), pitch=st.floats(-np.pi, np.pi), yaw=st.floats(-np.pi, np.pi))
def test_roll_pitch_yaw(roll, pitch, yaw):
    """Yaw about z, pitch about the new y, roll about the new x: SciPy's intrinsic ZYX."""
    same_rotation(roll_pitch_yaw(roll, pitch, yaw), Rotation.from_euler("ZYX", [yaw, pitch, roll]))


@sampled
@given(rotation=rotation_vectors, rate=directions)
def test_rate_is_the_derivative_under_a_body_rate(rotation, rate):
    """Against a difference of SciPy's rotations: q(t ± τ) = q exp(± ω τ); central, error τ²/24 · |ω|³/2."""
    start, step = Rotation.from_rotvec(rotation), 1e-5  # s
    ahead, behind = ((start * Rotation.from_rotvec(s * step * rate)).as_quat(scalar_first=True) for s in (1, -1))
    here = start.as_quat(scalar_first=True)
    ahead, behind = (q * np.sign(q @ here) for q in (ahead, behind))
    found = np.asarray(quaternion(start).rate(vector(rate)).array())
    assert found == pytest.approx((ahead - behind) / (2 * step), abs=5e-11)


@pytest.mark.full
@sampled
@given(
    st.one_of(
        directions,
        st.sampled_from([(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)]).map(np.array),
        st.floats(-12, -1).map(lambda p: np.array([-np.cos(10**p), np.sin(10**p) * 0.6, np.sin(10**p) * 0.8])),
    )
)
def test_shortest_rotation_from_the_x_axis(direction):
    q = from_x_axis(vector(direction))
    turn = Rotation.from_quat(np.asarray(q.array()), scalar_first=True)
    assert np.linalg.norm(np.asarray(q.array())) == pytest.approx(1.0, abs=1e-12)
    assert np.asarray((q.matrix() @ vector([1.0, 0.0, 0.0])).array()) == pytest.approx(direction, abs=1e-9)
    assert turn.magnitude() == pytest.approx(np.arctan2(np.linalg.norm(direction[1:]), direction[0]), abs=1e-7)
    assert turn.as_rotvec()[0] == pytest.approx(0, abs=1e-9), "the shortest one does not turn about x"


@pytest.mark.full
@sampled
@given(rotation_vectors, st.floats(0.5, 2.0))
def test_normalised(rotation, size):
    expected = Rotation.from_rotvec(rotation)
    stretched = Quaternion.of(size * jnp.asarray(expected.as_quat(scalar_first=True)))
    same_rotation(stretched.normalised(), expected)


@Program
@jax.jacfwd
def there_and_back(rotation):
    return Quaternion.exponential(Vector.of(rotation)).logarithm().array()


@sampled
@given(rotation_vectors)
def test_derivatives_are_finite_and_right(rotation):
    """Exponential and logarithm undo each other, so do their derivatives; at zero rotation, too."""
    if np.linalg.norm(rotation) > np.pi - 0.1:
        rotation = rotation * 0.5
    assert np.asarray(there_and_back(jnp.asarray(rotation))) == pytest.approx(np.eye(3), abs=1e-12)
