"""Designs of whole numbers, choices, margins and two goals against closed forms, with their shadow prices."""

import math

import numpy as np
import pytest
from helpers.line_rig import HEAD
from latched_docking import MASS, latched
from on_a_line import TWO_MASSES
from scipy.optimize import brentq, fsolve, minimize_scalar

import dockdyn
from dockdyn.scenario.load import parse
from dockdyn.studies.design.front import front_generations, front_of
from dockdyn.studies.design.search import design_generations, every_design
from dockdyn.studies.margins.figures import margin_figures

# of a spring and a damper in parallel that stop a mass: least of (peak force × stroke) / (m v²), and its damping ratio
PRODUCT, RATIO = 0.52060, 0.4045
CATCH = """
ends_run = false
stiffness = "40 kN/m"
damping = "3 kN s/m"
[contact.tip]
between = ["tip", "cone"]
normal = { law = "spring-dashpot", stiffness = 2e4, damping = 300 }
[output]
interval = "2 ms"
[design.variable.stiffness]
key = "latch.capture.stiffness"
low = "5 kN/m"
high = "500 kN/m"
[design.variable.damping]
key = "latch.capture.damping"
low = "300 N s/m"
high = "30 kN s/m"
[design]
"""
LOOP = f"""{HEAD}
duration = "1 s"
body.target.mass = "500 kg"
contact.spring.bilateral = true
contact.spring.normal = {{ law = "spring-dashpot", stiffness = "20 kN/m", damping = "1 kN s/m" }}
[loop]
delay = "20 ms"
[design.variable.damping]
key = "contact.spring.normal.damping"
low = "300 N s/m"
high = "10 kN s/m"
[design]
"""


class Real:
    count, ordered = None, True


class Whole:
    count, ordered = 12, True


class Choice:
    count, ordered = 5, False


def driven(asking, order, most):
    """All designs that a search asks for, with their orders."""
    designs, orders = [], []
    asked = next(asking)
    while len(orders) < most:
        found = [order(design) for design in asked]
        designs += list(asked)
        orders += found
        asked = asking.send(found)
    return designs, orders


def test_the_least_product_of_force_and_stroke():
    """The closed form that the designs below are compared with, from the motion itself."""

    def product(ratio):
        fast = math.sqrt(1 - ratio**2)
        time = np.linspace(0, math.pi, 200001)
        decay = np.exp(-ratio * time)
        way = decay * np.sin(fast * time) / fast
        force = decay * ((1 - 2 * ratio**2) * np.sin(fast * time) / fast + 2 * ratio * np.cos(fast * time))
        return force.max() * way.max()

    best = minimize_scalar(product, bounds=(0.2, 0.6), method="bounded", options={"xatol": 1e-7})
    assert best.fun == pytest.approx(PRODUCT, abs=1e-5)
    assert best.x == pytest.approx(RATIO, abs=1e-3)
    assert best.fun / 0.5 == pytest.approx(1.0412, abs=1e-4)  # a constant force needs 0.5: 4.1 % less


@pytest.mark.parametrize("seed", range(3))
def test_reals_whole_numbers_and_choices_together(seed):
    """The least of a bowl, in the fourth choice lowest, where the best whole number is 7 and the real ones are 0.3 and 0.8."""

    def order(design):
        bowl = (design[0] - 0.3) ** 2 + 4 * (design[3] - 0.8) ** 2 + 0.01 * (design[1] - 7) ** 2
        return max(0.25 - design[0], 0.0), bowl + (0 if design[2] == 3 else 0.1 + 0.05 * design[2])

    variables = [Real, Whole, Choice, Real]
    designs, orders = driven(design_generations(variables, np.array([0.9, 0.0, 0.0, 0.1]), seed), order, 700)
    best = designs[min(range(len(orders)), key=lambda place: orders[place])]
    assert best[[1, 2]].tolist() == [7, 3]
    assert best[[0, 3]] == pytest.approx([0.3, 0.8], abs=1e-2)
    assert all(0 <= design[0] <= 1 and design[1] in range(12) and design[2] in range(5) for design in designs)


