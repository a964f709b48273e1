"""Figures as differentiable functions: every kind beside differences of the sixth order, cases beside closed forms."""

import math

import jax
import numpy as np
import pytest
from helpers.refusals import refused
from on_a_line import FRONT_SPEED, PLACE, colliding
from on_a_line import SPEED as VELOCITY
from scipy.special import ndtr
from scipy.stats import norm

import dockdyn
from dockdyn.results.linearised import Numbers, slopes_along
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.cases.sampling import sample
from dockdyn.studies.objectives.derivatives import smooth_figures

WEIGHTS = np.array([45.0, -9.0, 1.0]) / 60  # of differences over two, four and six steps

# preset, overrides, keys, step (share of the number), least number of figures, agreement. Steps are where the errors of all
# figures, measured in several steps, are least.
# Orbital arm: 7e-9 with 1e-5, but 2e-6 of the final attitude, which is 4e-6 rad and so all rounding; 4e-7 with 1e-4; 8e-6
# with 1e-3, where impacts pass from one fixed step to others.
KINDS = {
    "chains": ("paraskevas-b", {"duration": 0.2}, [FRONT_SPEED, "contact.fronts.normal.stiffness"], 1e-4, 10, 1e-6),
    "latch": (
        "paraskevas-latch",
        {VELOCITY: 0.1},
        [VELOCITY, "latch.capture.ramp.stiffness", "body.chaser.mass"],
        1e-4,
        10,
        1e-6,
    ),
    "rig": (
        "sits",
        {"duration": 0.6},
        ["body.target.mass", "contact.spring.normal.stiffness", "body.target.velocity", "loop.sensor.delay"],
        1e-5,
        10,
        1e-6,
    ),
    "probe": (
        "probe-cone",
        {"duration": "9 s", "approach.distance": "5 mm", "loop.delay": "20 ms"},
        ["approach.closing_speed", "body.chaser.mass", "contact.probe.normal.stiffness", "loop.delay"],
        1e-4,
        10,
        1e-6,
    ),
    "variational": (
        "gibson-2d",
        {"contact_law.hard.impact.restitution": 0.5},  # else energies change by rounding
        ["orbit.semi_major_axis", "control.stiffness.0", "body.payload.mass"],
        1e-4,
        10,
        1e-6,
    ),
}
PEAK_TIME = 1e-5  # the time of a peak is interpolated in a step, whose length differences change
SAMPLED_PEAKS = ("peak_tip_deflection_m",)  # the largest sample: it may be another one a difference away
CONSTANT = {"latch": ("latch.travel_m",)}  # captured, it is the latch's own length
ROUNDING = 1e-8


@pytest.mark.full
@pytest.mark.parametrize("name", KINDS)
def test_every_figure_of_a_kind_equals_differences(name):
    """In proportion to the largest change that any of the keys makes, of a figure for 100 % more of the number."""
    preset, overrides, keys, share, least, agreement = KINDS[name]
    scenario = dockdyn.load(preset, overrides)
    own, places = Numbers.of(scenario.content), {place.key: place for place in places_of(scenario)}
    run = setup_named(scenario.setup).linearised(scenario)

    def figures(dataset):
        return smooth_figures(dockdyn.summarise(dataset))

    found, known = {}, {}
    for key in keys:
        place, direction = places[key], np.zeros(len(own.values))
        direction[list(place.leaves)] = 1.0
        values, found[key] = slopes_along(run, own.values, direction, figures)
        step = share * place.value
        cases = [
            figures(dockdyn.simulate(scenario.at(dict.fromkeys(place.keys, place.value + side * count * step))))
            for side in (1, -1)
            for count in (1, 2, 3)
        ]
        known[key] = {
            figure: WEIGHTS
            @ np.array([up[figure] - down[figure] for up, down in zip(cases[:3], cases[3:], strict=True)])
            / step
            for figure in values
        }
    compared = 0
    for figure in values:
        elastic = np.array([[one[key][figure] * places[key].value for key in keys] for one in (found, known)])
        if figure in CONSTANT.get(name, ()):
            assert np.abs(elastic[0]).max() < ROUNDING * abs(values[figure])
            continue
        scale = np.abs(elastic[1]).max()
        size = values["kinetic_energy_start_J"] if "energy_change" in figure else abs(values[figure])
        if scale <= 1e-9 * size or figure.startswith(SAMPLED_PEAKS):
            continue
        nearly = PEAK_TIME if figure.endswith("peak_time_s") else agreement
        np.testing.assert_allclose(elastic[0] / scale, elastic[1] / scale, rtol=0, atol=nearly, err_msg=figure)
        compared += 1
    assert compared >= least


