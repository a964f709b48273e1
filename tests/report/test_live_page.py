"""A page that computes: numbers moved in the browser give what `dockdyn run --set` gives, bit by bit, and are shown."""

import re
import shlex

import browser
import numpy as np
import pytest
from browser_unit_cases import drawn
from live_page import OWN, check_advice, complaints, move

import dockdyn
from dockdyn.pages import live_of, replay_of, report_of
from dockdyn.report.contact_tables import contacts_in_words
from dockdyn.report.live import live_data
from dockdyn.report.page import render_page
from dockdyn.report.verdict import judgement_sentence, sort_of
from dockdyn.report.wording import format_significant, typeset_numbers, worded_row
from dockdyn.results.browser_unit import TooMuch
from dockdyn.results.requirements import figures_of
from dockdyn.scenario.language.places import places_of

FOLLOWED = ("probe-cone", "idss-probe-cone")  # by their scenes
READ = """() => {
  const { outcome } = document.getElementById("live");
  const names = ["depth", "normal_force", "position"].filter((name) => outcome.variable(name));
  return {
    time: [...outcome.time],
    figures: Object.fromEntries([...outcome.figures].map(([name, value]) => [name, String(value)])),
    contacts: outcome.contacts,
    variables: Object.fromEntries(names.map((name) => [name, [...outcome.variable(name)]])),
  };
}"""


def page_file(name, folder):
    scenario = dockdyn.load(name)
    dataset = dockdyn.simulate(scenario)
    inside = replay_of(dataset, None, scenario.content) | live_of(dataset, None, scenario)
    assert "live" in inside, inside
    file = folder / "report.html"
    file.write_text(render_page(report_of(dataset), **inside), encoding="utf-8")
    return scenario, dataset, file


def check_verdict(page, run, settings):
    """What came of a run is told as its own report tells it, where it is not marked as that of another one."""
    report = report_of(run)
    sorts = [word for word in page.get_attribute(".verdict", "class").split() if word in ("ok", "bad", "warn")]
    headline = page.locator(".headline")
    told = "reported" not in headline.get_attribute("class")
    # what is told neither by requirements nor by a headline is not judged again, and to be read with care
    assert sorts == [sort_of(report) if told or report.requirements else "warn"] or report.warnings
    if told:
        assert headline.inner_text() == report.headline
    if report.requirements:
        assert page.inner_text(".judgement") == judgement_sentence(report.requirements)
    followed = check_advice(page, report.advice, settings)
    assert ("requirements" in followed) == bool(report.requirements)
    assert followed or "distribution" in report.scenario


def check_table(page, run):
    """The table of contacts has in every cell what that of the run's own report has; gives how many columns there are."""
    table = next((one.table for one in report_of(run).blocks if one.title == "Contacts"), None)
    rows = page.locator("table[data-live=contacts] tbody tr").all()
    if table is None:
        assert not rows
        return ()
    for row, expected in zip(rows, table.rows, strict=True):
        cells = [cell.replace("−", "-") for cell in row.locator("td").all_inner_texts()]
        assert dict(zip(table.keys, cells, strict=True)) == dict(zip(table.keys, map(typeset, expected), strict=True))
    return table.keys


def typeset(cell):
    return typeset_numbers(cell).replace("−", "-")


def check_contacts(page, run, summary):
    """What contacts did to the energy is told as the run's own report tells it: in words, and in the table of contacts."""
    assert {"energy", "class", "gain", "x", "azimuth"} <= set(check_table(page, run))
    classes = [word or "–" for word in summary["energy_class"]]
    words = " ".join(contacts_in_words(run, summary, classes))
    assert page.inner_text(".lead").startswith(words)


