"""Elements beside closed forms: an elasto-plastic oscillator, a magnet's potential, a bushing's, where a hexapod is."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import Run, anchors, body, numbers, pose, system
from places import DOCS
from scipy.integrate import quad
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from dockdyn.docking.schema.elements import StrutSection
from dockdyn.elements import Brake, Bushing, GapPull, Strut, TabulatedPull, hexapod_anchors
from dockdyn.integrate.hybrid import located
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program

ONE, OTHER = body(3.0, (1.0, 1.0, 1.0)), body(6.0, (1.0, 1.0, 1.0))
MASS = 2.0  # kg, reduced
STIFFNESS, LIMIT, SPEED = 800.0, 12.0, 0.7  # N/m, N, m/s


def two_on_a_line(damping):
    strut = Strut(
        anchors([0] * 3, [0] * 3),
        **numbers(free_length=1.5, stiffness=STIFFNESS, damping=damping),
        brake=Brake(jnp.asarray(LIMIT)),
    )
    poses = (pose([1.5, 0, 0]), pose([0, 0, 0]))
    return system((ONE, OTHER), poses, (Twist.of([SPEED, 0, 0]), Twist.of([0.0] * 3)), (strut, 0, 1))


def damped(start, speed, damping, time):
    """Stretch and rate of the spring's oscillation, from where it is."""
    decay = damping / (2 * MASS)
    omega = np.sqrt(STIFFNESS / MASS - decay**2)
    sine = (speed + decay * start) / omega
    swing = np.exp(-decay * time) * (start * np.cos(omega * time) + sine * np.sin(omega * time))
    turn = np.exp(-decay * time) * omega * (sine * np.cos(omega * time) - start * np.sin(omega * time))
    return swing, turn - decay * swing


def slid(speed, damping, time):
    """Way and rate under the limit and the damper."""
    if damping == 0:
        return speed * time - LIMIT / MASS * time**2 / 2, speed - LIMIT / MASS * time
    decay, last = damping / MASS, LIMIT / damping
    return (speed + last) * -np.expm1(-decay * time) / decay - last * time, (speed + last) * np.exp(
        -decay * time
    ) - last


@pytest.mark.full_cases("0.0")
@pytest.mark.parametrize("damping", [0.0, 8.0])
def test_an_elasto_plastic_oscillator(damping):
    """It slides once; without damping it then swings as far as the limit to either side, time and again, and must not slide."""
    run = Run(two_on_a_line(damping), 2.0, samples=401)
    elastic = LIMIT / STIFFNESS
    begins = brentq(lambda t: damped(0.0, SPEED, damping, t)[0] - elastic, 0.0, 0.05, xtol=1e-15)
    reached = damped(0.0, SPEED, damping, begins)[1]
    lasts = brentq(lambda t: slid(reached, damping, t)[1], 0.0, 1.0, xtol=1e-15)
    slide = slid(reached, damping, lasts)[0]
    late = np.clip(run.times - begins, 0, lasts)
    after = np.maximum(run.times - begins - lasts, 0)
    swing = damped(elastic, 0.0, damping, after)[0]
    expected = np.where(
        run.times < begins, damped(0.0, SPEED, damping, run.times)[0], elastic + slid(reached, damping, late)[0]
    )
    expected = np.where(after > 0, slide + swing, expected)
    x = run.solution.samples.state
    length = np.asarray(x.q[0].position.x - x.q[1].position.x) - 1.5
    np.testing.assert_allclose(length, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.solution.log.time[:2], [begins, begins + lasts], rtol=0, atol=1e-9)
    assert float(run.solution.state.memory[0].slide) == pytest.approx(slide, rel=1e-8)
    taken = run.balance["lost"][-1]
    assert taken == pytest.approx(MASS * SPEED**2 / 2 - run.balance["stored"][-1] - kinetic(run), rel=1e-9)
    if damping == 0:
        assert taken == pytest.approx(LIMIT * slide, rel=1e-8)
    assert run.energy_error() < 1e-9


def kinetic(run):
    """Kinetic energy of the relative motion at the end."""
    v = run.solution.state.v
    return MASS * float(v[0].velocity.x - v[1].velocity.x) ** 2 / 2


@pytest.mark.full_cases("table")
@pytest.mark.parametrize(
    "pull",
    [
        GapPull(**numbers(holding=500.0, reach=0.03)),
        TabulatedPull.of(jnp.array([0.0, 0.01, 0.03, 0.04, 0.1]), jnp.array([500.0, 350.0, 100.0, 90.0, 5.0])),
    ],
    ids=["gap", "table"],
)
def test_the_energy_of_a_pull_is_the_integral_of_its_force(pull):
    for gap in (0.0, 0.004, 0.02, 0.035, 0.09, 0.15):
        nodes = [0.01, 0.03, 0.04, 0.1]
        integral = quad(lambda g: float(pull.force(g)), 0.0, gap, points=[n for n in nodes if n < gap] or None)[0]
        assert float(pull.energy(jnp.asarray(gap))) == pytest.approx(integral, rel=1e-10, abs=1e-12)
    assert float(pull.force(jnp.asarray(0.0))) == 500.0