@pytest.mark.full
@pytest.mark.parametrize("figure", ["growth_rate_1_s", "critical_delay_s"])
def test_margins_equal_differences(figure):
    objective = dockdyn.objective("probe-cone", figure)
    scenario = dockdyn.load("probe-cone")
    own = {place.key: place.value for place in places_of(scenario)}
    at = {key: own[key] for key in ("contact.probe.normal.stiffness", "loop.delay")}
    found = objective.value_and_gradient(at)
    for key, value in at.items():
        step = 1e-3 * value
        moved = [[objective.value(at | {key: value + side * count * step}) for count in (1, 2, 3)] for side in (1, -1)]
        known = WEIGHTS @ (np.array(moved[0]) - np.array(moved[1])) / step
        assert found.slopes[key] == pytest.approx(known, rel=1e-8, abs=1e-12 * abs(found.value / value))


# --- what JAX makes of it ---------------------------------------------------------------------------------------------

SPEED, STIFFNESS, CHASER, TARGET = 0.07, 4200.0, 12.0, 31.0
MASS = CHASER * TARGET / (CHASER + TARGET)
LAW = {"law": "spring-dashpot", "stiffness": STIFFNESS}
REBOUND = colliding([CHASER], [TARGET], LAW, speed=SPEED, gap=0.01, duration=0.6)
DRAWN = colliding(
    [CHASER], [TARGET], LAW, speed={"distribution": "uniform", "low": 0.05, "high": 0.09}, gap=0.01, duration=0.6
)
K = "contact.fronts.normal.stiffness"


def test_jax_differentiates_forwards_and_backwards():
    """F = v √(k m)."""
    objective = dockdyn.objective(dockdyn.load(REBOUND), "peak_force_N")
    at = {VELOCITY: SPEED, K: STIFFNESS}
    force = SPEED * math.sqrt(STIFFNESS * MASS)
    expected = {VELOCITY: force / SPEED, K: force / (2 * STIFFNESS)}
    value, backwards = jax.value_and_grad(objective)(at)
    assert float(value) == pytest.approx(force, rel=1e-9)
    forwards = jax.jacfwd(objective)(at)
    for key, slope in expected.items():
        assert float(backwards[key]) == pytest.approx(slope, rel=1e-7)
        assert float(forwards[key]) == pytest.approx(slope, rel=1e-7)
    squared = jax.grad(lambda at: objective(at) ** 2)(at)
    assert float(squared[VELOCITY]) == pytest.approx(2 * force**2 / SPEED, rel=1e-7)
    elsewhere = objective({VELOCITY: 2 * SPEED})
    assert float(elsewhere) == pytest.approx(2 * force, rel=1e-9)
    assert objective.unit == "N"
    with pytest.raises(TypeError, match=r"cannot be inside jax\.jit"):
        jax.jit(objective)(at)


