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
def test_without_delay_there_is_no_limit_to_seek(shared_run):
    dataset = shared_run("probe-cone")
    inside = live_of(dataset, None, dockdyn.load("probe-cone", {"loop.delay": 0.0}))
    assert "live" in inside and "limits" not in inside["live"]
