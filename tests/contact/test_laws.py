"""Contact laws against closed forms: spring and dashpot, Hertz, Hunt–Crossley, force over stroke."""

from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from law_bounces import DURATION, ONSET, SMOOTH, bounce, reduced
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gamma

from dockdyn.contact.laws.hertz import Hertz
from dockdyn.contact.laws.hunt_crossley import HuntCrossley, damping_for
from dockdyn.contact.laws.spring_dashpot import SpringDashpot

# --- spring and dashpot ----------------------------------------------------------------------------------------------

DASHPOTS = [  # masses (kg), speed (m/s), stiffness (N/m), damping ratio
    ((420.0, 1700.0), 0.031, 5200.0, 0.0),
    ((420.0, 1700.0), 0.031, 5200.0, 0.12),
    ((2600.0, 310.0), 0.072, 2900.0, 0.37),
    ((800.0, 800.0), 0.018, 7400.0, 0.64),
    ((800.0, 800.0), 0.018, 7400.0, 1.0),
    ((150.0, 4000.0), 0.055, 3300.0, 1.7),
]


def dashpot_motion(v, omega, zeta, t):
    """ḋ (m/s) and −d̈ (m/s²) of d̈ + 2 ζ ω ḋ + ω² d = 0 from d = 0, ḋ = v; any damping ratio."""
    if zeta == 1:
        fade = v * np.exp(-omega * t)
        return fade * (1 - omega * t), fade * omega * (2 - omega * t)
    root = np.sqrt(complex(zeta**2 - 1)) * omega
    fast, slow = -zeta * omega - root, -zeta * omega + root
    a, b = v * np.exp(slow * t) / (slow - fast), v * np.exp(fast * t) / (slow - fast)
    return float(np.real(slow * a - fast * b)), float(np.real(fast**2 * b - slow**2 * a))


@pytest.mark.full
@pytest.mark.parametrize("adhesion", [False, True])
def test_spring_and_dashpot(run, adhesion):
    for masses, speed, stiffness, zeta in DASHPOTS:
        m = reduced(masses)
        omega = np.sqrt(stiffness / m)
        damping = 2 * zeta * m * omega
        law = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping, "adhesion": adhesion}
        contact, restitution = bounce(run, masses, speed, law)

        # the clamp ends the force when k d = −b ḋ, at 2 arccos(ζ)/ω_d; what is left of d goes at constant speed in b/k
        if zeta < 1:
            end_of_force = 2 * np.arccos(zeta) / (omega * np.sqrt(1 - zeta**2))
        elif zeta == 1:
            end_of_force = 2 / omega
        else:
            end_of_force = 2 * np.arccosh(zeta) / (omega * np.sqrt(zeta**2 - 1))
        lasts, e = end_of_force + damping / stiffness, np.exp(-zeta * omega * end_of_force)
        if adhesion and zeta < 1:
            # the dashpot pulls until d = 0, half a period after onset
            lasts = np.pi / (omega * np.sqrt(1 - zeta**2))
            e = np.exp(-zeta * omega * lasts)
        if adhesion and zeta >= 1:  # d never returns to zero, and the bodies stay together
            assert contact["release_s"] is None
            left, _ = dashpot_motion(speed, omega, zeta, DURATION - ONSET)
            assert restitution == pytest.approx(-left / speed, rel=SMOOTH, abs=SMOOTH)
        else:
            assert contact["release_s"] - contact["onset_s"] == pytest.approx(lasts, rel=SMOOTH)
            assert restitution == pytest.approx(e, rel=SMOOTH)
            assert contact["impulse_N_s"] == pytest.approx(m * speed * (1 + e), rel=SMOOTH)

        # f' = 0 at tan(ω_d t) = √(1−ζ²)(1−4ζ²)/(ζ(3−4ζ²)); from ζ = 1/2 on the force only falls
        turn = np.sqrt(1 - zeta**2) * omega if zeta < 1 else 0.0
        peak_time = (
            np.arctan2(np.sqrt(1 - zeta**2) * (1 - 4 * zeta**2), zeta * (3 - 4 * zeta**2)) / turn if zeta < 0.5 else 0
        )
        _, deceleration = dashpot_motion(speed, omega, zeta, peak_time)
        assert contact["peak_force_N"] == pytest.approx(m * deceleration, rel=SMOOTH)
        # the time is read from a cubic's slope: in error by ω² dt³ / 125 at steps of 5 ms, with a factor of three
        assert contact["peak_time_s"] - contact["onset_s"] == pytest.approx(peak_time, abs=3 * omega**2 * 1e-9)


# --- Hertz and Hunt–Crossley -----------------------------------------------------------------------------------------

# A force that starts as d^n is smooth only n times: the first step dt of a contact that lasts T errs by
# 0.003 (3 dt / T)^(n+1), relative (Simpson's rule on τ^1.5). For n = 1.5, dt = 5 ms and T = 0.5 s and more that is below
# 1e-6. The impulse is summed from cubics through the force at the mesh points, whose error there is ten times larger.
POWER = 1e-6


