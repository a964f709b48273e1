"""Four masses in line (Paraskevas et al., Table 1): located impacts against the paper, eigenvalues and conservation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from on_a_line import colliding

import dockdyn
from dockdyn.contact.contact_modes import APART
from dockdyn.integrate.hybrid import located
from dockdyn.programs import Program

CONTACT, CHASER, TARGET, SPEED = 15000.0, 1000.0, 200.0, 0.05  # N/m, N/m, N/m, m/s: the assignment that fits the table
CASES = {"A": (17, 2, 1.5, 15), "B": (10, 10, 10, 10), "C": (5, 50, 10, 100), "D": (100, 20, 10, 200)}  # kg
SIMULATED = {"A": 0.0402173, "B": -0.0004746, "C": 0.0271536, "D": 0.0412147}  # m/s


def model(masses, contact=CONTACT, chaser=CHASER, target=TARGET, damping=0.0, inside=(0.0, 0.0)):
    springs = tuple({"stiffness": k, "damping": c} for k, c in zip((chaser, target), inside, strict=True))
    law = {"law": "spring-dashpot", "stiffness": contact, "damping": damping}
    chains = (list(map(float, own)) for own in (masses[:2], masses[2:]))
    return dockdyn.load(colliding(*chains, law, speed=SPEED, inside=springs, duration=1.0)).content.model()


@Program
def solve(model, duration):
    settings = located.Settings(
        duration=duration,
        step=jnp.asarray(5e-3),
        tolerance=jnp.asarray(1e-12),
        sampling=duration,
        samples=0,
        max_moments=200,
        line_capacity=16,
        max_iterations=jnp.asarray(1e6),
    )
    return located.solve_located(model, settings)


@Program
def along(model, states):
    """Places (m) and speeds (m/s) of the masses along the line."""
    bodies = jax.lax.map(lambda x: model.placement(x).bodies, states)
    pairs = [(one.pose.position.x, one.twist.velocity.x) for one in bodies]
    return tuple(jnp.stack(part) for part in zip(*pairs, strict=True))


def log_of(model, duration):
    """Times, touching, places and speeds of the masses after every event."""
    solution = solve(model, jnp.asarray(duration, float))
    count = int(solution.moments)
    touching = np.asarray(solution.log.state.mode[0])[:count] != APART
    q, v = (np.asarray(part)[:, :count] for part in along(model, solution.log.state))
    return np.asarray(solution.log.time)[:count], touching, (q, v)


def masses_of(model):
    return np.array([float(body.mass) for body in model.bodies])


def after_first(model):
    """Row of the first release, with the relative velocity of the centres of mass (m/s)."""
    time, touching, (_, v) = log_of(model, 2.0)
    row, masses = int(np.argmax(~touching & (np.arange(len(time)) > 0))), masses_of(model)
    chaser, target = (masses[part] @ v[part, row] / masses[part].sum() for part in (slice(2), slice(2, 4)))
    return time[row], chaser - target, v[:, row]


@pytest.mark.full_cases("A", "B")
@pytest.mark.parametrize("case", CASES)
def test_first_impact_of_table_1(case):
    assert after_first(model(CASES[case]))[1] == pytest.approx(SIMULATED[case], abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_first_impact_by_eigenvalues(case):
    """While they touch, the undamped chain is linear: M q̈ + K q = 0, released where q₂ = q₃ again."""
    masses = np.array(CASES[case], float)
    springs = [CHASER, CONTACT, TARGET]
    stiffness = np.zeros((4, 4))
    for i, k in enumerate(springs):
        stiffness[i : i + 2, i : i + 2] += k * np.array([[1, -1], [-1, 1]])
    squares, shapes = scipy.linalg.eigh(stiffness, np.diag(masses))
    frequencies = np.sqrt(np.maximum(squares, 0))
    start = shapes.T @ (masses * np.array([SPEED, SPEED, 0, 0]))

    def depth(t):
        modal = np.where(frequencies > 1e-6, np.sin(frequencies * t) / np.maximum(frequencies, 1e-6), t) * start
        q = shapes @ modal
        return q[1] - q[2]

    times = np.linspace(1e-4, 0.2, 20001)
    over = times[int(np.argmax([depth(t) < 0 for t in times]))]
    release = scipy.optimize.brentq(depth, over - 2e-5, over, xtol=1e-15)
    velocity = shapes @ (np.cos(frequencies * release) * start)
    time, _, found = after_first(model(CASES[case]))
    assert time - 1e-3 / SPEED == pytest.approx(release, abs=1e-10)
    np.testing.assert_allclose(found, velocity, atol=1e-11)


@pytest.mark.parametrize(("case", "contacts"), [("A", 7), ("B", 3), ("C", 3), ("D", 7)])
def test_impacts_repeat(case, contacts):
    """In five periods of the slower of chaser and target."""
    m = CASES[case]
    effective = [m[0] * m[1] / (m[0] + m[1]), m[2] * m[3] / (m[2] + m[3])]
    slow = max(2 * np.pi * np.sqrt(mass / k) for mass, k in zip(effective, (CHASER, TARGET), strict=True))
    _, touching, _ = log_of(model(m), 1e-3 / SPEED + 5 * slow)
    assert int(np.sum(np.diff(touching.astype(int), prepend=0) == 1)) == contacts


def test_momentum_and_energy_are_kept_over_many_impacts():
    made = model((3.0, 0.7, 1.1, 9.0), contact=40000.0, chaser=700.0, target=2500.0)
    _, touching, (q, v) = log_of(made, 6.0)
    assert (np.diff(touching.astype(int)) == 1).sum() >= 3
    masses = masses_of(made)
    momentum = masses @ v
    np.testing.assert_allclose(momentum, (masses[0] + masses[1]) * SPEED, rtol=1e-13)
    outside = ~touching
    energy = 0.5 * masses @ v**2 + 0.5 * (700 * (q[0] - q[1]) ** 2 + 2500 * (q[2] - q[3]) ** 2)
    np.testing.assert_allclose(energy[outside], 0.5 * (masses[0] + masses[1]) * SPEED**2, rtol=1e-9)


def test_damping_only_takes_energy():
    made = model((3.0, 0.7, 1.1, 9.0), damping=20.0, inside=(4.0, 7.0))
    _, touching, (q, v) = log_of(made, 4.0)
    masses = masses_of(made)
    energy = 0.5 * masses @ v**2 + 0.5 * (CHASER * (q[0] - q[1]) ** 2 + TARGET * (q[2] - q[3]) ** 2)
    assert (np.diff(energy[~touching]) < 1e-12).all()
    np.testing.assert_allclose(masses @ v, (masses[0] + masses[1]) * SPEED, rtol=1e-13)
