"""A campaign's page that computes: what is moved in it gives all cases of `dockdyn campaign run --set`, bit by bit."""

import re
import shlex

import browser
import numpy as np
import pytest
from browser_unit_cases import drawn
from live_page import check_advice

import dockdyn
from dockdyn.pages import live_campaign_of
from dockdyn.report.page import render_page
from dockdyn.scenario.language.places import places_of
from dockdyn.studies.campaign.answers import campaign_answers
from dockdyn.studies.campaign.cases import campaign_cases
from dockdyn.studies.campaign.first_failure import judge_cases
from dockdyn.studies.campaign.first_screen import campaign_headline, outcome_shares, requirement_bars
from dockdyn.studies.campaign.live import LiveCampaign
from dockdyn.studies.campaign.plots import convergence_figure, load_figure
from dockdyn.studies.campaign.report import campaign_report
from dockdyn.studies.campaign.tables import describe_reasons, loads_table, missing_table, requirements_table

SCATTERED = {
    "approach.closing_speed": {"distribution": "normal", "mean": "30 mm/s", "std": "4 mm/s"},
    "approach.lateral_offset": {"distribution": "disc", "radius": "60 mm"},
    "contact.probe.friction.coefficient": {"distribution": "normal", "mean": 0.12, "std": 0.02},
    "requirements.peak_force": "< 75 N",
    "requirements.contact.approach_speed": "> 1 mm/s",
}
BALLS = """
schema = 2
title = "Two balls"
duration = "2 s"

[body.one]
mass = "1 kg"
inertia = [0.01, 0.01, 0.01]
position = [{distribution = "uniform", low = "-300 mm", high = "-200 mm"}, 0, 0]
velocity = ["0.2 m/s", 0, 0]
feature.skin = { position = [0, 0, 0], radius = "50 mm" }

[body.other]
mass = "2 kg"
inertia = [0.01, 0.01, 0.01]
feature.skin = { position = [0, 0, 0], radius = "50 mm" }

[contact.skins]
between = ["one.skin", "other.skin"]
normal = { law = "spring-dashpot", stiffness = "1 kN/m", damping = "2 N s/m" }

[requirements]
peak_force = "< 8 N"
"""
READ = """() => {
  const { computed } = document.getElementById("live");
  return { figures: Object.fromEntries([...computed.figures].map(([name, values]) => [name, [...values].map(String)])),
    failed: [...computed.failed], values: computed.values.map((one) => [...one]) };
}"""
CELLS = """(of) => {
  const words = (cell) => [...cell.childNodes].filter((one) => one.className !== "was").map((one) => one.textContent).join("");
  return [...document.querySelectorAll(`table[data-live=${of}] tbody tr`)].map((row) => [...row.cells].map(words));
}"""
DRAWN = """(name) => {
  const { figures, columns } = document.getElementById("live").page;
  const of = ({ x, y, reach }) => [x, y, reach].map((place) => (place == null ? [] : [...columns.at(place)]));
  const figure = figures.find(({ node }) => node.dataset.name === name);
  return figure.chart.panels.map(({ areas, lines }) => [...areas.slice(1), ...lines.slice(1)].map(of));
}"""  # behind what is grey, of the report
TOLD = """[...document.querySelectorAll(".verdict, .tile, .requirement, table[data-live]")]
  .map((one) => one.className + one.innerText).join()"""
MARKS = """[...document.querySelectorAll("#live-map .plot path")]
  .filter((one) => one.getAttribute("fill") === "var(--green)").map((one) => one.getAttribute("d")).join("")"""
SHOWN = "Number(document.getElementById('live').dataset.shown ?? 0)"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A campaign of a few cases."""
    folder = tmp_path_factory.mktemp("small") / "campaign"
    return dockdyn.campaign(dockdyn.load("probe-cone", SCATTERED), folder, runs=12, seed=4)


def page_file(dataset, folder):
    inside = live_campaign_of(dataset, "DIR")
    assert "live" in inside, inside
    file = folder / "campaign-report.html"
    file.write_text(render_page(campaign_report(dataset, folder="DIR"), **inside), encoding="utf-8")
    return file


def opened(browse, file):
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.ready !== undefined")
    return page, said


def move(page, key, value):
    """Type a value, as many times what is there as it is of the report's."""
    row = f"[data-key='{key}']"
    if not page.locator(row).count():
        page.fill(".live-search", key)
        page.press(".live-search", "Enter")
    before = page.evaluate(SHOWN)
    page.fill(f"{row} input[type=number]", repr(value))
    page.press(f"{row} input[type=number]", "Enter")
    browser.wait_until(page, f"{SHOWN} > {before}")


