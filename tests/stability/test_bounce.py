"""A mass on a spring and dashpot whose force comes late: critical delays, roots, and the bounce off an undamped one."""

import math

import numpy as np
import pytest
from bounce_series import exact_restitution
from numpy.testing import assert_allclose

from dockdyn.stability import critical_delay, crossing_frequency, crossing_velocity, rightmost_roots, stable_windows
from dockdyn.stability.bounce import apparent_restitution

# --- closed forms ----------------------------------------------------------------------------------------------------

# Damping, stiffness, effective mass and critical delay; the page's masses have nine digits or are whole
M15 = 220.183486  # kg, l0 = 1.5 m
PAGE = [
    *[
        (b, 1000, 375, h)
        for b, h in ((50, 0.049889), (100, 0.099114), (200, 0.192968), (400, 0.345968), (800, 0.453905))
    ],
    *[
        (b, 1000, M15, h)
        for b, h in ((50, 0.049811), (100, 0.098493), (200, 0.188127), (400, 0.312062), (800, 0.328243))
    ],
    *[(200, k, 375, h) for k, h in ((250, 0.691937), (500, 0.372220), (2000, 0.098232), (4000, 0.049557))],
    *[(200, k, M15, h) for k, h in ((250, 0.624124), (500, 0.353586), (2000, 0.097001), (4000, 0.049247))],
    (200, 1000, 600, 0.195586),
    (800, 1000, 600, 0.556377),
    (200, 1000, 240, 0.189088),
    (800, 1000, 240, 0.348168),
    (200, 1000, 96.1657, 0.173623),
]


def oscillator(damping, stiffness, mass):
    """A₀ and A₁ of m ẍ = −b ẋ(t − h) − k x(t − h)."""
    return np.array([[[0, 1], [0, 0]], [[0, 0], [-stiffness / mass, -damping / mass]]])


def polished(s, damping, stiffness, mass, delay):
    """The root of m s² + (b s + k) exp(−s h) near s, by Newton's method."""
    for _ in range(50):
        late = np.exp(-s * delay)
        force = damping * s + stiffness
        s -= (mass * s**2 + force * late) / (2 * mass * s + (damping - delay * force) * late)
    return s


@pytest.mark.full
def test_critical_delays_of_the_page():
    damping, stiffness, mass, known = np.array(PAGE).T
    assert_allclose(critical_delay(damping, stiffness, mass), known, rtol=0, atol=1e-6)
    for *numbers, h in PAGE:
        assert_allclose(stable_windows(oscillator(*numbers), [0.0]).critical_delay, h, rtol=0, atol=1e-6)


def test_roots_of_the_page():
    assert_allclose(crossing_frequency(200, 1000, 375), 1.677104, rtol=0, atol=1e-6)
    found = rightmost_roots(oscillator(200, 1000, 375), np.array([[0.016], [0.2]]), count=2)
    for pair, known in zip(found, (-0.247277 + 1.620998j, 0.010409 + 1.676883j), strict=True):
        assert_allclose(pair[np.argmax(pair.imag)], known, rtol=0, atol=1e-6)
        assert_allclose(pair[np.argmin(pair.imag)], known.conjugate(), rtol=0, atol=1e-6)
    table_1 = rightmost_roots(oscillator(200, 1000, 96.1657), [0.1], count=1)[0]
    assert_allclose([table_1.real, abs(table_1.imag)], [-0.55448, 3.47875], rtol=0, atol=1e-5)


def some_oscillators(number, seed):
    rng = np.random.default_rng(seed)
    mass, frequency, ratio = (
        10 ** rng.uniform(0, 4, number),
        10 ** rng.uniform(-1, 2, number),
        rng.uniform(0.01, 2, number),
    )
    return np.column_stack([2 * ratio * frequency * mass, mass * frequency**2, mass])


@pytest.mark.full
def test_closed_form_and_windows_agree():
    for damping, stiffness, mass in some_oscillators(12, seed=7):
        windows = stable_windows(oscillator(damping, stiffness, mass), [0.0])
        h, w = critical_delay(damping, stiffness, mass), crossing_frequency(damping, stiffness, mass)
        assert windows.stable == [(0, windows.critical_delay)]  # never stable again
        assert_allclose(windows.critical_delay, h, rtol=1e-10)
        assert_allclose(windows.crossing_frequency, w, rtol=1e-10)
        assert_allclose(polished(1j * w, damping, stiffness, mass, h), 1j * w, rtol=1e-10)


