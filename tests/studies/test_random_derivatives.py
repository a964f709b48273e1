"""Derivatives of figures by numbers of scenarios drawn at random, beside differences of the eighth order at two steps."""

import warnings

import jax
import numpy as np
import pytest
import tomlkit
from on_a_line import PLACE, SPEED
from random_contacts import draw
from scipy.special import digamma, gamma

import dockdyn
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import parse
from dockdyn.studies.objectives.derivatives import derivatives_of, evaluate_rows, smooth_figures

WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])  # of differences over two, four, six and eight steps
STEPS = (1e-3, 1e-4)  # of the number
FIGURES = [
    "peak_force_N",
    "contact.impulse_N_s",
    "kinetic_energy_end_J",
    "peak_time_s",
    "contact.onset_s",
    "contact.approach_speed_m_s",
]
PROMISED = 1e-6  # of the largest change that 100 % more of a number makes
ALWAYS = ("loop.delay", "loop.sensor.delay", "normal.stiffness", "normal.exponent", "friction.coefficient")
THROWN = 0.1  # m: a tip that is so deep behind a cone's wall may be where another part of it is as near
ROUNDING = 1e-9  # of a figure: less than this for 100 % more of any number is none


def chosen(scenario, seed):
    """Six numbers of a scenario: those that the law, the friction and the delay have, and others."""
    places = [place for place in places_of(scenario) if place.value]
    first = [place for place in places if place.key.endswith(ALWAYS)]
    others = [place for place in places if place not in first]
    order = np.random.default_rng(seed).permutation(len(others))
    return [*first, *(others[i] for i in order)][:6]


def figures_of(scenario):
    if scenario.setup == "rig":
        summary = smooth_figures(dockdyn.summarise(dockdyn.simulate(scenario)))
        return [name for name in summary if name not in ("captured", "contact.count")][:6]
    return list(FIGURES)


def differences(scenario, figures, place, steps=STEPS):
    """Of each figure by its name, its differences at both steps; NaN at a limit of the number."""
    found = {figure: [] for figure in figures}
    for step in steps:
        moved = step * place.value * np.array([1, 2, 3, 4, -1, -2, -3, -4])
        rows = np.array([list(place.written(place.value + one).values()) for one in moved])
        answers = evaluate_rows(scenario, figures, list(place.keys), rows).figures
        for figure in figures:
            values = answers.get(figure, np.full(8, np.nan))
            found[figure].append((values[:4] - values[4:]) @ WEIGHTS / (step * place.value))
    return found


def check_derivatives(seed):
    """Hold what is given of a drawn scenario against differences; returns how many are not known, of how many."""
    text = tomlkit.dumps(draw(seed))
    scenario = parse(text, f"drawn {seed}")
    if "cone" in text and float(dockdyn.simulate(scenario).depth.max()) > THROWN:
        raise ScenarioError("thrown through the cone")  # its normal jumps, without an event
    places, figures = chosen(scenario, seed), figures_of(scenario)
    found = derivatives_of(scenario, figures, places)
    known = [differences(scenario, figures, place) for place in places]
    lost = 0
    for figure, (value, slopes, verdicts) in found.items():
        sizes = [abs(slope * place.value) for slope, place in zip(slopes, places, strict=True) if np.isfinite(slope)]
        scale = max(sizes, default=0.0)
        if scale <= ROUNDING * abs(value):
            continue
        for place, slope, verdict, both in zip(places, slopes, verdicts, (one[figure] for one in known), strict=True):
            size = abs(place.value) / scale
            apart = abs(both[0] - both[1]) * size
            agree = apart < PROMISED
            where = f"seed {seed}: {figure} by {place.key}: {slope!r}, differences {both}, {verdict}"
            if verdict.holds is False:
                lost += 1
                assert not agree, where
            elif agree:
                nearest = min(abs(slope - one) for one in both)
                assert nearest * size < PROMISED + apart, where
    return lost, len(figures) * len(places)


@pytest.mark.full
@pytest.mark.parametrize("seed", [1003, 1001])
def test_a_drawn_scenario(seed):
    check_derivatives(seed)


