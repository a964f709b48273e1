"""Routh's criterion, transfer functions, and the Padé loop of the SITS paper."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import polynomial as ascending
from numpy.testing import assert_allclose

from dockdyn.stability.pade import LoopPolynomial, loop_polynomial, pade_delay, pade_hold
from dockdyn.stability.routh import routh_array
from dockdyn.stability.transfer_function import TransferFunction

# the identified robot; its printed gain, 326.4756, misses a unit DC gain by 4e-7
ZERO, POLE = -206.5679, -181.7836 + 185.4564j
ROBOT = TransferFunction.of_zeros([ZERO], [POLE, POLE.conjugate()], abs(POLE) ** 2 / -ZERO)
MASS, STIFFNESS, DELAY, HOLD = 500, 2e4, 2e-3, 4e-3  # kg, N/m, s, s


def slow(loop, gain=0.0):
    """The root of the oscillation itself, upper half plane."""
    return min((root for root in loop.roots(gain) if root.imag > 0), key=lambda root: abs(root))


def product(factors):
    result = [1]
    for factor in factors:
        result = ascending.polymul(result, factor[::-1])
    return result[::-1]


# factor, roots in the right half plane, roots on the imaginary axis; whole numbers, so that products are exact
FACTORS = [
    ((1, 2), 0, 0),
    ((3, 1), 0, 0),
    ((1, 1, 4), 0, 0),
    ((1, 3, 1), 0, 0),
    ((1, -1), 1, 0),
    ((2, -3), 1, 0),
    ((1, -2, 5), 2, 0),
    ((1, 0, 1), 0, 2),
    ((1, 0, 9), 0, 2),
    ((1, 0), 0, 1),
    ((1, 0, -4), 1, 0),
    ((1, 0, 3, 0, 4), 2, 0),  # ±0.5 ± 1.32i
    ((1, 0, 0, 0, 1), 2, 0),  # ±0.71 ± 0.71i
]


def test_counts_of_exact_products_with_all_singular_cases():
    rng = np.random.default_rng(1)
    kinds = {"zero row": 0, "zero entry": 0, "regular": 0}
    for _ in range(600):
        chosen = [FACTORS[i] for i in rng.integers(len(FACTORS), size=rng.integers(1, 6))]
        sign = rng.choice([-1, 1])
        result = routh_array(sign * product([factor for factor, _, _ in chosen]))
        right, axis = sum(count for _, count, _ in chosen), sum(count for _, _, count in chosen)
        assert result.sign_changes == right
        assert result.stable == (right == 0 and axis == 0)
        assert result.stable == all(line.endswith("holds") for line in result.conditions)
        kinds["zero row" if axis else "regular" if result.stable else "zero entry"] += 1
    assert min(kinds.values()) > 30


@pytest.mark.parametrize("degree", range(1, 15))
def test_counts_of_random_polynomials(degree):
    rng = np.random.default_rng(degree)
    for _ in range(30):
        polynomial = rng.normal(size=degree + 1)
        roots = np.roots(polynomial)
        result = routh_array(polynomial)
        assert result.sign_changes == (roots.real > 0).sum()
        assert result.stable == (roots.real < 0).all()
        unit = 10 ** rng.uniform(-4, 4)  # another unit of time moves no root across the axis
        assert routh_array(polynomial * unit ** np.arange(degree + 1)).sign_changes == result.sign_changes


def test_sparse_polynomials_of_whole_numbers():
    """Zeros in the first column by the dozen; no root of theirs is near the axis without being counted."""
    rng = np.random.default_rng(7)
    replaced = 0
    for _ in range(400):
        polynomial = rng.integers(-1, 2, size=rng.integers(3, 9))
        roots = np.roots(polynomial)
        if not polynomial.any() or (abs(roots.real) < 1e-6).any():
            continue
        result = routh_array(polynomial)
        assert result.sign_changes == (roots.real > 0).sum()
        replaced += any(": 0 " in line for line in result.conditions)
    assert replaced > 50


def test_textbook_array_with_a_zero_row():
    """s⁵ + 2s⁴ + 24s³ + 48s² − 25s − 50 (Ogata): auxiliary polynomial 2s⁴ + 48s² − 50, one root at +1."""
    result = routh_array([1, 2, 24, 48, -25, -50])
    expected = [[1, 24, -25], [2, 48, -50], [8, 96, 0], [24, -50, 0], [96 + 50 / 3, 0, 0], [-50, 0, 0]]
    assert_allclose(result.array, expected, rtol=1e-15)
    assert_allclose(result.first_column, np.array(expected)[:, 0], rtol=1e-15)
    assert result.sign_changes == 1
    assert result.conditions[0] == "row s^5: 1 > 0 holds"
    assert result.conditions[2] == "row s^3: 0 > 0 fails"


def test_numbers_too_large_to_divide_are_still_counted():
    polynomial = np.poly([-1, -2, 3, 4]) * 10.0 ** np.array([300, 150, 0, -150, -300])
    assert routh_array(polynomial).sign_changes == 2
    assert not routh_array([1e300, 1e-300, 1e300, 5]).stable


@pytest.mark.parametrize("polynomial", [[], [0, 0.0], [1, math.nan], [1, math.inf, 2]])
def test_what_is_no_polynomial_is_refused(polynomial):
    with pytest.raises(ValueError, match="polynomial"):
        routh_array(polynomial)


def test_transfer_function_from_zeros_and_back():
    rng = np.random.default_rng(2)
    for _ in range(50):
        pair, pole = complex(*rng.normal(size=2)) * 100, rng.normal() * 100
        zeros, poles, gain = [-3.0], [pair, pole, pair.conjugate()], rng.normal()
        function = TransferFunction.of_zeros(zeros, poles, gain)
        s = complex(*rng.normal(size=2)) * 100
        expected = gain * (s + 3) / ((s - pair) * (s - pole) * (s - pair.conjugate()))
        assert_allclose(function.at(s), expected, rtol=1e-11)
        assert_allclose(function.dc_gain(), function.at(0), rtol=1e-15)
        assert_allclose(np.sort_complex(function.poles()), np.sort_complex(poles), rtol=1e-10)
        assert_allclose(function.zeros(), zeros, rtol=1e-12)
        assert function.stable() == (pair.real < 0 and pole < 0)
        assert function.strictly_proper()


def test_state_space_has_the_response_and_comparable_entries():
    rng = np.random.default_rng(3)
    for _ in range(50):
        poles = -(10 ** rng.uniform(0, 4, size=rng.integers(0, 6)))
        zeros = -(10 ** rng.uniform(0, 4, size=rng.integers(0, len(poles) + 1)))
        function = TransferFunction.of_zeros(zeros, poles, 10 ** rng.uniform(-6, 6))
        a, b, c, d = function.state_space()
        n = len(poles)
        assert (a.shape, b.shape, c.shape, d.shape) == ((n, n), (n, 1), (1, n), (1, 1))
        s = 1j * np.geomspace(0.1, 1e5, 13)
        response = np.array([(c @ np.linalg.solve(one * np.eye(n) - a, b) + d)[0, 0] for one in s])
        assert_allclose(response, function.at(s), rtol=1e-9, atol=1e-13 * abs(function.at(s)).max())
        if n:
            assert abs(a).max() < 3 * abs(poles).sum()  # a companion matrix would hold the product of the poles
    a, b, c, _ = ROBOT.state_space()
    assert abs(a).max() < 400 and 1 / 2 < np.linalg.norm(b) / np.linalg.norm(c) < 4


def test_group_delay_by_differentiation():
    """−d arg/dω is a sum over the poles and zeros, each −Re/|jω − root|²."""
    for frequency in (0.1, 6.32, 300.0):
        delay = -jax.grad(lambda omega: jnp.angle(ROBOT.at(1j * omega)))(frequency)
        signed = ((POLE, 1), (POLE.conjugate(), 1), (complex(ZERO), -1))
        expected = sum(-sign * root.real / abs(1j * frequency - root) ** 2 for root, sign in signed)
        assert_allclose(delay, expected, rtol=1e-10)


def test_integrators_static_gains_and_degrees():
    assert TransferFunction((2,), (1, 0)).dc_gain() == math.inf
    assert TransferFunction((2,), (-1, 0)).dc_gain() == -math.inf
    assert TransferFunction((3, 0), (1, 2, 0)).dc_gain() == 1.5
    assert TransferFunction((0,), (1, 0)).dc_gain() == 0
    assert not TransferFunction((1,), (1, 0, 4)).stable()
    assert TransferFunction((0, 0, 5), (2,)) == TransferFunction((5,), (2,))
    assert TransferFunction((5,), (2,)).state_space()[3] == 2.5
    improper = TransferFunction((1, 0), (4,))
    assert not improper.proper()
    with pytest.raises(ValueError, match="no state space"):
        improper.state_space()


@pytest.mark.parametrize(
    "build",
    [
        lambda: TransferFunction((), (1,)),
        lambda: TransferFunction((1,), ()),
        lambda: TransferFunction((1,), (0, 1)),
        lambda: TransferFunction((math.nan,), (1,)),
        lambda: TransferFunction.of_zeros([], [math.inf], 1),
        lambda: TransferFunction.of_zeros([1 + 2j], [], 1),
        lambda: TransferFunction.of_zeros([], [1 - 2j, 1 - 2j, 1 + 2j], 1),
        lambda: TransferFunction.of_zeros([], [1 - 2j, 1 + 2.001j], 1),
        lambda: pade_delay(1, 0),
        lambda: pade_hold(1, 6),
        lambda: pade_delay(-1, 1),
    ],
)
def test_bad_input_gives_one_line(build):
    with pytest.raises(ValueError) as error:
        build()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("order", range(1, 6))
def test_pade_error_falls_with_its_order(order):
    duration = 0.02
    x = np.geomspace(0.6, 1.2, 7) * (1 if order < 4 else 2.5)  # ω T; clear of rounding, small enough to be leading
    s = 1j * x / duration
    delay, hold = pade_delay(duration, order), pade_hold(duration, order)
    error = abs(delay.at(s) - np.exp(-s * duration))
    assert_allclose(np.polyfit(np.log(x), np.log(error), 1)[0], 2 * order + 1, atol=0.35)
    assert_allclose(abs(delay.at(1j * np.geomspace(1, 1e4))), 1, rtol=1e-14)  # all-pass
    hold_error = abs(hold.at(s) - (1 - np.exp(-1j * x)) / (1j * x))
    assert_allclose(np.polyfit(np.log(x), np.log(hold_error), 1)[0], 2 * order, atol=0.35)
    assert_allclose(hold.at(s) * s * duration, 1 - delay.at(s), rtol=1e-12)
    assert hold.dc_gain() == 1 and delay.stable() and hold.stable()
    assert hold.at(1e-200) == 1  # no factor s left to cancel


def test_first_order_is_the_papers():
    assert pade_delay(0.5, 1) == TransferFunction((-0.5, 2), (0.5, 2))
    assert pade_hold(0.5, 1) == TransferFunction((2,), (0.5, 2))


def test_sits_robot():
    printed = TransferFunction.of_zeros([ZERO], [POLE, POLE.conjugate()], 326.4756)
    assert_allclose(printed.dc_gain(), 1, atol=5e-7)
    assert_allclose(np.degrees(np.angle(printed.at(2j * math.pi * 10))), -2.870, atol=5e-4)
    natural = math.sqrt(STIFFNESS / MASS)
    assert_allclose(-np.angle(printed.at(1j * natural)) / natural, 0.5526e-3, atol=5e-8)
    frequency = np.linspace(1, 100, 9901)  # Hz
    decibel = 20 * np.log10(abs(printed.at(2j * math.pi * frequency)))
    assert_allclose(decibel.max(), 1.64, atol=0.005)
    assert_allclose(frequency[decibel.argmax()], 31, atol=0.1)


def test_sits_growth_of_single_delays():
    """Delay alone 0.0399952, hold alone 0.0399872 (1/s) at first order; the exact values from the third on."""
    for order, delayed, held in ((1, 0.0399952, 0.0399872), (3, 0.0399957, 0.0399936), (5, 0.0399957, 0.0399936)):
        assert_allclose(slow(loop_polynomial(MASS, STIFFNESS, 0, DELAY, 0, None, order)).real, delayed, atol=6e-8)
        assert_allclose(slow(loop_polynomial(MASS, STIFFNESS, 0, 0, HOLD, None, order)).real, held, atol=6e-8)
    assert_allclose(slow(loop_polynomial(MASS, STIFFNESS, 0, 0, 0, ROBOT, 1)).real, 0.011063, atol=6e-7)
    undelayed = loop_polynomial(MASS, STIFFNESS, 50, 0, 0, None, 4)
    assert undelayed.constant == (500, 50, 2e4) and undelayed.per_gain == (1, 0)


def test_sits_loop():
    undamped = loop_polynomial(MASS, STIFFNESS, 0, DELAY, HOLD, ROBOT, 1)
    assert_allclose(slow(undamped).real, 0.091072, atol=6e-7)
    ((low, high),) = undamped.stabilising_gains()
    assert_allclose(low, 91.0490, atol=1e-4)
    assert_allclose(high, 230182, atol=0.6)
    damped = loop_polynomial(MASS, STIFFNESS, 50, DELAY, HOLD, ROBOT, 1)
    assert_allclose(slow(damped), 0.041092 + 6.32582j, atol=5e-6)
    assert routh_array(damped.at(0)).sign_changes == 2
    assert routh_array(damped.at(110.86)).stable and not routh_array(damped.at(-110.86)).stable  # positive gains damp


def test_first_order_is_eq_37_corrected():
    rng = np.random.default_rng(4)
    for _ in range(20):
        m, k, b, gain, tau, hold = 10 ** rng.uniform([1, 3, 0, 0, -3, -3], [4, 5, 3, 3, -1, -1])
        z, p, kr = -(10 ** rng.uniform(1, 3)), 10 ** rng.uniform(1, 3) * (-1 + 0.7j), 10 ** rng.uniform(1, 3)
        pp, ps = abs(p) ** 2, 2 * p.real
        expected = [
            m * hold * tau,
            m * (2 * (tau + hold) - hold * tau * ps),
            m * (4 + hold * tau * pp - 2 * (tau + hold) * ps),
            m * (2 * (tau + hold) * pp - 4 * ps) - 2 * kr * tau * b + 2 * gain * kr * tau,
            4 * m * pp + 2 * kr * ((2 + tau * z) * b - tau * k) + 2 * gain * kr * (2 - tau * z),
            2 * kr * ((2 + tau * z) * k - 2 * z * b) - 4 * gain * kr * z,
            -4 * kr * k * z,
        ]
        robot = TransferFunction.of_zeros([z], [p, p.conjugate()], kr)
        found = loop_polynomial(m, k, b, tau, hold, robot, 1).at(gain)
        assert_allclose(found / found[0], np.array(expected) / expected[0], rtol=1e-9)


def random_loop(rng):
    """Arguments of `loop_polynomial` without the order, a strictly proper robot among them."""
    m, k, b, tau, hold = 10 ** rng.uniform([1, 3, 0, -3, -3], [4, 5, 3, -1.5, -1.5])
    pole = 10 ** rng.uniform(1.5, 3) * np.exp(1j * rng.uniform(1.7, 3))
    zero = -(10 ** rng.uniform(2, 3))
    robot = TransferFunction.of_zeros([zero], [pole, pole.conjugate()], abs(pole) ** 2 / -zero)
    return m, k, b, tau, hold, robot


@pytest.mark.parametrize("order", range(1, 6))
def test_roots_are_the_eigenvalues_of_the_loop_in_state_space(order):
    rng = np.random.default_rng(order)
    for _ in range(10):
        m, k, b, tau, hold, robot = random_loop(rng)
        gain = rng.uniform(-1000, 1000)
        held, (ad, bd, cd, dd) = pade_hold(hold, order), pade_delay(tau, order).state_space()
        path = TransferFunction(
            np.convolve(robot.numerator, held.numerator), np.convolve(robot.denominator, held.denominator)
        )
        ap, bp, cp, _ = path.state_space()
        n, d = len(ap), len(ad)
        # states: X, Ẋ, path, delay; each row a function of them
        position, speed, path_rows, delay_rows = np.split(np.eye(2 + n + d), [1, 2, 2 + n])
        moved, moved_rate = cp @ path_rows, cp @ (ap @ path_rows + bp @ position)
        force = -k * moved - b * moved_rate
        rows = [
            speed,
            (cd @ delay_rows + dd @ force - gain * moved_rate) / m,
            ap @ path_rows + bp @ position,
            ad @ delay_rows + bd @ force,
        ]
        expected = np.linalg.eigvals(np.concatenate(rows))
        found = loop_polynomial(m, k, b, tau, hold, robot, order).roots(gain)
        assert len(found) == len(expected)
        for root in expected:
            assert abs(found - root).min() < 1e-4 * abs(root)  # fast roots lie close together and are sensitive
        assert_allclose(min(abs(found)), min(abs(expected)), rtol=1e-10)


def test_fifth_order_solves_the_loop_with_the_true_delay_and_hold():
    rng = np.random.default_rng(6)
    for _ in range(20):
        m, k, b, tau, hold, robot = random_loop(rng)
        gain = rng.uniform(0, 500)
        s = slow(loop_polynomial(m, k, b, tau, hold, robot, 5), gain)
        if abs(s) * max(tau, hold) > 1:
            continue
        moved = robot.at(s) * (1 - np.exp(-s * hold)) / (s * hold)
        inertia = m * s**2
        assert abs(inertia + ((k + b * s) * np.exp(-s * tau) + gain * s) * moved) < 1e-8 * abs(inertia)


def stable_by_roots(loop, gain):
    return (loop.roots(gain).real < 0).all()


@pytest.mark.parametrize("order", range(1, 6))
def test_stabilising_gains_of_loops(order):
    rng = np.random.default_rng(order)
    found = 0
    for _ in range(12):
        loop = loop_polynomial(*random_loop(rng), order)
        intervals = loop.stabilising_gains()
        ends = [end for interval in intervals for end in interval]
        for gain in ends:
            roots = loop.roots(gain)
            assert min(abs(roots.real) / abs(roots)) < 1e-7
        for gain in np.concatenate(
            [rng.uniform(-2, 2, 10) * 10 ** rng.uniform(0, 6, 10), np.outer(ends, [0.999, 1.001]).ravel()]
        ):
            inside = any(low < gain < high for low, high in intervals)
            assert stable_by_roots(loop, gain) == inside
        found += len(intervals)
    assert found > 3


def test_stabilising_gains_of_random_polynomials():
    rng = np.random.default_rng(8)
    counts = []
    for _ in range(200):
        stable = product([(1, rng.uniform(0.1, 2)), (1, rng.uniform(0.01, 1), rng.uniform(0.5, 4)), (1, 0.1, 9.0)])
        loop = LoopPolynomial(tuple(stable), tuple(rng.normal(size=rng.integers(1, 8))))
        intervals = loop.stabilising_gains()
        if len(loop.per_gain) < len(loop.constant):
            assert any(low < 0 < high for low, high in intervals)
        for gain in rng.normal(size=20) * 10 ** rng.uniform(-1, 2, 20):
            assert stable_by_roots(loop, gain) == any(low < gain < high for low, high in intervals)
        counts.append(len(intervals))
    assert max(counts) > 1 and any(count == 1 for count in counts)


def test_stabilising_gains_in_closed_form():
    infinite = math.inf
    cases = [
        ((1, 1, 1), (1,), [(-1, infinite)]),  # through zero
        ((1, 2, 1), (1, 0, 0), [(-1, infinite)]),  # through infinity
        ((1, 0, 4), (1, 0), [(0, infinite)]),  # through ±2i
        ((1, 3, 2, 0), (1,), [(0, 6)]),  # 1 + g/(s (s + 1)(s + 2))
        ((1, 0, 4), (1,), []),
        ((1, 0), (0,), []),
        ((1, 1), (0,), [(-infinite, infinite)]),
    ]
    for constant, per_gain, expected in cases:
        found = LoopPolynomial(constant, per_gain).stabilising_gains()
        assert_allclose(np.array(found).ravel(), np.array(expected).ravel(), atol=1e-12)


def test_zeros_on_the_axis_are_no_limits():
    """s³ + 2s² + 3s + 1 + g (s² + z): Routh gives 5 + (3 − z) g > 0 and 1 + z g > 0; roots tend to ±√z i as g grows."""
    for z in np.linspace(0.3, 2.9, 14):
        ((low, high),) = LoopPolynomial((1, 2, 3, 1), (1, 0, z)).stabilising_gains()
        assert_allclose(low, max(-1 / z, -5 / (3 - z)), rtol=1e-12)
        assert high == math.inf