@pytest.mark.full
def test_contacts_that_gain_energy_are_told_again(browse, tmp_path):
    """With so long a delay a contact gains energy: headline, words, table and tiles say so, and by how much, as the run's own
    report does; the new curve of a tile is drawn, and the report's grey."""
    scenario, dataset, file = page_file("probe-cone", tmp_path)
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.ready !== undefined")
    first = page.locator(".tile .spark path").last.get_attribute("d")
    (delay,) = (one for one in places_of(scenario) if one.key == "loop.delay")
    move(page, delay, 0.06)
    run = dockdyn.simulate(dockdyn.load("probe-cone", {"loop.delay": "60 ms"}))
    summary = dockdyn.summarise(run)
    assert "active" in summary["energy_class"]
    gained = run.episode_energy_gain.values[[name == "active" for name in summary["energy_class"]]]
    check_contacts(page, run, summary)
    assert f"{format_significant(gained.sum())} J fed in" in page.inner_text(".lead")
    assert page.inner_text(".headline") == report_of(run).headline
    assert "warn" in page.get_attribute(".verdict", "class")
    for tile in report_of(run).tiles[:3]:
        (shown,) = (one for one in page.locator(".tile").all() if one.locator(".k").inner_text() == tile.label)
        assert shown.locator(".v").inner_text() == f"{tile.value} {tile.unit}"
        assert "in the report" in shown.locator(".f").inner_text()
        assert shown.locator(".spark .own").count() == shown.locator(".spark .now-curve").count() == 1
    page.click("text=As reported")
    browser.wait_until(page, "!document.documentElement.classList.contains('what-if')")
    assert page.inner_text(".headline") == report_of(dataset).headline
    assert page.locator(".tile .spark path").last.get_attribute("d") == first
    assert not complaints(said)


@pytest.mark.full
def test_first_contacts_are_told_as_their_own_report_tells_them(browse, tmp_path):
    """A run that ends before it touches says so, and of a faster one has force, contacts and what they did to the energy; what
    its report warns of is said to be of its own numbers."""
    scenario = dockdyn.load("probe-cone", {"approach.closing_speed": "3 mm/s", "duration": "12 s"})
    dataset = dockdyn.simulate(scenario)
    file = tmp_path / "report.html"
    file.write_text(render_page(report_of(dataset), **live_of(dataset, None, scenario)), encoding="utf-8")
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.ready !== undefined")
    table, none = page.locator("table[data-live=contacts]"), page.get_by_text("None.", exact=True)
    assert none.is_visible() and not table.is_visible() and not page.get_by_text("Onset and release are").is_visible()
    (speed,) = (one for one in places_of(scenario) if one.key == "approach.closing_speed")
    move(page, speed, 0.033)
    run = dockdyn.simulate(dockdyn.load("probe-cone", {"approach.closing_speed": 0.033, "duration": "12 s"}))
    check_contacts(page, run, dockdyn.summarise(run))
    assert table.is_visible() and not none.is_visible()
    force = page.locator(".tile").first.inner_text()
    assert f"{report_of(run).tiles[0].value} N" in force.replace("\n", "") and "0 N in the report" in force
    after = page.evaluate("getComputedStyle(document.querySelector('.warnings strong'), '::after').content")
    assert OWN in after
    page.click("text=As reported")
    browser.wait_until(page, "!document.documentElement.classList.contains('what-if')")
    assert none.is_visible() and not table.is_visible()
    assert not complaints(said)


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        "probe-cone",
        *(
            pytest.param(name, marks=pytest.mark.full)
            for name in ("idss-probe-cone", "paraskevas-b", "gibson-2d", "newtons-cradle")
        ),
    ],
)
def test_numbers_moved_in_a_page_give_what_the_command_gives(name, browse, tmp_path):
    scenario, _dataset, file = page_file(name, tmp_path)
    rng, (page, said) = np.random.default_rng(2), browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.tried !== undefined")
    assert float(page.evaluate("document.getElementById('live').dataset.difference")) < 1e-12
    places = [one for one in places_of(scenario) if one.value and ".axis." not in one.key and "inertia" not in one.key]
    for place in rng.choice(places, 3, replace=False):
        move(page, place, drawn(place, rng))
    command = page.inner_text(".live-again code")
    given = dict(one.split("=", 1) for one in shlex.split(command)[4::2])
    assert given and set(shlex.split(command)[3::2]) == {"--set"}
    run = dockdyn.simulate(dockdyn.load(name, given))
    found, summary = page.evaluate(READ), dockdyn.summarise(run)
    np.testing.assert_array_equal(found["time"], run.time.values)
    for variable, values in found["variables"].items():
        expected = run[variable].values
        np.testing.assert_array_equal(np.reshape(values, (-1, *expected.shape[1:]))[: len(expected)], expected)
    assert len(found["contacts"]) == len(summary["contacts"])
    for here, there in zip(found["contacts"], summary["contacts"], strict=True):
        assert here["onset"] == there["onset_s"] and here["approach_speed"] == there["approach_speed_m_s"]
        assert here["peak_force"] == there["peak_force_N"]
        assert [here[axis] for axis in "xyz"] == there["position_m"]
        azimuth = np.nan if there["azimuth_deg"] is None else there["azimuth_deg"]
        assert here["azimuth"] == pytest.approx(azimuth, rel=1e-12, nan_ok=True)
        assert here["impulse"] == pytest.approx(there["impulse_N_s"], rel=1e-12)
    stated = {name: value for name, value in figures_of(summary).items() if isinstance(value, float)}
    for figure in stated.keys() & found["figures"].keys():
        if "error" not in figure:
            assert float(found["figures"][figure]) == pytest.approx(stated[figure], rel=1e-12, abs=1e-15), figure
    check_verdict(page, run, shlex.split(command)[3:])
    check_table(page, run)
    if name == "probe-cone":
        check_contacts(page, run, summary)
    assert name not in FOLLOWED or not page.locator(".stage.reported").count()
    rows = [re.sub(r"\s+", " ", text) for text in page.locator(".requirement").all_inner_texts()]
    for judged in summary["requirements"]:
        asked, _, _, met = worded_row(judged)
        (shown,) = (row for row in rows if asked in row)
        assert f" {met}" in shown, (shown, judged)
    assert not complaints(said)