@pytest.mark.full
def test_two_hundred_drawn_scenarios():
    """None is wrong, and where one is not known differences do not agree with each other; that is in three of a hundred."""
    lost = total = stopped = 0
    for seed in range(2000, 2200):
        try:
            some, every = check_derivatives(seed)
        except ScenarioError as error:  # a loop so unstable that its run does not end; a feature that touches nothing
            assert any(why in str(error) for why in ("must run to its end", "did not happen", "thrown through"))
            stopped += 1
            continue
        lost, total = lost + some, total + every
    assert stopped <= 10
    assert lost <= 0.03 * total


BALL = """
schema = 2
duration = 5.0
[body.chaser]
mass = 610.0
inertia = [110.0, 100.0, 130.0]
position = [2.08, 0, 0]
velocity = [-0.06, -0.008, 0.006]
rate = [-0.015, 0.02, 0.01]
feature.tip = { position = [-1, 0, 0], radius = 0.03 }
[body.target]
mass = 700.0
inertia = [180.0, 210.0, 190.0]
surface.plate = { shape = "plane", point = [1.0, 0, 0], normal = [1.0, 0, 0] }
[contact.tip]
between = ["tip", "plate"]
normal = { law = "spring-dashpot", stiffness = 4200.0, damping = 90.0 }
friction = { law = "coulomb", coefficient = 0.25, regularisation = 1e-3 }
[loop]
delay = 0.17
"""


@pytest.mark.full
@pytest.mark.parametrize("delay", [pytest.param(0.17, marks=pytest.mark.full), 0.0023])
def test_by_the_delay_where_friction_acts(delay):
    """Steps that were made of those before, a delay ago, carried derivatives that grew without bound.

    A delay that is shorter than a step is the length of the first step in contact, which ends where its signal arrives.
    """
    scenario = parse(BALL, "ball", {"loop.delay": delay})
    (place,) = [place for place in places_of(scenario) if place.key == "loop.delay"]
    figures = ["peak_force_N", "contact.impulse_N_s", "contact.energy_change_J.largest"]
    found = derivatives_of(scenario, figures, [place])
    coarser = 0.17 / delay
    for figure, both in differences(scenario, figures, place, [coarser * step for step in STEPS]).items():
        assert both[0] == pytest.approx(both[1], rel=1e-8)
        assert found[figure].slopes[0] == pytest.approx(both[0], rel=1e-6), figure
        assert found[figure].verdicts[0].holds


def bounce(exponent):
    """Two bodies of 620 and 410 kg that bounce head-on and elastically."""
    law = f'normal = {{ law = "hertz", stiffness = 1.5e5, exponent = {exponent!r} }}'
    text = BALL.partition("[contact.tip]")[0] + f'[contact.tip]\nbetween = ["tip", "plate"]\n{law}\n'
    still = {"body.chaser.velocity": [-0.04, 0.0, 0.0], "body.chaser.rate": [0.0] * 3, "duration": 6.0}
    return parse(
        text,
        "bounce",
        still | {"body.chaser.mass": 620.0, "body.target.mass": 410.0, "body.chaser.position": [2.04, 0.0, 0.0]},
    )


