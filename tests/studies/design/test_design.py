"""Designs against closed forms, and what is refused."""

import json
import math
import re

import numpy as np
import pytest
from helpers.refusals import refused
from on_a_line import SPEED as VELOCITY
from on_a_line import TWO_MASSES, latching, text
from scipy.optimize import minimize_scalar

import dockdyn
from dockdyn.results.requirements import judge_requirements
from dockdyn.studies.design.answer import answer_of
from dockdyn.studies.design.conduct import run_design
from dockdyn.studies.design.plan import plan_design
from dockdyn.studies.design.report import design_report
from dockdyn.studies.design.trail import Trail

MASS = 15 * 17 / 32  # kg, the reduced one
SPEED = 0.1  # m/s
CONTACT = TWO_MASSES.replace('"1 s"', '"3 s"')
RAMP = {"stiffness": "100 N/m", "angle": "45 deg", "axial_length": 0.02}
LATCH = text(latching(["15 kg"], ["17 kg"], RAMP, speed=0.05, gap=0.01, duration="3 s"))
NEEDED = MASS * (0.05 / 0.02) ** 2  # N/m: the latch is as stiff as the energy of 50 mm/s lifts it over 20 mm at 45 deg
DAMPING = """
[design.variable.damping]
key = "contact.fronts.normal.damping"
low = "5 N s/m"
high = "200 N s/m"
"""
STIFFNESS = """
[design.variable.stiffness]
key = "latch.capture.ramp.stiffness"
low = "20 N/m"
high = "190 N/m"
"""


def motion(ratio):
    """Of a unit mass that meets a unit spring with a damping `ratio` at unit speed: the largest force, and the speed at which
    the two part, when the force is none."""
    fast = math.sqrt(1 - ratio**2)

    def force(time):  # −d²x/dt² of x = exp(−ratio t) sin(fast t) / fast
        decay = math.exp(-ratio * time) / fast
        return decay * ((1 - 2 * ratio**2) * math.sin(fast * time) + 2 * ratio * fast * math.cos(fast * time))

    parts = (math.pi - math.atan2(2 * ratio * fast, 1 - 2 * ratio**2)) / fast
    time = np.linspace(0.0, parts, 20001)
    peak = minimize_scalar(lambda t: -force(t), bounds=(0.0, parts), method="bounded", options={"xatol": 1e-12})
    decay = math.exp(-ratio * parts)
    speed = decay * (math.cos(fast * parts) - ratio / fast * math.sin(fast * parts))
    assert min(map(force, time[1:-1:100])) > 0
    return max(-peak.fun, 2 * ratio), -speed


def designed(folder, text):
    file = folder / "scenario.toml"
    file.write_text(text)
    return dockdyn.design(file, folder / "design")


@pytest.mark.full
def test_the_damper_of_least_peak_force(tmp_path):
    answer = designed(tmp_path, CONTACT + '[design]\nminimise = "peak_force"\nevaluations = 60\n' + DAMPING)
    best = minimize_scalar(
        lambda ratio: motion(ratio)[0], bounds=(0.1, 0.45), method="bounded", options={"xatol": 1e-9}
    )
    assert best.x == pytest.approx(0.2649, abs=1e-4)  # which is known
    root = math.sqrt(1000 * MASS)
    assert answer["goal"]["value"] == pytest.approx(best.fun * SPEED * root, rel=1e-6)
    assert answer["variables"][0]["value"] == pytest.approx(2 * best.x * root, rel=1e-3)
    assert answer["feasible"] and answer["derivatives"] > 0
    assert answer["evaluations"] + answer["derivatives"] == 60  # one variable: a derivative counts as one design more


@pytest.mark.full
def test_the_softest_spring_and_damper_that_part_slowly(tmp_path):
    """The force is least at the softest spring allowed, and the damper the one that gives just the rebound allowed."""
    text = """
[design]
minimise = "peak_force"
evaluations = 60
constraints = { "contact.velocity_after_m_s.least" = ">= -0.04" }
[design.variable.stiffness]
key = "contact.fronts.normal.stiffness"
low = "500 N/m"
high = "20 kN/m"
"""
    answer = designed(tmp_path, CONTACT + text + DAMPING)
    ratio = minimize_scalar(
        lambda z: (motion(z)[1] - 0.4) ** 2, bounds=(0.1, 0.6), method="bounded", options={"xatol": 1e-9}
    ).x
    stiffness, damping = (one["value"] for one in answer["variables"])
    assert ratio > 0.2649  # more than the one of least force: the rebound decides
    assert answer["goal"]["value"] == pytest.approx(motion(ratio)[0] * SPEED * math.sqrt(500 * MASS), rel=1e-5)
    assert stiffness == pytest.approx(500, rel=1e-3)
    assert damping == pytest.approx(2 * ratio * math.sqrt(500 * MASS), rel=2e-3)
    assert answer["variables"][0]["at"] == "low" and answer["constraints"][0]["active"]
    # F = φ(ζ) v √(k m) with ζ given by the rebound: what a softer end and a faster rebound would be worth
    assert answer["variables"][0]["price"] == pytest.approx(-answer["goal"]["value"] / (2 * 500), rel=2e-2)
    step = 1e-4
    (low, slow), (high, fast) = motion(ratio - step), motion(ratio + step)
    slope = (high - low) / (fast - slow) * math.sqrt(500 * MASS)  # N s/m
    assert answer["constraints"][0]["price"] == pytest.approx(-abs(slope), rel=2e-2)


