"""A rig that a page computes: with other numbers, and without its compensator, it is the rig that `dockdyn run --set` runs."""

import json

import browser
import numpy as np
import pytest
from live_page import complaints, move_key
from page_script import needs_node, run_in_web

import dockdyn
from dockdyn.api import scene_of
from dockdyn.pages import live_of, report_html
from dockdyn.report.wording import format_significant, typeset_numbers
from dockdyn.results.browser_unit import TooMuch
from dockdyn.rig import browser_unit
from dockdyn.rig.first_screen import GAINS_UNJUDGED
from dockdyn.rig.live import live_rig_data
from dockdyn.rig.measures import contact_spans
from dockdyn.rig.report import rig_report

FIGURES, TIMED = 1e-9, 1e-9  # of a figure; of a force, beside the largest
SWITCH = "loop.compensator"


def settings_of(number, value):
    return {key: sign * value for key, sign in zip(number["keys"], number["signs"], strict=True)}


def run_with(scenario, live, row):
    """The run of the numbers of a row as the command line makes it, by what a page says of it."""
    numbers = live["unit"]["numbers"]
    values = {key: float(value) for key, _, value in (one.partition("=") for one in live["settled"])}
    for number, value in zip(numbers, row, strict=True):
        if "law" not in number and value != number["value"]:
            values |= settings_of(number, value)
    if any("law" in number and not value for number, value in zip(numbers, row, strict=True)):
        values = {key: value for key, value in values.items() if not key.startswith(f"{SWITCH}.")} | {SWITCH: "none"}
    return dockdyn.simulate(scenario.at(values))


def answers_in_node(unit, rows, folder):
    """What the page's programs give for each row, by name."""
    files = [folder / name for name in ("unit.json", "rows.json", "answers", "run_unit.mjs")]
    files[0].write_text(json.dumps(unit))
    files[1].write_text(json.dumps(rows))
    run_in_web(
        *("npx", "esbuild", "test/run_unit.ts", "--bundle", "--format=esm", "--platform=node", "--log-level=error"),
        f"--outfile={files[3]}",
    )
    run_in_web("node", *map(str, [files[3], *files[:3]]))
    told, at = np.memmap(files[2], float, "r"), 0
    for row in rows:
        off = any("law" in number and not value for number, value in zip(unit["numbers"], row, strict=True))
        found = {}
        for name in (name for name in unit["results"] if not name.startswith(browser_unit.OFF)):
            place = unit["results"].get(browser_unit.OFF + name if off else name)
            size = 0 if place is None else int(np.prod(place[2]))
            found[name] = told[at : at + size].reshape(() if place is None or not size else place[2]) if size else None
            at += size
        yield found
    assert at == told.size


def check_scene(scene, found, time):
    """What a page's programs say of bodies and forces in the scene is what the report of these numbers shows."""
    rows, count = np.searchsorted(scene.time, time), len(time)
    np.testing.assert_array_equal(scene.time[rows], time)
    size = max(np.abs(motion.position).max() for motion in scene.bodies.values())
    assert found["scene.position"].shape[1] == found["scene.attitude"].shape[1] == len(scene.bodies) >= 3
    for place, motion in enumerate(scene.bodies.values()):
        assert np.abs(found["scene.position"][:count, place] - motion.position[rows]).max() <= TIMED * size
        assert np.abs(found["scene.attitude"][:count, place] - motion.attitude[rows]).max() <= TIMED
    assert [force.name for force in scene.forces] == live_forces(scene)
    for place, force in enumerate(scene.forces):
        off = np.abs(found["scene.force"][:count, place] - force.vector[rows]).max()
        assert off <= TIMED * np.abs(force.vector).max()


def live_forces(scene):
    return ["contact force", "force on the model"] if "robot" in scene.bodies else ["contact force"]


