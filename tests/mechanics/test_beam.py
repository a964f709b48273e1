"""Frequencies of beams against Euler and Bernoulli's equation, and what turning makes of them."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

from dockdyn.docking.schema.flexible import LargeBeamSection
from dockdyn.mechanics.trees.beam import Beam, ShapeIntegrals
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.programs import Program
from dockdyn.results.plan import jit_once


def beam(modes, length=1.0, mass=1.0, bending=1.0, **given) -> Beam:
    """Numbers without units, unless given: frequencies are β² then."""
    numbers = {"length": length, "mass": mass, "bending_y": bending, "bending_z": bending, "torsion": 1.0}
    leaves = {name: jnp.asarray(number) for name, number in numbers.items()}
    still = {"polar_inertia": jnp.asarray(0.0), "damping": jnp.asarray(0.0)}
    return Beam(modes=modes, **{"basis": "polynomial", "stiffening": True, **leaves, **still, **given})


def straight(tree, modes) -> Configuration:
    joints = len(tree.joint_rest)
    return Configuration(
        jnp.zeros(3), jnp.array([1.0, 0, 0, 0]), jnp.zeros(joints), jnp.zeros((0, 4)), jnp.zeros(modes)
    )


def frequencies(links: list[Link], base: str) -> np.ndarray:
    """All of the undeformed tree at rest, upwards."""

    @jit_once
    def at_rest():
        """Mass matrix and the modes' stiffness matrix of the undeformed tree."""
        tree = tree_of(links, base)
        q = straight(tree, sum(tree.layout.modes))
        still = jnp.zeros(len(tree.names()))
        return tree.dynamics(q, still)[0], jax.hessian(tree.potential_energy)(q).modes.modes

    mass, own = map(np.asarray, at_rest())
    stiffness = np.zeros(mass.shape)
    stiffness[len(mass) - len(own) :, len(mass) - len(own) :] = own
    return np.sqrt(np.abs(eigh(stiffness, mass, eigvals_only=True)))


def clamped(modes, tip=0.0, rotary=0.0, **given):
    """A beam clamped to the ground, with a body at its tip."""
    body = Link("tip", "beam", joint="locked", at=1.0, mass=tip, inertia=rotary * np.eye(3))
    return frequencies([Link("beam", beam=beam((modes, 0, 0), **given)), body], "fixed")


def pinned(modes):
    return frequencies([Link("ground"), Link("beam", "ground", beam=beam((modes, 0, 0)))], "fixed")[1:]


def free(modes, tip=0.7):
    body = Link("tip", "beam", joint="locked", at=1.0, mass=tip)
    return frequencies([Link("beam", beam=beam((modes, 0, 0))), body], "planar")[3:]


def free_with_tip_mass(b, share=0.7):
    """Bending moments vanish at both ends, shear at the first; at the other it moves the mass: W‴ = −μ β W."""
    cosh, sinh, cos, sin = np.cosh(b), np.sinh(b), np.cos(b), np.sin(b)
    moment = np.array([cosh - cos, sinh - sin])
    shear = np.array([sinh + sin, cosh - cos]) + share * b * np.array([cosh + cos, sinh + sin])
    return (moment[0] * shear[1] - moment[1] * shear[0]) / np.cosh(b)


def roots(function, upto=12.0, count=3):
    """β² of the first positive roots."""
    grid = np.linspace(0.5, upto, 400)
    values = np.array([function(b) for b in grid])
    places = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))[:count]
    return np.array([brentq(function, grid[k], grid[k + 1], xtol=1e-14) for k in places]) ** 2


@pytest.mark.full_cases("free, with a mass at its tip", "pinned", "clamped")
@pytest.mark.parametrize(
    ("found", "characteristic"),
    [
        (clamped, lambda b: np.cos(b) + 1 / np.cosh(b)),
        (pinned, lambda b: np.sin(b) - np.cos(b) * np.tanh(b)),
        (free, free_with_tip_mass),
        (
            lambda modes: clamped(modes, tip=5.0),
            lambda b: 1 / np.cosh(b) + np.cos(b) + 5 * b * (np.cos(b) * np.tanh(b) - np.sin(b)),
        ),
    ],
    ids=["clamped", "pinned", "free, with a mass at its tip", "clamped, with a mass at its tip"],
)
def test_polynomials_converge_exponentially(found, characteristic):
    """From above, as Ritz's method does, and faster than any power of the number of modes."""
    exact = roots(characteristic)
    errors = np.array([found(modes)[:3] / exact - 1 for modes in (5, 8)])
    assert (errors > -1e-9).all()
    assert (np.abs(errors[1]) < [2e-9, 2e-6, 1e-3]).all()
    assert (np.abs(errors[1]) < np.abs(errors[0]) / 50 + 1e-9).all()