def again(page, name, tmp_path, seed, runs):
    """The campaign that the page's command gives, with what it sets."""
    words = shlex.split(page.inner_text(".live-again code"))
    assert words[:3] == ["dockdyn", "campaign", "run"] and words[words.index("--runs") + 1] == str(runs)
    settings = dict(words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--set")
    assert settings
    scenario = dockdyn.load(name, (SCATTERED if name == "probe-cone" else {}) | settings)
    return dockdyn.campaign(scenario, tmp_path / f"again{len(list(tmp_path.iterdir()))}", runs=runs, seed=seed)


def check_equal(found, dataset):
    """The page's cases are those of the campaign: what was drawn, which failed, and every figure."""
    cases = campaign_cases(dataset)
    np.testing.assert_array_equal(found["values"], list(cases.values.values()))
    np.testing.assert_array_equal(np.sort(found["failed"]), np.flatnonzero(cases.failed))
    assert len(found["figures"]) > 4
    for name, values in found["figures"].items():
        np.testing.assert_array_equal([float(one) for one in values], cases.figures[name], err_msg=name)


def of_the_worst(page):
    """The scenario of the worst case, as the page advises to run it."""
    words = shlex.split(page.locator(".guide [data-follows=worst] code").inner_text())
    assert words[:3] == ["dockdyn", "run", "scenario.toml"] and set(words[3::2]) == {"--set"}
    return dockdyn.load("probe-cone", dict(word.split("=", 1) for word in words[4::2]))


def worst_force(dataset):
    return campaign_answers(dataset)["worst"][0]["peak_force_N"]


def check_drawn(page, dataset):
    """How the force is distributed and how estimates settle is drawn as the report of that campaign draws it."""
    cases, answers = campaign_cases(dataset), campaign_answers(dataset)
    charts = {
        "load": load_figure(cases, cases.peak_force),
        "convergence": convergence_figure(answers["convergence"], "N"),
    }
    for name, chart in charts.items():
        assert not page.locator(f"figure.reported[data-name={name}]").count()
        for shown, panel in zip(page.evaluate(DRAWN, name), chart.panels, strict=True):
            for line, expected in zip(shown, [*panel.areas, *panel.lines], strict=True):
                reach = getattr(expected, "reach", None)
                for found, values in zip(line, (expected.x, expected.y, () if reach is None else reach), strict=True):
                    np.testing.assert_allclose(found, values, rtol=1e-11, atol=1e-9, err_msg=name)


def check_strip(page, dataset):
    """The bar under the verdict has every case once, by what came of it, as the report of that campaign has it."""
    answers, shares = (
        campaign_answers(dataset),
        outcome_shares(campaign_cases(dataset), judge_cases(campaign_cases(dataset))),
    )
    assert sum(count for *_, count in shares) == answers["runs"]
    met = round(answers["requirements_probability"] * answers["runs"])
    assert dict((words, count) for words, _, count in shares).get("all met", 0) == met
    assert page.locator(".strip p > span").all_inner_texts() == [f"{count} {words}" for words, _, count in shares]
    parts = page.evaluate(
        "[...document.querySelectorAll('.strip .shares span')].map((one) => [one.style.flexGrow, one.style.background])"
    )
    assert parts == [[str(count), f"var(--{colour})"] for _, colour, count in shares]


def check_told(page, dataset):
    """Verdict, requirements and tables say what the report of that campaign says."""
    cases, answers = campaign_cases(dataset), campaign_answers(dataset)
    check_strip(page, dataset)
    assert page.inner_text(".headline").startswith(campaign_headline(answers))
    for bar in requirement_bars(answers):
        (shown,) = (
            row
            for row in page.locator(".requirement").all()
            if row.locator(".n").inner_text().split()[0] == bar.asked.split()[0]
        )
        assert shown.locator(".top b").inner_text().startswith(bar.value)
        assert shown.get_attribute("class") == f"requirement {bar.sort}"
        assert bar.verdict in shown.inner_text() and bar.words in shown.inner_text()
    for of, table in (("loads", loads_table(cases, answers)), ("requirements", requirements_table(answers))):
        compared = [place for place, key in enumerate(table.keys) if key not in ("-", "first")]
        rows = page.evaluate(CELLS, of)
        for row, expected in zip(rows, table.rows, strict=True):
            plain = [re.sub(r"e(-?)0*(\d+)", r"×10\1\2", expected[place]) for place in compared]
            assert [row[place].replace("−", "-") for place in compared] == plain
    listed = [[cell.replace("−", "-") for cell in row] for row in page.evaluate(CELLS, "missing")]
    assert listed == [list(row) for row in missing_table(answers).rows]
    section = page.locator("section", has=page.locator("table[data-live=missing]"))
    assert section.locator("p:not(.note)").inner_text() == describe_reasons(answers)
    moved = page.evaluate("document.documentElement.classList.contains('what-if')")
    assert not (moved and section.locator(".note", has_text="campaign rerun").is_visible())  # runs cases of the report


@pytest.mark.full
def test_cases_moved_in_a_page_are_those_of_the_command(small, browse, tmp_path):
    page, said = opened(browse, page_file(small, tmp_path))
    assert page.evaluate("document.getElementById('live').dataset.difference") == "0"
    assert page.evaluate("document.getElementById('live').dataset.compared") == "12"
    check_strip(page, small)
    move(page, "contact.probe.normal.stiffness", 9500.0)
    move(page, "approach.closing_speed.std", 6.5)
    move(page, "approach.lateral_offset.radius", 45.0)
    move(page, "requirements.peak_force", 79.0)
    moved = again(page, "probe-cone", tmp_path, seed=4, runs=12)
    check_equal(page.evaluate(READ), moved)
    check_told(page, moved)
    check_drawn(page, moved)
    assert check_advice(page, campaign_report(moved, folder="DIR").advice, ()) == {"worst"}
    assert dockdyn.summarise(dockdyn.simulate(of_the_worst(page)))["peak_force_N"] == worst_force(moved)
    assert not [one for one in said if "GL Driver Message" not in one]


@pytest.mark.full
def test_the_report_comes_back(small, browse, tmp_path):
    page, _ = opened(browse, page_file(small, tmp_path))
    before = page.evaluate(TOLD)
    move(page, "contact.probe.normal.stiffness", 9500.0)
    move(page, "requirements.peak_force", 79.0)
    assert page.evaluate(TOLD) != before
    shown = page.evaluate(SHOWN)
    page.click("text=As reported")
    browser.wait_until(page, f"{SHOWN} > {shown}")
    assert page.evaluate(TOLD) == before
    move(page, "approach.closing_speed.std", 5.0)
    page.fill("[data-key='approach.closing_speed.std'] input[type=number]", "-1")
    page.press("[data-key='approach.closing_speed.std'] input[type=number]", "Enter")
    assert "must be above 0" in page.inner_text("#live-numbers .sliders .live-problem")


@pytest.mark.full
def test_a_case_moves(small, browse, tmp_path):
    """The worst case is shown at first; another one, chosen in the map, is its own run to the last bit."""
    page, _ = opened(browse, page_file(small, tmp_path))
    worst = campaign_answers(small)["worst"][0]
    assert page.inner_text("#motion h2") == f"Case {worst['case']}: the worst"
    assert page.inner_text("#live-case code") == f"dockdyn campaign rerun DIR {worst['case']}"
    page.locator("#live-map .plot").scroll_into_view_if_needed()
    x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", page.evaluate(MARKS)).groups())
    box = page.locator("#live-map .plot").bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)
    browser.wait_until(page, f"document.getElementById('live').dataset.case !== '{worst['case']}'")
    case = int(page.evaluate("document.getElementById('live').dataset.case"))
    assert page.inner_text("#motion h2").startswith(f"Case {case}")
    live = LiveCampaign(small)
    values = {key: float(column[case]) for key, column in live.cases.values.items()}
    run = dockdyn.simulate(live.scenario.at(values))
    depth = page.evaluate("[...document.getElementById('live').outcome.variable('depth')]")
    expected = run["depth"].values
    np.testing.assert_array_equal(np.reshape(depth, (-1, *expected.shape[1:]))[: len(expected)], expected)


