"""Requirements: met or not and by which margin, in a run's summary, on the terminal, in the report and the exit code."""

import json

import numpy as np
import pytest

import dockdyn
from dockdyn.cli.common import NOT_MET
from dockdyn.pages import report_html, report_of
from dockdyn.report.terminal import show_report
from dockdyn.results.requirements import judge_requirements, unit_of_figure
from dockdyn.scenario.language.requirement import requirements_of
from dockdyn.studies.cases.batch import run_cases

SUMMARY = {
    "title": "by hand",
    "captured": True,
    "capture_time_s": None,
    "peak_force_N": 3500.0,
    "steps": 120,
    "energy_error": 1e-9,
    "contact.energy_change_J": [-2.0, -5.0, 1.0],
    "contact.velocity_after_m_s": [0.1, None],
    "contacts": [{"onset_s": 1.0}],
    "impacts": [],
    "delay_budget_ms": {"hold": 2.0, "sensor": 3.0},
    "peak_tip_deflection_m": {"boom": 0.02},
    "final": {"theta": -0.1},
    "control.thruster_impulse_N_s": 4.0,
    "control.thruster_turning_impulse_N_m_s": 5.0,
}


def judged(**table):
    (found,) = judge_requirements(requirements_of(table, "mine.toml"), SUMMARY, "mine.toml")
    return found


@pytest.mark.parametrize(
    ("table", "value", "limit", "met", "margin"),
    [
        ({"peak_force": "< 4 kN"}, 3500, 4000, True, 500),
        ({"peak_force_N": "<3000 N"}, 3500, 3000, False, -500),
        ({"peak_force": "> 3.5 kN"}, 3500, 3500, False, 0),
        ({"peak_force": ">= 3500"}, 3500, 3500, True, 0),
        ({"steps": "== 120"}, 120, 120, True, 0),
        ({"steps": "== 100"}, 120, 100, False, -20),
        ({"captured": True}, True, True, True, None),
        ({"captured": False}, True, False, False, None),
        ({"capture_time": "<= 60 s"}, None, 60, False, None),
        ({"contact.energy_change": "<= 0 J"}, 1, 0, False, -1),  # the worst of the list
        ({"contact.energy_change": "> -6 J"}, -5, -6, True, 1),
        ({"contact.velocity_after": "> 0"}, None, 0, False, None),  # one of them did not come to it
        ({"delay_budget": {"sensor": "< 4e-3 s"}}, 3, 4, True, 1),
        ({"peak_tip_deflection": {"boom": "< 15 mm"}}, 0.02, 0.015, False, -0.005),
        ({"final": {"theta": ">= -0.5"}}, -0.1, -0.5, True, 0.4),
        ({"control.thruster_turning_impulse_N_m_s": "< 6 N m s"}, 5, 6, True, 1),
    ],
)
def test_margins_are_positive_where_met(table, value, limit, met, margin):
    found = judged(**table)
    assert (found["value"], found["met"]) == (value, met)
    assert found["limit"] == pytest.approx(limit, rel=1e-12)
    assert found["margin"] == (None if margin is None else pytest.approx(margin, rel=1e-12))


def test_a_case_of_a_campaign_is_judged_alike():
    """Its figures are numbers all: 1 is true, NaN is nothing."""
    stated = requirements_of({"captured": True, "capture_time": "< 9 s", "peak_force": "< 4 kN"}, "mine.toml")
    figures = {"captured": 1.0, "capture_time_s": float("nan"), "peak_force_N": float("inf")}
    found = judge_requirements(stated, figures)
    assert [one["met"] for one in found] == [True, False, False]
    assert [one["margin"] for one in found] == [None, None, None]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("figure", "unit"),
    [
        ("latch.peak_moment_N_m", "N m"),
        ("peak_force_N", "N"),
        ("latch.speed_margin_m_s", "m/s"),
        ("contact.impulse_N_s", "N s"),
        ("control.wheel_momentum_N_m_s", "N m s"),
        ("gain_lowest_N_s_m", "N s/m"),
        ("stiffness_N_m", "N/m"),
        ("remaining_rate_rad_s", "rad/s"),
        ("phase_error_rad", "rad"),
        ("latch.travel_m", "m"),
        ("delay_total_ms", "ms"),
        ("effective_mass_kg", "kg"),
        ("peak_tip_deflection_m.boom", "m"),
        ("steps", ""),
        ("energy_error", ""),
    ],
)
def test_units_are_those_of_the_names(figure, unit):
    assert unit_of_figure(figure) == unit


def test_a_moment_is_required_in_newton_metres():
    found = judge_requirements(
        requirements_of({"latch.peak_moment_N_m": "< 5 kN m"}, "own"), {"latch.peak_moment_N_m": 4200.0}
    )
    assert found[0]["met"] is True and found[0]["margin"] == pytest.approx(800)