@pytest.mark.full
@needs_node
@pytest.mark.parametrize("name", ["sits-scvg", "unknown-stiffness", "epos-like"])
def test_a_rig_in_a_page_is_the_rig_that_runs(name, tmp_path):
    """Some numbers at random within their bounds, with the compensator and without."""
    scenario, rng = dockdyn.load(name), np.random.default_rng(3)
    live = live_rig_data(scenario, dockdyn.summarise(dockdyn.simulate(scenario)))
    numbers = live["unit"]["numbers"]
    assert {"law" in number for number in numbers} == {scenario.content.loop.compensator is not None, False}
    rows = [[number["value"] for number in numbers]]
    for on in (1.0, 0.0):
        ends = [(number["value"], number["bounds"]) for number in numbers]
        near = [min(max(value * rng.uniform(0.9, 1.1), ends["least"]), ends["most"]) for value, ends in ends]
        rows.append([on if "law" in number else value for number, value in zip(numbers, near, strict=True)])
    for row, found in zip(rows, answers_in_node(live["unit"], rows, tmp_path), strict=True):
        dataset = run_with(scenario, live, row)
        summary, count = dockdyn.summarise(dataset), int(found["sampled"])
        np.testing.assert_allclose(found["interval"] * np.arange(count), dataset.time.values, rtol=1e-12)
        for variable in ("ideal_force", "total_force", "robot_position", "model_pose", "kinetic_energy"):
            if variable in dataset:
                expected = dataset[variable].values
                off = np.abs(found[variable][:count] - expected).max()
                assert off <= TIMED * np.abs(expected).max(), (variable, row)
        check_scene(scene_of(dataset), found, dataset.time.values)
        told = {name[7:]: float(value) for name, value in found.items() if name.startswith("figure.")}
        assert len(told) >= 5
        for figure, value in told.items():
            if summary[figure] is None:
                assert not np.isfinite(value)
            else:
                assert value == pytest.approx(summary[figure], rel=FIGURES, abs=1e-9), figure


@pytest.mark.full
def test_what_a_page_sets_stands_as_itself():
    """A number that makes several others, or decides when what happens, is not offered; a delay is, as long as the rig's
    memory of its robot is."""
    scenario = dockdyn.load("sits-scvg")
    numbers = {one["key"]: one for one in browser_unit.rig_unit_of_page(scenario)["numbers"]}
    assert {SWITCH, "body.target.mass", "loop.sensor.delay", f"{SWITCH}.gain"} <= set(numbers)
    assert not {"loop.hold.period", "loop.dynamics.period", "loop.robot.gain", f"{SWITCH}.period"} & set(numbers)
    most = numbers["loop.sensor.delay"]["bounds"]["most"]
    rows = browser_unit.PageRig.of(scenario).joined.rig.schedule.rows
    made = browser_unit.PageRig.of(scenario.at({"loop.sensor.delay": most})).joined.rig
    assert most > 0.002 and made.schedule.rows == rows


@pytest.mark.full
def test_a_number_goes_as_far_to_each_side_as_it_stands_as_itself():
    """More slowly than so there is no contact within the run; faster there is."""
    scenario = dockdyn.load("epos-like")
    (speed,) = (
        one for one in browser_unit.rig_unit_of_page(scenario)["numbers"] if one["key"] == "approach.closing_speed"
    )
    assert speed["bounds"]["least"] == pytest.approx(0.024) and speed["bounds"]["most"] == pytest.approx(0.09)
    with pytest.raises(dockdyn.ScenarioError, match="no contact within it"):
        browser_unit.PageRig.of(scenario.at({"approach.closing_speed": 0.015}))


@pytest.mark.full
def test_a_figure_that_no_page_computes_is_not_required_of_one():
    scenario = dockdyn.load("sits-scvg", {"requirements.delay_total": "< 7 ms"})
    with pytest.raises(TooMuch, match="delay_total_ms, which is required, is no figure that a page computes"):
        live_rig_data(scenario, dockdyn.summarise(dockdyn.simulate(scenario)))


