"""Derivatives through a run: forward through contacts, reverse through fixed steps."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dockdyn
from dockdyn.integrate.hybrid import fixed, located
from dockdyn.integrate.solution import Status
from dockdyn.results.plan import jit_once

# stiffness N/m, damping N s/m, delay s, friction coefficient
CASES = {
    "delay": (1000.0, 200.0, 0.031, 0.0),
    "delay and friction": (1000.0, 200.0, 0.016, 0.15),
    "little damping": (1000.0, 1e-3, 0.031, 0.0),
    "delay shorter than the step": (700.0, 300.0, 0.0023, 0.05),
}
CONTENT = dockdyn.load("sazawal-spring-dashpot").content


def settings(duration):
    return located.Settings(
        duration=jnp.asarray(duration),
        step=jnp.asarray(5e-3),
        tolerance=jnp.asarray(math.inf),
        sampling=jnp.asarray(1.0),
        samples=0,
        max_moments=64,
        line_capacity=1024,
        max_iterations=jnp.asarray(1e7),
    )


def changed(content, stiffness, damping, delay, friction=0.0):
    """The scenario with some numbers replaced, traced or not."""
    contact = content.contact[0]
    parts = {
        "normal": contact.normal.model_copy(update={"stiffness": stiffness, "damping": damping}),
        "friction": contact.friction.model_copy(update={"coefficient": friction}),
    }
    return content.model_copy(
        update={
            "contact": [contact.model_copy(update=parts)],
            "loop": content.loop.model_copy(update={"delay": delay}),
        }
    )


def coming(content, velocity):
    """The scenario with another velocity (m/s) of the chaser, traced or not."""
    bodies = [
        body.model_copy(update={"velocity": velocity}) if body.name == "chaser" else body for body in content.body
    ]
    return content.model_copy(update={"body": bodies})


def outcome(numbers):
    """Work of the first contact (J) and its onset (s); of a case and the chaser's velocity along x and y (m/s)."""
    *law, along, across = numbers
    content = coming(changed(CONTENT, *law), [along, across, 0.0])
    solution = located.solve_located(content.model(), settings(6.6))
    return solution.state.memory.work, solution.log.time[0]


compiled, slopes = jit_once(outcome), jit_once(jax.jacfwd(outcome))


def difference(f, x, i):
    """Central difference of sixth order."""
    h = x[i] * 2e-4
    at = [f(x.at[i].add(k * h)) for k in (-3, -2, -1, 1, 2, 3)]
    return (-at[0] + 9 * at[1] - 45 * at[2] + 45 * at[3] - 9 * at[4] + at[5]) / (60 * h)


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_forward_derivative_of_the_energy_equals_differences(name):
    x = jnp.array([*CASES[name], -0.02, 0.005])
    found = slopes(x)[0]
    # a thousandth of a newton second per metre is too little to take a difference in
    for i in (0, 2) if name == "little damping" else (0, 1, 2):
        assert float(found[i]) == pytest.approx(float(difference(lambda x: compiled(x)[0], x, i)), rel=1e-6)
        assert abs(float(found[i])) > 0


@pytest.mark.full
def test_derivative_of_the_onset_time():
    """The onset does not depend on the contact law, but on the speed: dt/dv = −t ∂d/∂v / ḋ at constant velocity."""
    # along x the wall is reached where x = ρ / tan θ: t = (x₀ − ρ / tan θ) / |v|
    distance = 0.533 - 0.25 / math.tan(math.radians(30))
    x = jnp.array([*CASES["delay"], -0.02, 0.0])
    assert float(compiled(x)[1]) == pytest.approx(distance / 0.02, rel=1e-11)  # a thousand additions of 5 ms
    found = slopes(x)[1]
    assert float(found[4]) == pytest.approx(distance / 0.02**2, rel=1e-9)
    assert not found[:4].any()


@pytest.mark.full
def test_reverse_derivative_through_fixed_steps_equals_forward():
    content = dockdyn.load("sazawal-spring-dashpot", {"loop.delay": "16 ms"}).content
    mesh = fixed.StepMesh(step=jnp.asarray(5e-3), steps=1200, stride=1200, line_capacity=16)

    def run(numbers):
        state, _ = fixed.solve_fixed(changed(content, numbers[0], numbers[1], content.loop.delay).model(), mesh)
        return state.memory.work

    x = jnp.array([1000.0, 200.0])
    forward, reverse = jit_once(jax.jacfwd(run))(x), jit_once(jax.grad(run))(x)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9)
    assert np.all(np.abs(forward) > 0)


@pytest.mark.full
def test_a_batch_has_every_lane_on_its_own_clock():
    """Lanes that bounce, miss, diverge or run out of room each end as they do alone, and say so."""
    content = dockdyn.load("sazawal-spring-dashpot", {"loop.delay": "0.3 s"}).content
    limits = dataclasses.replace(
        settings(40.0), step=jnp.asarray(0.02), max_moments=20, line_capacity=32, max_iterations=jnp.asarray(2500)
    )

    def run(numbers):
        stiffness, damping, delay, speed = numbers
        section = coming(changed(content, stiffness, damping, delay), [speed, 0.005, 0.0])
        solution = located.solve_located(section.model(), limits)
        return solution.status, solution.time, solution.state.memory.work, solution.moments

    lanes = jnp.array(
        [
            [1000.0, 200.0, 0.016, -0.02],  # docks
            [1000.0, 200.0, 0.016, 0.02],  # flies away
            [1000.0, 0.0, 0.4, -0.03],  # diverges: too many events
            [1000.0, 200.0, 0.9, -0.02],  # more steps within one delay than the line has room for while it touches
            [1000.0, 200.0, 0.001, -0.02],  # a delay that makes many steps: too many iterations
            [1e300, 1e300, 0.016, -0.02],  # not finite
        ]
    )
    together = jax.jit(jax.vmap(run))(lanes)
    alone = jax.jit(lambda rows: jax.lax.map(run, rows))(lanes)
    np.testing.assert_array_equal(together[0], alone[0])
    np.testing.assert_array_equal(together[3], alone[3])
    # one attempt more before an event, by a rounding, is one step less
    counted = alone[0] == Status.TOO_MANY_ITERATIONS
    np.testing.assert_allclose(together[1][~counted], alone[1][~counted], rtol=1e-12)
    np.testing.assert_allclose(together[1][counted], alone[1][counted], atol=float(limits.step))
    finished, away, diverged, full, many, broken = (int(status) for status in alone[0])
    assert finished == away == Status.FINISHED
    assert diverged == Status.TOO_MANY_EVENTS
    assert full == Status.DELAY_LINE_FULL
    assert many == Status.TOO_MANY_ITERATIONS
    assert broken == Status.NOT_FINITE
    np.testing.assert_allclose(together[2][:2], alone[2][:2], rtol=1e-9, atol=1e-15)