def test_few_designs_are_all_tried():
    every = every_design([Whole, Choice], 60)
    assert len(np.unique(every, axis=0)) == 60
    assert every_design([Whole, Choice], 59) is None
    assert every_design([Whole, Real], 10**6) is None


@pytest.mark.parametrize("least", [0.0, 0.4])
def test_a_front_that_is_known(least):
    """Of x² and (x − 1)² + y, y ≥ 0, the front is √f + √g = 1, where a constraint leaves x from `least` on."""

    def order(design):
        x, y = 3 * design[0] - 1, design[1]
        return max(least - x, 0.0), x**2 + y, (x - 1) ** 2 + y

    _, orders = driven(front_generations([Real, Real], np.array([0.9, 0.9]), 1, 400), order, 400)
    front = np.array([orders[place][1:] for place in front_of(orders)])
    beyond = np.sqrt(front).sum(axis=1) - 1
    assert len(front) > 30 and beyond.min() > -1e-9
    assert np.median(beyond) < 0.02 and np.quantile(beyond, 0.9) < 0.06
    along = np.sort(np.sqrt(front[:, 0]))
    assert along[0] < least + 0.15 and along[-1] > 0.95 and np.diff(along).max() < 0.1


@pytest.mark.full
def test_the_least_load_for_a_stroke_and_what_a_longer_one_is_worth(tmp_path):
    """The peak is 0.5206 m v² / stroke; a longer one is worth that over the stroke, which another design bears out."""

    def designed(stroke):
        text = 'minimise = "latch.peak_force"\nevaluations = 400\n'
        text += f'constraints = {{ latch.grip_travel = "< {stroke} mm" }}\n'
        scenario = parse(latched(0.3, CATCH + text, duration=1.0), "catch")
        return scenario, dockdyn.design(scenario, tmp_path / f"{stroke}")

    scenario, answer = designed(20)
    speed = float(dockdyn.simulate(scenario).capture_speed)
    best = PRODUCT * MASS * speed**2 / 0.02
    assert answer["goal"]["value"] == pytest.approx(best, rel=1e-3)
    assert answer["goal"]["value"] == pytest.approx(1.0412 * MASS * speed**2 / 2 / 0.02, rel=1e-3)
    stiffness, damping = (one["value"] for one in answer["variables"])
    assert damping / (2 * math.sqrt(MASS * stiffness)) == pytest.approx(RATIO, rel=2e-2)  # at a minimum
    (stroke,) = answer["constraints"]
    assert stroke["active"] and stroke["unit"] == "m"
    assert stroke["price"] == pytest.approx(-best / 0.02, rel=1e-2)
    _, other = designed(21)
    expected = answer["goal"]["value"] + 0.001 * stroke["price"] * (20 / 21)  # of a hyperbola
    assert other["goal"]["value"] == pytest.approx(expected, rel=2e-3)


@pytest.mark.full
def test_the_front_of_load_and_stroke(tmp_path):
    """The front is the hyperbola F s = 0.5206 m v²."""
    text = 'minimise = ["latch.peak_force", "latch.grip_travel"]\nevaluations = 400\n'
    scenario = parse(latched(0.3, CATCH + text, duration=1.0), "catch")
    answer = dockdyn.design(scenario, tmp_path / "front")
    speed = float(dockdyn.simulate(scenario).capture_speed)
    goals = np.array([row["goals"] for row in answer["front"]])
    product = goals.prod(axis=1) / (MASS * speed**2) / PRODUCT
    least, largest = (math.sqrt(stiffness * MASS) * speed for stiffness in (5e3, 5e5))  # of undamped catches
    within = (goals[:, 0] > 0.76 * least) & (goals[:, 0] < 0.64 * largest)  # where no end of a range decides
    assert within.sum() > 60 and product.min() > 1 - 1e-4
    assert np.median(product[within]) < 1.02 and np.quantile(product[within], 0.9) < 1.1
    assert (np.diff(goals[:, 0]) > 0).all() and (np.diff(goals[:, 1]) < 0).all()
    middle = [one["value"] for one in answer["goals"]]
    assert middle in goals.tolist() and answer["goal"]["value"] == middle[0]


