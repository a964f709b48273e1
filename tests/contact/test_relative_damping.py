"""Damping stated by a ratio or a restitution: what it becomes between two bodies, and what is refused."""

import tomllib

import jax
import numpy as np
import pytest
from helpers.line_rig import line_rig
from helpers.refusals import refused
from law_bounces import bounce, reduced
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import dockdyn
from dockdyn.contact.laws.force_stroke import ForceStroke
from dockdyn.contact.laws.relative_damping import DampedByRestitution
from dockdyn.impact import kelvin_voigt_damping_ratio, kelvin_voigt_restitution
from dockdyn.mechanism.head_on import law_between
from dockdyn.programs import Program
from dockdyn.rig.resting import loop_of
from dockdyn.scenario.made import model_of

MEASURED = 1e-6  # of the restitution, in a run

STROKE, LOADING, UNLOADING = [0.0, 0.004, 0.011, 0.03], [0.0, 90.0, 140.0, 420.0], [0.0, 55.0, 125.0, 420.0]


def restitution_of_ratio(ratio, adhesion):
    """The half swing of d̈ + 2 ζ ω ḋ + ω² d = 0 from d = 0: to d = 0, or, where it cannot pull, to the end of the force."""
    if adhesion:
        return np.exp(-np.pi * ratio / np.sqrt(1 - ratio**2))
    if ratio < 1:
        return np.exp(-2 * ratio * np.arccos(ratio) / np.sqrt(1 - ratio**2))
    return np.exp(-2 * ratio * np.arccosh(ratio) / np.sqrt(ratio**2 - 1))


def drawn_law(number):
    """A law by one of its two keys, at random, and the restitution that it is to have."""
    rng = np.random.default_rng(number)
    speed, ratio = rng.uniform(0.02, 0.08), rng.uniform(0.02, 0.6)
    adhesion = number % 4 == 1
    law = [
        {"law": "spring-dashpot", "stiffness": rng.uniform(2e3, 8e3)},
        {"law": "spring-dashpot", "stiffness": rng.uniform(2e3, 8e3), "adhesion": True},
        {"law": "hunt-crossley", "stiffness": rng.uniform(2e4, 6e4), "exponent": rng.uniform(1.3, 2), "speed": speed},
        {
            "law": "force-stroke",
            "stroke": STROKE,
            "force": LOADING,
            **({"unloading_force": UNLOADING} if number % 8 == 3 else {}),
            "preload": rng.uniform(0, 12),
            "bottoming_stiffness": 1e5,
            "speed": speed,
        },
    ][number % 4]
    if number % 2 == number // 4 % 2:
        return law | {"damping_ratio": ratio}, speed, restitution_of_ratio(ratio, adhesion)
    restitution = rng.uniform(0.1, 0.6)
    return law | {"restitution": restitution}, speed, restitution


@pytest.mark.full
@pytest.mark.parametrize("number", range(12))
def test_two_bodies_part_as_is_stated(run, number):
    law, speed, restitution = drawn_law(number)
    masses = tuple(np.random.default_rng(1000 + number).uniform(200, 2500, 2))
    contact, measured = bounce(run, masses, speed, law, duration=9.0)
    assert measured == pytest.approx(restitution, rel=MEASURED)
    assert contact["impulse_N_s"] == pytest.approx(reduced(masses) * speed * (1 + restitution), rel=10 * MEASURED)


@pytest.mark.full_cases("zero-force")
@pytest.mark.parametrize("release", ["zero-force", "zero-depth"])
def test_the_ratio_of_a_restitution_is_the_inverse(release):
    for restitution in (1e-6, 0.003, 0.2, 0.37, 0.64, 0.9, 1 - 1e-6, 1.0):
        ratio = float(kelvin_voigt_damping_ratio(restitution, release))
        assert float(kelvin_voigt_restitution(ratio, release)) == pytest.approx(restitution, rel=1e-13)
        if not 1e-3 < restitution < 0.95:
            continue
        assert restitution_of_ratio(ratio, release == "zero-depth") == pytest.approx(restitution, rel=1e-12)
        step = 1e-5 * restitution
        ends = [float(kelvin_voigt_damping_ratio(restitution + sign * step, release)) for sign in (1, -1)]
        slope = float(jax.grad(lambda e: kelvin_voigt_damping_ratio(e, release))(restitution))
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


