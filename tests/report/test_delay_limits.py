"""Limits of a delay in pages: a contact takes energy just below its limit and gains some just above, in runs of the command."""

import browser
import pytest
from live_page import complaints, move

import dockdyn
from dockdyn.pages import live_margins_of, live_of, report_of
from dockdyn.report.page import render_page
from dockdyn.report.wording import format_significant
from dockdyn.scenario.language.places import places_of
from dockdyn.studies.margins.sweep import stability_dataset

NEAR = 1e-3  # of a limit, on either side of it
LIMITS = "document.getElementById('live').limits"
ROWS = "() => [...document.querySelectorAll('.live-figures tbody tr')].map((row) => [...row.cells].map((one) => one.innerText))"


def run_report(name):
    dataset = dockdyn.simulate(dockdyn.load(name))
    return report_of(dataset), live_of(dataset)


def margins_report(name):
    dataset = stability_dataset(dockdyn.load(name), [])
    return report_of(dataset), live_margins_of(dataset)


def class_of(name, settings, contact):
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(name, settings)))
    return summary["energy_class"][contact]


def check_limits(page, name, settings):
    """Both kinds of limit, as the page has them with these settings, are those of commands; all that are finite."""
    found = page.evaluate(LIMITS)
    margins = dockdyn.margins(dockdyn.load(name, settings))
    assert found["loop"] == pytest.approx(margins["critical_delay_s"], rel=1e-9)
    finite = [(contact, limit) for contact, limit in enumerate(found["contacts"]) if 0 < limit < found["reach"]]
    assert finite
    for contact, limit in finite:
        below, above = (
            class_of(name, settings | {"loop.delay": limit * (1 + side * NEAR)}, contact) for side in (-1, 1)
        )
        assert (below, above) == ("passive", "active"), (contact, limit)
    rows = {cells[0]: cells[-2 if len(cells) == 4 else -1] for cells in page.evaluate(ROWS)}
    for contact, limit in finite:
        (shown,) = (now for words, now in rows.items() if f"contact Q{contact + 1} takes" in words)
        assert shown == format_significant(1e3 * limit, 3)
    return found


@pytest.mark.full_cases("margins_report-probe-cone")
@pytest.mark.parametrize(("made", "name"), [(run_report, "probe-cone"), (margins_report, "probe-cone")])
def test_limits_of_a_delay_are_those_of_commands(made, name, browse, tmp_path):
    report, inside = made(name)
    file = tmp_path / "report.html"
    file.write_text(render_page(report, **inside), encoding="utf-8")
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.limited !== undefined")
    first = check_limits(page, name, {})
    tile = page.locator(".tile[data-limits]")
    if tile.count():
        words = f"up to {format_significant(1e3 * min(first['contacts']), 3)}\u00a0ms; loop stable up to"
        assert words in tile.inner_text() and format_significant(1e3 * first["loop"], 3) in tile.inner_text()
    key = "contact.probe.normal.damping"
    (place,) = (one for one in places_of(dockdyn.load(name)) if one.key == key)
    page.evaluate("delete document.getElementById('live').dataset.limited")
    move(page, place, 300.0)
    browser.wait_until(page, "document.getElementById('live').dataset.limited !== undefined")
    damped = check_limits(page, name, {key: 300.0})
    assert damped["loop"] < first["loop"] and min(damped["contacts"]) < min(first["contacts"])
    assert not complaints(said)


@pytest.mark.full
def test_a_capture_in_an_unstable_loop_is_to_be_read_with_care(browse, shared_run, tmp_path):
    """The sign and the advice say so; with a delay below the limit both are of a capture and nothing else."""
    dataset = shared_run("probe-cone-latch")
    file = tmp_path / "report.html"
    file.write_text(render_page(report_of(dataset), **live_of(dataset)), encoding="utf-8")
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.limited !== undefined")
    scenario = dockdyn.load("probe-cone-latch")
    critical = dockdyn.margins(scenario)["critical_delay_s"]
    assert 0 < critical < scenario.content.loop.delay
    sign, advice = page.locator(".verdict"), page.locator(".guide dd").first
    assert "warn" in sign.get_attribute("class").split()
    assert f"stable up to {format_significant(1e3 * critical, 3)}\u00a0ms" in advice.inner_text()
    (place,) = (one for one in places_of(scenario) if one.key == "loop.delay")
    page.evaluate("delete document.getElementById('live').dataset.limited")
    move(page, place, critical / 2)
    browser.wait_until(page, "document.getElementById('live').dataset.limited !== undefined")
    assert page.evaluate(LIMITS)["loop"] == pytest.approx(critical, rel=1e-9)
    assert "ok" in sign.get_attribute("class").split() and "unstable" not in advice.inner_text()
    assert not complaints(said)


@pytest.mark.full
def test_without_delay_there_is_no_limit_to_seek(shared_run):
    dataset = shared_run("probe-cone")
    inside = live_of(dataset, None, dockdyn.load("probe-cone", {"loop.delay": 0.0}))
    assert "live" in inside and "limits" not in inside["live"]


@pytest.mark.full
def test_where_more_acts_than_contacts_the_limit_of_the_loop_is_told(browse, shared_run, tmp_path):
    """On a bushing it is not known what a contact alone does to the energy, but up to which delay its loop is stable."""
    name, settings = "soyuz-like-probe", {"loop.delay": 0.001}
    dataset = shared_run(name, tuple(settings.items()))
    assert not any(dockdyn.summarise(dataset)["energy_class"])
    file = tmp_path / "report.html"
    file.write_text(render_page(report_of(dataset), **live_of(dataset)), encoding="utf-8")
    page, said = browse(file, 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.limited !== undefined")
    found = page.evaluate(LIMITS)
    critical = dockdyn.margins(dockdyn.load(name, settings))["critical_delay_s"]
    assert found["loop"] == pytest.approx(critical, rel=1e-9) and found["contacts"] == []
    shown = format_significant(1e3 * critical, 3)
    assert page.locator(".tile[data-limits] .bars").inner_text().split() == ["loop", shown]
    (row,) = page.evaluate(ROWS)
    assert "loop is stable" in row[0] and row[1] == shown
    assert not complaints(said)


def test_of_a_run_without_contacts_no_limit_of_its_delay_is_promised(shared_run):
    """Its latch alone is late: `dockdyn stability` judges contacts."""
    report = report_of(shared_run("sprung-probe-latch", (("loop.delay", 0.01),)))
    assert not any(tile.limits for tile in report.tiles)
    assert not any("stability" in one.command for one in report.advice)
