"""A standard linear solid: relaxation, creep, recovery, rebound and critical delay in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from sticking_ball import MASS, RADIUS, ball_on_plane

import dockdyn
from dockdyn.contact.laws.zener import Zener

SPEED, WAY = 0.4, 1e-3  # m/s, m


def drawn_law(seed):
    draw = np.random.default_rng(seed)
    stiffness = 10 ** draw.uniform(5, 6)
    series, time = stiffness * 10 ** draw.uniform(-1, 0.7), 10 ** draw.uniform(-3.5, -2)
    return {"law": "zener", "stiffness": stiffness, "series_stiffness": series, "relaxation_time": time}


def numbers_of(law):
    return law["stiffness"], law["series_stiffness"], law["relaxation_time"]


def bounces(law, until):
    """Return the motion (depth, rate, what has crept) of a ball that touches at t = 0, by SciPy: between the plane and, `WAY`
    behind, a lossless wall that turns it back."""
    first, second, time = numbers_of(law)

    def rate(_, x):
        depth, speed, crept = x
        surface = max(depth, second / (first + second) * crept)
        force = max(first * depth + second * (depth - crept), 0.0)
        return [speed, -force / MASS, (surface - crept) / time]

    def back(_, x):
        return x[0] + WAY

    back.terminal, back.direction = True, -1
    start, now, parts = [0.0, SPEED, 0.0], 0.0, []
    while now < until:
        found = solve_ivp(rate, (now, until), start, "DOP853", rtol=1e-11, atol=1e-15, events=back, dense_output=True)
        parts.append(found)
        now, start = found.t[-1], found.y[:, -1] * [1, -1, 1]
    return parts


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_what_is_free_recovers_and_is_met_again_before_it_has(load, seed):
    """A ball between a solid that creeps and a wall that turns it back at once, as nearly as a stiff one does."""
    law = drawn_law(seed)
    tables = ball_on_plane([0, 0, -SPEED], [0, 0, 0], law, "none")
    ball, anvil = tables["body"]["ball"], tables["body"]["anvil"]
    ball["position"] = [0.0, 0.0, RADIUS]
    anvil["surface"]["lid"] = {"shape": "plane", "point": [0, 0, 2 * RADIUS + WAY], "normal": [0, 0, -1]}
    turned = {"law": "newton", "restitution": 1.0, "friction": 0.0}
    tables["contact"]["back"] = {"between": ["ball.tip", "anvil.lid"], "impact": turned}
    tables |= {"duration": 0.03, "output": {"interval": 1e-4}}
    run = dockdyn.simulate(load(tables))
    parts = bounces(law, 0.03)
    assert len(parts) > 1  # it came back
    time = run.time.values
    part = np.minimum(np.searchsorted([one.t[-1] for one in parts], time), len(parts) - 1)
    depth, _, crept = np.array([parts[i].sol(t) for i, t in zip(part, time, strict=True)]).T
    first, second, _ = numbers_of(law)
    scale = np.abs(depth).max()
    np.testing.assert_allclose(run.depth.sel(contact="hit").values, depth, atol=1e-6 * scale)
    surface = np.maximum(depth, second / (first + second) * crept)
    stored = (first * surface**2 + second * (surface - crept) ** 2) / 2
    np.testing.assert_allclose(run.contact_energy.sel(contact="hit").values, stored, atol=2e-6 * stored.max())
    whole = (
        run.kinetic_energy.values + run.contact_energy.sum("contact").values + run.contact_loss.sum("contact").values
    )
    np.testing.assert_allclose(whole, whole[0], rtol=1e-6)


def test_it_relaxes_at_a_depth_and_creeps_under_a_force():
    first, second, time, depth = 3e5, 2e5, 4e-3, 1e-4
    law = Zener(*map(jnp.asarray, (first, second, time)))

    def crept(rate_of, until):
        found = solve_ivp(lambda _, x: [rate_of(x[0])], (0, until), [0.0], rtol=1e-11, atol=1e-18)
        return found.y[0, -1]

    @jax.jit
    def rate(memory, depth):
        return law.memory_rate(law.first_memory()._replace(crept=memory), depth, jnp.asarray(False)).crept

    def force(memory, depth):
        return float(law.after(law.first_memory()._replace(crept=jnp.asarray(memory))).force(depth, 0.0))

    for until in (1e-3, 1e-2):
        held = crept(lambda x: float(rate(x, depth)), until)
        assert force(held, depth) == pytest.approx((first + second * np.exp(-until / time)) * depth, rel=1e-8)
        sunk = crept(lambda x: float(rate(x, (10.0 + second * x) / (first + second))), until)
        slow = np.exp(-until / time * first / (first + second))
        expected = 10.0 / first * (1 - second / (first + second) * slow)
        assert (10.0 + second * sunk) / (first + second) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))])
def test_critical_delay(load, seed):
    """Where m ω² is the size of k + k₁ i ω τ/(1 + i ω τ), the delay that it bears is its phase over ω."""
    first, second, time = numbers_of(law := drawn_law(seed))
    tables = ball_on_plane([0, 0, -SPEED], [0, 0, 0], law, "none", loop={"delay": 1e-6})
    found = dockdyn.margins(load(tables))

    def answer(frequency):
        return first + second * 1j * frequency * time / (1 + 1j * frequency * time)

    crossing = brentq(
        lambda w: abs(answer(w)) - MASS * w**2, np.sqrt(first / MASS) / 2, 2 * np.sqrt((first + second) / MASS)
    )
    assert found["crossing_frequency_rad_s"] == pytest.approx(crossing, rel=1e-8)
    assert found["critical_delay_s"] == pytest.approx(np.angle(answer(crossing)) / crossing, rel=1e-8)
    assert found["stiffness_N_m"] == pytest.approx(first + second, rel=1e-12)
