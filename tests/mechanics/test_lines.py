"""Forces along lines that may depend on each other: what they do together is what lines that do not would."""

import numpy as np
import pytest

from dockdyn.mechanics.lines import Lines, forces_along, mobility_between


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6, 1e-9])  # kg m² a kg, of the body that is held
@pytest.mark.parametrize("seed", range(3))
def test_a_weld_stated_twice_holds_as_one(size, seed):
    """However small the inertia of what is held is beside its mass: forces and torques are of different units."""
    draw = np.random.default_rng(seed)
    weld = np.zeros((6, 2, 6))
    for body, sign in ((0, 1.0), (1, -1.0)):
        x, y, z = draw.uniform(-1, 1, 3) * (1.0 if body else np.sqrt(size))  # m, of the point from its centre of mass
        weld[:, body] = sign * np.eye(6)
        weld[:3, body, 3:] = sign * np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
    masses, turning = draw.uniform(1, 100, 2), draw.uniform(1, 100, (2, 3)) * [[size], [1.0]]
    mobility = 1 / np.concatenate([masses[:, None].repeat(3, 1), turning], axis=1)
    moved = draw.normal(size=(2, 6)) * mobility
    shut, open_, nothing = np.ones(12), np.zeros(12), np.zeros(12)
    twice = np.concatenate([weld, weld])
    yields = np.stack([1 / masses, np.linalg.norm(1 / turning, axis=1)]).sum(axis=1)  # without weld: 1/kg, 1/(kg m²)
    lines = Lines(twice, nothing, shut, open_, yields=np.tile(yields.repeat(3), 2))
    found = np.asarray(
        forces_along(lines, mobility_between(twice, twice * mobility), np.einsum("kbi,bi->k", twice, moved))
    )
    once = np.linalg.solve(np.einsum("kbi,bi,lbi->kl", weld, mobility, weld), -np.einsum("kbi,bi->k", weld, moved))
    np.testing.assert_allclose(found[:6] + found[6:], once, rtol=1e-8, atol=1e-8 * np.abs(once).max())
    if size >= 1e-6:  # below, rounding of large mobilities is seen in how they share
        np.testing.assert_allclose(found[:6], found[6:], atol=1e-4 * np.abs(once).max())