# --- cases ------------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_mean_and_percentile_of_a_force_in_closed_form():
    """Of F = v √(k m) the mean, and the percentile, are those of the speeds drawn: the same for every stiffness."""
    scenario, runs = dockdyn.load(DRAWN), 40
    speeds = sample(scenario, runs, 5, scenario.campaign.sampling).values[:, 0]
    root = math.sqrt(STIFFNESS * MASS)
    for text, speed in (("mean of", speeds.mean()), ("95 % of", np.percentile(speeds, 95))):
        objective = dockdyn.objective(scenario, f"{text} peak_force_N", runs=runs, seed=5)
        found = objective.value_and_gradient({K: STIFFNESS})
        slope = found.slopes[K]
        assert found.value == pytest.approx(speed * root, rel=1e-9)
        assert slope == pytest.approx(speed * root / (2 * STIFFNESS), rel=1e-7)
        assert (found.runs, found.failed) == (runs, 0)
        # the slope is the value over 2 k in every case: so are their errors
        error = found.slope_errors[K]
        assert error == pytest.approx(found.value_error / (2 * STIFFNESS), rel=1e-6)
        if text == "mean of":
            assert found.value_error == pytest.approx(root * speeds.std(ddof=1) / math.sqrt(runs), rel=0.2)
        step = 1e-3 * STIFFNESS
        up, down = (objective.value({K: STIFFNESS + side * step}) for side in (1, -1))
        assert slope == pytest.approx((up - down) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("runs", [40, pytest.param(1500, marks=pytest.mark.full)])
def test_smoothed_probability_of_capture_in_closed_form(runs):
    """The latch captures above v = √(k/m) tan θ l (Paraskevas et al.); the speed is normal, and so is the stiffness."""
    reduced, length, stiffness, share = 1 / (1 / 15 + 1 / 17), 0.02, 100.0, 0.1
    least = length * math.sqrt(stiffness / reduced)
    mean, deviation = 1.05 * least, 0.2 * least
    speed = {"distribution": "normal", "mean": mean, "std": deviation}
    scenario = dockdyn.load("paraskevas-latch", {VELOCITY: speed, "duration": 2.0})
    objective = dockdyn.objective(scenario, "probability of captured", runs=runs, smoothing=share)
    found = objective.value_and_gradient({"latch.capture.ramp.stiffness": stiffness})
    at = np.linspace(-8, 8, 4001)
    springs = stiffness * (1 + share * at)
    limits = length * np.sqrt(springs / reduced)
    weights = norm.pdf(at) / norm.pdf(at).sum()
    value = weights @ ndtr((mean - limits) / deviation)
    slope = weights @ (-norm.pdf((mean - limits) / deviation) / deviation * limits / (2 * springs))
    assert abs(found.value - value) < 4 * found.value_error
    assert (
        abs(found.slopes["latch.capture.ramp.stiffness"] - slope)
        < 4 * found.slope_errors["latch.capture.ramp.stiffness"]
    )
    assert found.slope_errors["latch.capture.ramp.stiffness"] < 7 / math.sqrt(runs) * abs(slope)
    assert found.value_error < 0.6 / math.sqrt(runs)


@pytest.mark.parametrize(
    ("figure", "options", "keys", "words"),
    [
        ("95 of peak_force_N", {}, [], 'must be a figure of the summary or the margins, "95 % of"'),
        ("0 % of peak_force_N", {}, [], "must be above 0 % and below 100 %"),
        ("mean of peak_force_N", {}, [VELOCITY], f"{VELOCITY}: is drawn anew in every case"),
        ("95 % of peak_force_N", {"smoothing": 0.1}, [PLACE], "must be without smoothing"),
        ("probability of captured", {"smoothing": 0}, [PLACE], "must have a smoothing above 0"),
        ("peak_force_N", {}, ["nothing"], "nothing: unknown key"),
        ("peak_force_N", {"smoothing": 2}, [], "must be at least 0 and below 1"),
    ],
)
def test_what_cannot_be_differentiated_is_one_line(figure, options, keys, words):
    with refused(words):
        objective = dockdyn.objective(dockdyn.load(DRAWN), figure, runs=4, **options)
        objective.value_and_gradient(dict.fromkeys(keys, 0.05))


@pytest.mark.parametrize("asked", ["{}", "95 % of {}"])
@pytest.mark.parametrize(
    ("preset", "figure", "words"),
    [
        ("probe-cone", "peak_forces", "did you mean 'peak_force_N'?"),
        ("idss-soft-capture", "port.tensions", "did you mean 'port.tension_N'?"),
        ("paraskevas-latch", "minimal", "allowed: "),
        ("paraskevas-a", "contact.impuls_N_s", "did you mean 'contact.impulse_N_s'?"),
    ],
)
def test_a_figure_that_no_such_scenario_has_is_refused_when_it_is_asked_for(preset, figure, words, asked):
    with pytest.raises(ScenarioError) as caught:
        dockdyn.objective(preset, asked.format(figure))
    assert str(caught.value).startswith(f"{preset}: figure {figure}: no such figure; {words}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "figure", ["contact.energy_change_J.1", "contacts.7.peak_force_N", "impacts.0.energy_loss_J", "captured"]
)
def test_a_figure_that_only_a_run_tells_is_taken(figure):
    assert dockdyn.objective("probe-cone", f"mean of {figure}").figure.name == figure