def test_roots_cross_with_the_crossing_velocity():
    numbers = some_oscillators(50, seed=8)
    h, w, speed = (np.asarray(f(*numbers.T)) for f in (critical_delay, crossing_frequency, crossing_velocity))
    assert (speed > 0).all()
    for row, delay, frequency, known in zip(numbers, h, w, speed, strict=True):
        step = 1e-4 * delay
        before, after = (polished(1j * frequency, *row, delay + sign * step).real for sign in (-1, 1))
        assert before < 0 < after
        assert_allclose((after - before) / (2 * step), known, rtol=1e-6)


def test_an_undamped_spring_is_never_stable():
    assert critical_delay(0, 1000, 375) == 0
    windows = stable_windows(oscillator(0, 1000, 375), [0.0])
    assert windows.stable == []
    assert windows.critical_delay == 0


@pytest.mark.parametrize("ask", [critical_delay, crossing_frequency, crossing_velocity])
@pytest.mark.parametrize(
    ("numbers", "words"),
    [((-1, 1, 1), "damping"), ((1, 0, 1), "stiffness"), ((1, 1, -1), "mass"), ((np.nan, 1, 1), "damping")],
)
def test_what_is_no_spring_and_dashpot(ask, numbers, words):
    with pytest.raises(ValueError, match=words):
        ask(*numbers)


@pytest.mark.parametrize("late", [0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95])
def test_restitution_is_that_of_the_exact_series(late):
    """`late` is the delay in radians of the undamped motion; mass and stiffness only set the unit of time."""
    known = exact_restitution(late)
    assert known > 1
    rng = np.random.default_rng(1)
    for mass, stiffness in 10 ** rng.uniform(-1, 5, (3, 2)):
        found = apparent_restitution(late / math.sqrt(stiffness / mass), stiffness, mass)
        assert_allclose(found, known, rtol=1e-9)


def test_other_roots_matter_little_even_at_long_delays():
    """At one radian and beyond, the roots that the answer leaves out have not quite died away at the release."""
    for late in (1.0, 1.1, 1.2):
        assert_allclose(apparent_restitution(late, 1.0, 1.0), exact_restitution(late), rtol=1e-7)


def test_any_delay_puts_energy_in():
    assert apparent_restitution(0.0, 1000.0, 375.0) == 1
    for late in (1e-30, 1e-18, 0.9e-9, 1.1e-9):  # the first order, on both sides of where it is all there is
        assert_allclose(apparent_restitution(late, 1.0, 1.0), 1 + math.pi / 2 * late, rtol=1e-15)
    delays = np.geomspace(1e-7, 1.0, 25)
    found = [apparent_restitution(delay, 1.0, 1.0) for delay in delays]
    assert (np.diff([1.0, *found]) > 0).all()
    # short delays: half a period π/ω at the growth rate h ω²/2
    assert_allclose(found[0] - 1, np.pi / 2 * delays[0], rtol=1e-5)


MASSES, STIFFNESS, SPEED = (300.0, 700.0), 2000.0, 0.05  # kg, N/m, m/s
REDUCED = MASSES[0] * MASSES[1] / sum(MASSES)


def head_on(delay):
    """A point meets a plane along the line of both centres of mass."""
    body = {"inertia": [80, 90, 100]}
    plane = {"shape": "plane", "point": [0.5, 0, 0], "normal": [1, 0, 0]}
    normal = {"law": "spring-dashpot", "stiffness": STIFFNESS}
    return {
        "duration": 4.0,
        "chaser": body
        | {
            "mass": MASSES[0],
            "position": [1.51, 0, 0],
            "velocity": [-SPEED + 0.02, 0.01, 0],
            "attitude": [0, 0, 0, 1],
            "feature": {"tip": {"position": [1, 0, 0]}},
        },
        "target": body | {"mass": MASSES[1], "velocity": [0.02, 0.01, 0], "surface": {"wall": plane}},
        "contact": {"tip": {"between": ["tip", "wall"], "normal": normal}},
        "loop": {"delay": delay},
    }


@pytest.mark.full
@pytest.mark.parametrize("late", [0.03, 0.3, 0.8])
def test_a_simulated_bounce_shows_it(run, late):
    delay = late / math.sqrt(STIFFNESS / REDUCED)
    data = run(head_on(delay))
    assert data.attrs["status"] == "finished"
    apart = np.diff(data.velocity.values[-1, ::-1, 0]).item()  # m/s, chaser from target
    assert_allclose(apart / SPEED, apparent_restitution(delay, STIFFNESS, REDUCED), rtol=1e-6)
    gained = 0.5 * REDUCED * (apart**2 - SPEED**2)
    assert_allclose(data.work.values[-1], gained, rtol=1e-6)
