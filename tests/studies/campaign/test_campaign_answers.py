"""A campaign's answers: capture and loads of a campaign known in closed form, first failures by hand, what is not decided."""

import json
import re
from typing import Any

import numpy as np
import pytest
from campaign_data import campaign_dataset
from helpers.refusals import refused
from places import DOCS
from scipy import stats

import dockdyn
from dockdyn.report.page import render_page
from dockdyn.results.outcome import still_open
from dockdyn.studies.campaign.answers import campaign_answers
from dockdyn.studies.campaign.capture_map import capture_map
from dockdyn.studies.campaign.cases import campaign_cases
from dockdyn.studies.campaign.first_failure import judge_cases
from dockdyn.studies.campaign.report import campaign_report
from dockdyn.studies.campaign.tables import describe_misses, describe_reasons
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.cases.statistics import wilson_interval

NAN = float("nan")


def catching(runs: int = 2000, seed: int = 0, **attributes: Any):
    """A probe caught where its offset is small and its speed enough; force grows with speed."""
    generator = np.random.default_rng(seed)
    speed = generator.uniform(0.05, 0.10, runs)
    angle, radius = generator.uniform(0, 2 * np.pi, runs), 0.1 * np.sqrt(generator.random(runs))
    y, z = radius * np.cos(angle), radius * np.sin(angle)
    force = 9000 * speed
    keys = {
        "approach.closing_speed": (speed, "m/s"),
        "approach.lateral_offset.0": (y, "m"),
        "approach.lateral_offset.1": (z, "m"),
    }
    captured = (radius < 0.08) & (speed > 0.06)
    found = {
        "captured": captured,
        "peak_force_N": force,
        "peak_time_s": 1 / speed,
        "contact.count": radius < 0.09,
    }
    return campaign_dataset(keys, found, **attributes)


def test_an_error_of_the_largest_force_is_not_told_as_the_largest_force():
    """Of a rig both are figures; of one that an older version ran the error alone."""
    error, force = np.linspace(-0.1, 0.1, 40), np.linspace(250.0, 320.0, 40)
    key = {"body.target.velocity": (force / 6000, "m/s")}
    told = campaign_answers(campaign_dataset(key, {"peak_force_error_N": error, "peak_measured_force_N": force}))
    assert told["peak_force"] == "peak_measured_force_N" and told["peak_force_percentiles_N"]["50"] == 285.0
    assert [case["case"] for case in told["worst"][:2]] == [39, 38] and told["worst"][0]["peak_force_N"] == 320.0
    assert campaign_answers(campaign_dataset(key, {"peak_force_error_N": error}))["peak_force"] is None


@pytest.mark.full
def test_probability_and_percentiles_of_a_campaign_known_in_closed_form():
    probability = 0.8**2 * 0.8
    inside = {"capture": 0, "force": 0}
    for seed in range(100):
        answers = campaign_answers(catching(600, seed))
        low, high = answers["capture_interval_95"]
        inside["capture"] += low <= probability <= high
        low, high = answers["peak_force_intervals_N"]["95"]
        inside["force"] += low <= 9000 * (0.05 + 0.95 * 0.05) <= high
    assert all(90 <= count <= 99 for count in inside.values()), inside
    assert answers["capture_interval_95"][0] < answers["capture_probability"] < answers["capture_interval_95"][1]
    assert (answers["runs"], answers["failed"], answers["seed"], answers["runs_per_second"]) == (600, 0, 1, 300.0)
    assert set(answers["peak_force_percentiles_N"]) == {"50", "90", "95", "99"}