def test_requirements_that_no_constraint_is_about_are_named(tmp_path):
    asked = '[requirements]\npeak_force_N = "< 9 N"\ncontact.count = "== 1"\ncontact.onset = "< 1 s"\n'
    text = '[design]\nminimise = "peak_force"\nevaluations = 2\nconstraints = { peak_force = "< 9 N" }\n'
    plan = plan_design(dockdyn.load(CONTACT + asked + text + DAMPING))
    evaluations = run_design(plan, Trail(tmp_path / "design"), lambda share: None)
    answer = answer_of(plan, evaluations)
    assert answer["requirements_left_out"] == ["contact.count", "contact.onset"]
    (said,) = [words for words in design_report(plan, evaluations, answer).warnings if "requirements" in words]
    assert said.startswith(
        "2 requirements are no constraint of this design, and may not be met: contact.count, contact.onset;"
    )


@pytest.mark.full
def test_the_stiffest_latch_that_captures(tmp_path):
    text = '[design]\nmaximise = "latch.capture.ramp.stiffness"\nevaluations = 200\nconstraints = { captured = true }\n'
    answer = designed(tmp_path, LATCH + text + STIFFNESS)
    assert answer["goal"]["value"] == pytest.approx(NEEDED, rel=1e-3)
    assert answer["goal"]["value"] <= NEEDED
    best = dockdyn.load(tmp_path / "design" / "scenario.toml")
    assert dockdyn.summarise(dockdyn.simulate(best))["captured"]
    assert json.loads((tmp_path / "design" / "design.json").read_text()) == answer


@pytest.mark.full
def test_the_stiffest_latch_that_captures_all_of_a_range(tmp_path):
    text = """
[design]
maximise = "latch.capture.ramp.stiffness"
evaluations = 100
cases = 3
constraints = { captured = "true in 100 %" }
[campaign]
runs = 60
sampling = "latin-hypercube"
"""
    several = LATCH.replace(
        "velocity = 0.05", 'velocity = { distribution = "choice", values = ["50 mm/s", "60 mm/s", "80 mm/s"] }'
    )
    answer = designed(tmp_path, several + text + STIFFNESS)
    assert answer["goal"]["value"] == pytest.approx(NEEDED, rel=1e-3)
    (fresh,) = answer["evidence"]["constraints"]
    assert fresh["share"] == 1 and fresh["met"] and fresh["interval_95"][1] == 1 and fresh["interval_95"][0] < 0.96


@pytest.mark.full
def test_a_design_is_judged_as_a_run_is(tmp_path):
    """The answer's figures are those that the scenario written out has when it is run."""
    text = '[design]\nminimise = "peak_force"\nevaluations = 9\nconstraints = { contact.impulse = "> 1 N s" }\n'
    answer = designed(tmp_path, CONTACT + text + DAMPING)
    best = dockdyn.load(tmp_path / "design" / "scenario.toml", {"requirements.contact.impulse": "> 1 N s"})
    summary = dockdyn.summarise(dockdyn.simulate(best))
    assert summary["peak_force_N"] == pytest.approx(answer["goal"]["value"], rel=1e-9)
    (judged,) = judge_requirements(best.requirements, summary)
    (found,) = answer["constraints"]
    assert found["met"] is judged["met"] is True
    assert found["slack"] == pytest.approx(judged["margin"] / judged["limit"], rel=1e-9)


