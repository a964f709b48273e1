"""Reports in a browser: one skeleton for all, offline, light, dark and on a phone, the replay on a click."""

import html
import json
import re
import shlex

import numpy as np
import pytest
import xarray as xr
from browser import new_context, wait_until
from made_up_campaigns import CAMPAIGNS
from made_up_margins import RESULTS as STABILITIES
from replay_cases import CASES

import dockdyn
from dockdyn import open_result
from dockdyn.hil.compensators import COMPENSATORS
from dockdyn.pages import STUDIES, report_html
from dockdyn.report.page import render_page
from dockdyn.results.store import write_result
from dockdyn.rig.comparison.compare import VARIABLES
from dockdyn.scenario.setups import SETUPS
from dockdyn.scenario.tables.rig.compensators import facts_of
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset
from dockdyn.studies.overlay.report import overlay_report
from dockdyn.studies.sensitivity.report import sensitivity_report

MOST = 3_000_000  # bytes of a page
REPORTS = [*STUDIES, *SETUPS, "probe", "line", "line, latch"]
REQUIRED = {"probe": {"requirements.peak_force": "< 2 N"}}
RUNS = {
    kind: (preset, changes | REQUIRED.get(kind, {})) for kind, (preset, changes, *_) in CASES.items() if kind in REPORTS
}
ABOUT = {"title": "A study", "setup": "rig", "scenario": 'kind = "rig"\n', "dockdyn_version": "9.8.7"}


def compared() -> xr.Dataset:
    """A comparison of two compensators over five stiffnesses, made up."""
    stiffness = np.geomspace(1e3, 1e5, 5)
    values = {name: (("compensator", "stiffness"), np.outer([1.0, 1.5], stiffness / 1e4)) for name in VARIABLES}
    told = {
        "settings": json.dumps({"none": {}, "fixed-gain": {"gain": 91.0}}),
        "laws": json.dumps({"fixed-gain": facts_of(COMPENSATORS["fixed-gain"])}),
        **{"left_out": "{}", "noise_draws": 1, "aliasing": "", "tuned_at_N_m": 1e4, "duration_s": 5.0, "bilateral": 1},
    }
    return xr.Dataset(
        values | {"wall_time": ("compensator", [1.0, 2.0])},
        {
            "compensator": ["none", "fixed-gain"],
            "stiffness": ("stiffness", stiffness, {"units": "N/m", "long_name": "contact.spring.normal.stiffness"}),
        },
        ABOUT | told,
    )


def enveloped() -> xr.Dataset:
    """An envelope over one key, made up."""
    answer = {
        "of": "captured", "required": "true", "keys": ["speed"], "units": ["m/s"], "ranges": [[0.06, 0.08]],
        "scenario_at": [0.07], "tolerance": 0.01, "runs": 9, "grid_runs": 101, "failed": 1, "failures": ["<b>no</b>"],
        "share_met": 0.5, "boundary": [[[0.07]]],
    }  # fmt: skip
    places = np.linspace(0.06, 0.08, 9)
    return xr.Dataset(
        {
            "met": ("point", (places >= 0.07) * 1.0),
            "point_x": ("point", places, {"units": "m/s", "long_name": "speed"}),
            "boundary_x": ("vertex", [0.07], {"units": "m/s", "long_name": "speed"}),
            "region_x": ("corner", [0.07, 0.08], {"units": "m/s", "long_name": "speed"}),
        },
        attrs=ABOUT | {"envelope": json.dumps(answer)},
    )