def test_cases_that_failed_are_not_captured_and_have_no_load():
    captured = np.array([1.0, 1.0, 0.0, NAN, 1.0])
    force = np.array(
        [10.0, 20.0, 30.0, NAN, 1e9]
    )  # the last one stopped before its end: what it had reached is not its peak
    reasons = ["", "", "", "body.chaser.mass = -1: must be above 0", "stopped at t = 1 s"]
    answers = campaign_answers(
        campaign_dataset({"body.chaser.mass": np.arange(5.0)}, {"captured": captured, "peak_force_N": force}, reasons)
    )
    assert answers["failed"] == 2 and [each["reason"] for each in answers["failures"]] == reasons[3:]
    assert answers["capture_probability"] == pytest.approx(2 / 5)
    assert answers["figures"]["peak_force_N"]["cases"] == 3
    assert answers["peak_force_percentiles_N"]["50"] == 20.0 and answers["figures"]["peak_force_N"]["max"] == 30.0
    assert [case["case"] for case in answers["worst"]] == [2, 1, 0]
    assert answers["missed_captures"]["the case failed"] == 2


def test_reasons_that_differ_in_a_number_are_one():
    stopped = [f"stopped at t = {time} s: more than 20000 events (integrator.max_events)" for time in (1.5, 2e-05, 31)]
    refused = "body.chaser.mass = -3.2: must be above 0 kg"
    answers = campaign_answers(campaign_dataset({"a": np.arange(5.0)}, {}, [refused, "", *stopped]), "out")
    assert answers["failures"] == [
        {
            "reason": "stopped at t = … s: more than 20000 events (integrator.max_events)",
            "cases": 3,
            "command": "dockdyn campaign rerun out 2",
        },
        {"reason": refused, "cases": 1, "command": "dockdyn campaign rerun out 0"},
    ]


def test_campaign_without_capture_or_figures():
    nothing = campaign_answers(campaign_dataset({"a": np.arange(3.0)}, {"captured": [NAN] * 3}))
    assert nothing["capture_probability"] is None and nothing["peak_force"] is None and nothing["worst"] == []
    failed = campaign_answers(campaign_dataset({"a": [0.0]}, {}, ["no contact law"]))
    assert failed["failed"] == failed["runs"] == 1 and failed["figures"] == {}


def test_first_failure_is_the_one_that_came_first():
    dataset = campaign_dataset(
        {"x": np.arange(7.0)},
        {
            "captured": [1, 1, 0, 0, 1, 0, 1],
            "capture_time_s": [40, 70, NAN, NAN, 50, NAN, 50],
            "peak_force_N": [1, 5, 5, 1, 5, 5, 9],
            "peak_time_s": [10, 20, 20, 10, 50, 65, 1],
        },
        ["", "", "", "", "", "", "stopped"],
        requirements={"captured": True, "peak_force": "< 0.004 kN", "capture_time": "<= 1 min"},
    )
    judged = judge_cases(campaign_cases(dataset))
    assert judged.first == [
        "",  # meets all
        "peak_force",  # at 20 s, before the capture that was due at 60 s
        "peak_force",
        "capture_time",  # due at 60 s; that there is no capture at all shows at the end
        "peak_force",
        "capture_time",  # 60 s is before the peak at 65 s
        "the case failed",
    ]
    assert judged.met.sum(axis=1).tolist() == [3, 2, 2]
    assert np.allclose(judged.margin[1, :3], [3, -1, -1]) and np.isnan(judged.margin[0]).all()
    assert judged.first_failures == {"peak_force": 3, "capture_time": 2, "the case failed": 1}


def test_worst_cases_are_those_of_least_margin():
    dataset = catching(500, requirements={"peak_force": "< 700 N"})
    worst = campaign_answers(dataset, "out/a b")["worst"]
    force = dataset.peak_force_N.values
    assert [case["case"] for case in worst] == np.argsort(-force)[:10].tolist()
    assert worst[0]["command"] == f"dockdyn campaign rerun 'out/a b' {worst[0]['case']}"
    assert worst[0]["margin"] == pytest.approx(700 - force.max()) and not worst[0]["met"]
    assert worst[0]["values"]["approach.closing_speed"] == dataset["approach.closing_speed"].values[worst[0]["case"]]


