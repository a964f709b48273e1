"""Contact laws against closed forms: one body meets a plane head on, and everything is known beforehand.

Two bodies of reduced mass m close at speed v along a line through both centres of mass, so depth d obeys m d̈ = −f(d, ḋ).

The integrator keeps the relative error of a step below 1e-10 where the force is smooth, and a contact takes a hundred steps
or more: 1e-8 is asked for. Laws that start as d^1.5 or have kinks say so beside their test.
"""

from __future__ import annotations

import textwrap
from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import gamma

import dockdyn
from dockdyn.contact.laws.compliance_device import ComplianceDevice
from dockdyn.contact.laws.hunt_crossley import damping_for
from dockdyn.mechanics.vector import Vector

SMOOTH = 1e-8  # relative
ONSET = 0.05  # s
DURATION = 3.0  # s


def scene(masses, speed, normal_law, friction=None, duration=DURATION):
    """A point of the chaser meets a plane of the target after ONSET, along a line that no axis shares."""
    line = np.array([0.48, -0.6, 0.64])
    turns = [Rotation.from_rotvec([0.3, -1.1, 0.7]), Rotation.from_rotvec([-0.9, 0.2, 1.6])]
    attitudes = [turn.as_quat(scalar_first=True) for turn in turns]
    far, ahead, origin = 0.9, 0.7, np.array([0.3, 0.1, -0.2])  # m
    drift = np.array([0.02, -0.01, 0.03])  # m/s
    contact = {"feature": "tip", "surface": "wall", "normal": normal_law}
    if friction is not None:
        contact["friction"] = friction
    return {
        "schema": 1,
        "kind": "free-flight",
        "duration": duration,
        "chaser": {
            "mass": masses[0],
            "inertia": [80, 90, 100],
            "position": origin + line * (far + ahead + speed * ONSET),
            "velocity": drift - 0.7 * speed * line,
            "attitude": attitudes[0],
            "feature": [{"name": "tip", "position": turns[0].inv().apply(-far * line)}],
        },
        "target": {
            "mass": masses[1],
            "inertia": [200, 150, 180],
            "position": origin,
            "velocity": drift + 0.3 * speed * line,
            "attitude": attitudes[1],
            "surface": [
                {
                    "name": "wall",
                    "shape": "plane",
                    "point": turns[1].inv().apply(ahead * line),
                    "normal": turns[1].inv().apply(line),
                }
            ],
        },
        "contact": [contact],
        "output": {"interval": 0.1},
    }, line


def bounce(run, masses, speed, normal_law, duration=DURATION):
    """The summary's only contact, and the speed of separation at the end over the closing speed."""
    content, line = scene(masses, speed, normal_law, duration=duration)
    dataset = run(content)
    assert dataset.attrs["finished"], dataset.attrs["status"]
    (contact,) = dockdyn.summarise(dataset)["contacts"]
    assert contact["onset_s"] == pytest.approx(ONSET, rel=1e-12)
    assert contact["approach_speed_m_s"] == pytest.approx(speed, rel=1e-12)
    assert np.abs(dataset.rate.values).max() < 1e-12
    velocity = dataset.velocity.values[-1]
    return contact, float((velocity[0] - velocity[1]) @ line) / speed


def reduced(masses):
    return masses[0] * masses[1] / sum(masses)


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
        assert contact["peak_normal_force_N"] == pytest.approx(m * deceleration, rel=SMOOTH)
        # the time is read from a cubic's slope: in error by ω² dt³ / 125 at steps of 5 ms, with a factor of three
        assert contact["peak_time_s"] - contact["onset_s"] == pytest.approx(peak_time, abs=3 * omega**2 * 1e-9)


# --- Hertz and Hunt–Crossley -----------------------------------------------------------------------------------------

# A force that starts as d^n is smooth only n times: the first step dt of a contact that lasts T errs by
# 0.003 (3 dt / T)^(n+1), relative (Simpson's rule on τ^1.5). For n = 1.5, dt = 5 ms and T = 0.5 s and more that is below
# 1e-6. The impulse is summed from cubics through the force at the mesh points, whose error there is ten times larger.
POWER = 1e-6


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
        assert contact["peak_normal_force_N"] == pytest.approx(stiffness * deepest**exponent, rel=POWER)
        assert contact["release_s"] - contact["onset_s"] == pytest.approx(lasts, rel=POWER)
        assert restitution == pytest.approx(1, rel=POWER)
        if exponent == 1.5:  # the number in the textbooks
            assert lasts == pytest.approx(2.9433 * deepest / speed, rel=2e-5)


