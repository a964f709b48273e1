"""Oblique impacts as measured, beside friction that sticks: what the laws with and without memory are off by."""

import pytest
from oblique_impacts import COEFFICIENT, SPIN, TANGENTIAL, rebound


@pytest.mark.full
@pytest.mark.parametrize(
    "angle", [a if a in (3.703, 20.012) else pytest.param(a, marks=pytest.mark.full) for a in TANGENTIAL]
)
def test_velocity_along_the_anvil(load, angle):
    """Within 4.5 % at all angles, without a number fitted; friction that forgets is up to 20 % off."""
    found, _ = rebound(load, angle)
    assert found == pytest.approx(TANGENTIAL[angle], rel=0.045)


def test_without_memory_what_should_stick_does_not(load):
    """Sliding takes (7/2) μ (1 + e) / tan θ, and at steep angles friction ends all sliding: 5/7 is left, never less."""
    smooth = {"law": "coulomb", "coefficient": COEFFICIENT, "regularisation": 1e-3}
    found, _ = rebound(load, 20.012, smooth)
    assert found == pytest.approx(5 / 7, rel=0.01)
    assert abs(found / TANGENTIAL[20.012] - 1) > 0.15


@pytest.mark.full
@pytest.mark.parametrize("angle", SPIN)
def test_spin(load, angle):
    """Within 8.5 % from 10 degrees on; from 31 degrees on all slides, and spin is 5/2 μ (1 + e) v cos θ / r of any such law."""
    _, spin = rebound(load, angle)
    assert spin == pytest.approx(SPIN[angle], rel=0.15 if angle < 10 else 0.085)