@pytest.mark.full
def test_a_case_that_misses_moves(small, browse, tmp_path):
    """A press on a case in the table of those that miss shows its run, as one on its mark in the map does."""
    page, _ = opened(browse, page_file(small, tmp_path))
    case = campaign_answers(small)["missing"]["listed"][1]["case"]
    page.locator("table[data-live=missing] tbody a").nth(1).click()
    browser.wait_until(page, f"document.getElementById('live').dataset.case === '{case}'")
    assert page.inner_text("#motion h2") == f"Case {case}"
    assert page.inner_text("#live-case code") == f"dockdyn campaign rerun DIR {case}"
    top = page.evaluate("document.getElementById('motion').getBoundingClientRect().top")
    assert 0 <= top < 300  # the case is seen


@pytest.mark.full
def test_paper_and_phones_have_what_there_is(small, browse, tmp_path):
    page, _ = opened(browse, page_file(small, tmp_path))
    page.emulate_media(media="print")
    assert page.locator("#live-map .plot").is_visible() and not page.locator("#live-numbers").is_visible()
    page.emulate_media(media="screen")
    assert page.locator("#live-numbers").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


@pytest.mark.full
def test_cases_that_are_refused_are_counted(small, browse, tmp_path):
    """Cases whose numbers the command refuses, here as their friction is below zero, meet no requirement in the page either."""
    page, _ = opened(browse, page_file(small, tmp_path))
    move(page, "contact.probe.friction.coefficient.std", 0.2)
    moved = again(page, "probe-cone", tmp_path, seed=4, runs=12)
    failed = campaign_cases(moved).failed.sum()
    assert 0 < failed
    check_equal(page.evaluate(READ), moved)
    assert f"{failed} of 12 cases" in page.inner_text(".lead")