@pytest.mark.full
def test_a_table_passes_through_its_points_and_adds_no_extremes():
    gaps, forces = np.array([0.0, 0.01, 0.03, 0.04, 0.1]), np.array([500.0, 350.0, 100.0, 100.0, 5.0])
    pull = TabulatedPull.of(jnp.asarray(gaps), jnp.asarray(forces))
    np.testing.assert_allclose([float(pull.force(jnp.asarray(gap))) for gap in gaps], forces, rtol=1e-13)
    between = np.array([float(pull.force(jnp.asarray(gap))) for gap in np.linspace(-0.02, 0.12, 400)])
    assert np.diff(between).max() <= 1e-9


@pytest.mark.full_cases("1e-09", "0.01", "1.0", "3.0")
@pytest.mark.parametrize("angle", [1e-9, 0.01, 1.0, 3.0, 3.14])
def test_a_bushing_pulls_down_its_potential(angle):
    """Its wrench is minus the gradient of the energy with respect to moves and turns of the body, up to half a turn."""
    rng = np.random.default_rng(int(angle * 100))
    mixed = rng.normal(size=(6, 6))
    bushing = Bushing(
        pose([0.2, -0.1, 0.3], [0.2, 0.5, -0.3]), pose([-0.3, 0.4, 0.1]), jnp.asarray(mixed @ mixed.T + np.eye(6))
    )
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    other = Placed.of(pose([0.1, 0.2, 0.3], [0.5, -0.6, 0.2]), Twist.of([0.0] * 3))
    # the first body is so turned that the frames are apart by `angle`
    turned = other.pose.attitude * pose([0] * 3, angle * axis).attitude
    attitude = turned * bushing.own_frame.attitude.conjugate()

    def energy(change):
        position = jnp.array([0.7, -0.2, 0.4]) + change[:3]
        place = Pose.at(position, Quaternion.exponential(Vector.of(change[3:])) * attitude)
        own = Placed.of(place, Twist.of([0.0] * 3))
        return bushing.stored_energy(None, bushing.init(own, other), own, other), own

    _, own = energy(jnp.zeros(6))
    action, _ = bushing.act(None, bushing.init(own, other), own, other)
    force, torque = action.on(own)
    wrench = np.concatenate([force.array(), (own.rotation @ torque).array()])
    np.testing.assert_allclose(
        wrench, -jax.grad(lambda c: energy(c)[0])(jnp.zeros(6)), rtol=0, atol=1e-9 * np.abs(wrench).max()
    )


@pytest.mark.full
def test_derivatives_go_through_a_slide():
    """How far it slides is (m v² − F²/k) / 2F, with F the limit: its derivative is known."""

    def slide(limit):
        two = eqx.tree_at(lambda s: s.joints[0].element.brake.limit, two_on_a_line(0.0), limit)
        settings = located.Settings(duration=0.4, step=5e-3, tolerance=1e-11, max_moments=16, line_capacity=0)
        return located.solve_located(two, settings).state.memory[0].slide

    found, slope = Program(lambda limit: jax.jvp(slide, (limit,), (jnp.ones(()),)))(jnp.asarray(LIMIT))
    assert float(found) == pytest.approx((MASS * SPEED**2 - LIMIT**2 / STIFFNESS) / (2 * LIMIT), rel=1e-9)
    assert float(slope) == pytest.approx(-MASS * SPEED**2 / (2 * LIMIT**2) - 1 / (2 * STIFFNESS), rel=1e-8)


def test_a_hexapod_is_where_its_angles_say():
    """Circles, gaps in the pairs, legs alike, a third of a turn, and a frame that is moved and turned."""
    ring, base = map(np.asarray, hexapod_anchors(0.5, 0.7, 0.2, 0.3, pose([0.4, 0, 0]), pose([0, 0, 0])))
    for places, radius, spread, first in ((ring, 0.5, 0.2, 0.0), (base, 0.7, 0.3, np.pi / 3)):
        angles = np.sort(np.arctan2(places[:, 2], places[:, 1]) % (2 * np.pi))
        pairs = first + np.repeat(np.arange(3), 2) * 2 * np.pi / 3 + np.tile([-1, 1], 3) * spread / 2
        np.testing.assert_allclose(angles, np.sort(pairs % (2 * np.pi)), atol=1e-14)
        np.testing.assert_allclose(np.hypot(places[:, 1], places[:, 2]), radius, rtol=1e-14)
    legs = np.linalg.norm(ring - base, axis=1)
    across = np.pi / 3 - 0.2 / 2 - 0.3 / 2  # rad, of a leg about the axis
    np.testing.assert_allclose(legs, np.sqrt(0.4**2 + 0.5**2 + 0.7**2 - 2 * 0.5 * 0.7 * np.cos(across)), rtol=1e-13)
    third = Rotation.from_rotvec([2 * np.pi / 3, 0, 0])
    for places in (ring, base):
        np.testing.assert_allclose(third.apply(places), np.roll(places, -2, axis=0), atol=1e-14)
    turned, _ = hexapod_anchors(0.5, 0.7, 0.2, 0.3, pose([1, 2, 3], [0.3, -0.5, 0.2]), pose([0, 0, 0]))
    expected = Rotation.from_rotvec([0.3, -0.5, 0.2]).apply(ring - [0.4, 0, 0]) + np.array([1, 2, 3])
    np.testing.assert_allclose(turned, expected, atol=1e-14)