@pytest.mark.full
def test_a_reader_switches_the_compensator_off_and_on(browse, tmp_path):
    scenario = dockdyn.load("sits-scvg")
    dataset = dockdyn.simulate(scenario)
    file = tmp_path / "report.html"
    file.write_text(report_html(dataset), encoding="utf-8")
    page, said = browse(file, 1440, 900)
    browser.wait_until(page, "'settled' in document.documentElement.dataset")
    assert float(page.evaluate("document.getElementById('live').dataset.difference")) < 1e-12
    shown, headline = "Number(document.getElementById('live').dataset.shown ?? 0)", page.inner_text(".headline")
    page.click(".switch input")
    browser.wait_until(page, f"{shown} > 0")
    without = dockdyn.summarise(dockdyn.simulate(scenario.at({SWITCH: "none"})))
    row = page.inner_text("tr[data-figure=peak_measured_force_N]").split("\t")
    assert float(row[2]) == pytest.approx(without["peak_measured_force_N"], rel=5e-4)
    assert page.inner_text("#live .live-again code") == "dockdyn run scenario.toml --set loop.compensator=none"
    assert "times that without rig" in page.inner_text(".headline")
    ratio = float(page.inner_text("tr[data-figure=amplitude_ratio]").split("\t")[2])
    assert ratio > 100 and f"1.006 → {ratio:g}" in page.inner_text(".live-said").replace("\u202f", "")
    # the scene follows: the robot swings beyond all that the report's own run does
    assert page.locator(".stage.reported").count() == 0
    page.locator(".transport").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.transport [role=slider]').focus()")
    page.keyboard.press("End")
    page.wait_for_timeout(500)
    swung = page.locator("#scene canvas").screenshot()
    page.click("text=As reported")
    browser.wait_until(page, f"{shown} > 1")
    page.wait_for_timeout(500)
    assert browser.changed(browser.picture(swung), browser.picture(page.locator("#scene canvas").screenshot())) > 2000
    page.click(".switch input")
    browser.wait_until(page, f"{shown} > 2")
    move_key(page, "contact.spring.normal.stiffness", lambda kilo: 1.1 * kilo)
    both = dockdyn.summarise(dockdyn.simulate(scenario.at({SWITCH: "none", "contact.spring.normal.stiffness": 22e3})))
    row = page.inner_text("tr[data-figure=kinetic_energy_error_J]").split("\t")
    assert float(row[2]) == pytest.approx(both["kinetic_energy_error_J"], rel=5e-4)
    page.click("text=As reported")
    browser.wait_until(page, f"{shown} > 4")
    assert page.inner_text(".headline") == headline and page.is_checked(".switch input")
    assert complaints(said) == []


def opened_rig(name, browse, folder):
    scenario = dockdyn.load(name)
    dataset = dockdyn.simulate(scenario)
    file = folder / "report.html"
    file.write_text(report_html(dataset), encoding="utf-8")
    page, said = browse(file, 1440, 900)
    browser.wait_until(page, "'settled' in document.documentElement.dataset")
    return scenario, dataset, page, said


@pytest.mark.parametrize(
    "name", ["sits-scvg", *(pytest.param(one, marks=pytest.mark.full) for one in ("sits", "epos-like"))]
)
def test_a_rig_s_page_says_which_delay_its_loop_bears(name, browse, tmp_path):
    """As `dockdyn stability` finds it, with these numbers and with others; without the compensator it is not known."""
    scenario, _, page, said = opened_rig(name, browse, tmp_path)
    limits, row = (
        "document.getElementById('live').limits",
        ".live-figures tr:has-text('up to which the loop is stable')",
    )
    found, margins = page.evaluate(limits), dockdyn.margins(scenario)
    assert found["loop"] == pytest.approx(margins["critical_delay_s"], rel=1e-8, abs=1e-12)
    shown = format_significant(1e3 * found["loop"], 3) if found["loop"] > 0 else "none"
    assert page.inner_text(row).split("\t")[1] == shown
    now = format_significant(1e3 * found["delay"], 3)
    words = "loop unstable at any delay"
    if found["loop"] > 0:
        words = f"loop stable for {found['key']} up to {shown}\u00a0ms (now {now})"
    (tile,) = page.locator(".tile[data-limits]").all()
    assert tile.locator(".f").inner_text().endswith(words) and tile.locator(".bars b").count() > 1
    assert ("bad" in tile.get_attribute("class")) == (found["delay"] >= found["loop"])
    page.evaluate("delete document.getElementById('live').dataset.limited")
    key = "body.target.mass"
    move_key(page, key, lambda mass: 1.2 * mass)
    browser.wait_until(page, "document.getElementById('live').dataset.limited !== undefined")
    live = json.loads(page.evaluate("document.getElementById('live-data').textContent"))
    (mass,) = (one["value"] for one in live["unit"]["numbers"] if one["key"] == key)
    settled = dict(one.split("=") for one in live["settled"])
    margins = dockdyn.margins(scenario.at({name: float(value) for name, value in settled.items()} | {key: 1.2 * mass}))
    assert page.evaluate(limits)["loop"] == pytest.approx(margins["critical_delay_s"], rel=1e-8, abs=1e-12)
    if scenario.content.loop.compensator:
        page.click(".switch input")
        browser.wait_until(page, "document.querySelector('.live-figures tbody tr').cells[2].innerText === '–'")
    assert complaints(said) == []