@pytest.mark.full
def test_cases_that_overlap_are_refused(browse, tmp_path):
    page, _ = opened(browse, page_file(dockdyn.campaign(dockdyn.load(BALLS), tmp_path / "balls", 8, 2), tmp_path))
    move(page, "body.one.position.0.high", -20.0)
    scenario = dockdyn.load(BALLS, {"body.one.position.0.high": "-20 mm"})
    moved = dockdyn.campaign(scenario, tmp_path / "moved", runs=8, seed=2)
    assert any("overlap" in reason for reason in moved.reason.values.tolist())
    check_equal(page.evaluate(READ), moved)


def test_a_page_says_why_it_does_not_compute(small):
    def said(dataset):
        (why,) = live_campaign_of(dataset, "DIR").values()
        assert why in render_page(campaign_report(dataset), no_live=why)
        return why

    assert said(small.assign_attrs(runs=20)) == "8 of its cases are still to run"
    assert "drawn otherwise" in said(small.assign_attrs(seed=5))
    long = small.assign(steps=0 * small["steps"] + 10**6)
    assert said(long) == "its 12 cases take 12 million steps, which takes a page too long"


@pytest.mark.full
def test_all_cases_of_idss_in_a_page_are_those_of_the_command(browse, tmp_path):
    dataset = dockdyn.campaign("idss-probe-cone", tmp_path / "idss", runs=256, seed=1)
    page, _ = opened(browse, page_file(dataset, tmp_path))
    assert page.evaluate("document.getElementById('live').dataset.difference") == "0"
    assert page.evaluate("document.getElementById('live').dataset.compared") == "256"
    move(page, "contact.probe-cone.normal.stiffness", 12.0)
    move(page, "contact.probe-cone.normal.damping", 5000.0)
    softer = again(page, "idss-probe-cone", tmp_path, seed=1, runs=256)
    check_equal(page.evaluate(READ), softer)
    check_told(page, softer)
    check_drawn(page, softer)
    page.click("text=As reported")
    places = {one.key: one for one in places_of(dockdyn.load("idss-probe-cone"))}
    free = [key for key, one in places.items() if one.value and ".axis." not in key and "inertia" not in key]
    free = [key for key in free if key not in campaign_cases(dataset).values]
    rng = np.random.default_rng(6)
    for key in rng.choice(free, 3, replace=False):
        row = f"[data-key='{key}']"
        if not page.locator(row).count():
            page.fill(".live-search", key)
            page.press(".live-search", "Enter")
        shown = float(page.input_value(f"{row} input[type=number]"))
        move(page, key, shown * drawn(places[key], rng) / places[key].value)
        check_equal(page.evaluate(READ), again(page, "idss-probe-cone", tmp_path, seed=1, runs=256))
