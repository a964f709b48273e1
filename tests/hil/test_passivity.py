"""The passivity layer's bound: the port never gives the model more than it may, whatever the force does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import by_rows
from numpy.testing import assert_allclose
from rig_reference import packaged, simulate

from dockdyn.hil.compensators import COMPENSATORS
from dockdyn.hil.compensators.compensator import CompensatorInput
from dockdyn.programs import Program

LAW = COMPENSATORS["passivity"]
ROUNDING = 1e-10  # of the kinetic energy at the start and the work done


def given(run, mass, period):
    """Net work (J) of the port on the model since the start: the force that acted times the way, sample by sample."""
    v = run["v"]
    way = np.diff(run["x"], axis=0)
    force = (run["force"] + run["compensation"])[:-1]
    assert_allclose(force * period, mass * np.diff(v, axis=0), rtol=0, atol=1e-9 * np.abs(mass * v).max())
    return np.cumsum(force * way, axis=0)


def check(rigs, seed):
    """Random rigs, most of them unstable, all sensors bad, in contact for good or bouncing."""
    rng = np.random.default_rng(seed)
    period, bilateral = 10 ** rng.uniform(-3.3, -2), bool(rng.random() < 0.5)
    mass = 10 ** rng.uniform(0, 3.5, rigs)
    turn = rng.uniform(0.01, 0.8, rigs)  # rad of the contact's oscillation in a period
    stiffness = mass * (turn / period) ** 2
    bound = np.where(rng.random(rigs) < 0.5, 0.0, mass * 10 ** rng.uniform(-6, -3, rigs))
    speed = 0.05
    size = speed * np.sqrt(stiffness * mass)  # N, of the contact force
    law = LAW(mass * 10 ** rng.uniform(-2, 1.5, rigs), rng.choice([0.0, 1e-3], rigs), bound)
    run = simulate(
        stiffness,
        packaged(law, rigs),
        mass=mass,
        damping=0.0,
        period=period,
        hold=period * int(rng.integers(1, 4)),
        delay=period * rng.uniform(0, 4, rigs),
        jitter=period * rng.uniform(0, 2, rigs),
        noise=size * rng.choice([0.0, 0.01, 0.3], rigs),
        position_noise=1e-4,
        drop_rate=rng.choice([0.0, 0.1, 0.5], rigs),
        threshold=0.0,
        bilateral=bilateral,
        start=(-rng.uniform(0, 0.005) * (not bilateral), speed),
        duration=600 * period,
        seed=seed,
        rigs=rigs,
    )
    net = given(run, mass, period)
    scale = mass * speed**2 + np.abs(np.diff(net, axis=0)).sum(0)
    assert np.all(net <= bound + ROUNDING * scale)
    assert np.all(run["gain"] <= np.asarray(law.limit) * (1 + 1e-12)) and np.all(run["gain"] >= 0)
    reached = (net > bound - 1e-6 * mass * speed**2).any(0)
    return reached


def test_the_net_energy_stays_within_the_bound():
    reached = check(48, 0)
    assert reached.any()  # where nothing reaches the bound nothing is tested


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 21))
def test_the_net_energy_stays_within_the_bound_in_full(seed):
    check(50, seed)


@pytest.mark.parametrize("axes", [1, 3])
def test_no_sequence_of_forces_passes_the_bound(axes):
    """Forces out of nowhere, in one axis and in three; without contact, too."""
    period, mass, bound = 2e-3, 50.0, 0.02
    law = LAW(500.0, 0.0, bound)
    rng = np.random.default_rng(3)
    forces = jnp.asarray(rng.normal(size=(20, 400, axes)) * 10 ** rng.uniform(-1, 4, (20, 1, 1)))
    touching = jnp.asarray(rng.random((20, 400)) < 0.7)
    nothing = jnp.zeros(axes)

    def one(forces, touching, begun):
        def step(carry, given):
            memory, x, v, time, net = carry
            force, touches = given
            now = CompensatorInput(
                time, period, mass, force, x, v, x, v, x + 0.01 * force / 1e4, touches, nothing, nothing
            )
            memory, action = law.step(memory, now)
            total = force + action.force - action.gain * action.velocity
            way = v * period + total * period**2 / (2 * mass)
            net = net + jnp.sum(total * way)
            return (memory, x + way, v + total * period / mass, time + period, net), net

        start = (law.init(nothing, begun), nothing, begun, jnp.zeros(()), jnp.zeros(()))
        return jax.lax.scan(step, start, (forces, touching))[1]

    begun = jnp.asarray(rng.normal(size=(20, axes)) * 0.1)
    nets = by_rows(one)
    net = nets(forces, touching, begun)
    assert np.all(net <= bound * (1 + 1e-9)) and net.max() > 0.99 * bound
    at_rest = nets(forces, touching, 0 * begun)
    assert np.all(at_rest <= bound * (1 + 1e-9))


@pytest.mark.full
def test_what_stays_within_dead_zone_and_bound_is_left_alone():
    """A spring felt at once: what its being held feeds in, K T/2 ∫V² dt < 1e-3 J here, stays below the dead zone."""
    law = LAW(1e9, 2e-3, 2e-3)
    period, mass, k = 1e-4, 2.0, 300.0
    memory, x, v = law.init(jnp.zeros(1), jnp.ones(1)), jnp.zeros(1), jnp.ones(1)
    step = Program(law.step)
    for i in range(1000):
        force = -k * x
        memory, action = step(
            memory, CompensatorInput(i * period, period, mass, force, x, v, x, v, x, jnp.asarray(True), x, x)
        )
        assert float(action.gain) == 0 and float(action.force[0]) == 0
        x, v = x + v * period + force * period**2 / (2 * mass), v + force * period / mass
