"""A cap of many points on a plane, as an elastic foundation: beside its closed form, pressed and bouncing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import body, pose
from pair_cases import placed

from dockdyn.contact import HuntCrossley, Plane
from dockdyn.contact.contact_modes import PRESSING
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.pairs import BallOnSurface
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.solution import Status
from dockdyn.mechanics.rigid_body import Twist
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.programs import Program

RADIUS, HEIGHT, POINTS, PRESSURE = 0.5, 0.02, 1000, 4e7  # m, m, -, N/m³


def cap():
    """Points of equal area on the lowest part of a sphere about the centre of mass: equal steps of height, by the golden
    angle around the axis. Their areas: the cap's, 2 π R h (Archimedes), over their number."""
    heights = HEIGHT * (np.arange(POINTS) + 0.5) / POINTS
    around = np.pi * (3 - np.sqrt(5)) * np.arange(POINTS)
    out = np.sqrt(heights * (2 * RADIUS - heights))
    places = np.stack([out * np.cos(around), out * np.sin(around), heights - RADIUS], axis=1)
    floor = Plane.of((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    points = [BallOnSurface(place, jnp.zeros(()), floor) for place in places]
    law = HuntCrossley(*(jnp.asarray(one, float) for one in (PRESSURE, 1.0, 0.0)))
    weights = np.full(POINTS, 2 * np.pi * RADIUS * HEIGHT / POINTS)
    return ContactGroup.of(points, (0, 1), law, None, weights)


def foundation(depth):
    """∫ p d over the cap that is below the plane, p = k (d − h), area 2 π R dh: the force of an elastic foundation (N)."""
    return np.pi * PRESSURE * RADIUS * depth**2


@pytest.fixture(scope="module")
def bounce():
    """The cap falls on a floor that is free to move: solution and settings."""
    mass, floor, speed = 300.0, 900.0, 0.35
    ball = body(mass, (40.0, 40.0, 40.0))
    model = Mechanism(
        bodies=(ball, body(floor, (500.0, 500.0, 500.0))),
        groups=(cap(),),
        poses=(pose([0.0, 0.0, RADIUS + 0.01]), pose([0.0, 0.0, 0.0])),
        twists=(Twist.of([0.0, 0.0, -speed]), Twist.of([0.0, 0.0, 0.0])),
        delay=None,
        body_names=("ball", "floor"),
    )
    duration, samples = 0.2, 401
    settings = located.Settings(
        jnp.asarray(duration), jnp.asarray(5e-3), jnp.asarray(1e-11), jnp.asarray(duration / (samples - 1)),
        samples=samples, max_moments=16, line_capacity=0,
    )  # fmt: skip
    solution = jax.tree.map(np.asarray, Program(located.solve_located)(model, settings))
    assert solution.status == Status.FINISHED
    reduced = mass * floor / (mass + floor)
    return model, solution, reduced, speed


@pytest.mark.full
def test_a_pressed_cap_is_an_elastic_foundation():
    """To the last ring of points, which a pressure that begins at zero feels in second order only."""
    group = cap()

    def force(depth):
        own = placed((jnp.array([0.0, 0.0, 1.0]) * (RADIUS - depth), jnp.array([1.0, 0, 0, 0]), *[jnp.zeros(3)] * 2))
        other = placed((jnp.zeros(3), jnp.array([1.0, 0, 0, 0]), *[jnp.zeros(3)] * 2))
        state = group.state(jnp.asarray(PRESSING), own, other)
        return state.wrench.force.array(), state.wrench.moment.array()

    step = HEIGHT / POINTS
    depths = np.array([0.3, 0.6123, 0.999]) * HEIGHT
    forces, moments = Program(lambda rows: jax.lax.map(force, rows))(depths)
    for depth, found, moment in zip(depths, forces, moments, strict=True):
        # the midpoint rule is exact on the straight line h ↦ d − h but for the last step, where that is cut off at zero
        assert float(found[2]) == pytest.approx(foundation(depth), abs=2 * np.pi * PRESSURE * RADIUS * step**2 / 8)
        assert np.abs(found[:2]).max() == 0
        # what the spiral leaves of asymmetry
        assert np.abs(moment).max() < 1e-3 * RADIUS * foundation(depth)


@pytest.mark.full
def test_a_bounce_on_a_cap_of_points(bounce):
    """½ m v² = π k R d³ / 3 at the deepest; the kinks where points begin to press average out."""
    model, solution, reduced, speed = bounce
    deepest = (1.5 * reduced * speed**2 / (np.pi * PRESSURE * RADIUS)) ** (1 / 3)
    assert 0.4 * HEIGHT < deepest < 0.9 * HEIGHT
    count = int(solution.moments)
    assert solution.log.fired[:count].sum() == 2  # one onset, one release
    onset, release = solution.log.time[0], solution.log.time[1]
    assert onset == pytest.approx(0.01 / speed, abs=HEIGHT / POINTS / speed)  # the lowest point is half a step higher
    assert solution.log.peaks[1, 0] == pytest.approx(foundation(deepest), rel=1e-5)
    x = solution.samples.state
    energy = Program(lambda rows: jax.lax.map(model.kinetic_energy, rows))(x)
    before, after = energy[0], energy[-1]
    assert after == pytest.approx(float(before), rel=1e-6)
    assert release > onset
    assert np.asarray(x.v.roots[0].velocity.z)[-1] - np.asarray(x.v.roots[1].velocity.z)[-1] == pytest.approx(
        speed, rel=1e-5
    )
    momentum = 300.0 * np.asarray(x.v.roots[0].velocity.array()) + 900.0 * np.asarray(x.v.roots[1].velocity.array())
    np.testing.assert_allclose(momentum - momentum[:, :1], 0.0, atol=1e-12 * 300 * speed)