REFUSED = [
    (
        {"peak_force": "=< 4 kN"},
        "requirements.peak_force = '=< 4 kN': '=<' is no relation; must be one of <, <=",
    ),
    ({"peak_force": "4 kN"}, "requirements.peak_force = '4 kN': must be true, false or a relation"),
    ({"peak_force": 4}, "requirements.peak_force = 4: must be true, false or a relation"),
    ({"peak_force": "< much"}, "requirements.peak_force = '< much': 'much' is no limit"),
    ({"peak_force": "< 4 grunts"}, "requirements.peak_force = '< 4 grunts': '4 grunts' is no limit"),
    (
        {"peak_force": "< 4 kg"},
        "requirements.peak_force = '< 4 kg': must be in N, as peak_force_N is",
    ),
    ({"energy_error": "< 4 kg"}, "requirements.energy_error = '< 4 kg': must be a number without a unit"),
    (
        {"peak_norml_force": "< 4 kN"},
        "requirements.peak_norml_force: no such figure in the summary; did you mean 'peak_force'? "
        "There are capture_time, captured, ",
    ),
    ({"title": True}, "requirements.title: no such figure in the summary; allowed: "),
    ({"contacts": "< 3"}, "requirements.contacts: no such figure in the summary"),
    ({"captured": "< 3"}, "requirements.captured = '< 3': captured is a yes or no; must be true or false"),
    (
        {"peak_force": True},
        "requirements.peak_force = true: peak_force_N is a number; must be a rel",
    ),
]


@pytest.mark.parametrize(("table", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_required_is_refused_in_one_line(table, message):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        judged(**table)
    said = str(refusal.value)
    assert said.startswith(f"mine.toml: {message}") and "\n" not in said


def test_a_case_that_cannot_be_judged_names_its_scenario():
    scenario = dockdyn.load("sits", {"duration": 0.1, "requirements": {"peak_force": "< 1 N"}})
    with pytest.raises(dockdyn.ScenarioError, match=r"^sits: requirements\.peak_force: .* 'peak_measured_force'"):
        run_cases(scenario, ["body.target.velocity"], np.array([[0.05]]))


SHORT = ["run", "paraskevas-latch", "--set", "duration=0.2 s"]


def test_a_run_says_what_is_met_and_check_decides_the_exit_code(dock, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    wants = ["--set", "requirements.captured=false", "--set", "requirements.steps=< 3"]
    code, out, _ = dock(*SHORT, *wants, "--out", "out")
    assert code == 0
    assert "required captured = false: met; value false, margin –" in out
    assert "required steps < 3: not met; value " in out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<h2>Requirements</h2>" in page and "steps &lt;\N{NO-BREAK SPACE}3" in page and ">not met<" in page

    code, out, err = dock(*SHORT, *wants, "--json", "--check")
    assert code == NOT_MET == 4
    assert err == "error: paraskevas-latch: not met: steps\n"
    found = json.loads(out)["requirements"]
    assert [(one["name"], one["met"]) for one in found] == [("captured", True), ("steps", False)]
    assert found[1]["margin"] == 3 - found[1]["value"] < 0

    assert dock(*SHORT, *wants[:2], "--json", "--check").returncode == 0
    code, _, err = dock(*SHORT, "--json", "--check")
    assert (code, err) == (0, "warning: paraskevas-latch has no requirements to check\n")
    refusal = dock(*SHORT, "--set", "requirements.top_force=< 3 N", "--json")
    refusal.check_refused("top_force: no such figure in the summary")
    of_others = "requirements.thruster.impulse=< 3 N s"  # some runs have it, which this one turns out not to be
    refusal = dock(*SHORT, "--set", of_others, "--out", "kept")
    assert refusal.returncode == 2 and "thruster.impulse: no such figure" in refusal.stderr
    assert "The run is in kept without its requirements" in refusal.stdout
    assert dockdyn.summarise(tmp_path / "kept" / "result.nc")["requirements"] == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("preset", "stated", "limit"),
    [
        ("sits", {"duration": 0.5}, {"amplitude_ratio": "> 0.1"}),
        ("sazawal-spring-dashpot", {"duration": "1 s"}, {"peak_force": "< 1 kN"}),
    ],
)
def test_every_kind_judges(preset, stated, limit, capsys):
    dataset = dockdyn.simulate(dockdyn.load(preset, {**stated, "requirements": limit}))
    summary = dockdyn.summarise(dataset)
    (found,) = summary["requirements"]
    assert found["name"] in limit
    show_report(report_of(dataset))
    assert f"required {found['name']} " in capsys.readouterr().out
    assert "<h2>Requirements</h2>" in report_html(dataset)


@pytest.mark.full
def test_without_requirements_nothing_is_said(capsys):
    dataset = dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {"duration": "1 s"}))
    summary = dockdyn.summarise(dataset)
    assert summary["requirements"] == []
    assert "Requirements" not in report_html(dataset)