def test_hunt_crossley_gives_the_restitution_that_is_asked_for(run):
    for asked in (0.01, 0.025, 0.15, 0.45, 0.8, 0.97, 1.0):
        for masses, speed, exponent in [((500.0, 2200.0), 0.05, 1.5), ((3000.0, 700.0), 0.02, 2.0)]:
            law = {
                "law": "hunt-crossley",
                "stiffness": 4e4,
                "exponent": exponent,
                "restitution": asked,
                "speed": speed,
            }
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


@pytest.mark.parametrize("restitution", [1e-9, 1e-3, 0.02, 0.025, 0.1, 0.5, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6])
def test_damping_of_a_restitution_is_that_of_the_energy_balance(restitution):
    # e itself, a float, tells 1 − e, to which y is proportional near 1, to 1e-16 of 1
    allowed = 1e-15 + 4e-16 / (1 - restitution)
    assert float(damping_for(restitution, 0.5)) == pytest.approx(exact_bounce(restitution) / 0.5, rel=allowed)
    step = 1e-4 * min(restitution, 1 - restitution)
    slope = (exact_bounce(restitution + step) - exact_bounce(restitution - step)) / (2 * step)
    assert float(jax.grad(damping_for)(restitution, 1.0)) == pytest.approx(slope, rel=1e-7)


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
    assert contact["peak_normal_force_N"] == pytest.approx(130 + 5000 * beyond, rel=KINKED)
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
    assert contact["peak_normal_force_N"] == pytest.approx(force(speed), rel=BLENDED)
    # with curves this far apart the loss is their area, less what the blending and damping change: no small effect
    assert 1 - restitution**2 > 0.5


# --- compliance device -----------------------------------------------------------------------------------------------


class Device:
    """The device derived anew. R is the origin; Q = l₀ a is the tip, P lies a fraction of l₀ behind it on the line RQ.

    Moving Q to l₀ a + d n moves P along with it: P = Q − r l₀ Q/|Q|. The springs pull at P.
    """

    def __init__(self, axis, length, ratio, stiffness, anchors):
        self.axis = np.array(axis) / np.linalg.norm(axis)
        self.length, self.ratio = length, ratio
        self.stiffness, self.anchors = np.array(stiffness), np.array(anchors)

    def point(self, depth, normal):
        tip = self.length * self.axis + depth * normal
        return tip * (1 - self.ratio * self.length / np.linalg.norm(tip))

    def stretches(self, depth, normal):
        arms = self.point(depth, normal) - self.anchors
        rest = np.linalg.norm(self.point(0.0, normal) - self.anchors, axis=1)
        return np.linalg.norm(arms, axis=1) - rest, arms / np.linalg.norm(arms, axis=1)[:, None]

    def energy(self, depth, normal):
        return 0.5 * self.stiffness @ self.stretches(depth, normal)[0] ** 2

    def conjugate_force(self, depth, normal):
        """dE/dd: each spring's tension times how fast it stretches; dP/dd follows from P above."""
        stretch, directions = self.stretches(depth, normal)
        tip = self.length * self.axis + depth * normal
        size = np.linalg.norm(tip)
        slope = normal - self.ratio * self.length * (normal / size - tip * (tip @ normal) / size**3)
        return (self.stiffness * stretch) @ (directions @ slope)

    def initial_stiffness(self, normal):
        """As published (the spring force at P seen along n) and work-conjugate, from the springs' stiffness matrix at P."""
        _, directions = self.stretches(0.0, normal)
        matrix = (directions * self.stiffness[:, None]).T @ directions
        moves = (1 - self.ratio) * normal + self.ratio * self.axis * (self.axis @ normal)  # dP/dd
        return normal @ matrix @ moves, moves @ matrix @ moves

    def package(self, model):
        return ComplianceDevice(
            axis=jnp.array(self.axis),
            length=jnp.array(self.length),
            ratio=jnp.array(self.ratio),
            stiffness=jnp.array(self.stiffness),
            anchors=jnp.array(self.anchors),
            model=model,
        )