def test_cases_that_miss_are_listed_with_what_they_missed_and_by_how_much():
    """The worst first, as counted by hand; what failed, what is not decided and what misses nothing is not among them."""
    figures = {
        "captured": [1, 1, 0, 0, 1, NAN, 1, 0],
        "outcome_open": [0, 0, 0, 0, 0, NAN, 0, 1],
        "peak_force_N": [80.0, 130.0, 90.0, 250.0, 101.0, NAN, 99.0, 95.0],
        "latch.speed_margin_m_s": [0.1, 0.1, NAN, -0.02, 0.1, NAN, 0.1, NAN],
        "contact.count": [1, 1, 0, 2, 1, NAN, 1, 1],
        "end_time_s": [9.0] * 8,
        "approach_left_s": [0, 0, 0, 0, 0, NAN, 0, 3.0],
    }
    reasons = [""] * 5 + ["stopped"] + [""] * 2
    dataset = campaign_dataset(
        {"speed": np.arange(8.0)}, figures, reasons, requirements={"captured": True, "peak_force": "< 0.1 kN"}
    )
    answers = campaign_answers(dataset, "here")
    assert answers["missing"]["cases"] == 4
    assert answers["missing"]["reasons"] == {"peak_force": 3, "not captured": 2}  # a case may miss both
    assert describe_reasons(answers) == "4 of 8 cases miss: peak force in 3, not captured in 2."
    listed = answers["missing"]["listed"]
    assert [one["case"] for one in listed] == [3, 2, 1, 4]
    assert [one["capture"] for one in listed] == ["reached the latch too slowly", "no contact", None, None]
    assert listed[0]["command"] == "dockdyn campaign rerun here 3"
    assert [describe_misses(one) for one in listed] == [
        "not captured: reached the latch too slowly; peak force 0.250 kN, 0.150 kN beyond its limit",
        "not captured: no contact",
        "peak force 0.130 kN, 0.0300 kN beyond its limit",
        "peak force 0.101 kN, 0.00100 kN beyond its limit",
    ]
    many = campaign_answers(campaign_dataset({"speed": np.arange(50.0)}, {"captured": np.zeros(50)}))["missing"]
    assert many["cases"] == 50 and [one["case"] for one in many["listed"]] == list(range(12))
    page = render_page(campaign_report(dataset, folder="here"))
    assert "not captured: no contact" in page  # also without JavaScript


def test_requirements_are_probable_and_have_margins():
    answers = campaign_answers(
        catching(4000, requirements={"captured": True, "peak_force": "<= 0.72 kN", "capture_time": "< 1 s"})
    )
    captured, force, absent = answers["requirements"]
    assert captured["probability"] == answers["capture_probability"] and captured["mean_margin"] is None
    low, high = force["interval_95"]
    assert low < 0.6 < high and (force["limit"], force["unit"], force["text"]) == (720.0, "N", "<= 0.72 kN")
    # margins from 270 N down to −180 N, evenly
    assert force["mean_margin"] == pytest.approx(45, abs=8)
    assert force["margin_5_percent"] == pytest.approx(-157.5, abs=8)
    assert (absent["probability"], absent["limit"]) == (0.0, None)  # no case has that figure
    assert answers["requirements_probability"] == 0
    assert sum(answers["first_failures"].values()) == 4000


def test_missed_captures_say_how_far_they_came():
    dataset = campaign_dataset(
        {"x": np.arange(6.0)},
        {
            "captured": [1, 0, 0, 0, 0, 0],
            "contact.count": [1, 0, 2, 1, 3, 0],
            "latch.speed_margin_m_s": [0.1, NAN, NAN, -0.01, 0.01, NAN],
        },
    )
    assert campaign_answers(dataset)["missed_captures"] == {
        "no contact": 2,
        "did not reach the latch": 1,
        "reached the latch too slowly": 1,
        "reached the latch fast enough but was held off by other contacts": 1,
    }


