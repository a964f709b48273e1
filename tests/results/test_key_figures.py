"""Key figures: every kind offers the same ones to a run and to a campaign; one defined outside serves all studies."""

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from on_a_line import colliding
from small_campaign import SCENARIO

import dockdyn
from dockdyn.docking.mechanism_setup import MechanismSetup
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.results.contact_figures import LATCHED, stored_figure
from dockdyn.results.contact_summary import dataset_data
from dockdyn.results.key_figures import KeyFigure, names_in_cases, summary_figures
from dockdyn.results.requirements import figures_of, judge_requirements, with_lists
from dockdyn.scenario import setups
from dockdyn.scenario.language.requirement import requirement_of
from dockdyn.scenario.load import parse
from dockdyn.studies.campaign.conduct import plan_campaign, run_nominal
from dockdyn.studies.cases.batch import LEFT_OUT, run_cases, runs_in_batches

SHORT = {  # preset, duration (s)
    "rig": ("sits", 2.0),
    "mechanism": ("soyuz-like-probe", 3.0),
}
OTHERS = {
    "a probe": ("", 6.0),
    "a contact on a line": ("paraskevas-a", 0.6),
    "a latch on a line": ("paraskevas-latch", 0.8),
}
SLOW = ("rig", "a probe", "mechanism")


def asked_for(figures):
    """A requirement on each figure of a summary, of its own unit."""
    for name, value in figures.items():
        yes = isinstance(value, bool)
        yield requirement_of(name, True if yes else "<= 1e9", "asked")


def offered_in_campaign(scenario):
    found = run_cases(scenario, ["duration"], np.array([[scenario.content.duration]]))
    assert found.reasons == [""]
    return with_lists({name: float(values[0]) for name, values in found.figures.items()})


def test_all_setups_are_looked_at():
    assert set(SHORT) == set(setups.SETUPS)


@pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=pytest.mark.full) if name in SLOW else name for name in SHORT | OTHERS]
)
def test_a_campaign_accepts_the_requirements_of_a_run_and_no_others(kind):
    preset, duration = (SHORT | OTHERS)[kind]
    scenario = (dockdyn.load(preset) if preset else parse(SCENARIO, "docking")).at({"duration": duration})
    in_run = figures_of(dockdyn.summarise(dockdyn.simulate(scenario)))
    required = tuple(asked_for({name: value for name, value in in_run.items() if name not in LEFT_OUT}))
    asked = replace(scenario, requirements=required)
    offered = offered_in_campaign(asked)
    judge_requirements(required, offered)  # raises ScenarioError for one that is not offered
    bases = {name.removesuffix(".least").removesuffix(".largest") for name in offered}
    assert bases == set(in_run) - set(LEFT_OUT)


@pytest.mark.parametrize("kind", [name for name in SHORT if setups.setup_named(name).key_figures() is not None])
def test_no_two_key_figures_have_one_name(kind):
    known = setups.setup_named(kind).key_figures().figures
    assert len(names_in_cases(known)) == len(known) + sum(one.each for one in known)
    assert all(one.words for one in known)


def test_a_variable_that_no_run_has_is_an_error_and_one_of_some_runs_is_none():
    def told(preset, *asked):
        dataset = dockdyn.simulate(dockdyn.load(preset, {"duration": 0.1}))
        return list(summary_figures(asked, dataset_data(dataset), {}).values())

    right = stored_figure("right_s", "right", "capture_time", only_with=LATCHED)
    wrong = stored_figure("wrong_s", "wrong", "capture_tiem", only_with=LATCHED)
    always = stored_figure("always_s", "wrong in all runs", "approach_letf")
    assert told("paraskevas-a", right, wrong) == [None, None]  # has no latch
    assert told("paraskevas-latch", right) == [None]  # which has caught nothing yet
    for preset, one, name in (
        ("paraskevas-latch", wrong, "capture_tiem"),
        ("paraskevas-latch", always, "approach_letf"),
        ("paraskevas-a", always, "approach_letf"),
    ):
        with pytest.raises(KeyError, match=name):
            told(preset, one)


# a figure of one's own: how long the longest contact lasts


def longest(data):
    lasted = data["episode_release"] - data["episode_onset"]
    xp = lasted.__array_namespace__()
    there = xp.isfinite(lasted)
    return xp.where(xp.any(there), lasted.max(initial=-xp.inf, where=there), xp.nan)


LONGEST = KeyFigure("longest_contact_s", "longest contact", longest)
WHOLE = KeyFigure("of_the_whole_run", "a number of the whole run", lambda data: 7.0, source="run")


class DockingSetup(MechanismSetup):
    name: ClassVar = "docking"

    def key_figures(self):
        known = super().key_figures()
        return known._replace(figures=(*known.figures, LONGEST, WHOLE))