def test_a_moved_rig_is_told_in_words_by_its_own_numbers(browse, tmp_path):
    """The sentence below the headline is that of a run with these numbers; the headline begins with a loop that is unstable."""
    scenario, _, page, said = opened_rig("sits-scvg", browse, tmp_path)
    headline, key = page.inner_text(".headline"), "contact.spring.normal.stiffness"
    unstable = "The loop is unstable; amplitude"
    for factor in (0.5, 4.0):  # of what there was before
        page.evaluate("delete document.getElementById('live').dataset.limited")
        move_key(page, key, lambda shown, factor=factor: factor * shown)
        browser.wait_until(page, "document.getElementById('live').dataset.limited !== undefined")
        if factor < 1:
            told = rig_report(run := dockdyn.simulate(scenario.at({key: 10e3})), dockdyn.summarise(run)).verdict
            law, judged, figures = told.partition(" the loop is unstable at a gain that the run visits, and")
            assert judged  # by the run alone, and the page says that it does not
            assert page.inner_text(".verdict .lead") == typeset_numbers(f"{law}{figures} {GAINS_UNJUDGED}")
        limits, margins = page.evaluate("document.getElementById('live').limits"), page.inner_text(".guide")
        late = limits["delay"] >= limits["loop"]
        assert page.inner_text(".headline").startswith(unstable) == late == ("The loop is unstable" in margins)
        assert ("bad" in page.get_attribute(".verdict", "class").split()) == late == (factor > 1)
    page.click("text=As reported")
    browser.wait_until(page, "!document.documentElement.classList.contains('what-if')")
    assert page.inner_text(".headline") == headline and "bad" not in page.get_attribute(".verdict", "class").split()
    assert complaints(said) == []


def test_the_bar_of_time_has_the_contacts_of_a_rig(browse, tmp_path):
    """Those of the report, and those of other numbers as the run of these has them."""
    scenario, dataset, page, said = opened_rig("epos-like", browse, tmp_path)
    shown = """() => [...document.querySelectorAll(".transport .segment")].map((one) =>
      [one.title, ...["left", "width"].map((name) => parseFloat(one.style[name].replace("calc(", "")))])"""

    def check(run):
        spans, end = contact_spans(run)[0], float(run.time[-1])
        assert len(spans) >= 1
        found = page.evaluate(shown)
        assert [name for name, *_ in found] == [f"Q{number}" for number in range(1, len(spans) + 1)]
        assert [[left, width] for _, left, width in found] == [
            pytest.approx([100 * first / end, 100 * (last - first) / end], abs=1e-3) for first, last in spans
        ]
        names = page.evaluate("[...document.querySelectorAll('figure .plot svg')][0].textContent")
        assert "Q1" in names

    check(dataset)
    move_key(page, "approach.closing_speed", lambda speed: 1.27 * speed)
    speed = 1.27 * next(
        one["value"]
        for one in browser_unit.rig_unit_of_page(scenario)["numbers"]
        if one["key"] == "approach.closing_speed"
    )
    check(dockdyn.simulate(scenario.at({"approach.closing_speed": speed})))
    assert complaints(said) == []


def test_a_rig_that_runs_too_long_for_a_page_says_so(monkeypatch):
    monkeypatch.setattr(browser_unit, "MOST_TICKS", 1000)
    assert "which takes a page too long" in live_of(dockdyn.simulate(dockdyn.load("sits-scvg")))["no_live"]
