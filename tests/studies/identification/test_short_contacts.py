"""Contacts of few samples in noise: how sure what is found is, beside closed forms, and what is not taken for a contact."""

import numpy as np
import pytest

from dockdyn.studies.identification.bounce_log import read_bounce
from dockdyn.studies.identification.residuals import parameter_covariance


@pytest.mark.parametrize("count", [10, 20, 40, 160])
def test_variances_in_white_noise_are_those_of_least_squares(count):
    """However few of the rows tell of a parameter: σ² (XᵀX)⁻¹ on average, and 95 % of the intervals hold the truth."""
    rng, angle, repeats = np.random.default_rng(count), np.linspace(0, np.pi, count), 1500
    slope = np.zeros((4 * count, 4))
    slope[count : 2 * count, :3] = np.stack([np.sin(angle), np.cos(angle), -np.ones(count)], axis=1)
    slope[:, 3] = 1.0
    true = np.sqrt(np.diag(np.linalg.inv(slope.T @ slope)))
    stated, held = np.zeros(4), np.zeros(4)
    for _ in range(repeats):
        noise = rng.standard_normal(4 * count)
        off = np.linalg.lstsq(slope, noise, rcond=None)[0]
        deviation = np.sqrt(np.diag(parameter_covariance(slope, noise - slope @ off)))
        stated += deviation / repeats
        held += (np.abs(off) < 1.96 * deviation) / repeats
    np.testing.assert_allclose(stated, true, rtol=0.08)
    assert held.min() > 0.92


def test_a_direction_that_nothing_tells_of_is_left_out():
    slope = np.random.default_rng(0).normal(size=(50, 2)) @ np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
    found = parameter_covariance(slope, np.random.default_rng(1).normal(size=50))
    assert np.isfinite(found).all() and np.linalg.matrix_rank(found, tol=1e-9 * np.abs(found).max()) == 2


@pytest.mark.parametrize("seed", range(12))
def test_noise_before_a_contact_is_not_taken_for_one(tmp_path, seed):
    """Of some hundred rows of free motion a few lie far out, and one is a spike."""
    rng = np.random.default_rng(seed)
    time = np.arange(500) * 1e-3
    depth = np.where(
        (time > 0.3) & (time < 0.33), 1e-4 * np.sin(np.pi * (time - 0.3) / 0.03), 0.05 * np.minimum(time - 0.3, 0)
    )
    depth = np.where(time >= 0.33, -0.05 * (time - 0.33), depth)
    force = 6e6 * np.maximum(depth, 0) + 5.0 * rng.standard_normal(time.size)
    force[rng.integers(30, 250)] += 60.0
    file = tmp_path / "log.csv"
    np.savetxt(
        file, np.stack([time, depth, force], 1), delimiter=",", header="time [s],position [m],force [N]", comments=""
    )
    bounce = read_bounce(file, {})
    assert "in 1 row before the contact" in " ".join(bounce.notes)
    assert bounce.ends and bounce.time[bounce.first] == pytest.approx(0.301, abs=0.003)
    assert bounce.time[bounce.last] == pytest.approx(0.329, abs=0.003)
