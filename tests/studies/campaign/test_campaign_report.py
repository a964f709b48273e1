"""The report of a campaign: every sort of campaign has one, it says what the answers say, it opens in a browser."""

import re
import time

import numpy as np
import pytest
from made_up_campaigns import CAMPAIGNS, REQUIRED, TITLE, campaign, unfinished
from report_page import Page, check_dark_and_light, check_nothing_from_outside, figures_at_width

import dockdyn
from dockdyn.report.charts.print_chart import print_chart
from dockdyn.report.page import render_page
from dockdyn.report.palette import COLOURS
from dockdyn.report.terminal import show_report
from dockdyn.report.wording import format_significant, name_in_words
from dockdyn.results.store import netcdf_in
from dockdyn.scenario.language.units import convert
from dockdyn.studies.campaign.answers import campaign_answers
from dockdyn.studies.campaign.cases import campaign_cases
from dockdyn.studies.campaign.plots import histogram_edges, load_figure
from dockdyn.studies.campaign.report import campaign_report
from dockdyn.studies.campaign.wording import format_probability, format_with_interval


@pytest.fixture(scope="module")
def datasets():
    return {name: make() for name, make in CAMPAIGNS.items()}


@pytest.fixture(scope="module")
def reports(datasets):
    return {name: render_page(campaign_report(dataset)) for name, dataset in datasets.items()}


@pytest.mark.full_cases("not decided")
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_page_needs_nothing_from_outside(name, reports):
    page = check_nothing_from_outside(reports[name])
    assert len(reports[name]) < 1_000_000
    assert not re.search(r"\b(nan|inf|None)\b", page.text)


def test_page_says_what_the_answers_say(datasets, reports):
    answers, page = campaign_answers(datasets["full"]), Page(reports["full"])
    assert page.heading == TITLE and "49" not in page.heading
    share = format_probability(answers["capture_probability"], answers["capture_interval_95"])
    assert page.text.count(share) >= 2 and f"{answers['failed']} of 1500 cases failed" in page.text
    rows = {row[0]: row[1:] for row in page.tables["Requirements"][1:]}
    for required in answers["requirements"]:
        cells = rows[required["name"]]
        assert cells[0] == required["text"]
        figure, stated = datasets["full"].get(required["figure"]), required["text"].split()[-1]
        unit = f" {stated}" if required["unit"] else ""  # as the limit has it
        one = convert(f"1 {stated}", required["unit"]) if required["unit"] else 1.0
        known = (
            np.array([])
            if required["limit"] in (True, False)
            else figure.values[np.isfinite(figure) & (datasets["full"].reason == "")]
        )
        worst = np.max if required["relation"].startswith("<") else np.min
        wanted = (
            [f"{format_significant(value / one, 3)}{unit}" for value in (np.median(known), worst(known))]
            if known.size
            else ["–", "–"]
        )
        assert cells[1:3] == wanted
        assert cells[3] == format_probability(required["probability"], required["interval_95"])
        assert cells[-1] == str(required["failed_first"])
    counted = {"What fails first": "first_failures", "Cases that were not captured": "missed_captures"}
    for table, found in ((table, answers[key]) for table, key in counted.items()):
        counts = {row[0]: row[1] for row in page.tables[table][1:]}
        assert counts == {name: str(count) for name, count in found.items()}
    commands = [row[0] for row in page.tables["Worst cases"][1:]]
    assert commands == [case["command"] for case in answers["worst"]] and len(commands) == 10
    varied = {row[0]: row[1] for row in page.tables["What was varied"][1:]}
    assert varied == {
        "approach.closing_speed": "uniform, 0.05 m/s to 0.1 m/s",
        "approach.lateral_offset": "uniform over a disc of radius 0.1 m",
        "approach.pitch": "normal, mean 0 deg, standard deviation 2 deg, cut to -4 deg to 4 deg",
        "latch.capture.ramp.friction": "one of 0.1, 0.2, weights 3, 1",
    }


def test_folder_of_the_commands_is_that_of_the_file(datasets, tmp_path):
    datasets["few"].to_netcdf(tmp_path / "campaign.nc", engine="h5netcdf")
    read = netcdf_in(tmp_path / "campaign.nc")
    assert f"dockdyn campaign rerun {tmp_path} " in render_page(campaign_report(read))
    assert "dockdyn campaign rerun out " in render_page(campaign_report(read, folder="out"))


def test_map_is_over_the_keys_that_are_asked_for(datasets):
    page = Page(render_page(campaign_report(datasets["full"], ["approach.pitch", "approach.closing_speed"])))
    assert "Capture over approach.pitch and approach.closing_speed, in cells of" in page.text
    with pytest.raises(dockdyn.ScenarioError, match=r"approach.yaw: was not varied in this campaign"):
        campaign_report(datasets["full"], ["approach.yaw"])