def computed_stiffness(device, model, normal):
    """Central difference of the package's force at zero depth; its error is d² times the third derivative: 1e-8."""
    package, depth = device.package(model), 1e-5  # m
    return float(loaded(package, normal, depth) - loaded(package, normal, -depth)) / (2 * depth)


@jax.jit
def loaded(package, normal, depth):
    return package.along(Vector.of(normal)).force(depth, jnp.zeros(()))


def test_initial_stiffness_of_table_2():
    """Sazawal et al., Table 2, at first contact: 475 N/m as published, 295 N/m work-conjugate; here both by hand, too."""
    third = np.sqrt(3) / 2
    anchors = [[0, 0, 0], [0.2, 0, 0.2], [0.2, 0.2 * third, -0.1], [0.2, -0.2 * third, -0.1]]
    device = Device([1, 0, 0], 1.0, 0.8, [1000.0] * 4, anchors)
    normal = np.array([-0.5, 0.0, -third])  # out of the wall of a 30° cone, seen by a chaser turned half around z
    # springs at P: 1000 along x, 1500 along y and z; P moves by (−0.5, 0, −0.2·0.866) per unit depth
    assert device.initial_stiffness(normal) == pytest.approx((475.0, 295.0), rel=1e-12)
    assert computed_stiffness(device, "as-published", normal) == pytest.approx(475.0, rel=1e-7)
    assert computed_stiffness(device, "work-conjugate", normal) == pytest.approx(295.0, rel=1e-7)


units = st.floats(-1, 1).filter(lambda x: abs(x) > 0.05)
directions = st.tuples(units, units, units).map(lambda v: np.array(v) / np.linalg.norm(v))


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    axis=directions,
    normal=directions,
    length=st.floats(0.4, 2.0),
    ratio=st.floats(0.1, 0.8),
    ends=st.lists(st.tuples(directions, st.floats(0.1, 0.5), st.floats(100, 4000)), min_size=3, max_size=3),
)
def test_stiffness_and_force_of_any_device(axis, normal, length, ratio, ends):
    """Springs of any length and direction at P: initial stiffness of both models, and the conjugate force when loaded."""
    start = Device(axis, length, ratio, [1.0], [[9, 9, 9]]).point(0.0, normal)
    device = Device(axis, length, ratio, [k for *_, k in ends], [start + size * way for way, size, _ in ends])
    scale = sum(k for *_, k in ends)
    published, conjugate = device.initial_stiffness(normal)
    # difference quotient: third derivatives of the force are of order k / (0.1 m)², times (1e-5 m)²
    assert computed_stiffness(device, "as-published", normal) == pytest.approx(published, abs=1e-6 * scale)
    assert computed_stiffness(device, "work-conjugate", normal) == pytest.approx(conjugate, abs=1e-6 * scale)
    package = device.package("work-conjugate")
    for depth in (0.004, 0.02):
        expected = device.conjugate_force(depth, normal)
        assert float(loaded(package, normal, depth)) == pytest.approx(expected, abs=1e-12 * scale)


def test_compliance_device_in_a_scenario(run):
    """Inclined to the wall by 35°, it rebounds without loss; deepest point and duration from its elastic energy alone."""
    masses, speed = (500.0, 1400.0), 0.06
    m = reduced(masses)
    content, line = scene(masses, speed, {})
    inward = Rotation.from_quat(content["chaser"]["attitude"], scalar_first=True).inv().apply(line)  # pushes the chaser
    tilt = Rotation.from_rotvec(
        np.radians(35) * np.cross(inward, [0, 0, 1]) / np.linalg.norm(np.cross(inward, [0, 0, 1]))
    )
    axis = tilt.apply(-inward)
    place = 0.3 * axis * 0.9  # P = (1 − r) l₀ a
    anchors = place + np.array([[0.2, 0.1, 0.0], [-0.15, 0.12, 0.1], [0.05, -0.25, 0.1], [0.0, 0.1, -0.22]])
    springs = [3000.0, 2200.0, 4100.0, 1500.0]
    device = Device(axis, 0.9, 0.7, springs, anchors)
    law = {
        "law": "compliance-device",
        "model": "work-conjugate",
        "axis": axis,
        "length": "90 cm",
        "ratio": 0.7,
        "springs": [{"anchor": a, "stiffness": k} for a, k in zip(anchors, springs, strict=True)],
    }
    contact, restitution = bounce(run, masses, speed, law)
    deepest = brentq(lambda d: device.energy(d, inward) - m * speed**2 / 2, 1e-4, 0.2, xtol=1e-15)
    half, _ = quad(
        lambda s: 2 * s * deepest / np.sqrt(speed**2 - 2 * device.energy(deepest * (1 - s**2), inward) / m),
        0,
        1,
        epsrel=1e-11,
    )
    assert restitution == pytest.approx(1, rel=SMOOTH)
    assert contact["peak_normal_force_N"] == pytest.approx(device.conjugate_force(deepest, inward), rel=SMOOTH)
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(2 * half, rel=SMOOTH)