@pytest.mark.full
def test_a_flexible_link_of_a_known_arm():
    """8.13 m, 20 kg, 881 N m²: 1.00667, 6.30870 and 17.66455 rad/s."""
    for basis, modes in (("polynomial", 10), ("cantilever", 3)):
        found = clamped(modes, length=8.13, mass=20.0, bending=881.0, basis=basis)
        np.testing.assert_allclose(found[:3], [1.00667, 6.30870, 17.66455], atol=6e-6)


@pytest.mark.full
@pytest.mark.parametrize(("body", "power"), [({"tip": 5.0}, -3), ({"tip": 5.0, "rotary": 2.0}, -1)])
def test_modes_of_a_cantilever_converge_slowly_with_a_payload(body, power):
    """Its modes have neither moment nor shear at the tip: errors fall as 1/n, or as 1/n³ for a point mass."""
    exact = clamped(8, **body)[0]
    errors = [clamped(modes, basis="cantilever", **body)[0] / exact - 1 for modes in (4, 8)]
    assert np.log2(errors[1] / errors[0]) == pytest.approx(power, abs=0.4)
    assert clamped(4, **body)[0] / exact - 1 < errors[1] / 100


@pytest.mark.full
@pytest.mark.parametrize("body", [{"tip": 5.0}, {"tip": 5.0, "rotary": 2.0}])
def test_craig_bampton_modes_serve_with_a_payload(body):
    """The static shapes take the load at the tip: errors from above, 1e-4 with these two alone, falling as 1/n⁵ at least."""
    exact = clamped(10, **body)[0]
    errors = [clamped(modes, basis="craig-bampton", **body)[0] / exact - 1 for modes in (2, 4, 8)]
    assert 0 < errors[2] < errors[1] / 32 and errors[1] < errors[0] / 32 and errors[0] < 1e-4


# --- turning beams ----------------------------------------------------------------------------------------------------


