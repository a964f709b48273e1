"""A cantilever that is struck at its tip, against Euler and Bernoulli's."""

from __future__ import annotations

import numpy as np
import pytest
from beam_cases import BEAM, LENGTH, MASS, PAYLOAD, SPEED, STIFFNESS, struck
from scipy.linalg import eigh
from scipy.optimize import brentq

import dockdyn


def cantilever():
    """A beam locked to what cannot move, a payload of 30 kg at its end, a ball that comes in at 5 cm/s."""
    return {
        "schema": 1,
        "kind": "berthing",
        "duration": 10.0,
        "motion": "planar",
        "chaser": {
            "link": [
                {"name": "wall", "mass": 1e10, "inertia": [1e10, 1e10, 1e10]},
                {"name": "arm", "parent": "wall", "joint": "locked", "beam": BEAM, "mass": PAYLOAD}
                | {"centre": [LENGTH, 0, 0], "inertia": [0, 0, 0]},
            ]
        },
        "target": {
            "velocity": [0, -SPEED, 0],
            "link": [{"name": "ball", "mass": PAYLOAD, "inertia": [1, 1, 1]}],
        },
        "contact": {"chaser": "arm", "chaser_position": [LENGTH, 0, 0], "target": "ball", "target_radius": 0.3},
        "impact": {"law": "frictionless", "restitution": 1.0, "normal": [0, -1, 0]},
    }


def modes_with_a_tip_mass(ratio, count=30):
    """Roots β of the characteristic equation, the modes' values at the tip and modal masses (kg)."""

    def characteristic(b):
        return 1 / np.cosh(b) + np.cos(b) + ratio * b * (np.cos(b) * np.tanh(b) - np.sin(b))

    grid = np.linspace(0.05, (count + 1) * np.pi, 60 * count)
    values = characteristic(grid)
    at = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))[:count]
    roots = np.array([brentq(characteristic, grid[k], grid[k + 1], xtol=1e-14) for k in at])
    points, weights = np.polynomial.legendre.leggauss(400)
    points, weights = (points + 1) / 2, weights / 2

    def shape(b, x):
        sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        # cosh − σ sinh without cancellation
        rest = (np.sin(b) - np.cos(b) - np.exp(-b)) / (np.sinh(b) + np.sin(b))
        return rest / 2 * np.exp(b * x) + (2 - rest) / 2 * np.exp(-b * x) - np.cos(b * x) + sigma * np.sin(b * x)

    tips = np.array([shape(b, 1.0) for b in roots])
    masses = np.array([MASS * weights @ shape(b, points) ** 2 for b in roots]) + ratio * MASS * tips**2
    return roots, tips, masses


def tip_response(times, impulse):
    """Deflection (m) of the tip after an impulse there."""
    roots, tips, masses = modes_with_a_tip_mass(PAYLOAD / MASS)
    frequencies = roots**2 * np.sqrt(STIFFNESS / (MASS * LENGTH**3))
    return np.sin(np.outer(times, frequencies)) @ (impulse * tips**2 / (masses * frequencies))


def test_a_cantilever_with_a_payload_is_struck(load):
    """Frequencies, static deflections and the response to the impulse are Euler and Bernoulli's."""
    scenario = load(cantilever())
    found = struck(scenario)
    beam = scenario.content.flexible.beam(scenario.content.chaser.link[1].beam, True)
    own = slice(3, 3 + beam.count)
    stiffness, mass = np.asarray(beam.stiffness()), found.mass[own, own]
    squares, vectors = eigh(stiffness, mass)
    roots, _, _ = modes_with_a_tip_mass(PAYLOAD / MASS, 2)
    exact = roots**2 * np.sqrt(STIFFNESS / (MASS * LENGTH**3))
    np.testing.assert_allclose(np.sqrt(squares[:2]), exact, rtol=1e-3)
    row = found.rows[0, own]  # of the normal velocity
    deflection = row @ np.linalg.solve(stiffness, row)
    assert deflection == pytest.approx(LENGTH**3 / (3 * STIFFNESS), rel=1e-12)
    # a tip without the mass of a beam: nearly that of the payload alone, as the ball's, which bounces like a billiard ball
    assert found.impact.impulse[0] == pytest.approx(2 * SPEED * PAYLOAD / 2, rel=0.01)
    times = np.linspace(0, 10, 201)
    swing = (
        np.sin(np.outer(times, np.sqrt(squares)))
        / np.sqrt(squares)
        @ ((row @ vectors) * (vectors.T @ mass @ found.velocities[0][own]))
    )
    exact = tip_response(times, found.impact.impulse[0])
    np.testing.assert_allclose(swing, exact, rtol=0, atol=2e-3 * np.abs(exact).max())
    # half-way: stiffer than exact, as Ritz's method is, by little
    half = struck(load(cantilever(), {"contact.chaser_position": [LENGTH / 2, 0, 0]})).rows[0, own]
    exact = (LENGTH / 2) ** 3 / (3 * STIFFNESS)
    assert 0.98 * exact < half @ np.linalg.solve(stiffness, half) < exact


@pytest.mark.full
def test_the_motion_of_the_cantilever_that_was_struck(load):
    """The simulated tip follows the sum of Euler and Bernoulli's modes."""
    dataset = dockdyn.simulate(load(cantilever()))
    tip = dataset.outline.values[:, 0, -1, 1] - dataset.base_position.values[:, 0, 1]
    exact = tip_response(dataset.time.values, float(dataset.impulse[0]))
    np.testing.assert_allclose(tip, -exact, rtol=0, atol=2e-3 * np.abs(exact).max())
    assert np.abs(exact).max() > 0.05
    told = dockdyn.summarise(dataset)
    assert told["linear_momentum_error"] < 1e-10 and told["energy_error"] < 1e-8
