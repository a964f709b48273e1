"""A page on a slow machine: what takes long is said, can be stopped, and is done all the same where a reader asks for it."""

import re

import browser
import pytest
from live_page import complaints

import dockdyn
from dockdyn.pages import report_html
from dockdyn.scenario.language.places import places_of

RUN_TAKES = 3200  # ms
# Workers that answer when a slow machine would: `held` ms late, and what may not take so long is refused as they refuse it.
SLOW = """
const Real = Worker;
window.held = 1500;
window.Worker = class {
  constructor(script) {
    this.real = new Real(script);
    this.real.onmessage = ({ data }) => this.answer({ ...data, took: TAKES });
  }
  answer(data) { setTimeout(() => this.onmessage?.({ data }), window.held); }
  postMessage(asked) {
    const { id, most } = asked;
    if (most < TAKES) this.answer({ id, status: -1, took: most, found: {}, error: `longer than ${most / 1000} s` });
    else this.real.postMessage(asked);
  }
  terminate() { this.onmessage = null; this.real.terminate(); }
};
""".replace("TAKES", str(RUN_TAKES))
READY = "document.getElementById('live')?.dataset.ready !== undefined"


@pytest.fixture
def slow_page(browse, shared_run, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report_html(shared_run("probe-cone")), encoding="utf-8")
    return browse(file, 1440, 1000, script=SLOW)


def effects(page):
    found = {}
    for one in page.locator(".slider").all():
        if told := re.search(r"([+−][\d.]+) N$", one.locator(".effect").inner_text()):
            found[one.get_attribute("data-key")] = float(told[1].replace("−", "-"))
    return found


def test_what_takes_long_is_said_and_done_where_it_is_asked_for(slow_page, shared_run):
    page, said = slow_page
    browser.wait_until(page, "document.querySelector('.live-wait')?.checkVisibility()")
    assert page.inner_text(".live-wait").split("\n") == ["Computing the run …", "Stop"]
    page.click(".live-wait button")
    browser.wait_until(page, "/was stopped/.test(document.querySelector('.live-said').textContent)")
    page.evaluate("window.held = 0")
    page.click("text=Compute it")
    browser.wait_until(page, READY)
    browser.wait_until(page, "document.querySelector('.live-tries').checkVisibility()")
    count = sum(bool(one.value) for one in places_of(dockdyn.load("probe-cone")))
    told = re.fullmatch(
        r"What each number does is not tried; nor is how much delay the contacts bear: a run takes 3\.2 s here, "
        r"the (\d+) numbers about (\d+) s\. Try them all the same",
        page.inner_text(".live-tries"),
    )
    assert told and int(told[1]) <= count and float(told[2]) == pytest.approx(3.2 * int(told[1]), rel=0.05)
    browser.wait_until(page, "document.getElementById('live').dataset.limited !== undefined")
    assert "contacts" not in page.inner_text(".tile[data-limits] .f") and effects(page) == {}
    rows = page.locator(".live-figures tbody tr").all_inner_texts()
    assert len(rows) == 1 and rows[0].startswith("delay up to which the loop is stable")

    # stopped after some, and gone on with
    page.evaluate("window.held = 300")
    page.click("text=Try them all the same")
    browser.wait_until(page, "/does, 2 of \\d+/.test(document.querySelector('.live-tries').textContent)")
    page.click(".live-tries button")
    browser.wait_until(page, "/then it was stopped/.test(document.querySelector('.live-tries').textContent)")
    assert page.inner_text(".live-tries").startswith(f"2 of {told[1]} numbers are tried")
    assert len(effects(page)) == 2
    page.evaluate("window.held = 0")
    page.click("text=Try the others")
    browser.wait_until(page, "/contact Q4/.test(document.querySelector('.live-figures').textContent)")
    assert not page.is_visible(".live-tries")
    before = dockdyn.summarise(shared_run("probe-cone"))["peak_force_N"]
    faster = dockdyn.simulate(dockdyn.load("probe-cone", {"approach.closing_speed": "33 mm/s"}))
    change = dockdyn.summarise(faster)["peak_force_N"] - before
    assert effects(page)["approach.closing_speed"] == pytest.approx(change, rel=0.05)
    assert not complaints(said)


def test_a_number_moved_before_the_report_s_own_run_is_there_is_computed_then(slow_page):
    page, said = slow_page
    browser.wait_until(page, "document.querySelector(\"[data-key='loop.delay'] input[type=number]\")")
    page.fill("[data-key='loop.delay'] input[type=number]", "20")
    page.press("[data-key='loop.delay'] input[type=number]", "Enter")
    page.evaluate("window.held = 0")
    browser.wait_until(page, "/longer than 2 s/.test(document.querySelector('.live-said').textContent)")
    page.click("text=Run it all the same")
    browser.wait_until(page, "document.documentElement.classList.contains('what-if')")
    assert "loop.delay 16 → 20 ms" in page.inner_text(".live-said")
    assert not complaints(said)
