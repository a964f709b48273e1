"""Which compensator is recommended on a rig: on random rigs it is the best there, with noise and contacts not compared."""

import json
import re

import numpy as np
import pytest
import tomlkit
from helpers.line_rig import line_rig
from places import DOCS
from plain_tables import plain

import dockdyn
from dockdyn.rig.comparison.choice import RESOLVED, SURE, CompensatorChoice, Ranked, compensator_advice
from dockdyn.rig.comparison.compare import compare, comparison_answer
from dockdyn.rig.measures import recent_force
from dockdyn.scenario.load import parse

RIGS, QUICK = 200, (24,)
ASKED = "Which compensator is best on this rig: dockdyn compare, over the stiffnesses that it may meet."
CYCLES = 1023  # of the hold in each run: all have one size, and compile once
LANES = 17  # stiffnesses that are compared: as dense over the widest range as where none is stated
FRESH = 8  # in between, found afterwards
CLOSE = 0.2  # of the best error: what the recommended one may have more


def random_rig(number):
    """A rig, and the range of stiffness (N/m) that it may meet; masses, periods, delays, robots and noise over decades."""
    draw = np.random.default_rng([19, number])
    hold = 10 ** draw.uniform(-3, -2)  # s
    halves = 1 + number % 2  # steps of the dynamics in a hold
    step = hold / halves
    delay = draw.uniform((3.05, 2.05)[halves - 1], 5.95) * step  # all within one size of what is remembered
    slowest = draw.uniform(0.1, 0.8) / (delay + hold / 2 + step / 2)  # rad/s, of the contact in the middle of the range
    mass = 10 ** draw.uniform(1.5, 3.5)
    middle, reach = mass * slowest**2, draw.uniform(1.5, 6.0)
    speed = 10 ** draw.uniform(-2.5, -1)
    position = -draw.uniform(0, 5) * speed * hold
    damping = 2 * draw.choice([0.0, 0.02, 0.1]) * np.sqrt(middle * mass)
    content = line_rig(
        mass,
        {"law": "spring-dashpot", "stiffness": middle, "damping": damping},
        velocity=speed,
        position=position,
        duration=CYCLES * hold * (1 - 1e-9),
        seed=1,
        loop={
            "hold": {"period": hold},
            "sensor": {"delay": delay},
            "dynamics": {"method": "zero-order-hold", "period": step},
        },
    )
    if number // 2 % 2:
        fast, damping = draw.uniform(4, 20) * slowest * np.sqrt(reach), draw.uniform(0.5, 1.0)
        content["loop"]["robot"] = {"numerator": [fast**2], "denominator": [1.0, 2 * damping * fast, fast**2]}
    if number // 4 % 2:
        content["loop"]["sensor"]["noise"] = 10 ** draw.uniform(-4, -1.5) * speed * np.sqrt(middle * mass)
        content["loop"]["sensor"]["position_noise"] = 10 ** draw.uniform(-5, -3) * speed / slowest
    return content, middle / reach, middle * reach, draw


def loaded(content, **changes):

    return parse(tomlkit.dumps(plain({**content, **changes})), "rig")


def judged(number):
    """Of a rig: the recommended compensator, by how much its error may exceed the best, and errors found afresh.

    Afresh: with other seeds of the noise, and between the stiffnesses that were compared, too. A law may be far off over a
    tenth of an octave alone. Two errors are the same within the standard errors of their means over the noise; without noise,
    within what a run resolves.
    """
    content, low, high, draw = random_rig(number)
    compared = np.geomspace(low, high, LANES)
    first = compare(loaded(content), stiffnesses=compared.tolist())
    others = np.sort(np.r_[compared, np.exp(draw.uniform(np.log(low), np.log(high), FRESH))])
    again = CompensatorChoice.of_dataset(compare(loaded(content, seed=1000), stiffnesses=others.tolist()))
    chosen = CompensatorChoice.of_dataset(first)
    named, best = chosen.best(), again.ranking[0]
    found = again.known(named.law)
    noise = [each.noise for each in (named, chosen.known(best.law), found, best)]
    floor = max(RESOLVED, SURE * float(np.sqrt(np.sum(np.square(noise)))))
    return found, best, floor, again


@pytest.mark.full
@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[pytest.mark.full] * (number not in QUICK)) for number in range(RIGS)]
)
def test_the_recommended_compensator_is_the_best(number):
    """Within a fifth of the least error of restitution that any compensator has there, oracles aside."""
    found, best, floor, _ = judged(number)
    assert np.isfinite(best.error)
    assert found.error <= (1 + CLOSE) * best.error + floor


STIFF = 5e4  # N/m, where passivity cancels the whole contact force for a while
SHORT = {"contact.touch.normal.stiffness": STIFF, "duration": "0.4 s"}


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    """The rig of the tutorial, as a file."""
    file = tmp_path_factory.mktemp("rig") / "my_rig.toml"
    page = (DOCS / "tutorial-rig.md").read_text(encoding="utf-8")
    file.write_text(re.findall(r"^```toml\n(# my_rig.toml\n.*?)^```$", page, re.MULTILINE | re.DOTALL)[0])
    return file


@pytest.mark.full
def test_a_bounce_is_not_over_while_a_compensator_cancels_its_force(tutorial):
    """Its restitution is the speed at which the mass leaves for good, over that at which it came."""
    run = dockdyn.simulate(dockdyn.load(tutorial, {**SHORT, "loop.compensator.law": "passivity"}))
    speed, touching = run.velocity.values[:, 0], np.abs(run.measured_force.values[:, 0]) > 0
    assert (np.abs(run.total_force.values[touching, 0]) < 1e-9).any()
    found = dockdyn.summarise(run)
    assert found["apparent_restitution"] == pytest.approx(-speed[-1] / speed[0], rel=1e-12)
    assert found["apparent_restitution"] < 0.95