def law_of_table(damping):
    numbers = [np.array(column) for column in (STROKE, LOADING, UNLOADING)]
    return ForceStroke(*numbers, *map(np.float64, (8.0, 1e5, damping, 1e-3)))


def parting(damping, mass, speed):
    """The restitution of the table's law between two bodies, integrated by SciPy with its own kinks."""

    def force(depth, rate):
        up, down = np.interp(depth, STROKE, LOADING), np.interp(depth, STROKE, UNLOADING)
        blend = rate / np.hypot(rate, 1e-3)
        return 8.0 + (up + down) / 2 + blend * (up - down) / 2 + 1e5 * max(depth - STROKE[-1], 0) + damping * rate

    def flow(_, x):
        return [x[1], -max(force(*x), 0.0) / mass]

    def ends(_, x):
        return x[0] if x[1] < 0 else 1.0

    ends.terminal = True
    found = solve_ivp(flow, (0, 100), [0.0, speed], "DOP853", rtol=1e-12, atol=1e-14, events=ends, max_step=2e-3)
    return -found.y[1, -1] / speed


@Program
def damping_of(restitution, speed, mass):
    return law_between(DampedByRestitution(law_of_table(0.0), restitution, speed), mass).damping


@Program
def slopes_of(restitution, speed, mass):
    return jax.grad(damping_of.function, argnums=(0, 1, 2))(restitution, speed, mass)


@pytest.mark.full
def test_damping_of_a_table_is_that_of_the_two_masses_integrated():
    for mass, speed, restitution in [(240.0, 0.05, 0.5), (900.0, 0.09, 0.25)]:
        given = tuple(map(np.float64, (restitution, speed, mass)))
        found = float(damping_of(*given))
        assert parting(found, mass, speed) == pytest.approx(restitution, rel=1e-8)
        slopes = [float(slope) for slope in slopes_of(*given)]
        for index, slope in enumerate(slopes):
            step = 3e-3 * given[index]
            ends = []
            for sign in (1, -1):
                moved = [np.float64(value + sign * step * (place == index)) for place, value in enumerate(given)]
                ends.append(float(damping_of(*moved)))
            # a step over a kink of the table errs in its slope to first order: 4e-4 here, where the bodies turn beside one
            assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-3)


OFF_CENTRE = """
schema = 2
title = "Off the centres"
duration = "2 s"
[body.chaser]
mass = {mass}
inertia = [[90, 4, -3], [4, 140, 6], [-3, 6, 170]]
position = [2.2, {side}, 0.1]
velocity = [-0.05, 0, 0]
attitude = {{ axis = [0, 0, 1], angle = "180 deg" }}
feature.probe = {{ position = [1, 0.4, -0.3], radius = "2 cm" }}
[body.target]
mass = 800
inertia = [200, 310, 260]
surface.plate = {{ shape = "plane", point = [1, 0, 0], normal = [1, 0, 0] }}
[contact.probe]
between = ["probe", "plate"]
normal = {{ law = "spring-dashpot", stiffness = 5000, damping_ratio = 0.2 }}
"""


def mass_at_contact(mass, side):
    """1/μ = Σ 1/m + (r × n) I⁻¹ (r × n), where the ball's foremost point is at t = 0."""
    normal, turn = np.array([1.0, 0, 0]), np.diag([-1.0, -1, 1])
    point = np.array([2.2, side, 0.1]) + turn @ [1, 0.4, -0.3] - 0.02 * normal
    whole = 1 / mass + 1 / 800
    for tensor, place, axes in [
        (np.array([[90, 4, -3], [4, 140, 6], [-3, 6, 170.0]]), [2.2, side, 0.1], turn),
        (np.diag([200.0, 310, 260]), [0, 0, 0], np.eye(3)),
    ]:
        arm = np.cross(axes.T @ (point - place), axes.T @ normal)
        whole += arm @ np.linalg.solve(tensor, arm)
    return 1 / whole


def off_centre(mass, side):
    return tomllib.loads(OFF_CENTRE.format(mass=mass, side=side))