def unfinished(**requirements):
    """Of 100 cases 40 are captured and 30 not; 30 end too soon: 10 before any contact, 10 behind one, 10 in one."""
    ways = np.repeat(["captured", "missed", "before", "behind", "in"], [40, 30, 10, 10, 10])
    caught, early = ways == "captured", np.isin(ways, ["before", "behind", "in"])
    figures = {
        "captured": caught,
        "capture_time_s": np.where(caught, np.linspace(20, 45, 100), NAN),
        "contact.onset_s": np.where(ways == "before", NAN, np.where(caught, 18.0, 30.0)),
        "contact.count": ways != "before",
        "peak_force_N": np.where(ways == "behind", 900.0, np.where(ways == "before", 0.0, 300.0)),
        "end_time_s": np.full(100, 60.0),
        "outcome_open": early,
        "approach_left_s": np.where(np.isin(ways, ["before", "behind"]), 5.0 * (1 + (ways == "before")), NAN),
    }
    return campaign_dataset({"speed": np.arange(100.0)}, figures, requirements=requirements), ways


def test_cases_that_are_not_decided_count_apart():
    answers = campaign_answers(unfinished()[0])
    assert answers["undecided"] == 30 and answers["missed_captures"] == {"not captured": 30}
    assert list(answers["undecided_cases"].values()) == [10, 10, 10]
    assert answers["capture_probability"] == 0.4
    ends = (
        stats.binomtest(40, 100).proportion_ci(0.95, "wilson").low,
        stats.binomtest(70, 100).proportion_ci(0.95, "wilson").high,
    )
    assert answers["capture_interval_95"] == pytest.approx(ends, rel=1e-12)
    assert answers["convergence"]["capture_interval_95"][-1] == pytest.approx(ends, rel=1e-12)
    # 60 s, twice the slowest's 10 s, and the longest way from contact to capture: the 40th of 100 times, less 18 s
    least = 60 + 2 * 10 + (20 + 25 * 39 / 99) - 18
    assert least <= answers["deciding_duration_s"] < 1.05 * least
    dataset, ways = unfinished()
    cases = campaign_cases(dataset)
    mapped = capture_map(cases, judge_cases(cases)).outcome
    assert np.array_equal(np.isnan(mapped), ~np.isin(ways, ["captured", "missed"]))


def test_requirements_of_cases_that_are_not_decided():
    """A force that is already too large, and a deadline that is over, are decided; all else is not."""
    dataset, ways = unfinished(
        captured=True,
        peak_force="< 500 N",
        capture_time="< 50 s",
        **{"contact.onset": "< 25 s", "contact.count": "> 0"},
    )
    answers = campaign_answers(dataset)
    by_name = {one["name"]: one for one in answers["requirements"]}
    assert {name: (one["probability"], one["undecided"]) for name, one in by_name.items()} == {
        "captured": (0.4, 30),
        "peak_force": (0.7, 20),  # those behind a contact of 900 N have failed
        "capture_time": (0.4, 0),  # 50 s are over at 60 s
        "contact.onset": (0.4, 0),  # has come, or not by 25 s
        "contact.count": (0.9, 10),  # what has touched has touched
    }
    assert answers["requirements_interval_95"] == list(
        map(float, wilson_interval(40, 100))
    )  # all have missed the deadline
    later = campaign_answers(unfinished(captured=True, capture_time="< 90 s")[0])
    assert later["first_failures"] == {"capture_time": 30, "not decided": 30}
    low, high = later["requirements_interval_95"]
    assert (low, high) == (wilson_interval(40, 100)[0], wilson_interval(70, 100)[1])
    assert all(ways[one["case"]] == "missed" for one in later["worst"])
    both = campaign_answers(unfinished(peak_force="< 500 N", **{"contact.count": "< 5"})[0])
    assert {one["requirement"] for one in both["worst"]} == {"peak_force"}  # the other one is open