@pytest.mark.full
def test_the_report_comes_back(browse, tmp_path):
    scenario, _dataset, file = page_file("probe-cone", tmp_path)
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.limited !== undefined")
    curves = "[...document.querySelectorAll('.chart svg path')].map((one) => one.getAttribute('d')).join()"
    tables = (
        "[...document.querySelectorAll('table[data-live], .tiles, .requirements, .verdict')].map((one) => one.innerText)"
        ".join()"
    )
    before = [page.evaluate(what) for what in (curves, tables)]
    (delay,) = (one for one in places_of(scenario) if one.key == "loop.delay")
    move(page, delay, 0.05)
    moved = [page.evaluate(what) for what in (curves, tables)]
    assert all(new != old for new, old in zip(moved, before, strict=True))
    page.click("text=As reported")
    browser.wait_until(page, "!document.documentElement.classList.contains('what-if')")
    assert [page.evaluate(what) for what in (curves, tables)] == before
    page.click(".guide .copy")
    browser.wait_until(page, "/copied|selected/.test(document.querySelector('.guide .copy').textContent)")
    page.fill("[data-key='loop.delay'] input[type=number]", "-3")
    page.press("[data-key='loop.delay'] input[type=number]", "Enter")
    assert page.inner_text(".live-problem") == "loop.delay = -3 ms: must be above 0 ms; what is shown stays as it was"
    assert not complaints(said)


@pytest.mark.full
def test_what_a_tenth_more_does_is_so(browse, tmp_path):
    """The change of the figure that the page tells beside a number is that of two runs."""
    scenario, dataset, file = page_file("probe-cone", tmp_path)
    page, _ = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.tried !== undefined")
    before = dockdyn.summarise(dataset)["peak_force_N"]
    for key in ("loop.delay", "contact.probe.normal.stiffness"):
        (place,) = (one for one in places_of(scenario) if one.key == key)
        after = dockdyn.summarise(dockdyn.simulate(dockdyn.load("probe-cone", {key: 1.1 * place.value})))
        told = re.search(r"([+−])([\d.]+) N", page.inner_text(f"[data-key='{key}'] .effect"))
        change = after["peak_force_N"] - before
        assert float(told[1].replace("−", "-") + told[2]) == pytest.approx(change, rel=0.05), key


def test_a_page_says_why_it_does_not_compute(shared_run):
    dataset = shared_run("probe-cone")
    (said,) = live_of(dataset, None, dockdyn.load("cyril-controlled")).values()
    assert said.startswith("integrator.method = adaptive runs in Python only")
    assert said in render_page(report_of(dataset), no_live=said)
    long = dockdyn.summarise(dataset) | {"steps": 10**6}
    with pytest.raises(TooMuch, match="steps"):
        live_data(dockdyn.load("probe-cone"), long, (), ())
