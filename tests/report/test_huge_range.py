"""A line of a huge range is drawn where an axis shows little of it: steps of its range would make zeros of all there."""

import numpy as np
import pytest
from browser import wait_until

from dockdyn.report.charts.chart import Area, Chart, Line, Panel
from dockdyn.report.charts.live_charts import chart_as_json
from dockdyn.report.columns import PageColumns
from dockdyn.report.page import render_page
from dockdyn.report.report import Plot, Report

STIFFNESS = np.geomspace(2e3, 2e5, 21)
DIVERGES = np.r_[np.linspace(0.92, 1.05, 11), np.geomspace(2.0, 3e21, 10)]


def chart():
    close = Panel("close up", [Line(STIFFNESS, DIVERGES, name="fixed-gain")], limits=(0.9, 1.1), across_scale="log")
    return Chart([close])


def test_a_line_that_diverges_is_right_where_it_does_not(browse, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render_page(Report("A title", "It went well.", plots=[Plot("one", chart, "Curves.")])), "utf-8")
    page, said = browse(file, 1440, 900)
    wait_until(page, "document.querySelectorAll('.plot svg').length === 1")
    path = page.evaluate("document.querySelector('.plot svg g path[stroke=\"var(--blue)\"]').getAttribute('d')")
    box = page.evaluate("(({y, height}) => [y, height])(document.querySelector('.plot clipPath rect').getBBox())")
    heights = [float(part.split(" ")[1]) for part in path[1:].split("L")]
    assert heights[:11] == pytest.approx((box[0] + box[1] * (1.1 - DIVERGES[:11]) / 0.2).tolist(), abs=0.2)
    assert heights[-1] < box[0] and not said


@pytest.mark.parametrize("axis", ["x", "y", "reach", "area"])
def test_only_what_an_axis_shows_little_of_is_exact(axis):
    wave = np.sin(np.linspace(0.0, 20.0, 300))

    def sorts(values):
        """Return how columns are kept of a panel that shows from −1 to 1 of `values` along an axis."""
        columns, x = PageColumns(), np.cos(np.linspace(0.0, 20.0, 300))
        given = {"x": (values, x), "y": (x, values), "reach": (x, x), "area": (x, x)}[axis]
        line = Line(*given, reach=values if axis == "reach" else None)
        areas = [Area(x, values)] if axis == "area" else []
        panel = Panel("one", [line], areas=areas, limits=(-1.0, 1.0), across_limits=(-1.0, 1.0))
        chart_as_json(Chart([panel]), columns)
        return [kind for kind, *_ in columns.packed()["columns"]]

    assert "single" in sorts(1e6 * wave) and "single" not in sorts(wave)
