"""What rounding leaves is neither drawn as a motion nor read as a number: axes and values in the page, and without script."""

import numpy as np
from browser import wait_until

from dockdyn.report.charts.chart import Line, Panel
from dockdyn.report.charts.time_chart import run_chart
from dockdyn.report.page import render_page
from dockdyn.report.report import Plot, Report

TIME = np.linspace(0.0, 1.0, 50)
NOISE = 1e-13 * np.sin(40 * TIME + 1)
AXIS = """() => [...document.querySelectorAll(".plot svg")].map((svg) =>
  [...svg.querySelectorAll("text")].map((one) => one.textContent).join(" "))"""


def chart():
    large = 800 + 100 * TIME
    return run_chart(
        TIME,
        [
            Panel("turned, deg", [Line(TIME, NOISE, name="x"), Line(TIME, -NOISE, "orange", "y")]),
            Panel("force, N", [Line(TIME, large, name="x"), Line(TIME, NOISE, "orange", "y")]),
            Panel("small, m", [Line(TIME, 1e-7 * TIME, name="x"), Line(TIME, 2e-7 * TIME, "orange", "y")]),
        ],
    )


def test_axes_go_beyond_what_is_rounding():
    noise, _, small = (chart().up(panel)[1] for panel in chart().panels)
    assert noise[0] < -0.5 and noise[1] > 0.5
    assert 2e-7 < small[1] < 3e-7


def test_rounding_reads_as_zero(browse, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render_page(Report("A title", "It went well.", plots=[Plot("one", chart, "Curves.")])), "utf-8")
    page, said = browse(file, 1440, 900)
    wait_until(page, "document.querySelectorAll('.plot svg').length === 3")
    page.keyboard.press("End")
    wait_until(page, "[...document.querySelectorAll('.series b')].every((one) => one.textContent !== '')")
    values = [one.inner_text() for one in page.locator(".series b").all()]
    assert values == ["0", "0", "900.0", "0", "1.000×10⁻⁷", "2.000×10⁻⁷"]
    assert "⁻¹³" not in page.evaluate(AXIS)[0] and not said
