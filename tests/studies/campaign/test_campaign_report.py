"""The report of a campaign: every sort of campaign has one, it says what the answers say, it opens in a browser."""

from __future__ import annotations

import json
import re
import time
from html import escape

import numpy as np
import pytest
from campaign_data import campaign_dataset
from PIL import Image
from test_report import PROBE, Page, browse  # noqa: F401

import dockdyn
from dockdyn.report.page import render_page
from dockdyn.report.terminal import show_report
from dockdyn.studies.campaign.answers import campaign_answers
from dockdyn.studies.campaign.cases import campaign_cases
from dockdyn.studies.campaign.plots import columns, load_figure
from dockdyn.studies.campaign.report import campaign_report
from dockdyn.studies.campaign.wording import percent, sure

NAN = float("nan")
TITLE = 'Case <b>"1"</b> & {{ 7 * 7 }}'
DISPERSED = {
    "approach.closing_speed": {"distribution": "uniform", "low": "5 cm/s", "high": "0.10 m/s"},
    "approach.lateral_offset": {"distribution": "disc", "radius": "0.10 m"},
    "approach.pitch": {"distribution": "truncated-normal", "mean": 0, "std": "2 deg", "low": "-4 deg", "high": "4 deg"},
    "latch.friction": {"distribution": "choice", "values": [0.1, 0.2], "weights": [3, 1]},
}
REQUIRED = {"captured": True, "peak_normal_force": "< 1.5 kN", "capture_time": "<= 50 s"}


def campaign(runs: int, failed: bool = True, capture: bool = True, keys: int = 5, tail: float = 0.25, **attributes):
    """A probe caught where offset and pitch are small and speed enough."""
    draw = np.random.default_rng(runs)
    speed, pitch = draw.uniform(0.05, 0.10, runs), np.clip(draw.normal(0, 0.035, runs), -0.07, 0.07)
    angle, radius = draw.uniform(0, 2 * np.pi, runs), 0.1 * np.sqrt(draw.random(runs))
    varied = {
        "approach.closing_speed": (speed, "m/s"),
        "approach.lateral_offset.0": (radius * np.cos(angle), "m"),
        "approach.lateral_offset.1": (radius * np.sin(angle), "m"),
        "approach.pitch": (pitch, "rad"),
        "latch.friction": (draw.choice([0.1, 0.2], runs), ""),
    }
    caught = (radius + np.abs(pitch) / 4 < 0.09) & (speed > 0.057)
    figures = {
        "contact_count": np.where(radius < 0.097, draw.integers(1, 8, runs), 0),
        "peak_normal_force_N": np.where(radius < 0.097, 9000 * speed * np.exp(draw.normal(0, tail, runs)), 0),
        "peak_time_s": 1 / speed,
        "contact_impulse_N_s": 500 * speed,
        "captured": caught if capture else np.full(runs, NAN),
        "capture_time_s": np.where(caught & capture, 3 / speed, NAN),
        "capture_speed_margin_m_s": np.where((radius < 0.085) & capture, speed - 0.06, NAN),
        "end_time_s": np.full(runs, 90.0),
    }
    reasons = ["stopped at t = 3 s: <i>chatter</i>" if failed and case % 40 == 7 else "" for case in range(runs)]
    chosen = dict(list(varied.items())[:keys])
    scenario = dockdyn.load("probe-cone-latch", DISPERSED).text()
    return campaign_dataset(chosen, figures, reasons, **{"title": TITLE, "scenario": scenario} | attributes)


def unfinished(runs: int, **attributes):
    """The same with cases that end before their outcome: every fourth of those that were not captured."""
    found = campaign(runs, failed=False, **attributes)
    early = (found.captured.values == 0) & (np.arange(runs) % 4 == 0)
    more = {"outcome_open": early.astype(float), "approach_left_s": np.where(early, 8.0, NAN)}
    names = json.dumps([*json.loads(found.attrs["figures"]), *more])
    return found.assign({name: ("case", values) for name, values in more.items()}).assign_attrs(figures=names)