@pytest.mark.parametrize("seed", range(3))
def test_a_ratio_is_of_the_effective_mass_where_they_would_touch(load, seed):
    rng = np.random.default_rng(seed)
    mass, side = rng.uniform(100, 900), rng.uniform(-0.5, 0.5)
    (group,) = model_of(load(off_centre(mass, side)).content).groups
    expected = 2 * 0.2 * np.sqrt(5000 * mass_at_contact(mass, side))
    assert float(group.law.damping) == pytest.approx(expected, rel=1e-12)


def test_the_report_says_the_damping(run):
    dataset = run(off_centre(500, 0.1))
    mass = mass_at_contact(500, 0.1)
    words = f"{2 * 0.2 * np.sqrt(5000 * mass):.6g} N s/m, from damping_ratio = 0.2 between {mass:.6g} kg"
    assert dataset.attrs["stated_damping"] == f"probe: {words}"


@pytest.mark.full
def test_of_several_members_it_is_said_that_it_is_of_one_alone(run):
    content = off_centre(500, 0.1)
    content["body"]["chaser"]["feature"]["probe"]["copies"] = 3
    assert run(content).attrs["stated_damping"].endswith(" kg, where one of its 3 members touches alone")


DASHPOT = {"law": "spring-dashpot", "stiffness": 5000}
CROSSLEY = {"law": "hunt-crossley", "stiffness": 1e6}
TABLE = {
    "law": "force-stroke",
    "stroke": STROKE,
    "force": LOADING,
    "unloading_force": UNLOADING,
    "bottoming_stiffness": 1e5,
}
WHERE = "contact.probe.normal"
WRONG = [
    (DASHPOT | {"damping": 3, "damping_ratio": 0.2}, [WHERE, "damping and damping_ratio"]),
    (DASHPOT | {"restitution": 0.5, "damping_ratio": 0.2}, [WHERE, "damping_ratio and restitution"]),
    (DASHPOT | {"restitution": 0}, [f"{WHERE}.restitution", "greater than 0"]),
    (DASHPOT | {"restitution": 1.2}, [f"{WHERE}.restitution", "at most 1"]),
    (DASHPOT | {"damping_ratio": -0.1}, [f"{WHERE}.damping_ratio", "at least 0"]),
    (DASHPOT | {"restitution": 0.5, "speed": 0.1}, [f"{WHERE}.speed", "unknown key"]),
    ({"law": "hertz", "stiffness": 1e6, "damping_ratio": 0.1}, [f"{WHERE}.damping_ratio", "unknown key"]),
    (CROSSLEY, [WHERE, "has none of damping"]),
    (CROSSLEY | {"damping_ratio": 0.1}, ["damping_ratio", "must have speed beside it"]),
    (CROSSLEY | {"damping": 1, "speed": 1}, ["speed", "must be left out"]),
    (TABLE | {"restitution": 0.5}, [WHERE, "must have speed beside it"]),
]


@pytest.mark.parametrize(("law", "words"), WRONG)
def test_what_cannot_be_is_one_line(load, law, words):
    stated = off_centre(500, 0.1)
    stated["contact"]["probe"]["normal"] = law
    with refused(*words):
        load(stated)


def test_a_restitution_above_that_of_the_table_alone_is_one_line(run):
    stated = off_centre(500, 0.1)
    stated["contact"]["probe"]["normal"] = TABLE | {"restitution": 0.95, "speed": 0.05}
    with refused(f"{WHERE}.restitution", "even without a damper"):
        run(stated)


RIG = line_rig(
    500,
    {"law": "spring-dashpot", "stiffness": 2e4, "restitution": 0.7},
    position=-0.01,
    velocity=0.05,
    duration="8 s",
    loop={"hold": {"period": "1 ms"}, "sensor": {"delay": "1 ms"}},
)


@pytest.mark.full
def test_a_rig_along_one_direction_has_the_restitution(load):
    rig = load(RIG)
    assert dockdyn.summarise(dockdyn.simulate(rig))["ideal_restitution"] == pytest.approx(0.7, rel=1e-6)
    ratio = brentq(lambda z: restitution_of_ratio(z, adhesion=False) - 0.7, 1e-6, 0.9)
    assert float(loop_of(rig).damping) == pytest.approx(2 * ratio * np.sqrt(2e4 * 500), rel=1e-9)
    with refused("contact.spring.normal.restitution", "never parts"):
        load(RIG, {"contact.spring.bilateral": True})