@pytest.mark.full
def test_what_a_run_recommends_was_compared_on_that_rig(tutorial, dock):
    """Without a comparison it says how to get one; with one it names the best, the runner-up and the margin."""
    lead = (
        "--set",
        "loop.compensator.law=lead-energy",
        "--set",
        "duration=0.4 s",
        "--set",
        f"contact.touch.normal.stiffness={STIFF}",
    )
    bare = json.loads(dock("run", tutorial, *lead, "--json").stdout)["recommendation"]
    assert bare.startswith("With lead-energy a bounce shows restitution") and bare.endswith(ASKED)
    assert "identif" not in bare
    scenario = dockdyn.load(tutorial, SHORT)
    laws = ["none", "passivity", "command-lead", "lead-energy"]
    found = comparison_answer(compare(scenario, laws, [1e4, STIFF]))
    assert (found["recommended"], found["runner_up"], found["own"]) == ("passivity", "command-lead", "none")
    errors = found["worst_error"]
    assert found["margin"] == pytest.approx(errors["command-lead"] - errors["passivity"], rel=1e-12)
    said = json.loads(dock("run", tutorial, *lead, "--json").stdout)["recommendation"]
    assert (
        "10000 to 50000 N/m: passivity, restitution within 0.02" in said
        and "; second best: command-lead (error " in said
    )
    assert (
        f"second best: command-lead (error {errors['command-lead']:.2g}" in said
        and f"This rig has lead-energy (error {errors['lead-energy']:.1g}" in said
    )
    other = (*lead, "--set", "loop.compensator.lead=1 ms", "--set", "loop.compensator.second_lead=0")
    assert "This rig has" not in json.loads(dock("run", tutorial, *other, "--json").stdout)["recommendation"]
    assert (
        ASKED
        in json.loads(dock("run", tutorial, *lead, "--set", "body.satellite.mass=310", "--json").stdout)[
            "recommendation"
        ]
    )


def choice(*ranking, of="restitution", draws=1):
    return CompensatorChoice(of, 1e3, 2e3, draws, tuple(Ranked(*each) for each in ranking))


def test_errors_that_noise_does_not_tell_apart_are_alike():
    """0.011 and 0.010 differ by less than twice the root of 0.0005² + 0.0005²; 0.012 does not."""
    found = choice(("force-lead", 0.010, 5e-4), ("passivity", 0.011, 5e-4), ("none", 0.012, 5e-4), draws=8)
    assert [each.law for each in found.alike()] == ["force-lead", "passivity"]
    assert found.best("passivity").law == "passivity" and found.best("none").law == "force-lead"
    assert found.runner_up().law == "none"
    said = compensator_advice(found, "passivity")
    assert "passivity, restitution within 0.011 ± 0.0005 of the true one, the mean of 8 noise seeds" in said
    assert "force-lead does as well; second best: the rig without a compensator" in said and "Keep passivity" in said
    exact = choice(("command-lead", 0.05), ("lead-energy", 0.05), ("none", 0.06))
    assert exact.best().law == "lead-energy" and exact.best("command-lead").law == "command-lead"
    assert choice(("none", 1e-3), ("lead-energy", 1e-3 + 1e-6)).runner_up().law == "lead-energy"


def test_advice_says_where_nothing_is_better_and_where_nothing_serves():
    assert "No compensator is better here than none" in compensator_advice(
        choice(("none", 0.01), ("passivity", 0.02)), "none"
    )
    assert compensator_advice(choice(("none", np.inf), ("passivity", np.inf)), "none").startswith(
        "No compensator keeps to"
    )
    only = compensator_advice(choice(("passivity", 0.02), ("none", np.inf)), "none")
    assert "all others diverge or do not bounce off" in only and "This rig has none (diverges" in only
    assert "restitution right to rounding" in compensator_advice(choice(("none", 1e-15), ("passivity", 0.1)), None)
    assert "amplitude within 1.2 %" in compensator_advice(choice(("none", 0.012), of="amplitude"), None)


@pytest.mark.parametrize("late", [0.0, 1.0, 2.0, 2.5, 7.0, 40.0])
def test_a_late_force_is_felt_as_long_as_it_is_late(late):
    force = np.random.default_rng(0).normal(size=(3, 20, 2))
    found = recent_force(force, 1.0, late)[..., 0]
    sizes, back = np.linalg.norm(force, axis=-1), int(np.ceil(late))
    for row in range(20):
        np.testing.assert_array_equal(found[:, row], sizes[:, max(0, row - back) : row + 1].max(axis=1))


def test_what_cannot_be_tuned_on_a_rig_is_left_out_with_the_reason(tutorial):
    """Gains are sought for a contact that oscillates; the others need none."""
    scenario = dockdyn.load(tutorial, {"duration": "0.4 s", "contact.touch.normal.damping": 1e4})
    found = comparison_answer(compare(scenario, ["none", "fixed-gain", "passivity"], [1e4]))
    assert list(found["worst_error"]) and set(found["worst_error"]) == {"none", "passivity"}
    assert "overdamped" in found["left_out"]["fixed-gain"] and "\n" not in found["left_out"]["fixed-gain"]
    with pytest.raises(dockdyn.ScenarioError, match="overdamped"):
        compare(scenario, ["fixed-gain"], [1e4])
