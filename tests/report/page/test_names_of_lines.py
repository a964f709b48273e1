"""A figure says a name once: what a panel is called its line beside it is not called again."""

import re

import pytest
from browser import wait_until

from dockdyn.pages import report_of
from dockdyn.report.page import render_page
from dockdyn.rig.comparison.compare import compare
from dockdyn.studies.overlay.report import overlay_report

NAMES = """[...document.querySelectorAll(".gutter")].map((gutter) => [
  gutter.querySelector(".curve-name").firstChild?.textContent ?? "",
  [...gutter.querySelectorAll(".series")].map((series) => [series.querySelector("span")?.textContent ?? "", series.title]),
])"""
TWICE = re.compile(r"\b(\w[\w ]{2,}?): \1\b")


def check_names(page):
    """Each line is called otherwise than its panel, and tells by its title what it is; no text says a name twice over."""
    gutters = page.evaluate(NAMES)
    repeated = [
        (panel, name) for panel, lines in gutters for name, _ in lines if name == panel or panel.endswith(f": {name}")
    ]
    assert [pair for pair in repeated if pair[1]] == []
    assert all(title for _, lines in gutters for _, title in lines)
    assert TWICE.findall(page.evaluate("document.body.innerText")) == []
    return gutters


@pytest.mark.full
@pytest.mark.parametrize("kind", ["run", "rig", "tree", "required", "stability", "campaign", "envelope"])
def test_a_line_is_not_called_as_its_panel(whole_page, kind):
    gutters = check_names(whole_page(kind))
    alone = [panel for panel, lines in gutters if [name for name, _ in lines] == [""]]
    assert gutters
    assert ("difference" in alone) == (kind == "rig")


@pytest.mark.full_cases("two_rigs")
@pytest.mark.parametrize("made", ["two_runs", "two_rigs"])
def test_nor_is_it_on_pages_that_compare(made, shared_run, browse, tmp_path):
    file = tmp_path / "report.html"
    if made == "two_runs":
        other = shared_run("probe-cone", (("loop.delay", "5 ms"),))
        report = overlay_report({"stated": shared_run("probe-cone"), "other": other})
    else:
        report = report_of(compare("sits-scvg", laws=["none", "fixed-gain"]))
    file.write_text(render_page(report), encoding="utf-8")
    page, _ = browse(file, 1440, 900)
    wait_until(page, "'ready' in document.documentElement.dataset")
    check_names(page)
