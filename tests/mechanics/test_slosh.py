"""Liquids in tanks against Abramson's formulas, and against the linear potential problem by finite elements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import jnp_zeros
from sloshing_reference import sloshing_of

from dockdyn.mechanics.slosh import FILLS, Liquid, liquid_in_cylinder, liquid_in_sphere, liquid_volume

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
    found = sloshing_of(lambda up: (1.0 + 0.0 * up, ratio * (up - 0.5)), cells=12)
    density = MASS / found.mass
    across = liquid.rigid_mass * liquid.rigid_height**2 + liquid.across
    across += sum(one.mass * one.height**2 for one in liquid.sloshing)
    assert density * found.inertia == pytest.approx(across, rel=5e-4)
    for one, number, mass, height in zip(liquid.sloshing, found.wave_numbers, found.masses, found.heights, strict=True):
        assert number == pytest.approx(one.wave_number, rel=1e-3)
        assert density * mass == pytest.approx(one.mass, rel=2e-3)
        assert height == pytest.approx(one.height, abs=2e-4 * ratio)
    assert found.waves[0] == pytest.approx(liquid.sloshing[0].wave, rel=2e-3)


def sphere_of(fill: float, ideal: bool = True) -> Liquid:
    """A liquid of `MASS` in a sphere of radius 1, filled to a share of its diameter."""
    return liquid_in_sphere(np.float64(1.0), np.float64(2 * fill), np.float64(MASS), ideal)


def across_of(liquid: Liquid) -> float:
    """The moment of inertia of all parts about the common centre of mass."""
    parts = [(one.mass, one.height) for one in liquid.sloshing] + [(liquid.rigid_mass, liquid.rigid_height)]
    return float(liquid.across + sum(mass * height**2 for mass, height in parts))


@pytest.mark.parametrize("fill", [0.1, 0.5, 0.8])
def test_sphere_is_the_potential_problem(fill: float) -> None:
    """First mode, what it does to the tank, and the inertia of an ideal liquid, by finite elements."""
    top = np.arccos(1 - 2 * fill)
    liquid = sphere_of(fill)
    found = sloshing_of(lambda up: (np.sin(top * up), -np.cos(top * up)), cells=16)
    density = MASS / found.mass
    below = 1 - liquid.centre  # of the centre of mass, under that of the sphere
    assert liquid_volume("sphere", 1.0, 2 * fill) == pytest.approx(found.mass, rel=1e-5)
    assert -below == pytest.approx(found.centre, abs=1e-5)
    assert density * found.inertia == pytest.approx(across_of(liquid) + MASS * below**2, rel=2e-4)
    one = liquid.sloshing[0]
    assert found.wave_numbers[0] == pytest.approx(one.wave_number, rel=2e-5)
    assert density * found.masses[0] == pytest.approx(one.mass, rel=5e-5)
    assert found.heights[0] == pytest.approx(one.height - below, abs=2e-5)
    assert found.waves[0] == pytest.approx(one.wave, rel=2e-3)


def test_half_a_sphere_has_the_published_frequency() -> None:
    """ω² R/a = 1.5602 (Budiansky 1960; McIver 1989)."""
    assert sphere_of(0.5).sloshing[0].wave_number == pytest.approx(1.5602, abs=5e-5)


def test_every_fill_of_a_sphere_is_a_body() -> None:
    """The rigid part has a mass and an inertia; frozen all of it is the solid segment, by quadrature."""
    for fill in np.linspace(*FILLS, 30):
        ideal, frozen = sphere_of(fill), sphere_of(fill, ideal=False)
        assert ideal.rigid_mass > 0
        assert ideal.across > 0
        z = np.linspace(-1, 2 * fill - 1, 20001)
        disc = 1 - z * z
        mass = np.trapezoid(disc, z)
        centre = np.trapezoid(disc * z, z) / mass
        across = MASS * (np.trapezoid(disc**2 / 4 + disc * z * z, z) / mass - centre**2)
        assert across_of(frozen) == pytest.approx(across, rel=1e-6)
        assert frozen.about == pytest.approx(MASS * np.trapezoid(disc**2 / 2, z) / mass, rel=1e-6)
        assert across_of(ideal) < across