SENSITIVITY = {
    "title": "A run", "setup": "rig", "of": "peak_force_N", "value": 70.0, "unit": "N", "differentiable": True,
    "warnings": [], "runs": 1, "value_error": None, "smoothing": 0.0,
    "to": [
        {"key": f"chaser.part{i}", "value": 2.0, "unit": "kg", "derivative": 3.0 / i, "per_percent": 0.06 / i,
         "differentiable": True} for i in range(1, 6)
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(shared_run) -> dict[str, xr.Dataset]:
    return {kind: shared_run(preset, changes) for kind, (preset, changes) in RUNS.items()}


@pytest.fixture(scope="module")
def reports(runs, shared_run) -> dict[str, str]:
    """A report of every sort, runs with their replays."""
    faster = shared_run("paraskevas-latch", {"body.chaser.velocity": "0.08 m/s"})
    studies = [STABILITIES["chart"], CAMPAIGNS["full"](), compared(), enveloped()]
    pages = {kind: report_html(dataset) for kind, dataset in runs.items()}
    pages |= dict(zip(("stability", "campaign", "compare", "envelope"), map(report_html, studies), strict=True))
    assert set(pages) == set(REPORTS)
    overlay = overlay_report({"slow.nc": runs["line, latch"], "fast.nc": faster}, None, "dockdyn report …")
    pages["overlay"] = render_page(overlay)
    pages["sensitivity"] = render_page(sensitivity_report(SENSITIVITY, 'kind = "rig"\n', "dockdyn sensitivity …"))
    return pages


class Opened:
    """A page opened from a file with the network off, and what its console said."""

    def __init__(self, browser, file, width=1100, scheme="light"):
        self.errors: list[str] = []
        self.requests: list[str] = []
        size = {"width": width, "height": 900}
        self.context = new_context(browser, offline=True, color_scheme=scheme, viewport=size)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.context.close()


SORTS = [*REPORTS, "overlay", "sensitivity"]
SKELETON = ["requirements", "figures", "inputs", "provenance"]
ALWAYS = {"key-figures", "inputs", "provenance"}
FIGURES = """() => [...document.querySelectorAll("figure")].map(figure => {
  const drawn = figure.querySelector(".chart, .picture"), box = drawn.getBoundingClientRect();
  const image = drawn.querySelector("img");
  const marks = image ? image.naturalWidth : drawn.querySelectorAll("path, use").length;
  return [box.width, box.height, marks, figure.querySelector("figcaption").textContent.length];
})"""
DRAWN = (
    "document.querySelectorAll('figure[data-chart]').length === document.querySelectorAll('figure[data-drawn]').length"
)


@pytest.mark.full
@pytest.mark.parametrize("sort", SORTS)
def test_every_report_opens_offline_with_all_its_figures(sort, reports, runs, browser, tmp_path):
    text = reports[sort]
    assert len(text.encode()) < MOST
    ids = re.findall(r'<section id="([\w-]+)"', text)
    assert ALWAYS <= set(ids) and ids.count("key-figures") == 1  # at the top, or below the motion
    assert [name for name in ids if name in SKELETON] == [name for name in SKELETON if name in ids]
    assert ('id="scene"' in text) == (sort in runs)
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    with Opened(browser, file) as opened:
        for figure in opened.page.locator("figure").all():
            figure.scroll_into_view_if_needed()
        wait_until(opened.page, DRAWN)
        figures = opened.page.evaluate(FIGURES)
        assert len(figures) == text.count("<figure ") > 0
        for width, height, marks, caption in figures:
            assert width > 300 and height > 50 and marks >= 5 and caption > 20  # one curve at least
        headline = opened.page.locator(".headline").inner_text()
        assert len(headline) > 8 and not headline.endswith(".")
        for link in opened.page.locator("nav a").all():
            assert opened.page.locator(link.get_attribute("href")).is_visible()
        assert opened.errors == [] and opened.requests[1:] == [
            url for url in opened.requests if url.startswith(("data:", "blob:"))
        ]


@pytest.mark.full
@pytest.mark.parametrize("sort", ["probe", "stability", "overlay"])
def test_reports_on_a_phone_in_the_dark_and_on_paper(sort, reports, browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(reports[sort], encoding="utf-8")
    colour = "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    with Opened(browser, file, width=400, scheme="dark") as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # tables and figures scroll
        assert opened.page.evaluate(colour) == ["rgb(13, 15, 18)", "rgb(236, 238, 240)"]
        opened.page.emulate_media(media="print")
        assert opened.page.evaluate(colour)[0] == "rgb(255, 255, 255)"
        assert opened.page.locator("#inputs pre").first.is_visible()  # what is folded on the screen is printed
        assert not opened.page.locator("nav").is_visible()
        assert opened.errors == []


PICKED = ["probe", *(pytest.param(kind, marks=pytest.mark.full) for kind in RUNS if kind != "probe")]


@pytest.mark.full
@pytest.mark.parametrize("kind", PICKED)
def test_the_scene_is_in_the_report(kind, reports, browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(reports[kind], encoding="utf-8")
    with Opened(browser, file) as opened:
        opened.page.locator("#scene canvas").wait_for(timeout=60_000)
        with opened.page.expect_download() as coming:
            opened.page.locator("#scene").get_by_role("button", name="PNG").click()
        assert coming.value.path().read_bytes().startswith(b"\x89PNG")
        assert opened.errors == []
        assert all(url.startswith(("data:", "blob:", "about:", "file:")) for url in opened.requests)


def test_only_what_a_replay_needs_is_allowed(reports):
    policies = {sort: re.search(r'Security-Policy" content="(.*?)"', text)[1] for sort, text in reports.items()}
    for policy in policies.values():
        policy = html.unescape(policy)
        assert policy.startswith("default-src 'none';") and "http" not in policy and "*" not in policy
        assert "script-src 'sha256-" in policy and "connect-src" not in policy
        assert "script-src 'unsafe" not in policy and "'unsafe-eval'" not in policy


def test_a_report_without_a_replay_says_why(runs, monkeypatch):
    def fails(*_):
        raise RuntimeError("no <shape> for this")

    monkeypatch.setattr("dockdyn.pages.packed_replay", fails)
    text = report_html(runs["line, latch"])
    assert "The replay could not be made: no &lt;shape&gt; for this" in text and 'id="scene"' not in text


@pytest.mark.full
def test_requirements_are_judged_at_the_top(runs):
    text = report_html(runs["probe"])
    assert "✗ 1 of 1 requirements not met: peak force." in text
    changed = runs["probe"].attrs["scenario"].replace('"< 2 N"', '"< 3 N"')
    assert "✓ The requirement is met." in report_html(runs["probe"].assign_attrs(scenario=changed))


def typed_in(text: str) -> list[str]:
    found = re.search(r'id="provenance">.*?<code[^>]*>(.*?)</code>', text, re.DOTALL)
    return shlex.split(html.unescape(found[1]))


def without_times(dataset: xr.Dataset) -> xr.Dataset:
    kept = {name: value for name, value in dataset.attrs.items() if "wall_time" not in name and name != "source"}
    return dataset.drop_attrs(deep=False).assign_attrs(kept)


def test_what_the_report_says_to_type_gives_the_result_again(runs, dock, tmp_path):
    dataset = runs["line, latch"]
    (tmp_path / "scenario.toml").write_text(dataset.attrs["scenario"], encoding="utf-8")
    program, *words = typed_in(report_html(dataset))
    assert program == "dockdyn" and dock(*words).returncode == 0
    xr.testing.assert_identical(without_times(open_result(tmp_path / "again/result.nc")), without_times(dataset))


@pytest.mark.full
def test_margins_swept_are_got_again(dock, tmp_path):
    sweeps = ["loop.delay=0:20 ms:4", "contact.probe.normal.damping=0:400:3"]
    dataset = stability_dataset(dockdyn.load("probe-cone"), [parse_sweep(sweep) for sweep in sweeps]).to_xarray()
    write_result(dataset, tmp_path / "stability.nc")
    (tmp_path / "scenario.toml").write_text(dataset.attrs["scenario"], encoding="utf-8")
    _, *words = typed_in(report_html(open_result(tmp_path / "stability.nc")))
    assert dock(*words).returncode == 0
    again = open_result(tmp_path / "again/stability.nc")
    xr.testing.assert_identical(without_times(again), without_times(dataset))


def test_studies_say_what_to_type():
    campaign = typed_in(report_html(CAMPAIGNS["few"]()))
    assert campaign == shlex.split("dockdyn campaign run scenario.toml --runs 60 --seed 1 --out again")
    envelope = "dockdyn envelope scenario.toml --over speed=0.06:0.08 --of captured --tolerance 0.01 --out again"
    assert typed_in(report_html(enveloped())) == shlex.split(envelope)
    found = typed_in(report_html(compared()))
    assert found[:5] == ["dockdyn", "compare", "scenario.toml", "--compensators", "none,fixed-gain"]
    key, _, values = found[found.index("--set") + 1].partition("=")
    assert key == "contact.spring.normal.stiffness" and json.loads(values) == list(compared().stiffness.values)