def test_the_margin_of_5_percent_counts_cases_without_the_figure():
    """A capture that did not happen has less margin than any that did."""

    def margin(captured):
        time = np.where(np.arange(200) < captured, np.linspace(10, 30, 200), NAN)
        figures = {"captured": np.isfinite(time), "capture_time_s": time}
        dataset = campaign_dataset({"x": np.arange(200.0)}, figures, requirements={"capture_time": "< 40 s"})
        (one,) = campaign_answers(dataset)["requirements"]
        assert one["margin_cases"] == captured
        return one["margin_5_percent"]

    assert margin(40) is None  # of 200; it was that of the 40
    assert margin(189) is None
    margins = 40 - np.linspace(10, 30, 200)
    assert margin(200) == pytest.approx(np.percentile(margins, 5), rel=1e-12)
    assert margin(198) == pytest.approx(np.percentile(np.r_[margins[:198], -1e9, -1e9], 5), rel=1e-12)


def test_lists_are_judged_by_their_worst_entry():
    figures = {"contact.energy_change_J.least": [-5.0, -2.0, NAN], "contact.energy_change_J.largest": [1.0, -1.0, NAN]}
    wanted = {"contact.energy_change": "< 0 J"}
    (one,) = campaign_answers(campaign_dataset({"x": np.arange(3.0)}, figures, requirements=wanted))["requirements"]
    assert one["figure"] == "contact.energy_change_J" and one["probability"] == pytest.approx(1 / 3)
    assert one["mean_margin"] == pytest.approx((-1 + 1) / 2) and one["margin_cases"] == 2


def test_what_decides_capture_is_found_and_mapped():
    dataset = catching(4000)
    answers = campaign_answers(dataset)
    by_key = answers["sensitivity"]["captured"]
    assert all(influence["significant"] for influence in by_key.values())
    assert abs(by_key["approach.lateral_offset.0"]["rank_correlation"]) < 0.05  # symmetric
    # 1 − r² of the speed alone: captured with probability 0.64 above 0.06 m/s, never below
    chance = 0.8 * 0.64
    assert by_key["approach.closing_speed"]["first_order"] == pytest.approx(
        0.8 * 0.2 * 0.64**2 / (chance * (1 - chance)), abs=0.03
    )
    assert next(iter(answers["sensitivity"]["peak_force_N"])) == "approach.closing_speed"
    cases = campaign_cases(dataset)
    found = capture_map(cases, judge_cases(cases), ["approach.closing_speed", "approach.lateral_offset.0"])
    assert found.cases.sum() == 4000 and found.of == "captured"
    slow = found.edges[0][1:] <= 0.06
    assert slow.any() and np.nansum(found.mean[slow]) == 0
    middle = np.abs(found.edges[1][1:] + found.edges[1][:-1]) < 0.04
    assert np.nanmean(found.mean[~slow][1:, middle]) == pytest.approx(np.sqrt(0.64), abs=0.08)


def test_estimates_settle():
    answers = campaign_answers(catching(5000))
    settled = answers["convergence"]
    assert settled["runs"][-1] == 5000 and settled["runs"] == sorted(set(settled["runs"]))
    assert settled["capture_probability"][-1] == answers["capture_probability"]
    assert settled["peak_force_95_N"][-1] == answers["peak_force_percentiles_N"]["95"]
    widths = np.array([high - low for low, high in settled["capture_interval_95"]])
    slope = np.polyfit(np.log(settled["runs"][10:]), np.log(widths[10:]), 1)[0]
    assert -0.6 < slope < -0.4  # 1/√n


