"""The reference that the planar station is compared with, checked by means it does not use itself.

It projects Newton's and Euler's equations; here the same accelerations come from the Lagrangian, T − V with the potential
as it stands (no Encke difference), differentiated by JAX. The rest are laws: what is conserved, and what must be hit.
"""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import planar_arm_reference as planar
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from dockdyn.programs import Program

PAPER = planar.Parameters()
SMALL_ORBIT = {"orbit_radius": 200.0, "mu": 0.01 * 200.0**3}  # gravity over the arm's length is far from linear


def lagrangian(q, v, t, p):
    """T − V in the translating frame; the pull at its origin enters as the potential of a uniform field."""

    def bodies(q):
        angles = jnp.cumsum(q[2:])
        c, s = jnp.cos(angles), jnp.sin(angles)
        joint = q[:2] + jnp.array([c[0] * p.root[0] - s[0] * p.root[1], s[0] * p.root[0] + c[0] * p.root[1]])
        found = [(p.station_mass, p.station_length, q[:2], angles[0])]
        for k in range(3):
            along = p.lengths[k] * jnp.array([c[k + 1], s[k + 1]])
            found.append((p.masses[k], p.lengths[k], joint + along / 2, angles[k + 1]))
            joint = joint + along
        return [*found, (p.payload, 0.0, joint, angles[3])]

    rate = np.sqrt(p.mu / p.orbit_radius**3)
    origin = p.orbit_radius * jnp.array([jnp.cos(rate * t), jnp.sin(rate * t)])
    velocities = jax.jvp(lambda q: [body[2:] for body in bodies(q)], (q,), (v,))[1]
    total = 0.0
    for (mass, length, place, angle), (velocity, spin) in zip(bodies(q), velocities, strict=True):
        inertia = mass * length**2 / 12
        total += mass * velocity @ velocity / 2 + inertia * spin**2 / 2
        if p.gravity:
            r = origin + place
            distance = jnp.sqrt(r @ r)
            total += p.mu * mass * (1 / distance + origin @ place / p.orbit_radius**3)
            if p.gravity_gradient:
                along = r @ jnp.array([jnp.cos(angle), jnp.sin(angle)]) / distance
                total += p.mu * inertia / (2 * distance**3) * (3 * along**2 - 1)
    return total


@partial(Program, static=("p",))
def lagrange_acceleration(t, state, p):
    q, v = state[:6], state[6:]
    mass = jax.hessian(lagrangian, 1)(q, v, t, p)
    _, bias = jax.jvp(lambda q: jax.grad(lagrangian, 1)(q, v, t, p), (q,), (v,))
    motors = jnp.array(p.kp) * (jnp.array(p.docked) - q[3:]) - jnp.array(p.kd) * v[3:]
    if p.torque_limit is not None:
        motors = jnp.clip(motors, -p.torque_limit, p.torque_limit)
    forces = jnp.concatenate([jnp.zeros(3), motors])
    return jnp.linalg.solve(mass, jax.grad(lagrangian, 0)(q, v, t, p) - bias + forces)


@pytest.mark.full
@pytest.mark.parametrize(
    "changes",
    [
        {"gravity": False, "torque_limit": 6.0},
        {"root": (3.0, -2.0), **SMALL_ORBIT},
        {"root": (3.0, -2.0), "gravity_gradient": True, "station_mass": 900.0, "station_length": 20.0, **SMALL_ORBIT},
    ],
    ids=["no gravity", "point gravity", "gravity gradient"],
)
def test_accelerations_are_those_of_lagrange(changes):
    """Both are exact but for rounding: of accelerations of order one, 1e-12 is asked for."""
    jax.config.update("jax_enable_x64", True)
    p = replace(PAPER, **changes)
    system, random = planar.System.assembled(p), np.random.default_rng(5)
    for _ in range(5):
        state = random.normal(size=12) * np.array([10.0, 10.0, *[1.0] * 10])
        t = 30.0 * random.random()
        found, expected = system.derivative(t, state)[6:], lagrange_acceleration(t, state, p)
        assert np.abs(found - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())


def test_impacts_keep_energy_and_momentum_of_a_free_system():
    """Elastic, no gravity, no motors: the payload rattles between three walls near it."""
    free = {"gravity": False, "kp": (0.0,) * 3, "kd": (0.0,) * 3, "station_mass": 500.0, "station_length": 6.0}
    p = replace(PAPER, **free, start_rates=(0.05, -0.12, 0.2), root=(0.4, 0.3))
    tip, _ = planar.System.assembled(p).payload(np.array([0.0, 0.0, 0.0, *p.start, *[0.0] * 6]))
    walls = [((tip + 0.2 * away).real, (tip + 0.2 * away).imag) for away in np.exp(2j * np.pi * np.arange(3) / 3)]
    p = replace(p, walls=tuple((w, (tip.real - w[0], tip.imag - w[1])) for w in walls))
    solution = planar.solve(p, 30.0, times=np.linspace(0.0, 30.0, 31))
    assert {impact.wall for impact in solution.impacts} == {0, 1, 2}
    energy, spin = solution.invariants[0, :2]
    assert np.abs(solution.invariants[:, 0] - energy).max() < 1e-10 * energy
    assert np.abs(solution.invariants[:, 1] - spin).max() < 1e-10 * abs(spin)
    assert np.abs(solution.invariants[:, 2:]).max() < 1e-10
    gaps = [[solution.system.gap(state, wall)[0] for wall in range(3)] for state in solution.states]
    assert np.min(gaps) > 0