@pytest.mark.full
@pytest.mark.parametrize("exponent", [1.5, 2.25])
def test_hertz(run, exponent):
    for masses, speed, stiffness in [((640.0, 1900.0), 0.04, 2.1e4), ((3000.0, 900.0), 0.09, 3.3e4)]:
        m = reduced(masses)
        contact, restitution = bounce(
            run, masses, speed, {"law": "hertz", "stiffness": stiffness, "exponent": exponent}, duration=9.0
        )
        power = exponent + 1
        deepest = (power * m * speed**2 / (2 * stiffness)) ** (1 / power)
        # T = 2 ∫ dd / √(v² − 2 k dᵖ / (p m)) = 2 d_max / v · √π Γ(1 + 1/p) / Γ(1/2 + 1/p)
        lasts = 2 * deepest / speed * np.sqrt(np.pi) * gamma(1 + 1 / power) / gamma(0.5 + 1 / power)
        assert lasts > 0.5
        assert contact["peak_force_N"] == pytest.approx(stiffness * deepest**exponent, rel=POWER)
        assert contact["release_s"] - contact["onset_s"] == pytest.approx(lasts, rel=POWER)
        assert restitution == pytest.approx(1, rel=POWER)
        if exponent == 1.5:  # the number in the textbooks
            assert lasts == pytest.approx(2.9433 * deepest / speed, rel=2e-5)


@pytest.mark.full
def test_hunt_crossley_gives_the_restitution_that_is_asked_for(run):
    for asked in (0.01, 0.025, 0.15, 0.45, 0.8, 0.97, 1.0):
        for masses, speed, exponent in [((500.0, 2200.0), 0.05, 1.5), ((3000.0, 700.0), 0.02, 2.0)]:
            law = {"law": "hunt-crossley", "stiffness": 4e4, "exponent": exponent, "restitution": asked, "speed": speed}
            contact, restitution = bounce(run, masses, speed, law, duration=9.0)
            assert restitution == pytest.approx(asked, rel=POWER)
            assert contact["impulse_N_s"] == pytest.approx(reduced(masses) * speed * (1 + asked), rel=10 * POWER)


def exact_bounce(restitution):
    """y = c v of a restitution, in eighty digits: y − ln(1 + y) = −e y − ln(1 − e y) = z − e y, halved in z."""
    with localcontext() as context:
        context.prec = 80
        e, low = Decimal(restitution), Decimal(0)
        high = (1 + e) / e
        for _ in range(260):
            z = (low + high) / 2
            y = (1 - (-z).exp()) / e
            low, high = (z, high) if y - (1 + y).ln() > z - e * y else (low, z)
        return float((1 - (-low).exp()) / e)


@pytest.mark.full_cases("1e-09", "0.001")
@pytest.mark.parametrize("restitution", [1e-9, 1e-3, 0.02, 0.025, 0.1, 0.5, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6])
def test_damping_of_a_restitution_is_that_of_the_energy_balance(restitution):
    # e itself, a float, tells 1 − e, to which y is proportional near 1, to 1e-16 of 1
    allowed = 1e-15 + 4e-16 / (1 - restitution)
    assert float(damping_for(restitution, 0.5)) == pytest.approx(exact_bounce(restitution) / 0.5, rel=allowed)
    step = 1e-4 * min(restitution, 1 - restitution)
    slope = (exact_bounce(restitution + step) - exact_bounce(restitution - step)) / (2 * step)
    assert float(jax.grad(damping_for)(restitution, 1.0)) == pytest.approx(slope, rel=1e-7)


@pytest.mark.full
def test_hunt_crossley_of_a_given_damping(run):
    """Dividing m v dv = −k dⁿ (1 + c v) dd by (1 + c v) integrates both ways: G(c v) = G(−c e v), G(y) = y − ln(1 + y)."""

    def potential(y):
        return y - np.log1p(y)

    for damping, masses, speed, exponent in [
        (0.8, (500.0, 2200.0), 0.05, 1.5),
        (22.0, (900.0, 400.0), 0.03, 1.3),
        (9.0, (900.0, 400.0), 0.11, 2.0),
    ]:
        y = damping * speed
        expected = brentq(lambda e, y=y: potential(y) - potential(-e * y), 1e-9, min(1, (1 - 1e-12) / y), xtol=1e-15)
        law = {"law": "hunt-crossley", "stiffness": 4e4, "exponent": exponent, "damping": damping}
        _, restitution = bounce(run, masses, speed, law, duration=9.0)
        assert restitution == pytest.approx(expected, rel=3 * POWER if exponent < 1.5 else POWER)


# --- force over stroke -----------------------------------------------------------------------------------------------

