"""The variational integrator without impacts: against brute-force variations, independent solutions, and what is kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mechanical_models import Body, Free, Tied, go, samples_of, slope, walled
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational.mechanical import PhasePoint, generalised_momenta, unconstrained_accelerations
from dockdyn.integrate.variational.step import Newton, StepStart, variational_step
from dockdyn.programs import Program

TIGHT = Newton(jnp.asarray(1e-14), jnp.asarray(40.0))
INERTIA = np.array([[3.0, 0.2, -0.1], [0.2, 2.0, 0.3], [-0.1, 0.3, 1.2]])  # kg m²
SPIN = np.array([0.3, 1.1, -0.4])  # rad/s
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def body(q=UPRIGHT, v=SPIN, lever=(0.0, 0.0, 0.0)):
    return Body(jnp.asarray(q), jnp.asarray(v), jnp.asarray(INERTIA), jnp.asarray(lever, float))


# --- one step, against the variation of a discrete action written with rotation matrices ----------------------------


def cross_matrix(x):
    return jnp.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def exponential(x):
    """Rotation matrix of a rotation vector, by scaling and squaring of a Taylor series."""
    small, whole = cross_matrix(x / 2**6), jnp.eye(3)
    term = jnp.eye(3)
    for k in range(1, 12):
        term = term @ small / k
        whole = whole + term
    for _ in range(6):
        whole = whole @ whole
    return whole


def logarithm(turn):
    """Rotation vector of a rotation matrix by less than half a turn."""
    axial = 0.5 * jnp.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine = jnp.sqrt(axial @ axial)
    return axial * jnp.arctan2(sine, 0.5 * (jnp.trace(turn) - 1)) / sine


class Carried(Free):
    """A body, a mass that swings beside it, and a push that follows neither: coupled, with time in it."""

    @property
    def attitudes(self):
        return (1,)

    def initial(self):
        raise NotImplementedError

    def lagrangian(self, t, q, v, mode):
        w, x, y, z = q[1:5]
        turn = jnp.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        return matrix_lagrangian(t, q[0], turn, q[5], v[0], v[1:4], v[4])

    def force(self, t, q, v, mode):
        return push(t, v)


def matrix_lagrangian(t, a, turn, b, a_rate, spin, b_rate):
    """L of `Carried` from two numbers and a rotation matrix."""
    kinetic = 0.5 * spin @ INERTIA @ spin + 0.8 * a_rate**2 + (0.4 + 0.1 * jnp.cos(b)) * b_rate**2
    coupled = 0.3 * a_rate * spin[1] * jnp.sin(b) + 0.2 * b_rate * (turn[0] @ spin)
    potential = (turn @ jnp.array([0.7, -0.2, 1.5]))[2] * (1 + 0.3 * jnp.sin(2 * t)) + 0.5 * (a - b) ** 2
    return kinetic + coupled - potential - 0.6 * jnp.cos(a) * turn[1, 2]


def push(t, v):
    return jnp.array([0.3, -0.2, 0.4, 0.1, 0.5]) * jnp.cos(t) - 0.2 * v


@pytest.mark.full
def test_one_step_is_the_variation_of_the_discrete_action():
    """L_d(q₀, q₁) = h L at the middle of the geodesic, by matrices and their logarithm; p₀ = −D₁L_d − ½ F h and
    p₁ = D₂L_d + ½ F h by automatic differentiation over turns of either end, the force's virtual work being that of
    the middle's displacement."""
    h, t = 0.37, 0.2
    q0 = np.array([0.4, *Rotation.from_rotvec([0.5, -0.9, 0.3]).as_quat(scalar_first=True), -0.7])
    v0 = np.array([0.5, 0.9, -1.4, 1.1, 0.8])
    model = Carried()
    p0 = generalised_momenta(model, jnp.asarray(t), jnp.asarray(q0), jnp.asarray(v0), None)
    found = Program(
        lambda at: variational_step(
            model, StepStart.of(model, jnp.asarray(t), at), jnp.asarray(h), jnp.asarray(v0), TIGHT
        )
    )(PhasePoint(jnp.asarray(q0), p0, None))
    assert found.converged
    turn0, turn1 = (Rotation.from_quat(q[1:5], scalar_first=True).as_matrix() for q in (q0, np.asarray(found.q)))

    def path(x0, x1):
        """Middle and velocities when the ends are displaced, attitudes by rotation vectors in the frame of statement."""
        a0, b0, a1, b1 = q0[0] + x0[0], q0[5] + x0[4], found.q[0] + x1[0], found.q[5] + x1[4]
        r0, r1 = exponential(x0[1:4]) @ turn0, exponential(x1[1:4]) @ turn1
        way = logarithm(r0.T @ r1)
        return (a0 + a1) / 2, r0 @ exponential(way / 2), (b0 + b1) / 2, (a1 - a0) / h, way / h, (b1 - b0) / h

    def action(x0, x1):
        a, turn, b, a_rate, spin, b_rate = path(x0, x1)
        return h * matrix_lagrangian(t + h / 2, a, turn, b, a_rate, spin, b_rate)

    def displacement(x0, x1):
        """Of the middle, the attitude's in its own axes."""
        a, turn, b, *_ = path(x0, x1)
        _, still, *_ = path(jnp.zeros(5), jnp.zeros(5))
        off = jax.lax.stop_gradient(still).T @ turn
        axial = 0.5 * jnp.array([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
        return jnp.concatenate([a[None], axial, b[None]])

    def slopes(x0, x1):
        return jax.grad(action, (0, 1))(x0, x1), jax.jacfwd(displacement, (0, 1))(x0, x1)

    (slope0, slope1), (moved0, moved1) = Program(slopes)(np.zeros(5), np.zeros(5))
    work = h * push(t + h / 2, found.v)
    before, after = -slope0 - work @ moved0, slope1 + work @ moved1
    assert np.asarray(before) == pytest.approx(np.asarray(p0), abs=1e-12)
    assert np.asarray(after) == pytest.approx(np.asarray(found.p), abs=1e-12)


# --- rigid bodies ----------------------------------------------------------------------------------------------------


def turning(duration, q, v, lever):
    """Quaternion and body rates by Euler's equations and DOP853."""

    def rate(_, y):
        w = y[4:]
        torque = np.cross(lever, -Rotation.from_quat(y[:4], scalar_first=True).as_matrix()[2])
        a, b, c, d = y[:4]
        turn = 0.5 * np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]]) @ w
        return np.concatenate([turn, np.linalg.solve(INERTIA, torque - np.cross(w, INERTIA @ w))])

    return solve_ivp(rate, (0, duration), np.concatenate([q, v]), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


@pytest.mark.full
@pytest.mark.parametrize("lever", [(0.0, 0.0, 0.0), (0.4, -0.3, 1.9)], ids=["free", "heavy top"])
def test_attitude_and_rates_at_second_order(lever):
    q = Rotation.from_rotvec([0.3, 0.2, -0.5]).as_quat(scalar_first=True)
    expected = turning(10.0, q, SPIN, lever)
    steps, errors = np.array([0.1, 0.05, 0.025]), []
    for h in steps:
        lane = go(body(q, SPIN, lever), 10.0, h)
        turn = Rotation.from_quat(lane.at.q, scalar_first=True)
        rates = np.linalg.solve(INERTIA, turn.inv().apply(lane.at.p))
        off = (Rotation.from_quat(expected[:4], scalar_first=True).inv() * turn).magnitude()
        errors.append([off, np.abs(rates - expected[4:]).max()])
    errors = np.array(errors)
    slopes = np.array([slope(steps, column) for column in errors.T])
    assert slopes == pytest.approx(2, abs=0.03)


@pytest.mark.full
@pytest.mark.parametrize("steps", [100_000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_free_body_keeps_momentum_and_norm(steps):
    lane = go(body(), steps * 0.05, 0.05, stride=steps // 100, samples=100)
    kept = samples_of(lane)
    assert lane.status == Status.FINISHED
    turn = Rotation.from_quat(kept.at.q, scalar_first=True).as_matrix()
    rates = np.einsum("ik,tkj,tj->ti", np.linalg.inv(INERTIA), turn.transpose(0, 2, 1), kept.at.p)
    energy = 0.5 * np.einsum("ti,ij,tj->t", rates, INERTIA, rates)
    assert np.abs(kept.at.p - INERTIA @ SPIN).max() < 1e-12
    assert np.abs(np.linalg.norm(kept.at.q, axis=1) - 1).max() < 1e-12
    assert np.abs(energy / energy[0] - 1).max() < 1e-3


# --- constraints -----------------------------------------------------------------------------------------------------


def circle(q, lengths):
    return (q @ q - lengths**2) / (2 * lengths[0])


def test_pendulum_in_maximal_coordinates():
    """Closed form: sin(θ/2) = k cd(ω t, k) from rest at an angle whose half has the sine k."""
    angle, length, g, duration = 1.9, 0.8, 9.81, 3.0
    k, omega = np.sin(angle / 2), np.sqrt(g / length)
    _, cn, dn, _ = ellipj(omega * duration, k**2)
    expected = 2 * np.arcsin(k * cn / dn)
    start = length * np.array([np.sin(angle), -np.cos(angle)])
    bob = Tied(
        *map(jnp.asarray, (start, np.zeros(2), np.full(2, 2.0), np.array([0, 2.0 * g]), np.array([length]))), circle
    )
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for h in steps:
        lane = go(bob, duration, h)
        assert abs(np.hypot(*lane.at.q) - length) < 1e-13
        assert abs(lane.at.q @ lane.at.p) < 1e-11
        errors.append(abs(np.arctan2(lane.at.q[0], -lane.at.q[1]) - expected))
    assert slope(steps, errors) == pytest.approx(2, abs=0.03)


BARS = np.array([0.5, 1.1, 0.9, 1.0])  # m: crank, coupler, rocker, ground
RODS = np.array([2.0, 3.0, 1.5])  # kg
GRAVITY = 9.81  # m/s²


def closed(q, lengths):
    """Of three bars (centre x, y and angle each) between the pins (0, 0) and (ground, 0)."""
    bars = q.reshape(3, 3)
    half = lengths[:3, None] / 2 * jnp.stack([jnp.cos(bars[:, 2]), jnp.sin(bars[:, 2])], 1)
    tail, tip = bars[:, :2] - half, bars[:, :2] + half
    end = jnp.array([lengths[3], 0.0])
    return jnp.concatenate([tail[0], tip[0] - tail[1], tip[1] - tip[2], tail[2] - end])


def four_bar(crank):
    """Maximal coordinates from the crank's angle: rocker and coupler meet at the upper intersection of two circles."""
    a, b, c, d = BARS
    joint = a * jnp.array([jnp.cos(crank), jnp.sin(crank)])
    way = jnp.array([d, 0.0]) - joint
    distance = jnp.sqrt(way @ way)
    along = (distance**2 + b**2 - c**2) / (2 * distance)
    across = jnp.sqrt(b**2 - along**2)
    unit = way / distance
    top = joint + along * unit + across * jnp.array([-unit[1], unit[0]])
    coupler, rocker = top - joint, top - jnp.array([d, 0.0])
    return jnp.concatenate(
        [
            jnp.stack([*(joint / 2), crank]),
            jnp.stack([*((joint + top) / 2), jnp.arctan2(coupler[1], coupler[0])]),
            jnp.stack([*((top + jnp.array([d, 0.0])) / 2), jnp.arctan2(rocker[1], rocker[0])]),
        ]
    )


MASSES = np.concatenate([[m, m, m * length**2 / 12] for m, length in zip(RODS, BARS[:3], strict=True)])
WEIGHT = np.concatenate([[0.0, m * GRAVITY, 0.0] for m in RODS])


@Program
def crank_acceleration(crank, rate):
    """Of the crank alone: ½ M(θ) θ̇² − V(θ)."""

    def lagrangian(crank, rate):
        q, v = jax.jvp(four_bar, (crank,), (rate,))
        return 0.5 * jnp.sum(MASSES * v**2) - WEIGHT @ q

    momentum = jax.grad(lagrangian, 1)
    mass = jax.grad(momentum, 1)(crank, rate)
    return (jax.grad(lagrangian)(crank, rate) - jax.grad(momentum)(crank, rate) * rate) / mass


@pytest.mark.full
def test_four_bar_linkage():
    duration = 2.0
    rates = lambda _, y: [y[1], float(crank_acceleration(y[0], y[1]))]  # noqa: E731
    expected = solve_ivp(rates, (0, duration), [0.6, 5.0], method="DOP853", rtol=1e-11, atol=1e-12).y[0, -1]
    q, v = jax.jvp(four_bar, (jnp.asarray(0.6),), (jnp.asarray(5.0),))
    linkage = Tied(q, v, jnp.asarray(MASSES), jnp.asarray(WEIGHT), jnp.asarray(BARS), closed)
    steps, errors = np.array([0.004, 0.002, 0.001]), []
    for h in steps:
        lane = go(linkage, duration, h)
        assert lane.status == Status.FINISHED
        assert np.abs(closed(lane.at.q, BARS)).max() < 1e-11
        slip = jax.jacfwd(closed)(lane.at.q, BARS) @ (lane.at.p / MASSES)
        assert np.abs(slip).max() < 1e-10
        errors.append(abs(lane.at.q[2] - expected))
    assert slope(steps, errors) == pytest.approx(2, abs=0.03)


# --- steps that vary, and what goes wrong ----------------------------------------------------------------------------


def attraction(q):
    return -1 / jnp.sqrt(q @ q)


def comet(eccentricity):
    """At the far end of an orbit whose semi-major axis is 1, about a centre of unit strength."""
    speed = np.sqrt((1 - eccentricity) / (1 + eccentricity))
    return walled([1 + eccentricity, 0.0], [0.0, speed], np.zeros((0, 2)), [], potential=attraction)


def test_steps_that_follow_the_motion():
    """Once round an orbit of eccentricity 0.9 brings the comet back; equal steps need many more for that."""
    period, model = 2 * np.pi, comet(0.9)
    for error, most in ((1e-4, 1e-3), (1e-5, 1e-4)):
        lane = go(model, period, 0.1, stride=1, samples=10, error=error, interval=period / 10)
        assert lane.status == Status.FINISHED
        fixed = go(model, period, period / int(lane.steps))
        miss, fixed_miss = (np.hypot(*(run.at.q - model.q)) for run in (lane, fixed))
        turning = lane.at.q[0] * lane.at.p[1] - lane.at.q[1] * lane.at.p[0]
        energy = 0.5 * lane.at.p @ lane.at.p - 1 / np.hypot(*lane.at.q)
        assert miss < most
        assert fixed_miss > 100 * miss
        assert abs(turning / (1.9 * float(model.v[1])) - 1) < 1e-12
        assert abs(energy + 0.5) < most


def test_a_step_that_does_not_converge_says_so():
    model = comet(0.9)
    lane = go(model, 3.0, 1.5, newton=(1e-12, 2))
    assert lane.status == Status.NOT_CONVERGED
    assert lane.time == 0
    assert np.array_equal(lane.at.q, model.q)


def no_number(t, q, v):
    return jnp.where(t > 0.5, jnp.nan, 0.0) * jnp.ones_like(v)


@pytest.mark.parametrize("error", [None, 1e-4])
def test_what_stops_being_finite_ends_the_run_and_keeps_what_was(error):
    model = walled([1.0], [2.0], np.zeros((0, 1)), [], push=no_number)
    kwargs = {} if error is None else {"error": error, "interval": 0.1, "stride": 1}
    lane = go(model, 1.0, 0.01, samples=10, **{"stride": 10, **kwargs})
    kept = samples_of(lane)
    assert lane.status == Status.NOT_FINITE
    assert float(lane.time) == pytest.approx(0.5, abs=0.011)
    assert lane.at.q == pytest.approx(1 + 2 * lane.time, abs=1e-12)
    assert np.all(np.isfinite(kept.at.q))
    assert kept.at.q[:, 0] == pytest.approx(1 + 2 * kept.time, abs=1e-12)


# --- what explicit methods are given -------------------------------------------------------------------------------


def test_accelerations_of_a_heavy_top_are_those_of_eulers_equations():
    lever = np.array([0.4, -0.2, 1.5])  # N m
    q = np.array([0.7, 0.1, -0.5, 0.5])
    q = q / np.linalg.norm(q)
    down = Rotation.from_quat(q, scalar_first=True).inv().apply([0.0, 0.0, -1.0])
    expected = np.linalg.solve(INERTIA, np.cross(lever, down) - np.cross(SPIN, INERTIA @ SPIN))
    top = body(q, lever=lever)
    np.testing.assert_allclose(
        unconstrained_accelerations(top, jnp.zeros(()), top.q, top.v, None), expected, rtol=1e-12
    )


@pytest.mark.full
def test_accelerations_in_polar_coordinates_are_those_of_a_particle():
    class Particle(Body):
        """Mass 2 kg at (r, angle), pulled to a point that moves along x with time."""

        @property
        def attitudes(self):
            return ()

        def lagrangian(self, t, q, v, mode):
            x, y = q[0] * jnp.cos(q[1]), q[0] * jnp.sin(q[1])
            return v[0] ** 2 + q[0] ** 2 * v[1] ** 2 - 0.5 * 3.0 * ((x - t) ** 2 + y**2)

    r, angle, rise, turn, t = 1.3, 0.4, 0.2, -0.7, 0.25
    spot = np.array([r * np.cos(angle), r * np.sin(angle)])
    pull = -3.0 / 2.0 * (spot - [t, 0.0])
    out, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    expected = [out @ pull + r * turn**2, (across @ pull - 2 * rise * turn) / r]
    particle = Particle(jnp.array([r, angle]), jnp.array([rise, turn]), jnp.eye(2), jnp.zeros(3))
    found = unconstrained_accelerations(particle, jnp.asarray(t), particle.q, particle.v, None)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
