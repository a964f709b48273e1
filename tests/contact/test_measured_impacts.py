"""Oblique impacts as measured, beside friction that sticks: what the laws with and without memory are off by."""

import numpy as np
import pytest
from elastic_annuli import velocity_left
from oblique_impacts import ANVIL, BALL, COEFFICIENT, DENSITY, RADIUS, RESTITUTION, SPEED, SPIN, TANGENTIAL, rebound


@pytest.mark.full
@pytest.mark.parametrize(
    "angle", [a if a in (3.703, 20.012) else pytest.param(a, marks=pytest.mark.full) for a in TANGENTIAL]
)
def test_velocity_along_the_anvil(load, angle):
    """Within 3 % but at 9.5 degrees, where it is 4.1, without a number fitted; friction that forgets is up to 20 % off."""
    found, _ = rebound(load, angle)
    assert found == pytest.approx(TANGENTIAL[angle], rel=0.042 if angle == 9.496 else 0.03)


@pytest.mark.full_cases(*(str(angle) for angle in TANGENTIAL if angle != 9.496))
@pytest.mark.parametrize("angle", TANGENTIAL)
def test_velocity_along_the_anvil_is_that_of_elastic_half_spaces(load, angle):
    """Solved by annuli that stick or slip: where the law is 4.1 % off what was measured, elasticity itself is 4.4 % off."""
    elastic = velocity_left(BALL, ANVIL, RADIUS, DENSITY, COEFFICIENT, RESTITUTION, SPEED, angle)
    found, _ = rebound(load, angle)
    assert found == pytest.approx(elastic, rel=5e-3)
    if angle == 9.496:
        assert elastic / TANGENTIAL[angle] - 1 == pytest.approx(-0.044, abs=1e-3)


def test_without_memory_what_should_stick_does_not(load):
    """Sliding takes (7/2) μ (1 + e) / tan θ, and at steep angles friction ends all sliding: 5/7 is left, never less."""
    smooth = {"law": "coulomb", "coefficient": COEFFICIENT, "regularisation": 1e-3}
    found, _ = rebound(load, 20.012, smooth)
    assert found == pytest.approx(5 / 7, rel=0.01)
    assert abs(found / TANGENTIAL[20.012] - 1) > 0.15


@pytest.mark.full
@pytest.mark.parametrize("angle", SPIN)
def test_spin(load, angle):
    """Within 6 % from 10 degrees on but at two; from 31 degrees on all slides, and spin is 5/2 μ (1 + e) v cos θ / r of any
    such law, which is 7.5 and 8 % less than was measured there."""
    _, spin = rebound(load, angle)
    bound = {6.143: 0.14, 39.143: 0.08, 60.328: 0.085}.get(angle, 0.06)
    assert spin == pytest.approx(SPIN[angle], rel=bound)
    if angle > 31:
        slides = 2.5 * COEFFICIENT * (1 + RESTITUTION) * SPEED * np.cos(np.radians(angle)) / RADIUS
        assert spin == pytest.approx(slides, rel=1e-3)


def test_measured_spins_are_more_than_measured_velocities_allow():
    """A ball's spin about where it touches does not change there, whatever the law: spin is 5/2 of the velocity lost over r."""
    angles, kept = np.array(list(TANGENTIAL)), np.array(list(TANGENTIAL.values()))
    spins = {
        angle: 2.5 * (1 - np.interp(angle, angles, kept)) * SPEED * np.sin(np.radians(angle)) / RADIUS for angle in SPIN
    }
    more = np.array([SPIN[angle] / spin - 1 for angle, spin in spins.items()])
    assert (more > 0).all()
    assert more[[0, -1]] == pytest.approx(0.144, abs=2e-3)