# The kinks of a table are not located. Where the slope changes by Δk inside a step, Simpson's rule errs by up to
# Δk v dt² / 24, hence the speed, relative, by Δk dt² / (24 m): at dt = 5 ms and the numbers below 4e-6 for all four
# crossings together (two in, two out), and the peak force and the duration likewise.
KINKED = 1e-5


@pytest.mark.full
def test_force_stroke_bottoms(run):
    """Preload, two slopes, then the stop: by hand, 2.15 J to the end of the stroke at 130 N, then 5000 N/m."""
    law = {
        "law": "force-stroke",
        "stroke": [0.0, 0.012, 0.03],
        "force": [0.0, 30.0, 110.0],
        "preload": 20.0,
        "bottoming_stiffness": 5000.0,
    }
    masses, speed = (1300.0, 1000.0), 0.1
    m = reduced(masses)
    # ∫ f dd = 20·0.03 + 30·0.012/2 + (30 + 110)/2·0.018 = 0.6 + 0.18 + 1.26 = 2.04 J
    left = m * speed**2 / 2 - 2.04
    assert left > 0.5
    beyond = (-130 + np.sqrt(130**2 + 2 * 5000 * left)) / 5000
    contact, restitution = bounce(run, masses, speed, law)
    assert contact["peak_force_N"] == pytest.approx(130 + 5000 * beyond, rel=KINKED)
    assert restitution == pytest.approx(1, rel=KINKED)

    def work(d):
        table = np.interp(d, [0, 0.012, 0.03], [0, 30, 110])
        first = 20 * d + (d * table / 2 if d <= 0.012 else 0.18 + (30 + table) / 2 * (min(d, 0.03) - 0.012))
        return first + (110 * (d - 0.03) + 2500 * (d - 0.03) ** 2 if d > 0.03 else 0)

    # the time to the deepest point: with d = d_max (1 − s²) the integrand stays finite at the end
    deepest = 0.03 + beyond
    half, _ = quad(
        lambda s: 2 * s * deepest / np.sqrt(speed**2 - 2 * work(deepest * (1 - s**2)) / m),
        0,
        1,
        points=[np.sqrt(1 - 0.012 / deepest), np.sqrt(1 - 0.03 / deepest)],
        epsrel=1e-11,
    )
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(2 * half, rel=KINKED)


# The blending of the hysteresis is smooth, and over its width the bodies' acceleration takes w m / f = 10 ms; the step
# shrinks to follow it.
BLENDED = 1e-7


@pytest.mark.full
def test_force_stroke_loses_by_hysteresis_and_damping(run):
    """Flat curves: f = P + U or D, blended by ḋ/√(ḋ² + w²), + b ḋ. Without d in it, m v dv = −f(v) dd integrates."""
    up, down, preload, damping, transition = 70.0, 25.0, 12.0, 160.0, 2e-3
    law = {
        "law": "force-stroke",
        "stroke": [0.0, 0.5],
        "force": [up, up],
        "unloading_force": [down, down],
        "preload": preload,
        "damping": damping,
        "transition_rate": transition,
        "bottoming_stiffness": 0.0,
    }
    masses, speed = (700.0, 1100.0), 0.08
    m = reduced(masses)

    def force(v):
        return preload + (up + down) / 2 + (up - down) / 2 * v / np.hypot(v, transition) + damping * v

    def travelled(low, high, weight):
        middle = [0.0] if low < 0 < high else None
        return quad(lambda v: m * weight(v) / force(v), low, high, points=middle, epsabs=1e-15, epsrel=1e-12)[0]

    leaving = brentq(lambda w: travelled(-w, speed, lambda v: v), 1e-3, speed, xtol=1e-15)
    contact, restitution = bounce(run, masses, speed, law)
    assert restitution == pytest.approx(leaving / speed, rel=BLENDED)
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(
        travelled(-leaving, speed, lambda v: 1.0), rel=BLENDED
    )
    assert contact["peak_force_N"] == pytest.approx(force(speed), rel=BLENDED)
    # with curves this far apart the loss is their area, less what the blending and damping change: no small effect
    assert 1 - restitution**2 > 0.5


# --- what is stored --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.3])
def test_what_is_stored_is_the_work_of_the_force_at_rest(exponent):
    stiffness, damping = jnp.asarray(4e5), jnp.asarray(30.0)
    laws = [Hertz(stiffness, jnp.asarray(exponent)), HuntCrossley(stiffness, jnp.asarray(exponent), damping)]
    for law in [*laws, SpringDashpot(stiffness, damping, adhesion=True)]:
        for depth in (0.0, 2e-6, 3e-3):
            work = quad(lambda d, law=law: float(law.force(jnp.asarray(d), jnp.zeros(()))), 0, depth, epsabs=1e-13)[0]
            assert float(law.stored_energy(jnp.asarray(depth))) == pytest.approx(work, rel=1e-9, abs=1e-15)
