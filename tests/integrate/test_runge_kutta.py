"""One Runge–Kutta step, its stages in a loop and written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dockdyn.integrate.hybrid.runge_kutta import (
    FRACTIONS,
    MIDDLE,
    MISSED,
    WEIGHTS,
    looped_rk4,
    looped_tsit5,
    rk4_step,
)
from dockdyn.integrate.model import Rate, State
from dockdyn.mechanics.cubic import bent_value, cubic_value

STEP = 0.3


def state(angle, speed):
    return State(jnp.stack([jnp.cos(angle), jnp.sin(angle)]), speed, jnp.asarray(1), jnp.zeros(()))


def flow(fraction, x):
    """A direction that turns, under a torque of time and place."""
    turn = jnp.stack([-x.q[1], x.q[0]]) * x.v
    return Rate(turn, jnp.sin(3 * x.q[0]) + fraction * STEP - 0.2 * x.v, x.v**2)


def retract(x):
    return State(x.q / jnp.linalg.norm(x.q), x.v, x.mode, x.memory)


def by_hand(x):
    """The textbook's formula in NumPy: state, last stage's rate, rate at the state on the circle."""

    def rate(fraction, y):
        q, v = y[:2], y[2]
        return np.array([-q[1] * v, q[0] * v, np.sin(3 * q[0]) + fraction * STEP - 0.2 * v, v**2])

    y = np.array([*x.q, x.v, x.memory])
    k1 = rate(0, y)
    k2 = rate(0.5, y + STEP / 2 * k1)
    k3 = rate(0.5, y + STEP / 2 * k2)
    k4 = rate(1, y + STEP * k3)
    end = y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    there = np.array([*(end[:2] / np.hypot(*end[:2])), *end[2:]])
    return end, k4, there, rate(1, there)


def row(*parts):
    return np.concatenate([np.ravel(part) for part in parts])


def test_both_are_the_formula_by_hand():
    x = state(0.4, jnp.asarray(1.7))
    end, last, there, rate = by_hand(x)
    first = flow(0.0, x)
    plain = rk4_step(flow, x, STEP, first)
    np.testing.assert_allclose(row(plain.q, plain.v, plain.memory), end, rtol=1e-14)
    step = looped_rk4(flow, retract, x, STEP, first)
    np.testing.assert_allclose(row(step.state.q, step.state.v, step.state.memory), there, rtol=1e-14)
    np.testing.assert_allclose(row(*step.rate), rate, rtol=1e-14)
    np.testing.assert_allclose(row(*step.missed), STEP / 6 * (last - rate), rtol=1e-12, atol=1e-16)


def test_weights_of_the_fifth_order_meet_its_conditions():
    """Of all trees to five nodes (Hairer, Nørsett and Wanner 1993, table II.2.1)."""
    a = np.vstack([np.zeros(7), np.column_stack([WEIGHTS, np.zeros(6)])])
    c = np.array([0.0, *FRACTIONS])
    np.testing.assert_allclose(a.sum(axis=1), c, atol=1e-14)
    trees = (
        (1, np.ones(7), 1),
        (2, c, 2),
        (3, c**2, 3),
        (3, a @ c, 6),
        (4, c**3, 4),
        (4, c * (a @ c), 8),
        (4, a @ c**2, 12),
        (4, a @ a @ c, 24),
        (5, c**4, 5),
        (5, c**2 * (a @ c), 10),
        (5, (a @ c) ** 2, 20),
        (5, c * (a @ c**2), 15),
        (5, c * (a @ a @ c), 30),
        (5, a @ c**3, 20),
        (5, a @ (c * (a @ c)), 40),
        (5, a @ a @ c**2, 60),
        (5, a @ a @ a @ c, 120),
    )
    weights = np.array([*WEIGHTS[-1], 0.0])
    for order, tree, density in trees:
        assert weights @ tree == pytest.approx(1 / density, abs=1e-14)
        if order < 5:
            assert MIDDLE @ tree == pytest.approx(0.5**order / density, abs=1e-14)
            assert MISSED @ tree == pytest.approx(0.0, abs=1e-14)
    assert max(abs(MISSED @ tree) for order, tree, _ in trees if order == 5) > 1e-5  # it does tell an error


@pytest.mark.parametrize("step_of", [looped_rk4, looped_tsit5])
def test_the_program_holds_one_copy_of_the_flow(step_of):
    x, copies = state(0.4, jnp.asarray(1.7)), []

    def counted(fraction, x):
        copies.append(1)
        return flow(fraction, x)

    jax.make_jaxpr(lambda x: step_of(counted, retract, x, STEP, flow(0.0, x)))(x)
    assert len(copies) == 1


def swing(share, step, bend=True):
    """The largest error of a swing (x = e^−t/10 cos 2t) at this share of a step, by its polynomial, and the estimate at its
    end, of steps that begin anywhere."""

    def rate(fraction, x):
        return Rate(x.v, -0.2 * x.v - 4.01 * x.q, jnp.zeros(()))

    def exact(t):
        decay = jnp.exp(-t / 10)
        return decay * jnp.cos(2 * t), decay * (-0.1 * jnp.cos(2 * t) - 2 * jnp.sin(2 * t))

    begun = jnp.linspace(0, 3, 31)
    q, v = exact(begun)
    x = State(q, v, (), jnp.zeros(()))
    first = rate(0.0, x)
    taken = looped_tsit5(rate, lambda x: x, x, step, first)
    ends = x.q, taken.state.q, step * first.q, step * taken.rate.q
    found = bent_value(share, *ends, taken.bend.q) if bend else cubic_value(share, *ends)
    there = exact(begun + share * step)[0]
    return float(jnp.max(jnp.abs(found - there))), float(jnp.max(jnp.abs(taken.missed.q)))


@pytest.mark.parametrize(("share", "bend", "order"), [(1.0, True, 6), (0.5, True, 5), (0.3, True, 5), (0.5, False, 4)])
def test_ends_and_what_is_between_err_with_their_powers_of_the_step(share, bend, order):
    steps = np.array([0.1, 0.05, 0.025])
    errors = np.array([swing(share, jnp.asarray(step), bend)[0] for step in steps])
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.25)


def test_the_estimate_is_above_the_error_and_goes_with_the_fifth_power():
    steps = np.array([0.1, 0.05, 0.025])
    errors, estimates = np.transpose([swing(1.0, jnp.asarray(step)) for step in steps])
    assert np.all(errors < estimates)
    assert np.polyfit(np.log(steps), np.log(estimates), 1)[0] == pytest.approx(5, abs=0.25)


@pytest.mark.full
@pytest.mark.parametrize("derivative", [jax.jacfwd, jax.jacrev])
def test_derivatives_are_differences(derivative):
    def reached(speed, step_of):
        x = state(0.4, speed)
        first = flow(0.0, x)
        return rk4_step(flow, x, STEP, first).v if step_of is None else step_of(flow, retract, x, STEP, first).state.v

    speed, little = jnp.asarray(1.7), 1e-5
    for step_of in (None, looped_rk4, looped_tsit5):
        difference = (reached(speed + little, step_of) - reached(speed - little, step_of)) / (2 * little)
        assert float(derivative(reached)(speed, step_of)) == pytest.approx(float(difference), rel=1e-8)
