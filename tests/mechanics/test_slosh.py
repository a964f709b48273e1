"""Liquids in tanks against Abramson's formulas, and against the linear potential problem by finite elements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import jnp_zeros
from sloshing_reference import sloshing_of

from dockdyn.mechanics.slosh import Liquid, liquid_in_cylinder

MASS = 640.0  # kg


def liquid_of(radius: float, depth: float, modes: int = 3, ideal: bool = True) -> Liquid:
    """A liquid of `MASS` in a cylinder."""
    return liquid_in_cylinder(np.float64(radius), np.float64(depth), np.float64(MASS), modes, ideal)


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 2.7])
def test_cylinder_has_abramsons_masses_frequencies_and_places(ratio: float) -> None:
    """SP-106, table 6.1, in radii, with the roots of J₁' by SciPy."""
    radius, depth = 0.45, 0.45 * ratio
    liquid = liquid_of(radius, depth)
    for root, one in zip(jnp_zeros(1, 3), liquid.sloshing, strict=True):
        full, half = root * depth / radius, root * depth / radius / 2
        assert one.wave_number == pytest.approx(root * np.tanh(full) / radius, rel=1e-13)
        assert one.mass == pytest.approx(2 * MASS * np.tanh(full) / (full * (root**2 - 1)), rel=1e-13)
        assert one.height == pytest.approx(depth * (0.5 - np.tanh(half) / half), rel=1e-13, abs=1e-14)
        assert one.wave == pytest.approx(2 * root * np.tanh(full) / (root**2 - 1), rel=1e-13)


@pytest.mark.parametrize("ideal", [True, False])
@pytest.mark.parametrize("modes", [1, 3])
def test_at_rest_it_is_the_liquid(modes: int, ideal: bool) -> None:
    """Mass, centre of mass and inertia; frozen those of a solid cylinder."""
    radius, depth = 0.5, 0.8
    liquid = liquid_of(radius, depth, modes, ideal)
    parts = [(one.mass, one.height) for one in liquid.sloshing] + [(liquid.rigid_mass, liquid.rigid_height)]
    assert sum(mass for mass, _ in parts) == pytest.approx(MASS, rel=1e-14)
    assert sum(mass * height for mass, height in parts) == pytest.approx(0, abs=1e-12 * MASS)
    across = liquid.across + sum(mass * height**2 for mass, height in parts)
    if ideal:
        assert liquid.about == 0
        assert liquid.across > 0
        assert across < MASS * (depth**2 / 12 + radius**2 / 4)
    else:
        assert liquid.about == pytest.approx(MASS * radius**2 / 2, rel=1e-14)
        assert across == pytest.approx(MASS * (depth**2 / 12 + radius**2 / 4), rel=1e-14)


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_cylinder_is_the_potential_problem(ratio: float) -> None:
    """Modes, what they do to the tank, and the inertia of an ideal liquid, by finite elements without Bessel's functions."""
    liquid = liquid_of(1.0, ratio)
    found = sloshing_of(lambda z: 1.0 + 0.0 * z, -ratio / 2, ratio / 2, cells=12)
    density = MASS / found.mass
    across = liquid.rigid_mass * liquid.rigid_height**2 + liquid.across
    across += sum(one.mass * one.height**2 for one in liquid.sloshing)
    assert density * found.inertia == pytest.approx(across, rel=5e-4)
    for one, number, mass, height in zip(
        liquid.sloshing, found.wave_numbers, found.masses, found.heights, strict=True
    ):
        assert number == pytest.approx(one.wave_number, rel=1e-3)
        assert density * mass == pytest.approx(one.mass, rel=2e-3)
        assert height == pytest.approx(one.height, abs=2e-4 * ratio)