# --- friction --------------------------------------------------------------------------------------------------------


def test_sliding_distance_between_two_rails(run):
    """Pressed between two parallel planes by N on either side, the chaser slides: m v̇ = −2 μ N v / √(v² + ε²).

    So √(v² + ε²) dv = −a dx and √(v² + ε²)/v dv = −a dt with a = 2 μ N / m: distance and time are known at any speed.
    """
    masses, speed, stiffness, overlap = (600.0, 1800.0), 0.05, 9000.0, 0.004
    friction, smoothing = 0.27, 1.5e-3
    turn = Rotation.from_rotvec([0.8, -0.4, 1.3])
    attitude = turn.as_quat(scalar_first=True)
    along = turn.apply([1.0, 0.0, 0.0])
    start = np.array([0.2, -0.1, 0.4])

    def rail(name, side):
        contact = {
            "feature": f"{name} shoe",
            "surface": f"{name} rail",
            "normal": {"law": "spring-dashpot", "stiffness": stiffness},
            "friction": {"law": "coulomb", "coefficient": friction, "regularisation": smoothing},
        }
        shoe = {"name": f"{name} shoe", "position": [0.0, side * 0.3, 0.0]}
        plane = {
            "name": f"{name} rail",
            "shape": "plane",
            "point": [0.0, side * (0.3 - overlap), 0.0],
            "normal": [0.0, -side, 0.0],
        }
        return contact, shoe, plane

    sides = [rail("upper", 1.0), rail("lower", -1.0)]
    dataset = run(
        {
            "duration": DURATION,
            "chaser": {
                "mass": masses[0],
                "inertia": [80, 90, 100],
                "position": start,
                "velocity": 0.75 * speed * along,
                "attitude": attitude,
                "feature": [shoe for _, shoe, _ in sides],
            },
            "target": {
                "mass": masses[1],
                "inertia": [200, 150, 180],
                "position": start,
                "velocity": -0.25 * speed * along,
                "attitude": attitude,
                "surface": [plane for *_, plane in sides],
            },
            "contact": [contact for contact, *_ in sides],
            "output": {"interval": 0.1},
        }
    )
    deceleration = 2 * friction * stiffness * overlap / reduced(masses)

    def primitive(v):  # of √(v² + ε²)
        return (v * np.hypot(v, smoothing) + smoothing**2 * np.arcsinh(v / smoothing)) / 2

    def clock(v):  # of √(v² + ε²) / v
        return np.hypot(v, smoothing) - smoothing * np.arcsinh(smoothing / v)

    relative = dataset.velocity.values[:, 0] - dataset.velocity.values[:, 1]
    offset = dataset.position.values[:, 0] - dataset.position.values[:, 1]
    for i in (5, 11, 12, -1):  # sliding, slowing, creeping, and as good as stopped
        time = float(dataset.time[i])
        left = np.exp(brentq(lambda u, t=time: clock(speed) - clock(np.exp(u)) - deceleration * t, -300, np.log(speed)))
        distance = (primitive(speed) - primitive(left)) / deceleration
        assert relative[i] @ along == pytest.approx(left, abs=SMOOTH * speed)
        assert offset[i] @ along == pytest.approx(distance, rel=SMOOTH)
    assert relative[-1] @ along < smoothing / 100, "it was meant to stop"
    assert dataset.normal_force.values == pytest.approx(stiffness * overlap, rel=1e-12)
    # almost the textbook's v² / (2 a): the regularisation adds ε² (ln(2 v / ε) + 1/2) / (2 a)
    textbook = (speed**2 + smoothing**2 * (np.log(2 * speed / smoothing) + 0.5)) / (2 * deceleration)
    assert offset[-1] @ along == pytest.approx(textbook, rel=1e-5)