@partial(jit_once, static=("modes", "stiffening"))
def steady(speed, modes, stiffening):
    """Mass matrix, and the derivative of the bias by the modal coordinates, of a straight beam on a turning hub."""
    link = Link("beam", "ground", beam=beam((modes // 2, modes // 2, 0), stiffening=stiffening))
    tree = tree_of([Link("ground"), link], "fixed")
    v = jnp.zeros(len(tree.names())).at[0].set(speed)

    def bias(eta):
        return tree.dynamics(eqx.tree_at(lambda q: q.modes, straight(tree, modes), eta), v)[1]

    return tree.dynamics(straight(tree, modes), v)[0], jax.jacfwd(bias)(jnp.zeros(modes))


def turning(speed, stiffening=True) -> tuple[np.ndarray, np.ndarray]:
    """Squared frequencies across and in the plane of a beam that turns steadily about z, clamped to a hub of no size."""
    mass, stiffness = (np.asarray(found)[1:] for found in steady(np.float64(speed), 16, stiffening))
    within, across = (
        eigh(stiffness[part, part], mass[:, 1:][part, part], eigvals_only=True) for part in (slice(8), slice(8, None))
    )
    return across, within


def southwell(speed, square) -> float:
    """Moment and shear cannot both vanish at the tip but for a frequency: w⁗ = ½ Ω² ((1 − ξ²) w′)′ + ω² w as a power series."""
    series = np.zeros((2, 220))
    series[0, 2] = series[1, 3] = 1
    for k in range(216):
        tension = 0.5 * speed**2 * ((k + 2) * (k + 1) * series[:, k + 2] - k * (k + 1) * series[:, k])
        series[:, k + 4] = (tension + square * series[:, k]) / ((k + 4) * (k + 3) * (k + 2) * (k + 1))
    k = np.arange(220)
    moment, shear = series @ (k * (k - 1)), series @ (k * (k - 1) * (k - 2))
    return moment[0] * shear[1] - moment[1] * shear[0]


# Wright, Smith, Thresher and Wang, Journal of Applied Mechanics 49 (1982): frequencies across, uniform beam without hub
PUBLISHED = {0: (3.5160, 22.0345), 3: (4.7973, 23.3203), 6: (7.3604, 26.8091), 12: (13.1702, 37.6031)}


@pytest.mark.full
@pytest.mark.parametrize("speed", PUBLISHED)
def test_turning_stiffens_a_beam(speed):
    """Frequencies across, against print and a power series; in the plane ω² is less by Ω²."""
    exact = np.array(
        [brentq(lambda s: southwell(speed, s), (0.98 * f) ** 2, (1.02 * f) ** 2) for f in PUBLISHED[speed]]
    )
    np.testing.assert_allclose(np.sqrt(exact), PUBLISHED[speed], atol=6e-5)
    across, within = turning(speed)
    np.testing.assert_allclose(across[:2], exact, rtol=1e-6)
    np.testing.assert_allclose(within[:2], exact - speed**2, rtol=1e-6)


@pytest.mark.full
def test_without_shortening_turning_softens_a_beam():
    """The frequencies across stay what they are at rest, and in the plane it buckles where Ω passes the first of them."""
    across, within = turning(4.0, stiffening=False)
    np.testing.assert_allclose(across[0], 3.516015**2, rtol=1e-6)
    np.testing.assert_allclose(within[0], 3.516015**2 - 4.0**2, rtol=1e-5)


FASTEST, RISE = 5.0, 15.0  # of the spin-up; the first frequency at rest is 3.5


def spin(t):
    """Angle, speed and acceleration of the hub (Kane, Ryan and Banerjee)."""
    if t > RISE:
        return FASTEST * (t - RISE / 2), FASTEST, 0.0
    w = 2 * np.pi / RISE
    angle = FASTEST / RISE * (t**2 / 2 + (np.cos(w * t) - 1) / w**2)
    return angle, FASTEST / RISE * (t - np.sin(w * t) / w), FASTEST / RISE * (1 - np.cos(w * t))


def spun_up(times, stiffening):
    """Deflection of the tip of the flexible link when its joint is turned so."""
    tree = tree_of([Link("ground"), Link("beam", "ground", beam=beam((3, 0, 0), stiffening=stiffening))], "fixed")
    start = straight(tree, 3)

    @Program
    def accelerations(modes, rates, speed, acceleration):
        q = eqx.tree_at(lambda q: q.modes, start, modes)
        mass, h, _ = tree.dynamics(q, jnp.concatenate([speed[None], rates]))
        return -jnp.linalg.solve(mass[1:, 1:], h[1:] + mass[1:, 0] * acceleration)

    def flow(t, y):
        _, speed, acceleration = spin(t)
        return np.concatenate([y[3:], accelerations(y[:3], y[3:], np.float64(speed), np.float64(acceleration))])

    def torn(_, y):
        return np.abs(y[:3].sum()) - 1

    torn.terminal = True
    found = solve_ivp(flow, (0, times[-1]), np.zeros(6), "DOP853", times, rtol=1e-7, atol=1e-9, events=torn)
    return found.y[:3].sum(axis=0)  # every shape is one at the tip


def chain(times, count):
    """The same of a chain of rigid rods with springs, half as long before the first."""
    size = 1 / count
    beyond = count - 1 - np.maximum.outer(np.arange(count), np.arange(count))
    weights = size**3 * (beyond + np.where(np.eye(count), 1 / 3, 1 / 2))
    springs = np.full(count, 1 / size)
    springs[0] *= 2

    def flow(t, y):
        angles, speeds = y[:count], y[count:]
        moments = springs * np.diff(angles, prepend=spin(t)[0])
        apart = np.subtract.outer(angles, angles)
        loads = np.append(moments[1:], 0) - moments - (weights * np.sin(apart)) @ speeds**2
        return np.concatenate([speeds, np.linalg.solve(weights * np.cos(apart), loads)])

    found = solve_ivp(flow, (0, times[-1]), np.zeros(2 * count), "DOP853", times, rtol=1e-6, atol=1e-8)
    hub = np.array([spin(t)[0] for t in times])
    return np.sin(found.y[:count] - hub).sum(axis=0) * size


@pytest.mark.full
def test_spin_up():
    """The tip lags while the hub speeds up and comes back, as that of a chain of rods; without shortening it runs away."""
    times = np.linspace(0, RISE + 5, 81)
    found, reference = spun_up(times, True), chain(times, 10)
    largest = np.abs(reference).max()
    np.testing.assert_allclose(found, reference, rtol=0, atol=0.03 * largest)
    assert largest > 0.02
    assert np.abs(found[times > RISE]).max() < 0.05 * largest
    assert len(spun_up(times, False)) < len(times)


# --- what a scenario's `[flexible]` gives ------------------------------------------------------------------------------


def given(modes, twist=0, basis="craig-bampton") -> Beam:
    """The beam of a scenario that bends along y, of numbers without units; with `twist` one that only twists."""
    numbers = {"length": 1.0, "mass_per_length": 1.0, "torsional_stiffness": 1.0, "polar_inertia": 1.0}
    counts = {"bending_modes": [modes, 0], "twist_modes": twist}
    return LargeBeamSection(basis=basis, bending_stiffness=[1.0, 1.0], **numbers, **counts).beam()


def tip_equation(ratio, rotary):
    """Of a beam clamped at its root: moment and shear at the tip are those that turn and move the body there."""

    def function(b):
        cosh, sinh, cos, sin = np.cosh(b), np.sinh(b), np.cos(b), np.sin(b)
        moment = np.array([cosh + cos, sinh + sin]) - rotary * b**3 * np.array([sinh + sin, cosh - cos])
        shear = np.array([sinh - sin, cosh + cos]) + ratio * b * np.array([cosh - cos, sinh - sin])
        return (moment[0] * shear[1] - moment[1] * shear[0]) / np.cosh(b) ** 2

    return function


RATIOS = [(0.0, 0.0), (0.1, 0.0), (1.0, 0.0), (10.0, 0.0), (1.0, 0.01), (1.0, 1.0), (10.0, 10.0)]


def errors_of(beam, count, ratios=RATIOS):
    """How far the first frequencies of a clamped beam are too high, by mass and rotary inertia at the tip over the beam's."""
    found = []
    for ratio, rotary in ratios:
        body = Link("tip", "beam", joint="locked", at=1.0, mass=ratio, inertia=rotary * np.eye(3))
        computed = frequencies([Link("beam", beam=beam), body], "fixed")[:count]
        exact = np.array([brentq(tip_equation(ratio, rotary), *pair, xtol=1e-13) for pair in brackets(ratio, rotary)])
        found.append(computed / exact[:count] ** 2 - 1)
    return np.array(found)


def brackets(ratio, rotary, count=3):
    """Intervals that hold one root each."""
    grid = np.linspace(0.05, 15, 3000)
    values = np.array([tip_equation(ratio, rotary)(b) for b in grid])
    (at,) = np.nonzero(np.sign(values[1:]) != np.sign(values[:-1]))
    return [(grid[k], grid[k + 1]) for k in at[:count]]


@pytest.mark.full
def test_all_modes_of_a_scenario_are_right_whatever_hangs_on_the_tip():
    """Two by default, within 1 %; with the polynomials of two shapes the second is a third to a half too high."""
    errors = errors_of(given(modes=LargeBeamSection.model_fields["bending_modes"].default[0]), 2)
    assert (errors > -1e-8).all() and errors.max() < 0.01
    polynomial = errors_of(given(modes=2, basis="polynomial"), 2, RATIOS[:4])
    np.testing.assert_allclose(polynomial[:, 1], [0.580, 0.440, 0.347, 0.331], atol=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("modes", [1, 3])
def test_so_are_fewer_and_more_modes(modes):
    errors = errors_of(given(modes=modes), modes)
    assert (errors > -1e-8).all() and errors.max() < 0.01


@pytest.mark.full
@pytest.mark.parametrize("modes", [1, 2, 3])
def test_so_are_modes_on_a_free_hinge(modes):
    """A beam hinged to the ground, with a mass at its tip: W″ = 0 at both ends, W(0) = 0, W‴(1) = −μ β W."""
    for ratio in (0.0, 0.1, 1.0, 10.0):
        body = Link("tip", "beam", joint="locked", at=1.0, mass=ratio)
        found = frequencies([Link("ground"), Link("beam", "ground", beam=given(modes)), body], "fixed")[1 : 1 + modes]
        exact = roots(lambda b, r=ratio: np.sin(b) - np.cos(b) * np.tanh(b) + 2 * r * b * np.sin(b) * np.tanh(b))
        assert (found / exact[:modes] > 1 - 1e-8).all() and (found / exact[:modes]).max() < 1.015


@pytest.mark.full
@pytest.mark.parametrize("modes", [1, 2])
def test_so_are_modes_of_twist(modes):
    """β tan β is the shaft's inertia over the tip's."""
    for ratio in (0.0, 0.1, 1.0, 10.0):
        body = Link("tip", "beam", joint="locked", at=1.0, inertia=ratio * np.diag([1.0, 0, 0]))
        found = frequencies([Link("beam", beam=given(0, twist=modes)), body], "fixed")[:modes]
        exact = [
            brentq(lambda b, r=ratio: np.cos(b) - r * b * np.sin(b), k * np.pi + 1e-9, (k + 0.5) * np.pi + 1e-9)
            for k in range(modes)
        ]
        assert (found / exact > 1 - 1e-8).all() and (found / exact).max() < 1.01


def test_places_may_be_traced():
    """Shapes at a place that is differentiated by: values as at a number, slopes as derivatives."""
    one = beam((4, 2, 3), basis="craig-bampton", length=jnp.asarray(2.0))

    def shift(at):
        return one.shapes(at).shift

    @jit_once
    def at_a_number_and_traced(place):
        shapes = one.shapes(np.asarray(0.37))
        return shapes.shift, shapes.turn, jax.jvp(shift, (place,), (1.0,)), jax.jvp(one.shortening, (place,), (1.0,))[1]

    known, turn, (found, slopes), gathered = jax.tree.map(np.asarray, at_a_number_and_traced(np.float64(0.37)))
    np.testing.assert_allclose(found, known, rtol=0, atol=1e-14)
    turn = turn * 2.0
    np.testing.assert_allclose([slopes[1], -slopes[2]], [turn[2], turn[1]], rtol=0, atol=1e-12)
    bent = (turn[1:, :, None] * turn[1:, None, :]).sum(0) / 2.0
    np.testing.assert_allclose(gathered, bent, rtol=0, atol=1e-11)


@pytest.mark.parametrize("count", [1, 4, 16])
def test_integrals_of_a_cantilevers_shapes(count):
    """By closed forms, and of what shortens by quadrature of h, which is itself an integral."""
    found = ShapeIntegrals.of("cantilever", count)
    betas = np.array(
        [brentq(lambda b: np.cos(b) + 1 / np.cosh(b), (k + 0.1) * np.pi, (k + 0.9) * np.pi) for k in range(count)]
    )
    sigmas = (np.cosh(betas) + np.cos(betas)) / (np.sinh(betas) + np.sin(betas))
    np.testing.assert_allclose(found.product, np.eye(count) / 4, rtol=0, atol=1e-13)
    curvature = np.diag(betas**4) / 4
    np.testing.assert_allclose(found.curvature, curvature, rtol=0, atol=1e-12 * curvature.max())
    signs = (-1.0) ** np.arange(count)
    np.testing.assert_allclose(found.shape, signs * sigmas / betas, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.lever, signs / betas**2, rtol=0, atol=1e-13)
    one = beam((count, 0, 0), basis="cantilever")
    shapes, masses = one.slices()
    nested = (
        np.einsum("s,smn->mn", masses, shapes.shortening),
        np.einsum("s,smn->mn", masses * shapes.place, shapes.shortening),
    )
    for ours, theirs in zip((found.shortening, found.shortening_lever), nested, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
