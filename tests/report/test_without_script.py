"""Reports without JavaScript, as mail viewers show them: verdict, numbers, and the first figures where their numbers are."""

import re

import numpy as np
import pytest

from dockdyn.pages import report_html
from dockdyn.report.charts.chart import Band, Chart, Level, Line, Note, Panel, SymmetricLog
from dockdyn.report.charts.static_chart import LEFT, RIGHT, WIDTH, draw_static


def points_of(svg: str, colour: str) -> np.ndarray:
    (path,) = re.findall(rf'<path d="([^"]*)" stroke="var\(--{colour}\)" fill="none" stroke-width', svg)
    ways = [
        [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", pair)]
        for pair in re.findall(r"[Ml]([^Ml]+)", path)
    ]
    return np.cumsum(ways, axis=0)  # each from the one before


@pytest.mark.parametrize(
    ("scale", "x", "y"),
    [
        ("linear", np.linspace(0, 30, 4001), np.sin(np.linspace(0, 30, 4001))),
        ("log", np.linspace(0, 30, 50), np.geomspace(1e-6, 1e3, 50)),
        (SymmetricLog(1.0, (-1e4, 1e4), [-1e4, 0.0, 1e4]), np.linspace(0, 30, 50), np.linspace(-1e4, 1e4, 50)),
    ],
)
def test_points_lie_where_their_numbers_are(scale, x, y):
    chart = Chart([Panel("force, N", [Line(x, y, "orange", "one")], scale=scale, across_limits=(0.0, 30.0))])
    svg = draw_static(chart, "s")
    found = points_of(svg, "orange")
    across = (found[:, 0] - LEFT) / (WIDTH - RIGHT - LEFT) * 30  # back to numbers
    low, high = chart.up(chart.panels[0])[0]
    bend = {"linear": lambda v: v, "log": np.log}.get(scale if isinstance(scale, str) else "", None) or (
        lambda v: np.sign(v) * np.log1p(np.abs(v))
    )
    assert len(found) <= 320 and "one" in svg
    expected = bend(np.interp(across, x, y))
    first, last = bend(np.array([low, high]))
    ends = np.polyfit(expected, found[:, 1], 1)  # px by number: a straight line
    assert np.allclose(np.polyval(ends, expected), found[:, 1], atol=0.6)
    assert ends[0] * (last - first) == pytest.approx(-chart.panels[0].height * 96, rel=0.02)


def test_gaps_stay_gaps_and_what_is_beyond_is_cut():
    y = np.array([0.0, 1.0, np.nan, 1.0, 0.0])
    panel = Panel(
        "m", [Line(np.arange(5.0), y, "blue")], bands=[Band(1, 2, "Q1")], levels=[Level(0.5)], notes=[Note(1, 1, "a<b")]
    )
    svg = draw_static(Chart([panel]), "s")
    (path,) = re.findall(r'<path d="(M[^"]*)" stroke="var\(--blue\)" fill="none" stroke-width', svg)
    assert path.count("M") == 2 and "a&lt;b" in svg and 'clip-path="url(#s-' in svg


@pytest.mark.full
def test_a_report_is_read_without_javascript(browser, shared_run, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report_html(shared_run("probe-cone")), encoding="utf-8")
    for width in (1440, 390):
        with browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 900}) as context:
            page = context.new_page()
            page.goto(file.as_uri())
            assert page.locator(".headline").inner_text() == "Every contact takes energy"
            assert page.locator(".tile").count() == 4 and page.locator(".tile svg.spark").first.is_visible()
            drawn = page.locator("svg.static")
            assert drawn.count() >= 3 and all(drawn.nth(i).bounding_box()["width"] > 300 for i in range(3))
            assert drawn.first.bounding_box()["width"] <= width
            assert not page.locator(".stage").is_visible() and not page.locator(".transport").is_visible()
            assert page.locator("svg.static").nth(1).locator("text", has_text="normal force, N").count() == 1
