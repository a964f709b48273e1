"""Derivatives of contacts that adhere by Johnson, Kendall and Roberts: of the force, and of what a run tells of a rebound."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq
from sticking_ball import MASS as BALL
from sticking_ball import RADIUS, ball_on_plane

import dockdyn
from dockdyn.contact.laws.jkr import Jkr

STIFFNESS, PULL = "contact.touch.normal.stiffness", "contact.touch.normal.pull_off_force"
SPEED, MASS, OTHER = "body.a.velocity", "body.a.mass", "body.b.mass"
LOST = 4 / 15 * 6 ** (-4 / 3) + 0.4 * (2 / 3) ** (4 / 3)  # of the pull-off force times the scale of depth


def scale_of(stiffness, pull):
    """Return (4 F₀/k)^(2/3) (m)."""
    return (4 * pull / stiffness) ** (2 / 3)


def slopes_of(stiffness, pull, y):
    """Return the force, its slope and its second derivative by the depth, where √α is y: F(y) and d(y) are polynomials."""
    scale = scale_of(stiffness, pull)
    depth_1, depth_2 = scale * (4 * y**3 - 2 / 3), scale * 12 * y**2
    force_1, force_2 = 4 * pull * (6 * y**5 - 3 * y**2), 4 * pull * (30 * y**4 - 6 * y)
    second = (force_2 * depth_1 - force_1 * depth_2) / depth_1**3
    return 4 * pull * (y**6 - y**3), force_1 / depth_1, second


@pytest.mark.parametrize("seed", range(3))
def test_slopes_of_the_force_are_those_of_the_closed_form(seed):
    draw = np.random.default_rng(seed)
    stiffness, pull = 10 ** draw.uniform(3, 10), 10 ** draw.uniform(-3, 3)
    law = Jkr(*map(jnp.asarray, (stiffness, pull, 0.0)))
    scale = scale_of(stiffness, pull)
    touched = (2 / 3) ** (1 / 3)  # at zero depth
    y = np.array([6 ** (-1 / 3) * (1 + 10 ** draw.uniform(-3, -1)), *draw.uniform(0.6, 3.0, 20), 30.0])
    depth = np.append(scale * (y**4 - 2 / 3 * y), [0.0, 1e-12 * scale, -1e-12 * scale])
    y = np.append(y, [touched] * 3)

    def force(at):
        return law.force(at, 0.0)

    def rate(at, speed):
        return jax.jvp(force, (at,), (speed,))[1]

    values, slopes, seconds = slopes_of(stiffness, pull, y)
    found = [jax.vmap(one)(depth) for one in (force, jax.grad(force), jax.grad(jax.grad(force)))]
    for own, right in zip(found, (values, slopes, seconds), strict=True):
        np.testing.assert_allclose(own, right, rtol=1e-8, atol=1e-8 * np.max(np.abs(right[-3:])))
    for own, right in ((0, seconds * 0.05), (1, slopes)):  # tangents of the rate of the force, by depth and by speed
        by = jax.vmap(lambda at, own=own: jax.jacfwd(rate, own)(at, jnp.asarray(0.05)))(depth)
        np.testing.assert_allclose(by, right, rtol=1e-8, atol=1e-8 * np.max(np.abs(right[-3:])))


def rebound(values):
    """Return the impulse (N s), the peak force (N) and the kinetic energy at the end (J), in closed form."""
    stiffness, pull, speed, mass, other = values
    together = mass * other / (mass + other)
    lost = LOST * pull * scale_of(stiffness, pull)
    leaves = np.sqrt(speed**2 - 2 * lost / together)
    energy = together * speed**2 / 2 / (4 * pull * scale_of(stiffness, pull))

    def short(y):
        return y**4 * (0.4 * y**6 - 2 / 3 * y**3 + 1 / 6) + 0.1 * (2 / 3) ** (4 / 3) - energy

    y = brentq(short, (2 / 3) ** (1 / 3), 1 + (4 * energy) ** 0.1 * 2, xtol=1e-15, rtol=1e-15)
    whole = mass * speed**2 / 2 - lost
    return together * (speed + leaves), 4 * pull * (y**6 - y**3), whole


@pytest.mark.parametrize("tolerance", [1e-9, 1e-11, 1e-13])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))])
def test_derivatives_of_a_rebound(load, seed, tolerance):
    """By stiffness, pull-off force, speed and masses; the step that ends as bodies part moves with that instant."""
    draw = np.random.default_rng(seed)
    mass, other, stiffness, pull = 10 ** draw.uniform([0, 0, 4, -1], [3, 3, 8, 2])
    together, lost = mass * other / (mass + other), LOST * pull * scale_of(stiffness, pull)
    speed = np.sqrt(2 * lost / together * draw.uniform(1.5, 30))
    deepest = (1.25 * together * speed**2 / stiffness) ** 0.4  # without adhesion
    span = 100 * (deepest + scale_of(stiffness, pull)) / speed
    values = np.array([stiffness, pull, speed, mass, other])
    keys = [STIFFNESS, PULL, SPEED, MASS, OTHER]
    tables = {
        "schema": 2,
        "motion": "line",
        "duration": span + 2e-3 / speed,
        "body": {
            "a": {"mass": mass, "velocity": speed},
            "b": {"mass": other, "position": 2e-3, "velocity": 0.0},
        },
        "contact": {
            "touch": {"between": ["a", "b"], "normal": {"law": "jkr", "stiffness": stiffness, "pull_off_force": pull}}
        },
        "integrator": {"tolerance": tolerance},
    }
    scenario = load(tables)
    for number, figure in enumerate(("contact.impulse_N_s", "peak_force_N", "kinetic_energy_end_J")):
        answer = dockdyn.sensitivity(scenario, figure, keys)
        right = np.array(rebound(values))[number]
        assert answer["value"] == pytest.approx(right, rel=1e-7)
        known = {row["key"]: row for row in answer["to"]}
        for key, value, step in zip(keys, values, np.diag(1e-3 * values), strict=True):
            ends = [rebound(values + share * step)[number] for share in (1, -1, 2, -2)]
            slope = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * 1e-3 * value)
            # what is lost is a small part of the whole, and what is not is cancelled in differences
            assert known[key]["derivative"] == pytest.approx(slope, rel=2e-3, abs=1e-6 * abs(right / value)), (
                figure,
                key,
            )


@pytest.mark.parametrize("count", [1, 4])
def test_derivatives_where_bodies_part_in_several_places_at_once(load, count):
    """Balls of one body on a plane: what all lose goes with F₀^(5/3) k^(-2/3)."""
    law = {"law": "jkr", "stiffness": 4 / 3 * 1e8 * np.sqrt(0.04), "pull_off_force": 1.5 * np.pi * 0.2}
    lost = count * LOST * law["pull_off_force"] * scale_of(law["stiffness"], law["pull_off_force"])
    speed = np.sqrt(2 * lost * 3 / BALL)
    leaves = np.sqrt(speed**2 - 2 * lost / BALL)
    tables = ball_on_plane([0, 0, -speed], [0, 0, 0], law, "none", duration=0.3)
    places = [[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    if count > 1:
        tables["body"]["ball"]["feature"] = {"tip": {"positions": places, "radius": RADIUS}}
    scenario = load(tables)
    for figure, share in (("contact.impulse_N_s", 1 / leaves), ("kinetic_energy_end_J", 1.0)):
        keys = {"contact.hit.normal.pull_off_force": -5 / 3, "contact.hit.normal.stiffness": 2 / 3}
        for row in dockdyn.sensitivity(scenario, figure, list(keys))["to"]:
            right = share * lost * keys[row["key"]] / law[row["key"].split(".")[-1]]
            assert row["derivative"] == pytest.approx(right, rel=1e-4), (figure, row["key"])
            assert row["differentiable"]