@pytest.mark.full
def test_an_elastic_bounce():
    """I = 2 m v with m = m₁ m₂/(m₁ + m₂), whatever the law, and F = k dⁿ with k dⁿ⁺¹/(n + 1) = m v²/2 at the peak.

    The peak comes d/v ∫ du/√(1 − uⁿ⁺¹) = d/v √π Γ(1 + p)/Γ(1/2 + p) after the onset, p = 1/(n + 1).
    Also where the force bends sharply at both ends of the contact, and where it does not but its derivative by n does.
    """
    keys = [
        "body.chaser.mass",
        "body.target.mass",
        "body.chaser.velocity.0",
        "contact.tip.normal.stiffness",
        "contact.tip.normal.exponent",
    ]
    masses, k, v = (620.0, 410.0), 1.5e5, 0.04
    m = masses[0] * masses[1] / sum(masses)
    impulse = 2 * m * v, [2 * v * (m / masses[0]) ** 2, 2 * v * (m / masses[1]) ** 2, -2 * m, 0.0, 0.0]
    for n in [1.0, 2.0, 3.0, *np.random.default_rng(5).uniform(1.0, 2.2, 4).tolist()]:
        scenario = bounce(n)
        places = {place.key: place for place in places_of(scenario)}
        figures = ["contact.impulse_N_s", "peak_force_N", "peak_time_s"]
        found = derivatives_of(scenario, figures, [places[key] for key in keys])
        p = 1 / (n + 1)
        d = (m * v**2 / (2 * k * p)) ** p
        peak, grows = k * d**n, n * p
        onset, rise = 0.01 / v, d / v * np.sqrt(np.pi) * gamma(1 + p) / gamma(0.5 + p)
        later = p * (p - np.log(d)) + p**2 * (digamma(0.5 + p) - digamma(1 + p))
        slopes = [rise * p * m / mass**2 for mass in masses]
        time = onset + rise, [*slopes, (onset - rise * (2 * p - 1)) / v, -rise * p / k, rise * later]
        by_mass = [peak * grows * m / mass**2 for mass in masses]
        by_exponent = peak * (np.log(d) + grows * (1 / (n + 1) - np.log(d)))
        peak = peak, [*by_mass, -2 * grows * peak / v, peak / k * (1 - grows), by_exponent]
        for figure, (value, slopes) in zip(found, (impulse, peak, time), strict=True):
            assert found[figure].value == pytest.approx(value, rel=2e-9)
            for key, slope, known in zip(keys, found[figure].slopes, slopes, strict=True):
                assert abs(slope - known) * abs(places[key].value) < 1e-7 * value, (n, figure, key)


# --- what is said of one that is not known ----------------------------------------------------------------------------


def test_an_objective_says_what_it_does_not_know():
    """Just above the least speed that latches, a little less does not."""
    least = 0.02 * np.sqrt(100 * (1 / 15 + 1 / 17))
    scenario = dockdyn.load("paraskevas-latch", {SPEED: float(least * (1 + 3e-7)), "duration": 2.0})
    objective = dockdyn.objective(scenario, "capture_time_s")
    chaser = scenario.content.body[0]
    at = {SPEED: chaser.velocity, PLACE: chaser.position}
    found = objective.value_and_gradient(at)
    assert np.isnan(found.slopes[SPEED]) and "whether the latch captures changes" in found.unknown[SPEED]
    assert found.slopes[PLACE] == pytest.approx(-1 / least, rel=1e-6) and set(found.unknown) == {SPEED}
    with pytest.warns(UserWarning, match="capture_time_s by body.chaser.velocity: not differentiable here"):
        slopes = jax.grad(objective)(at)
    assert np.isnan(float(slopes[SPEED])) and np.isfinite(float(slopes[PLACE]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.grad(objective)(at | {SPEED: 0.11})


@pytest.mark.full
def test_a_pair_of_poles_changes_together():
    """One pole alone would leave its partner behind; a rig's comparisons are no numbers of its run."""
    scenario = dockdyn.load("sits", {"duration": 0.6})
    places = {place.key: place for place in places_of(scenario)}
    assert not [key for key in places if key.startswith("compare")]
    pair = [places[f"loop.robot.poles.0.{part}"] for part in (0, 1)]
    assert pair[1].written(2.0) == {"loop.robot.poles.0.1": 2.0, "loop.robot.poles.1.1": -2.0}
    figures = ["peak_force_error_N", "end_velocity_error_m_s"]
    found = derivatives_of(scenario, figures, pair)
    for index, place in enumerate(pair):
        for figure, both in differences(scenario, figures, place, (1e-6, 2e-6)).items():  # after 60 s it bends sharply
            assert both[0] == pytest.approx(both[1], rel=1e-5)
            assert found[figure].slopes[index] == pytest.approx(both[1], rel=2e-5), (figure, place.key)


@pytest.mark.full
def test_a_number_without_a_derivative_leaves_the_others_theirs(dock):
    """Noise of a sensor that has none would change the schedule of the rig."""
    to = ("--to", "body.target.mass", "--to", "loop.sensor.noise")
    code, out, err = dock("sensitivity", "sits", "--set", "duration=0.6", "--of", "peak_force_error_N", *to)
    assert code == 0, err
    assert (
        "depends most on body.target.mass" in out
        and "Its derivative by loop.sensor.noise is not known" in out.replace("\n", " ")
    )