@pytest.mark.full
def test_what_no_design_meets_is_told(tmp_path, dock):
    """The least force is 7.23 N: the answer says which constraint is missed, and by how much."""
    file = tmp_path / "hard.toml"
    text = '[design]\nmaximise = "contact.impulse"\nevaluations = 60\nconstraints = { peak_force = "< 5 N" }\n'
    file.write_text(CONTACT + text + DAMPING)
    ended = dock("design", file, "--out", "hard")
    assert ended.returncode == 4
    words = " ".join(ended.stdout.split())
    assert re.search(r"None of the \d+ designs tried meets all constraints\.", words)
    assert "misses peak_force < 5 N: it is 7.232, by 44.6 % of the limit" in words
    told = " ".join(ended.stderr.split())
    assert "the first design, from which others are sought, misses peak_force < 5 N: it is 8.251" in told
    assert (tmp_path / "hard" / "report.html").exists()


@pytest.mark.full_cases("changes5-design.minimise: no such figure in the summary")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"design.variable.damping.key": "contact.fronts.normal.damper"}, "contact.fronts.normal.damper: unknown key"),
        ({"design.variable.damping.low": "200 N s/m"}, "must be a number with different ends"),
        ({"design.variable.damping.low": "300 N s/m"}, "must rise"),
        ({"design.variable.damping.low": "-1 N s/m"}, "contact.fronts.normal.damping = '-1 N s/m': must be"),
        (
            {
                "design.variable.damping.key": VELOCITY,
                "design.variable.damping.low": 0.1,
                "design.variable.damping.high": 0.3,
                VELOCITY: {"distribution": "uniform", "low": 0.1, "high": 0.2},
            },
            "velocity is distributed; must be a number that is not",
        ),
        ({"design.minimise": "top_force"}, "design.minimise: no such figure in the summary"),
        ({"design.minimise": "95 % of peak_force"}, "has no distribution"),
        ({"design.minimise": "120 % of peak_force"}, "120 %: must be above 0 % and at most 100 %"),
        ({"design.minimise": "least of all"}, "must be a figure"),
        ({"design.maximise": [VELOCITY, "captured"]}, "must have one goal, minimise or maximise, or two; has 3"),
        ({"design.constraints.captured": "perhaps"}, "design.constraints.captured = 'perhaps': must be"),
        ({"design.constraints.peak_force": "< 5 m"}, "must be in N, as peak_force_N is"),
        ({"design.constraints.peak_force": "< 5 N in 0 %"}, "must be above 0 %"),
        ({"design.evaluations": 0}, "design.evaluations = 0: must be at least 1"),
        ({"design.budget": 3}, "design.budget: unknown key"),
        ({"design.variable.damping.values": [1, 2]}, "design.variable.damping: has values and low and high"),
        ({"design.variable.damping": {"key": VELOCITY, "low": 1}}, "design.variable.damping: high missing"),
        ({"design.variable.damping": {"key": VELOCITY, "values": [0.1, 0.1]}}, "values.1 = 0.1: is given twice"),
        ({"design.variable.damping": {"key": VELOCITY, "values": [0.1, "slow"]}}, "velocity = 'slow': must be"),
        ({"design.variable.damping": {"key": "integrator.max_events", "low": 9, "high": 9}}, "changes nothing"),
        ({"design.variable.damping": {"key": "integrator.max_events", "low": 9, "high": 5}}, "from 9 to 5; must rise"),
        (
            {"design.variable.damping": {"key": "integrator.max_events", "low": 1.5, "high": 5}},
            "must be a whole number",
        ),
    ],
)
def test_what_is_no_design_is_refused_in_one_line(tmp_path, changes, words):
    file = tmp_path / "scenario.toml"
    file.write_text(CONTACT + '[design]\nminimise = "peak_force"\nevaluations = 9\n' + DAMPING)
    with refused(words):
        dockdyn.design(dockdyn.load(file, changes), tmp_path / "design")
    assert not (tmp_path / "design").exists()  # nothing came into it


def test_what_no_variable_changes_is_told(tmp_path):
    text = (
        '[design]\nminimise = "peak_force"\nevaluations = 9\nconstraints = { contact.approach_speed = "< 50 mm/s" }\n'
    )
    file = tmp_path / "scenario.toml"
    file.write_text(CONTACT + text + DAMPING)
    plan = plan_design(dockdyn.load(file))
    evaluations = run_design(plan, Trail(tmp_path / "design"), lambda share: None)
    answer = answer_of(plan, evaluations)
    assert not answer["feasible"] and not answer["constraints"][0]["changes"]
    report = design_report(plan, evaluations, answer)
    words = "contact.approach_speed < 50 mm/s: it is 0.1000, by 100 % of the limit, which no design tried changes"
    assert words in report.verdict


def test_a_scenario_without_a_design(tmp_path):
    with pytest.raises(dockdyn.ScenarioError, match=r"probe-cone: states no design; must have a table \[design\]"):
        dockdyn.design("probe-cone", tmp_path)
