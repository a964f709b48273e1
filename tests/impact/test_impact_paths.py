"""The path of an impact, solved otherwise: in the plane and in space, by SciPy, by differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import by_rows
from impact_cases import COUNTS, IN_SPACE, PATHS, contacts, slow, solved, solver
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from dockdyn.impact import resolve_impact


@pytest.mark.full
@pytest.mark.parametrize("law", IN_SPACE)
@pytest.mark.parametrize("count", COUNTS)
def test_closed_plane_form_is_the_path_in_space(law, count):
    """A second tangent without coupling and without velocity changes nothing: closed pieces against integrated path."""
    matrix, velocity, restitution, friction = contacts(count, 2)
    wide = np.zeros((count, 3, 3))
    wide[:, :2, :2] = matrix
    wide[:, 2, 2] = np.random.default_rng(1).uniform(0.1, 1, count) * matrix[:, 1, 1]
    turned = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    space = solver(law)(turned @ wide @ turned.T, np.pad(velocity, ((0, 0), (0, 1))) @ turned.T, restitution, friction)
    plane = solved(law, count, 2)
    size = np.linalg.norm(plane.impulse, axis=1, keepdims=True)
    expected = np.pad(plane.impulse, ((0, 0), (0, 1))) @ turned.T
    np.testing.assert_allclose(space.impulse / size, expected / size, atol=2e-12 if count < 1000 else 2e-11)
    for flag in ("stick", "reversal", "jam"):
        np.testing.assert_array_equal(getattr(space, flag), getattr(plane, flag))


def walked(matrix, velocity, restitution, friction, end):
    """Impulse of the path, by SciPy over the normal impulse; sliding below 1e-9 of its start counts as stopped."""
    rows = len(velocity)
    unit, across, coupling = np.eye(rows - 1), matrix[1:, 1:], matrix[1:, 0]
    holding = -np.linalg.solve(across, coupling)
    if np.linalg.norm(holding) > friction:  # sliding goes on: (λ + μ W_tt) û = W_tn
        size = lambda growth: np.linalg.norm(np.linalg.solve(growth * unit + friction * across, coupling)) - 1  # noqa: E731
        growth = brentq(size, 0, 2 * np.linalg.norm(coupling), xtol=1e-15)
        holding = -friction * np.linalg.solve(growth * unit + friction * across, coupling)
    least = 1e-9 * np.linalg.norm(velocity[1:])

    def leg(state, push, stopped, goal):
        """On until goal(state, push) = 0 or sliding stops; the state is u, Λ_t and the work."""
        start = state[1:rows] / np.linalg.norm(state[1:rows])

        def sliding(y):
            """Speed and direction; in the plane the speed has a sign, so that no step leaps over the stop."""
            if rows == 2:
                return start @ y[1:rows], start
            speed = np.linalg.norm(y[1:rows])
            return speed, y[1:rows] / speed

        def rate(p, y):
            force = holding if stopped else -friction * sliding(y)[1]
            return np.r_[matrix @ np.r_[1, force], force, y[0]]

        done, stop = (lambda p, y: goal(y, p)), (lambda p, y: 1.0 if stopped else sliding(y)[0] - least)
        done.terminal, done.direction, stop.terminal, stop.direction = True, 1, True, -1
        run = solve_ivp(rate, (push, push + 1e6), state, "DOP853", events=[done, stop], rtol=1e-12, atol=1e-15)
        return run.y[:, -1], run.t[-1], len(run.t_events[0]) > 0

    def march(state, push, stopped, goal):
        state, push, reached = leg(state, push, stopped, goal)
        return (state, push, stopped) if reached else march(state, push, True, goal)

    state, push, stopped = march(np.r_[velocity, np.zeros(rows)], 0.0, False, lambda y, p: y[0])
    if restitution > 0:
        spent, compressed = -state[-1], push
        state[0], state[-1] = 0, 0
        goal = {
            "energetic": lambda y, p: y[-1] - restitution**2 * spent,
            "poisson": lambda y, p: p - (1 + restitution) * compressed,
            "newton": lambda y, p: y[0] + restitution * velocity[0],
        }[end]
        state, push, _ = march(state, push, stopped, goal)
    return np.r_[push, state[rows:-1]]


@pytest.mark.full_cases("energetic-3-20")
@pytest.mark.parametrize(
    ("law", "rows", "count"),
    [
        *(slow(*path.values, 20, when=bool(path.marks)) for path in PATHS),
        *(slow(*path.values, 10_000 if path.values == ("energetic", 2) else 1000) for path in PATHS),
    ],
)
def test_path_by_another_integrator(law, rows, count):
    """The closed form in the plane and the collocation in space."""
    known = contacts(max(count, 20), rows)
    found = solved(law, max(count, 20), rows)
    for i, contact in enumerate(zip(*(part[:count] for part in known), strict=True)):
        expected = walked(*contact, law)
        size = np.linalg.norm(expected)
        np.testing.assert_allclose(found.impulse[i] / size, expected / size, atol=2e-8, err_msg=str(i))


@pytest.mark.parametrize(
    ("law", "rows"), [("energetic", 2), slow("poisson", 2), slow("newton", 2), slow("energetic", 3)]
)
def test_derivatives_and_batches(law, rows):
    """Forward derivatives are those of differences, at e = 0 too; a batch gives what its members give."""
    matrix, velocity, _, friction = (part[:8] for part in contacts(200, rows))

    def push(numbers, matrix, velocity):
        e, share, mu = numbers
        sliding = velocity * jnp.r_[1, share * jnp.ones(rows - 1)]
        return resolve_impact(law, matrix, sliding, restitution=e, friction=mu).impulse

    many, slopes_of = by_rows(push), by_rows(jax.jacfwd(push))
    for e in (0.0, 0.5):
        numbers = np.stack([np.full(8, e), np.ones(8), friction], axis=1)
        pushes, slopes = (np.asarray(f(numbers, matrix, velocity)) for f in (many, slopes_of))
        alone = resolve_impact(law, matrix[3], velocity[3], restitution=e, friction=friction[3])
        np.testing.assert_allclose(pushes[3], alone.impulse, rtol=1e-12, atol=1e-14)
        assert np.all(np.isfinite(slopes))
        for j, step in enumerate(1e-6 * np.eye(3)):
            ahead, behind = numbers + step, numbers - step * (numbers[:, j : j + 1] > 1e-6)
            moved = np.asarray(many(ahead, matrix, velocity)) - np.asarray(many(behind, matrix, velocity))
            difference = moved / (ahead - behind)[:, j : j + 1]
            scale = np.abs(slopes[..., j]).max(axis=1, keepdims=True) + np.abs(pushes).max(axis=1, keepdims=True)
            np.testing.assert_allclose(slopes[..., j] / scale, difference / scale, atol=1e-5)