# --- a law and a surface of one's own --------------------------------------------------------------------------------

OWN_PARTS = '''
    from jaxtyping import Array, Float

    import dockdyn
    from dockdyn.mechanics.vector import Vector


    class Stiffening(dockdyn.NormalLaw):
        """k d + c d³."""

        linear: Float[Array, ""]  # N/m
        cubic: Float[Array, ""]  # N/m³

        def force(self, depth, rate):
            return self.linear * depth + self.cubic * depth**3


    class Viscous(dockdyn.Friction):
        """−c f_n v."""

        drag: Float[Array, ""]  # s/m

        def force(self, normal_force, sliding):
            return sliding * (-self.drag * normal_force)


    class Paraboloid(dockdyn.Surface):
        """A dish with its bottom at `bottom`, opening along x; the distance is to first order."""

        bottom: Float[Array, "3"]  # m
        curvature: Float[Array, ""]  # 1/m

        def reference(self):
            return Vector.of(self.bottom)

        def signed_distance(self, point):
            offset = point - self.reference()
            across = offset.y**2 + offset.z**2
            return (offset.x - self.curvature / 2 * across) / (1 + self.curvature**2 * across) ** 0.5
'''


def test_a_law_friction_and_surface_of_ones_own(tmp_path, monkeypatch):
    """Named in the file, found beside it from any working folder, its numbers with units. On the dish's axis the contact is
    head on: m v²/2 = k d²/2 + c d⁴/4 gives the deepest point, and the duration is a complete elliptic integral."""
    (tmp_path / "parts_of_my_own.py").write_text(textwrap.dedent(OWN_PARTS))
    masses, speed, linear, cubic = (450.0, 1200.0), 0.07, 1500.0, 4.0e6
    m = reduced(masses)
    content = {
        "schema": 1,
        "kind": "free-flight",
        "duration": 3.0,
        "chaser": {
            "mass": masses[0],
            "inertia": [80, 90, 100],
            "position": [1.6 + speed * ONSET, 0.0, 0.0],
            "velocity": [-speed, 0.0, 0.0],
            "feature": [{"name": "tip", "position": [-1.0, 0.0, 0.0]}],
        },
        "target": {
            "mass": masses[1],
            "inertia": [200, 150, 180],
            "surface": [
                {
                    "name": "dish",
                    "shape": "parts_of_my_own:Paraboloid",
                    "bottom": ["600 mm", 0.0, 0.0],
                    "curvature": "0.8 1/m",
                }
            ],
        },
        "contact": [
            {
                "feature": "tip",
                "surface": "dish",
                "normal": {"law": "parts_of_my_own:Stiffening", "linear": "1.5 N/mm", "cubic": cubic},
                "friction": {"law": "parts_of_my_own:Viscous", "drag": "3 s/m"},
            }
        ],
        "output": {"interval": 0.1},
    }
    file = tmp_path / "own.toml"
    file.write_text(tomlkit.dumps(content))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    dataset = dockdyn.simulate(dockdyn.load(file))
    (contact,) = dockdyn.summarise(dataset)["contacts"]
    squared = (-linear + np.sqrt(linear**2 + 2 * cubic * m * speed**2)) / cubic
    deepest = np.sqrt(squared)
    half, _ = quad(
        lambda s: (
            2
            * s
            * deepest
            / np.sqrt(speed**2 - (linear * (deepest * (1 - s**2)) ** 2 + cubic / 2 * (deepest * (1 - s**2)) ** 4) / m)
        ),
        0,
        1,
        epsrel=1e-11,
    )
    assert contact["onset_s"] == pytest.approx(ONSET, rel=1e-12)
    assert contact["peak_normal_force_N"] == pytest.approx(linear * deepest + cubic * deepest**3, rel=SMOOTH)
    assert contact["release_s"] - contact["onset_s"] == pytest.approx(2 * half, rel=SMOOTH)
    assert contact["position_m"] == pytest.approx([0, 0, 0], abs=1e-12)