def test_a_scenario_places_a_hexapod_about_any_axis():
    """As when both frames have their x axes along those of the bodies, all of it turned."""
    level = {"ring_radius": 0.5, "base_radius": 0.7, "ring_spread": 0.2, "base_spread": 0.3}
    places = {"ring_position": [0.4, 0.1, 0.2], "base_position": [0.7, 0.0, 0.0]}
    along_z = {
        "ring_attitude": {"x": [0, 0, 1], "y": [1, 0, 0]},
        "base_attitude": {"axis": [1, 1, 1], "angle": "120 deg"},
    }
    strut = {"name": "legs", "between": ["ring", "base"], "stiffness": 1000.0}
    as_is, turned = (
        StrutSection.model_validate(strut | {"hexapod": level | places | more}).lines() for more in ({}, along_z)
    )
    for name, start in (("own", places["ring_position"]), ("other", places["base_position"])):
        ends = [np.array([getattr(line, name) for line in lines]) - start for lines in (as_is, turned)]
        expected = {"own": ends[0][:, [1, 2, 0]], "other": ends[0][:, [2, 0, 1]]}[name]
        np.testing.assert_allclose(ends[1], expected, atol=1e-14)


@pytest.mark.parametrize("angle", [0.01, np.pi / 6, np.pi / 2, 3.0])
def test_a_bushings_turning_damper_brakes_the_rotation_vector(angle):
    """About the axis of the turn its moment is c ω, across it c ω (θ/2 / sin(θ/2))²: it damps the rotation vector."""
    damping = 7.0
    bushing = Bushing(pose([0] * 3), pose([0] * 3), jnp.zeros((6, 6)), jnp.diag(jnp.array([0.0] * 3 + [damping] * 3)))
    other = Placed.of(pose([0] * 3), Twist.of([0.0] * 3))
    rate = np.array([0.3, -0.2, 0.5])  # rad/s, of the body, whose axes are turned about z
    turned = pose([0] * 3, [0.0, 0.0, angle])
    own = Placed.of(turned, Twist.of([0.0] * 3, rate))
    action, lost = bushing.act(None, bushing.init(own, other), own, other)
    _, torque = action.on(own)
    factor = (angle / 2 / np.sin(angle / 2)) ** 2
    np.testing.assert_allclose(torque.array(), -damping * rate * [factor, factor, 1.0], rtol=1e-10)
    assert float(lost.dissipated) == pytest.approx(-float(rate @ torque.array()), rel=1e-10)
    if angle in (np.pi / 6, np.pi / 2):
        page = (DOCS / "theory-contact.md").read_text(encoding="utf-8")
        assert re.search(rf"\b{100 * (factor - 1):.0f} %[^.]* at {np.degrees(angle):.0f}°", page)


@pytest.mark.parametrize("seed", range(3))
def test_a_magnet_by_a_table_gives_what_its_curve_holds(run, seed):
    """½ μ v² grows by the area under the curve through the table, of SciPy's monotone cubics, level where the table ends."""
    rng = np.random.default_rng(seed)
    masses, gaps = rng.uniform(50, 90, 2), np.cumsum([0, *rng.uniform(0.005, 0.04, 3)])
    forces, begun, speed = np.sort(rng.uniform(0, 90, 4))[::-1], float(gaps[-1] + 0.02), float(rng.uniform(0.5, 1.0))
    places = ([-begun, 0.0, 0.0], [0.0, 0.0, 0.0])
    content = {
        "duration": (0.02 + 0.5 * float(gaps[-1])) / speed,
        "body": {
            name: {"mass": float(mass), "inertia": [1.0, 1.0, 1.0], "position": place, "velocity": [rate, 0.0, 0.0]}
            for name, mass, place, rate in zip("ab", masses, places, (speed, 0.0), strict=True)
        },
        "magnet": {
            "m": {"between": ["a", "b"], "anchor": [[0.0] * 3] * 2, "gaps": gaps.tolist(), "forces": forces.tolist()}
        },
    }
    found = run(content)
    (ended,) = np.diff(found.position.values[-1, :, 0])
    slopes = PchipInterpolator(gaps, forces).derivative()(gaps)
    secants = np.diff(forces) / np.diff(gaps)
    curve = CubicHermiteSpline(gaps, forces, [secants[0], *slopes[1:-1], secants[-1]])
    assert 0 < ended < gaps[-1]
    area = curve.integrate(ended, gaps[-1]) + forces[-1] * (begun - gaps[-1])
    reduced = masses.prod() / masses.sum()
    (rate,) = np.diff(found.velocity.values[-1, :, 0])
    assert reduced * rate**2 / 2 == pytest.approx(reduced * speed**2 / 2 + area, rel=1e-9)