@pytest.fixture
def own_setups(monkeypatch):
    for name in ("mechanism", "docking"):  # under a name of its own, which programs that are kept know
        monkeypatch.setitem(setups.SETUPS, name, f"{__name__}:DockingSetup")
    monkeypatch.setattr(MechanismSection, "setup", "docking")
    setups.setup_named.cache_clear()
    yield
    setups.setup_named.cache_clear()


MASS, STIFFNESS, SPEED = 12.0 * 31.0 / 43.0, 4200.0, 0.07
LAW = {"law": "spring-dashpot", "stiffness": STIFFNESS}
BOUNCE = colliding([12.0], [31.0], LAW, speed=SPEED, gap=0.01, duration=0.6)


@pytest.mark.full
def test_a_figure_of_ones_own_in_closed_form(own_setups):
    """A bounce on a spring takes π √(m/k); its derivative by k is −1/2k of it. Its impulse is 2 m v."""
    scenario = dockdyn.load(BOUNCE)
    required = replace(scenario, requirements=(requirement_of("longest_contact", "< 141 ms", "bounce"),))
    summary = dockdyn.summarise(dockdyn.simulate(required))
    lasts = math.pi * math.sqrt(MASS / STIFFNESS)
    assert summary["longest_contact_s"] == pytest.approx(lasts, rel=1e-9)
    assert summary["of_the_whole_run"] == 7
    (row,) = dockdyn.sensitivity(scenario, "longest_contact_s", ["contact.fronts.normal.stiffness"])["to"]
    assert row["derivative"] == pytest.approx(-lasts / (2 * STIFFNESS), rel=1e-8)
    assert row["differentiable"]
    answer = dockdyn.sensitivity(scenario, "contact.impulse_N_s", ["body.chaser.velocity"])
    assert answer["value"] == pytest.approx(2 * MASS * SPEED, rel=1e-9)
    assert answer["to"][0]["derivative"] == pytest.approx(2 * MASS, rel=1e-8)
    with pytest.raises(
        dockdyn.ScenarioError, match="--of of_the_whole_run: is found by more than this run; must be one"
    ):
        dockdyn.sensitivity(scenario, "of_the_whole_run")


@pytest.mark.full
def test_a_figure_of_ones_own_in_run_requirement_and_campaign(own_setups):
    text = SCENARIO.replace("peak_force", "longest_contact").replace("90 N", "9 s")
    scenario = parse(text, "docking").at(
        {"approach.closing_speed": 0.05, "approach.lateral_offset.0": 0.05, "duration": 12.0}
    )
    summary = dockdyn.summarise(dockdyn.simulate(scenario))
    lasts = [one["release_s"] - one["onset_s"] for one in summary["contacts"] if one["release_s"] is not None]
    assert summary["longest_contact_s"] == pytest.approx(max(lasts), rel=1e-12)
    assert {one["figure"]: one["met"] for one in summary["requirements"]}["longest_contact_s"] is True
    assert runs_in_batches(scenario)
    found = run_cases(scenario, ["approach.closing_speed"], np.array([[0.05]])).figures
    assert found["longest_contact_s"][0] == pytest.approx(max(lasts), rel=1e-8)
    assert "of_the_whole_run" not in found
    # one that batches do not know: the cases run one by one, and a name that nobody knows is refused as by a run
    asked = replace(scenario, requirements=(requirement_of("of_the_whole_run", "== 7", "docking"),))
    assert not runs_in_batches(asked)
    assert run_cases(asked, ["approach.closing_speed"], np.array([[0.05]])).figures["of_the_whole_run"] == 7
    unknown = parse(text.replace("longest_contact", "longest_contract"), "docking")
    with pytest.raises(
        dockdyn.ScenarioError, match=r"longest_contract: no such figure .* did you mean 'longest_contact'"
    ):
        run_nominal(unknown, plan_campaign(unknown, 2))


HELD = """
schema = 2
duration = "3 s"
[body.chaser]
mass = 300
inertia = [60, 80, 90]
position = [50, 0, 0]
rate = [0.01, 0, 0]
[body.target]
mass = 800
inertia = [200, 250, 300]
[control]
body = "chaser"
law = "attitude-hold"
base_stiffness = 40.0
base_damping = 30.0
base_limit = 1000.0
"""


@pytest.mark.full
def test_a_figure_of_the_motion_has_a_derivative_too():
    """An attitude held about one axis is a linear oscillator: the angle at the end goes as the rate at the start."""
    answer = dockdyn.sensitivity(parse(HELD, "held"), "control.attitude_error_rad", ["body.chaser.rate.0"])
    decay, turning = 30.0 / 120.0, math.sqrt(40.0 / 60.0 - (30.0 / 120.0) ** 2)
    angle = 0.01 / turning * math.exp(-3 * decay) * math.sin(3 * turning)
    assert answer["value"] == pytest.approx(angle, rel=1e-6)
    (row,) = answer["to"]
    assert row["derivative"] == pytest.approx(angle / 0.01, rel=1e-6)
    assert row["differentiable"]