def test_other_datasets_and_keys_are_refused_in_one_line():
    dataset = catching(50)
    cases = campaign_cases(dataset)
    judged = judge_cases(cases)
    refusals = {
        "no 'campaign'": lambda: campaign_cases(dataset.assign_attrs({}).drop_attrs()),
        "no 'captured'": lambda: campaign_cases(dataset.drop_vars("captured")),
        "no cases": lambda: campaign_cases(dataset.isel(case=slice(0, 0))),
        "did you mean 'approach.closing_speed'": lambda: capture_map(cases, judged, ["approach.closing_spede"]),
        "not TOML": lambda: campaign_cases(dataset.assign_attrs(scenario="a = ")),
        "must be in N": lambda: campaign_cases(catching(50, requirements={"peak_force": "< 3 kg"})),
        "two different keys": lambda: capture_map(cases, judged, ["approach.closing_speed"] * 2),
    }
    for words, ask in refusals.items():
        with refused(words):
            ask()


@pytest.mark.full
def test_a_real_campaign():
    scenario = dockdyn.load("probe-cone-latch")
    speeds = np.linspace(0.02, 0.06, 12)
    ran = run_cases(scenario, ["approach.closing_speed"], speeds[:, None])
    dataset = campaign_dataset({"approach.closing_speed": (speeds, "m/s")}, ran.figures, ran.reasons)
    answers = campaign_answers(dataset.assign_attrs(scenario=scenario.text()))
    assert 0 < answers["capture_probability"] < 1 and answers["failed"] == 0
    missed = round(12 * (1 - answers["capture_probability"]))
    assert sum(answers["missed_captures"].values()) + answers["undecided"] == missed
    captured = dataset.captured.values.astype(bool)
    assert speeds[~captured].max() < speeds[captured].min()  # too slow for the latch's spring


def test_every_key_of_the_answers_is_documented():
    page = (DOCS / "campaign.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`([a-zA-Z_0-9]+)`", page.partition("## The JSON of a campaign")[2]))
    answers = campaign_answers(catching(100, requirements={"captured": True}))
    parts = [answers, answers["convergence"], *answers["worst"], *answers["requirements"], *answers["figures"].values()]
    parts += [influence for by_key in answers["sensitivity"].values() for influence in by_key.values()]
    assert set().union(*parts) - told == set()
    assert json.loads(json.dumps(answers, allow_nan=False)) == answers


ENLARGED = """peak_force_N contact.probe.peak_force_N contact.struct.0.count contact.impulse_N_s
    latch.peak_force_N latch.bounces port.tension_N body.chaser.port.wrist.bending_moment_N_m
    tank.fuel.peak_wave_m recovery.root.peak bushing.turn_rad thruster.impulse_N_s control.thruster_pulses
    control.thruster_turning_impulse_N_m_s control.wheel_momentum_N_m_s"""
CHANGED = "contact.friction_loss_J kinetic_energy_end_J control.attitude_error_rad control.work_J latch.front.closed"


@pytest.mark.parametrize("figure", [*ENLARGED.split(), *CHANGED.split()])
def test_what_later_events_only_enlarge_is_decided_beyond_its_limit(figure):
    """Whatever table it is in; one below its limit is open while the outcome is, and so is one that may fall again."""
    values = np.array([500.0, 50.0])
    open_ones = still_open(figure, "<", 100.0, values, values < 100, {"outcome_open": np.ones(2)})
    assert open_ones.tolist() == [figure in CHANGED.split(), True]


@pytest.mark.parametrize("figure", ["capture_time_s", "contact.onset_s", "contact.probe.onset_s", "latch.front.time_s"])
def test_what_has_happened_once_is_decided(figure):
    """Or is overdue; what has not happened yet and may still do so in time is open."""
    values, ends = np.array([5.0, 50.0, np.nan, np.nan]), np.array([60.0, 60.0, 60.0, 8.0])
    figures = {"outcome_open": np.ones(4), "end_time_s": ends}
    open_ones = still_open(figure, "<", 10.0, values, values < 10, figures)
    assert open_ones.tolist() == [False, False, False, True]
