"""One Runge–Kutta step, its stages in a loop and written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dockdyn.integrate.hybrid.runge_kutta import looped_rk4, rk4_step
from dockdyn.integrate.model import Rate, State

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
    np.testing.assert_allclose(row(*step.last), last, rtol=1e-14)
    np.testing.assert_allclose(row(*step.rate), rate, rtol=1e-14)


def test_the_program_holds_one_copy_of_the_flow():
    x, copies = state(0.4, jnp.asarray(1.7)), []

    def counted(fraction, x):
        copies.append(1)
        return flow(fraction, x)

    jax.make_jaxpr(lambda x: looped_rk4(counted, retract, x, STEP, flow(0.0, x)))(x)
    assert len(copies) == 1


@pytest.mark.full
@pytest.mark.parametrize("derivative", [jax.jacfwd, jax.jacrev])
def test_derivatives_of_both_are_differences(derivative):
    def reached(speed, looped):
        x = state(0.4, speed)
        first = flow(0.0, x)
        return looped_rk4(flow, retract, x, STEP, first).state.v if looped else rk4_step(flow, x, STEP, first).v

    speed, little = jnp.asarray(1.7), 1e-5
    for looped in (False, True):
        difference = (reached(speed + little, looped) - reached(speed - little, looped)) / (2 * little)
        assert float(derivative(reached)(speed, looped)) == pytest.approx(float(difference), rel=1e-8)