def test_a_choice_and_a_number(tmp_path):
    """The softest of the springs, and for it the damper of least peak force, 0.2649 of the critical one."""
    text = (
        TWO_MASSES
        + """
[design]
minimise = "peak_force"
evaluations = 120
[design.variable.stiffness]
key = "contact.fronts.normal.stiffness"
values = ["4 kN/m", "600 N/m", "1 kN/m"]
[design.variable.damping]
key = "contact.fronts.normal.damping"
low = "5 N s/m"
high = "200 N s/m"
"""
    )
    answer = dockdyn.design(parse(text, "two"), tmp_path / "choice")
    choice, number = answer["variables"]
    mass = 15 * 17 / 32
    assert choice["value"] == "600 N/m" and choice["low"] is None and choice["at"] is None
    assert number["value"] == pytest.approx(2 * 0.2649 * math.sqrt(600 * mass), rel=5e-3)
    assert answer["goal"]["value"] == pytest.approx(0.8101 * 0.1 * math.sqrt(600 * mass), rel=1e-4)
    assert dockdyn.load(tmp_path / "choice" / "scenario.toml").content.contact[0].normal.stiffness == 600


def gain(damping):
    """The factor by which the force of m s² + (c s + k) exp(−s τ) grows until it swings."""
    turn = brentq(lambda w: math.atan2(damping * w, 2e4) - w * 0.02, 1, 50 * math.pi)
    return 500.0 * turn**2 / math.hypot(2e4, damping * turn)


def test_margins_are_figures():
    scenario = parse(LOOP + 'minimise = "stability.growth_rate"\n', "loop")
    found = margin_figures(scenario)
    assert found["gain_margin"] == pytest.approx(gain(1000.0), rel=1e-9)
    told = dockdyn.margins(scenario)
    for name in ("delay_margin_s", "critical_delay_s", "growth_rate_1_s", "stable", "apparent_restitution"):
        assert found[name] == told[name], name
    unstable = margin_figures(scenario.at({"contact.spring.normal.damping": 300.0}))
    assert unstable["stable"] == 0 and unstable["gain_margin"] < 1 and unstable["delay_margin_s"] < 0


@pytest.mark.full
def test_margins_decide(tmp_path):
    """The least damper that leaves a gain margin of 10, and what a smaller margin would be worth."""
    text = 'minimise = "contact.spring.normal.damping"\nevaluations = 150\n'
    text += '[design.constraints.stability]\nstable = true\ngain_margin = ">= 10"\ndelay_margin = "> 1 ms"\n'
    answer = dockdyn.design(parse(LOOP + text, "loop"), tmp_path / "margins")
    needed = brentq(lambda damping: gain(damping) - 10, 401, 3000)
    assert answer["goal"]["value"] == pytest.approx(needed, rel=1e-3)
    assert [one["active"] for one in answer["constraints"]] == [False, True, False]
    slope = 1 / ((gain(needed + 1) - gain(needed - 1)) / 2)
    assert answer["constraints"][1]["price"] == pytest.approx(-slope, rel=2e-2)
    assert answer["evidence"] is None and answer["failed_runs"] == 0


@pytest.mark.full
def test_critical_damping_of_a_delayed_loop(tmp_path):
    """The fastest decay is that of a double root of m s² + (c s + k) exp(−s τ)."""
    scenario = parse(LOOP + 'minimise = "stability.growth_rate"\nevaluations = 200\n', "loop")
    answer = dockdyn.design(scenario, tmp_path / "critical")

    def double(unknown):
        root, damping = unknown
        late = math.exp(-root * 0.02)
        value = 500 * root**2 + (damping * root + 2e4) * late
        return value, 1000 * root + (damping - 0.02 * (damping * root + 2e4)) * late

    root, damping = fsolve(double, [-8.0, 5000.0])
    assert answer["variables"][0]["value"] == pytest.approx(damping, rel=1e-3)
    assert answer["goal"]["value"] == pytest.approx(root, rel=2e-2)  # a square root's end: half the digits