CAMPAIGNS = {
    "not decided": lambda: unfinished(300, requirements=REQUIRED),
    "not decided, many": lambda: unfinished(900),
    "full": lambda: campaign(1500, requirements=REQUIRED),
    "few": lambda: campaign(60),
    "one key": lambda: campaign(800, keys=1, requirements=REQUIRED),
    "one key, force": lambda: campaign(800, keys=1, capture=False),
    "no capture": lambda: campaign(800, capture=False, failed=False),
    "no capture, few": lambda: campaign(50, capture=False, failed=False),
    "no capture, required": lambda: campaign(800, capture=False, requirements={"peak_normal_force": "< 600 N"}),
    "one case": lambda: campaign(1, requirements=REQUIRED),
    "two cases": lambda: campaign(2),
    "all failed": lambda: campaign_dataset({"a": [0.0, 1.0]}, {}, ["no", "no"]),
    "nothing measured": lambda: campaign_dataset({"a": np.arange(9.0)}, {"captured": [NAN] * 9}),
    "no variance": lambda: campaign_dataset(
        {"a": np.ones(50), "b": np.ones(50)}, {"captured": np.ones(50), "peak_normal_force_N": np.full(50, 3.0)}
    ),
    "far out": lambda: campaign(3000, tail=2.0),
    "never": lambda: campaign_dataset(
        {"a": np.arange(500.0), "b": np.arange(500.0)},
        {"captured": np.zeros(500), "peak_normal_force_N": np.zeros(500)},
    ),
}


@pytest.fixture(scope="module")
def datasets():
    return {name: make() for name, make in CAMPAIGNS.items()}


@pytest.fixture(scope="module")
def reports(datasets):
    return {name: render_page(campaign_report(dataset)) for name, dataset in datasets.items()}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_page_needs_nothing_from_outside(name, reports):
    page = Page(reports[name])
    assert len(reports[name]) < 1_000_000
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "embed", "base", "i"}
    loads = [value for _, given in page.tags for key, value in given.items() if key in ("src", "href", "xlink:href")]
    assert all(value.startswith(("#", "data:image/png;base64,")) for value in loads)
    ids = [given["id"] for _, given in page.tags if "id" in given]
    assert len(set(ids)) == len(ids)
    assert not re.search(r"\b(nan|inf|None)\b", page.text)


def test_page_says_what_the_answers_say(datasets, reports):
    answers, page = campaign_answers(datasets["full"]), Page(reports["full"])
    assert page.heading == TITLE and "49" not in page.heading
    share = percent(answers["capture_probability"], answers["capture_interval_95"])
    assert page.text.count(share) >= 2 and f"{answers['failed']} of 1500 cases failed" in page.text
    rows = {row[0]: row[1:] for row in page.tables["Requirements"][1:]}
    for required in answers["requirements"]:
        cells = rows[required["name"]]
        assert cells[0] == required["text"]
        assert cells[1] == percent(required["probability"], required["interval_95"])
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
        "latch.friction": "one of 0.1, 0.2, weights 3, 1",
    }


def test_folder_of_the_commands_is_that_of_the_file(datasets, tmp_path):
    datasets["few"].to_netcdf(tmp_path / "campaign.nc", engine="h5netcdf")
    from dockdyn.results.store import xr

    read = xr.load_dataset(tmp_path / "campaign.nc", engine="h5netcdf")
    assert f"dockdyn campaign rerun {tmp_path} " in render_page(campaign_report(read))
    assert "dockdyn campaign rerun out " in render_page(campaign_report(read, folder="out"))


def test_map_is_over_the_keys_that_are_asked_for(datasets):
    page = Page(render_page(campaign_report(datasets["full"], ["approach.pitch", "approach.closing_speed"])))
    assert "Capture over approach.pitch and approach.closing_speed, in cells of" in page.text
    with pytest.raises(dockdyn.ScenarioError, match=r"approach.yaw: was not varied in this campaign"):
        campaign_report(datasets["full"], ["approach.yaw"])


