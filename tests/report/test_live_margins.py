"""A page of margins that computes: numbers moved in the browser give what `dockdyn stability --set` gives, and are shown."""

import shlex

import browser
import pytest
from live_page import check_advice, complaints, move

import dockdyn
from dockdyn.pages import live_margins_of, report_of
from dockdyn.report.page import render_page
from dockdyn.scenario.language.places import places_of
from dockdyn.studies.margins.first_screen import margins_headline
from dockdyn.studies.margins.plots import measure_of, ranked_sensitivities
from dockdyn.studies.margins.sweep import stability_dataset

MOVES = {  # of numbers that leave the contact where it is
    "probe-cone": {"loop.delay": 0.031, "contact.probe.normal.damping": 310.0, "body.target.mass": 2600.0},
    "idss-probe-cone": {"loop.delay": 0.12, "contact.probe-cone.normal.stiffness": 3.1e4, "body.chaser.mass": 1.9e4},
    "soyuz-like-probe": {"loop.delay": 0.004},
    "sits-scvg": {"contact.spring.normal.damping": 61.0, "body.target.mass": 430.0, "loop.sensor.delay": 0.003},
    "epos-like": {"loop.delay": 0.011},
}
TOLD = "() => document.getElementById('live').told"


def margins_file(name, folder):
    dataset = stability_dataset(dockdyn.load(name), [])
    inside = live_margins_of(dataset)
    assert "live" in inside, inside
    file = folder / "report.html"
    file.write_text(render_page(report_of(dataset), **inside), encoding="utf-8")
    return file


def check_effects(page, margins):
    """Sliders say of a tenth more of a number what the tile says: the slope, in the same unit, to the two digits they have."""
    told = dict(ranked_sensitivities(margins))
    said = {row.get_attribute("data-key"): row.inner_text() for row in page.locator(".slider[data-key]").all()}
    both = [key for key in told if key in said and "→" in said[key]]
    assert both
    for key in both:
        number, unit = said[key].replace("−", "-").split(" → ")[1].rsplit(" ", 2)[1:]
        assert unit == measure_of(margins)[1] and "by the slope" in said[key]
        assert float(number) == pytest.approx(told[key], rel=0.051), key


@pytest.mark.full_cases("idss-probe-cone", "soyuz-like-probe", "sits-scvg", "epos-like")
@pytest.mark.parametrize("name", MOVES)
def test_numbers_moved_in_a_page_give_what_the_command_gives(name, browse, tmp_path):
    page, said = browse(margins_file(name, tmp_path), 1440, 1000)
    browser.wait_until(page, "document.getElementById('live')?.dataset.tried !== undefined")
    assert float(page.evaluate("document.getElementById('live').dataset.difference")) < 1e-9
    check_effects(page, dockdyn.margins(dockdyn.load(name)))
    places = {place.key: place for place in places_of(dockdyn.load(name))}
    for key, value in MOVES[name].items():
        if key in places and places[key].value:
            move(page, places[key], value)
            continue
        page.fill(".live-search", key)  # a delay of none, shown in ms
        page.press(".live-search", "Enter")
        page.fill(f"[data-key='{key}'] input[type=number]", repr(1e3 * value))
        page.press(f"[data-key='{key}'] input[type=number]", "Enter")
        browser.wait_until(page, "document.getElementById('live').dataset.shown !== undefined")
    command = shlex.split(page.inner_text(".live-again code"))
    given = dict(one.split("=", 1) for one in command[4::2])
    assert command[:2] == ["dockdyn", "stability"] and given.keys() == MOVES[name].keys()
    told, margins = page.evaluate(TOLD), dockdyn.margins(dockdyn.load(name, given))
    assert told["first"][0] == pytest.approx(margins["growth_rate_1_s"], rel=1e-9, abs=1e-12)
    assert told["delay"] == pytest.approx(margins["delay_s"], rel=1e-12)
    assert told["margin"] == pytest.approx(margins["delay_margin_s"], rel=1e-9, abs=1e-12)
    first = margins["rightmost_roots"][0]
    for root in (told["first"], told["roots"][0]):
        assert abs(complex(root[0], abs(root[1])) - complex(first[0], abs(first[1]))) < 1e-9 * abs(complex(*first))
    if margins["spectral_radius"] is not None:
        assert told["radius"] == pytest.approx(margins["spectral_radius"], rel=1e-12)
    assert page.inner_text(".headline") == margins_headline(margins)
    check_advice(page, report_of(stability_dataset(dockdyn.load(name, given), [])).advice, command[3:])
    assert ("ok" in page.get_attribute(".verdict", "class").split()) == margins["stable"]
    page.click("text=As reported")
    browser.wait_until(page, "!document.documentElement.classList.contains('what-if')")
    assert not complaints(said)
