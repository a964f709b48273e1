"""An elastic, perfectly plastic sphere: its restitution is Thornton's (1997, eq. 34), and its dent has the flattened radius."""

import jax
import numpy as np
import pytest
from contact_benchmarks import thornton_restitution
from helpers.refusals import refused
from sticking_ball import MASS, ball_on_plane

import dockdyn
from dockdyn.contact.laws.thornton import Thornton

SPEED = 0.4


def drawn_law(seed):
    draw = np.random.default_rng(seed)
    return 10 ** draw.uniform(7, 9), 10 ** draw.uniform(0, 2.5)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 20))])
def test_restitution(load, seed):
    stiffness, limit = drawn_law(seed)
    law = {"law": "thornton", "stiffness": stiffness, "yield_force": limit}
    run = dockdyn.simulate(load(ball_on_plane([0, 0, -SPEED], [0, 0, 0], law, "none")))
    speed = np.sqrt(0.8 * limit * (limit / stiffness) ** (2 / 3) / MASS)
    after = float(run["velocity"].isel(time=-1).sel(body="ball", axis="z")) / SPEED
    assert after == pytest.approx(thornton_restitution(speed / SPEED), abs=1e-8)


@pytest.mark.full
def test_the_way_back_is_hertz_of_the_flattened_radius():
    """Of a ball of radius R and modulus E* and a largest pressure p: π p R straight on, and Thornton's R_p on the way back."""
    radius, modulus, pressure = 0.03, 7e10, 1.1e9
    limit = pressure**3 * np.pi**3 * radius**2 / (6 * modulus**2)
    law = Thornton(np.asarray(4 / 3 * modulus * np.sqrt(radius)), np.asarray(limit))
    first = float(law.yield_depth)
    assert first == pytest.approx((np.pi * pressure / (2 * modulus)) ** 2 * radius, rel=1e-12)
    deepest = 9 * first
    force = float(law.loading(deepest))
    assert force == pytest.approx(limit + np.pi * pressure * radius * (deepest - first), rel=1e-12)
    flattened = 4 * modulus / (3 * force) * ((2 * force + limit) / (2 * np.pi * pressure)) ** 1.5
    assert float(law.flattened(deepest)) == pytest.approx(4 / 3 * modulus * np.sqrt(flattened), rel=1e-12)
    back = law.after(deepest)
    assert float(back.force(deepest, 0.0)) == pytest.approx(force, rel=1e-12)
    for near in (first, deepest):
        slopes = [float(jax.grad(law.force)(near * (1 + one), 0.0)) for one in (-1e-9, 1e-9)]
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-8)
    dent = float(law.dent(deepest))
    depths = np.linspace(dent, deepest, 20001)
    work = np.trapezoid([float(one) for one in jax.vmap(lambda at: back.force(at, 0.0))(depths)], depths)
    assert float(back.stored_energy(deepest)) == pytest.approx(work, rel=1e-6)
    assert float(back.stored_energy(dent / 2)) == 0


@pytest.mark.full
def test_small_motions_about_rest_are_elastic(load):
    law = {"law": "thornton", "stiffness": 1e8, "yield_force": 50.0}
    tables = ball_on_plane([0, 0, -SPEED], [0, 0, 0], law, "none", stability={"depth": 1e-3})
    own = Thornton(np.asarray(1e8), np.asarray(50.0))
    slope = 1.5 * float(own.loading(1e-3)) / (1e-3 - float(own.dent(1e-3)))
    assert dockdyn.margins(load(tables))["stiffness_N_m"] == pytest.approx(slope, rel=1e-10)


def test_refused(load):
    with refused("contact.hit.normal", "yield_force"):
        load(ball_on_plane([0, 0, -1], [0, 0, 0], {"law": "thornton", "stiffness": 1e8, "yield_force": 0}, "none"))