def test_percentiles_are_marked_on_the_curve_of_cases_above(datasets):
    cases = campaign_cases(datasets["full"])
    above, below = load_figure(cases, "peak_normal_force_N").axes
    force = np.sort(cases.figures["peak_normal_force_N"][~cases.failed])
    curve = below.lines[0].get_xydata()
    for value, share in curve[:: len(curve) // 7]:
        assert share == pytest.approx(100 * np.mean(force >= value))
    marked = [line.get_xydata()[0] for line in below.lines if line.get_marker() == "o"]
    assert np.allclose(marked, [(np.percentile(force, share), 100 - share) for share in (50, 95, 99)])
    assert any(np.allclose(line.get_xdata(), 1500) for line in above.lines)  # what is required


def test_columns_hold_what_is_usual():
    values = np.sort(np.random.default_rng(0).lognormal(0, 2.5, 5000))
    edges = columns(values)
    assert np.percentile(values, 99) < edges[-1] < values[-1] / 2
    assert columns(np.array([3.0, 3.0]))[[0, -1]].tolist() == [2.85, 3.15]


def test_digits_are_those_that_the_interval_leaves():
    assert percent(0.40213, [0.3991, 0.4052]) == "40.21 % (39.91 to 40.52 %)"
    assert percent(0.4, [0.16, 0.69]) == "40 % (16 to 69 %)"
    assert percent(1.0, [0.996, 1.0]) == "100 % (99.60 to 100 %)"
    assert percent(None, None) == "–"
    assert sure(892.78, [892.1, 893.4], "N") == "892.8 N (892.1 to 893.4 N)"
    assert sure(892.78, [860.0, None], "N") == "893 N (at least 860 N)"
    assert sure(892.78, [None, None], "N") == "893 N"
    assert sure(892.78, [892.78, 892.78], "N") == "892.8 N (alike to these digits)"


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_terminal_shows_every_campaign(name, datasets, capsys):
    answers = campaign_answers(datasets[name])
    show_report(campaign_report(datasets[name]))
    shown = capsys.readouterr().out
    assert f"{answers['runs']} cases" in shown and "None" not in shown and "nan" not in shown


def test_hundred_thousand_cases_are_quick_and_small():
    dataset = campaign(100_000, requirements=REQUIRED)
    render_page(campaign_report(campaign(10)))  # loads what draws
    begin = time.perf_counter()
    html = render_page(campaign_report(dataset))
    assert time.perf_counter() - begin < 30 and len(html) < 400_000  # about 5 s on two cores


@pytest.mark.parametrize("name", ["full", "few", "one key", "no capture"])
def test_page_opens_dark_and_light(name, browse, reports, tmp_path):  # noqa: F811
    page = tmp_path / "report.html"
    page.write_text(reports[name], encoding="utf-8")
    for scheme, paper in ((0, (0x14, 0x17, 0x1B)), (1, (0xFE, 0xFE, 0xFE))):
        file = tmp_path / f"{scheme}.png"
        flags = f"--window-size=900,3200 --blink-settings=preferredColorScheme={scheme}"
        _, log = browse(page, f"--screenshot={file}", *flags.split())
        assert "CONSOLE" not in log  # nothing refused, nothing missing
        shown = np.asarray(Image.open(file).convert("RGB"))
        assert tuple(shown[2, 2]) == paper
        contrast = np.abs(shown.astype(int) - paper).sum(axis=2)
        assert (contrast > 300).mean() > 0.01  # text and lines stand out from the paper


@pytest.mark.parametrize("width", [400, 1100])
def test_figures_show_at_every_width(width, browse, reports, tmp_path):  # noqa: F811
    html = re.sub(r"<meta http-equiv[^>]*>", "", reports["full"]).replace("</body>", f"{PROBE}</body>")
    frame = f'<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{escape(html)}"></iframe>'
    page = tmp_path / "report.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{frame}</body>", encoding="utf-8")
    dom, _ = browse(page, "--dump-dom", "--window-size=1200,1000")
    found = re.search(r'data-found="(\d+) (\d+) (\w+) (\d+) (\d+) (\d+)"', dom)
    assert found is not None and found.groups() == ("0", "0", "false", str(width), "4", "0")


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