@pytest.mark.full
def test_jacobi_constant():
    """In a circular orbit, with motors that only spring, E + springs − n · (angular momentum about the origin) stays.

    It joins the potential to the forces and torques, elastic impacts and the frame's turning pull."""
    p = replace(PAPER, kd=(0.0,) * 3, gravity_gradient=True, station_mass=2000.0, **SMALL_ORBIT)
    solution = planar.solve(p, 20.0, times=np.linspace(0.0, 20.0, 21))
    assert len(solution.impacts) >= 2
    constants, energies = [], []
    for state, (energy, spin, *momentum) in zip(solution.states, solution.invariants, strict=True):
        turned, _ = solution.system.jacobian(state[:6])
        centre = solution.system.masses @ (complex(*state[:2]) + turned.sum(1)) / solution.system.masses.sum()
        about_origin = spin + (centre.conjugate() * complex(*momentum)).imag
        springs = np.sum(np.array(p.kp) * (np.array(p.docked) - state[3:6]) ** 2) / 2
        constants.append(energy + springs - p.orbital_rate * about_origin)
        energies.append(energy + springs)
    assert np.ptp(energies) > 0.1
    assert np.ptp(constants) < 1e-10 * np.abs(constants).max()


@pytest.mark.full
def test_impacts_printed_in_the_paper():
    """The paper prints 12.50 and 27.51 s at steps of 0.01 s; a finer account of the same case gives these."""
    solution = planar.solve(PAPER, 40.0)
    assert [impact.wall for impact in solution.impacts] == [0, 1]
    assert [impact.time for impact in solution.impacts] == pytest.approx([12.491, 27.495], rel=0, abs=1e-3)
    for impact in solution.impacts:
        gap, approach = impact.system_before.gap(impact.before, impact.wall)
        assert abs(gap) < 1e-14
        assert impact.system_before.gap(impact.after, impact.wall)[1] == pytest.approx(-approach, rel=1e-12)
        assert np.abs(impact.after[:6] - impact.before[:6]).max() == 0


@pytest.mark.full
@pytest.mark.parametrize("when", [{"latch_impact": 2}, {"latch_wall": 1}])
def test_latch_keeps_momentum(when):
    p = replace(PAPER, **when, retreat=PAPER.start, root=(0.5, 0.2))
    solution = planar.solve(p, 60.0, times=[60.0])
    latch = solution.impacts[-1]
    before = latch.system_before.invariants(latch.time, latch.before)
    after = latch.system_after.invariants(latch.time, latch.after)
    assert after[1:] == pytest.approx(before[1:], rel=1e-12, abs=1e-11)
    assert after[0] < before[0]
    stopped = [latch.system_before.gap(latch.after, wall)[1] for wall in (0, 1)]
    assert np.abs(stopped).max() < 1e-14
    assert solution.system.payload(solution.final)[0] == latch.system_before.payload(latch.before)[0]
    assert np.abs(solution.final[3:6] - p.start).max() < np.abs(latch.after[3:6] - p.start).max()


@pytest.mark.full
@pytest.mark.parametrize("depth", [1e-6, 1e-8, -1e-8])
def test_a_grazing_contact_is_found_or_not(depth):
    """The floor is laid `depth` above the lowest place of the flight without it, found here by a plain bisection."""
    p = replace(PAPER, gravity=False, side=-0.5, floor=-5.0)
    system = planar.System.assembled(p)

    def state(t):
        span = (0.0, t)
        return solve_ivp(system.derivative, span, system.initial_state(), method="DOP853", rtol=1e-12, atol=1e-14).y[
            :, -1
        ]

    lowest = brentq(lambda t: system.gap(state(t), 0)[1], 11.0, 16.0, xtol=1e-13)
    side = p.side + system.gap(state(lowest), 0)[0] + depth
    solution = planar.solve(replace(p, side=side), 16.0)
    if depth < 0:
        assert solution.impacts == []
    else:
        bend = (system.gap(state(lowest + 0.01), 0)[1] - system.gap(state(lowest - 0.01), 0)[1]) / 0.02
        ahead = lowest - solution.impacts[0].time
        assert ahead == pytest.approx(np.sqrt(2 * depth / bend), rel=0.01)
        assert solution.impacts[0].approach_speed == pytest.approx(np.sqrt(2 * depth * bend), rel=0.01)