def test_percentiles_are_marked_on_the_curve_of_cases_above(datasets):
    cases = campaign_cases(datasets["full"])
    above, below = print_chart(load_figure(cases, "peak_force_N")).axes
    force = np.sort(cases.figures["peak_force_N"][~cases.failed])
    curve = next(line for line in below.lines if line.get_color() == COLOURS["blue"]).get_xydata()[::2]  # of stairs
    for value, share in curve[:: len(curve) // 7]:
        assert share == pytest.approx(100 * np.mean(force >= value))
    marked = [line.get_xydata()[0] for line in below.lines if line.get_marker() == "o"]
    assert np.allclose(marked, [(np.percentile(force, share), 100 - share) for share in (50, 95, 99)])
    assert any(np.allclose(line.get_xdata(), 1500) for line in above.lines)  # what is required


def test_columns_hold_what_is_usual():
    values = np.sort(np.random.default_rng(0).lognormal(0, 2.5, 5000))
    edges = histogram_edges(values)
    assert np.percentile(values, 99) < edges[-1] < values[-1] / 2
    assert histogram_edges(np.array([3.0, 3.0]))[[0, -1]].tolist() == [2.85, 3.15]


def test_digits_are_those_that_the_interval_leaves():
    assert format_probability(0.40213, [0.3991, 0.4052]) == "40.21 % (39.91 to 40.52 %)"
    assert format_probability(0.4, [0.16, 0.69]) == "40 % (16 to 69 %)"
    assert format_probability(1.0, [0.996, 1.0]) == "100 % (99.60 to 100 %)"
    assert format_probability(None, None) == "–"
    assert format_with_interval(892.78, [892.1, 893.4], "N") == "892.8 N (892.1 to 893.4 N)"
    assert format_with_interval(892.78, [860.0, None], "N") == "893 N (at least 860 N)"
    assert format_with_interval(892.78, [None, None], "N") == "893 N"
    assert format_with_interval(892.78, [892.78, 892.78], "N") == "892.8 N (alike to these digits)"


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_terminal_shows_every_campaign(name, datasets, capsys):
    answers = campaign_answers(datasets[name])
    show_report(campaign_report(datasets[name]))
    shown = capsys.readouterr().out
    assert f"{answers['runs']} cases" in shown and "None" not in shown and "nan" not in shown


@pytest.mark.full
def test_hundred_thousand_cases_are_quick_and_small():
    dataset = campaign(100_000, requirements=REQUIRED)
    render_page(campaign_report(campaign(10)))  # loads what draws
    begin = time.perf_counter()
    html = render_page(campaign_report(dataset))
    assert time.perf_counter() - begin < 30  # about 5 s on two cores
    assert len(html) < 450_000


@pytest.mark.full
@pytest.mark.parametrize("name", ["full", "few", "one key", "no capture"])
def test_page_opens_dark_and_light(name, browse, reports, tmp_path):
    check_dark_and_light(browse, reports[name], tmp_path, height=3200)


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 1100])
def test_figures_show_at_every_width(width, browse, reports, tmp_path):
    assert figures_at_width(browse, reports["full"], tmp_path, width) == (5, 0)  # two of them loads


@pytest.mark.parametrize("required", [{}, REQUIRED], ids=["", "required"])
def test_why_not_captured_and_what_is_not_decided_are_always_told(required, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    dataset = unfinished(200, requirements=required)
    answers = campaign_answers(dataset)
    assert answers["undecided"] > 10 and answers["missed_captures"]
    show_report(campaign_report(dataset))
    page, said = render_page(campaign_report(dataset)), capsys.readouterr().out
    for words, count in (answers["missed_captures"] | answers["undecided_cases"]).items():
        assert re.search(rf"{re.escape(words)}\s+{count}\b", said), words
        assert f">{words}<" in page, words
    assert "Cases that were not captured" in page
    warned = f"{answers['undecided']} of 200 cases are not decided at the end of the duration"
    assert warned in said and warned in page
    assert f"duration = {answers['deciding_duration_s']:g} s should decide them" in said


@pytest.mark.parametrize("limit", ["< 20 N s", "< 37 N s", "< 1 MN s"])
def test_the_requirement_that_is_met_least_often_comes_first(limit):
    """Named in the first sentence, its figure drawn before that of the largest force and its influences told."""
    asked = {"contact.impulse": limit, "peak_force": "< 1.5 kN"}
    dataset = campaign(200, failed=False, requirements=asked)
    answers, report = campaign_answers(dataset), campaign_report(dataset)
    least = min(answers["requirements"], key=lambda one: one["probability"])
    names = [plot.name for plot in report.plots]
    assert least["name"] == ("peak_force" if limit == "< 1 MN s" else "contact.impulse")
    share = format_probability(least["probability"], least["interval_95"])
    assert report.verdict.startswith("All requirements are met in ")
    assert f"least often {name_in_words(least['name'])} {least['text']}, in {share}." in report.verdict
    assert ("missed" in names) == (least["name"] == "contact.impulse") and names[0] in ("missed", "load")
    (influence,) = [plot.caption for plot in report.plots if plot.name == "influence"]
    assert "contact impulse" in influence or least["name"] == "peak_force"
