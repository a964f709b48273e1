"""The report of `dockdyn stability`: what it says and shows of a loop whose boundary has a closed form."""

import json
import re
from functools import partial

import numpy as np
import pytest
from made_up_margins import (
    DAMPINGS,
    DELAYS,
    FULL,
    KEY,
    REASONS,
    RESULTS,
    TITLE,
    UNSTABLE,
    chart,
    critical_delay,
    result,
)
from matplotlib.contour import ContourSet
from matplotlib.path import Path
from report_page import Page, check_dark_and_light, check_nothing_from_outside, figures_at_width

import dockdyn
from dockdyn.pages import report_html, report_of
from dockdyn.report import picture
from dockdyn.report.charts.print_chart import print_chart
from dockdyn.report.field import Key, boundary_lines, unstable_on_left
from dockdyn.report.page import render_page
from dockdyn.studies.margins.console import margin_lines
from dockdyn.studies.margins.plots import (
    chart_figure,
    family_figure,
    ranked_sensitivities,
    roots_figure,
    sensitivity_figure,
    sweep_figure,
)

NEEDING = {"Exact delay and Padé approximations": "pade", "Dynamics at the contact": "normal_dynamics"}
NEEDING |= {"Sensitivities": "sensitivities", "Nominal contact": "nominal"}


@pytest.fixture(scope="module")
def reports() -> dict[str, str]:
    return {name: render_page(report_of(found)) for name, found in RESULTS.items()}  # of results that no scenario gave


@pytest.mark.parametrize("name", RESULTS)
def test_page_needs_nothing_from_outside(name, reports):
    page = check_nothing_from_outside(reports[name], inside=("#",))
    assert len(reports[name]) < 3_000_000
    assert page.heading == TITLE
    assert "9.8.7" in page.text and "loop.toml" in page.text
    assert "None" not in page.text and "nan" not in page.text


@pytest.mark.parametrize("name", RESULTS)
def test_sections_are_those_with_something_in_them(name, reports):
    headings = re.findall("<h2>(.*?)</h2>", reports[name])
    margins = json.loads(RESULTS[name].attrs["margins"])
    swept = ["Chart"] if "growth_rate" in RESULTS[name] else []
    assert headings[: len(swept) + 1] == [*swept, "Key figures"] and headings[-1] == "How it was made"
    for heading, needed in NEEDING.items():
        assert (heading in headings) == bool(margins[needed])
    sections = [one for one in re.findall(r"<section[^>]*>(.*?)</section>", reports[name], re.DOTALL) if "<h2>" in one]
    assert len(sections) == len(headings) and all(re.search("<tr>|<figure|<pre|<dl", section) for section in sections)
    figures = 1 + bool(margins["sensitivities"]) + ("growth_rate" in RESULTS[name])
    assert reports[name].count("<figure ") == figures
    assert ("the rim is near" in reports[name]) == bool(margins["warnings"])


STEPS = [[0.0, 0.193], [0.195, 0.2]]

VERDICTS = {
    "Stable: the slowest mode of the loop decays at 0.247 1/s; the loop tolerates 177 ms more delay "
    "(critical delay 193 ms).": {},
    "decays at 0.247 1/s; it stays stable whatever the delay.": {
        "critical_delay_s": None,
        "delay_margin_s": None,
        "stable_delays_s": [[0.0, None]],
    },
    "decays at 0.247 1/s; it stays so with delays up to 193 ms at least.": {
        "critical_delay_s": None,
        "delay_margin_s": None,
    },
    "more than 0.192968 s, or none": {"critical_delay_s": None, "delay_margin_s": None},
    "Unstable: a mode of the loop grows at 0.0104 1/s, to twice its size every 66.6 s; its delay of 200 ms is 7.03 ms "
    "above the critical one of 193 ms.": UNSTABLE,
    "grows at 0.0104 1/s, to twice its size every 66.6 s; it is unstable at any delay.": UNSTABLE
    | {"critical_delay_s": 0.0, "stable_delays_s": []},
    "every 66.6 s. It is stable with delays from 300 ms to 400 ms.": UNSTABLE
    | {"critical_delay_s": 0.0, "stable_delays_s": [[0.3, 0.4]]},
    "On the edge of stability: the slowest mode of the loop neither decays nor grows; any delay, however short, makes "
    "it grow.": {
        "stable": False,
        "growth_rate_1_s": 1e-17,
        "rightmost_roots": [[1e-17, 1.63]],
        "delay_s": 0.0,
        "critical_delay_s": 0.0,
        "stable_delays_s": [],
    },
    "It is stable with delays from 0 ms to 193 ms and above 2.50 s.": {"stable_delays_s": [[0, 0.192968], [2.5, None]]},
    "its delay of 193 ms is just beyond the critical one. It is stable with delays from 0 ms to just below 193 ms and "
    "from 195 ms to 200 ms.": UNSTABLE | {"delay_s": 0.193, "critical_delay_s": 0.193, "stable_delays_s": STEPS},
    "The rig puts energy in: without the contact's damping a bounce would show restitution 1.12.": {
        "apparent_restitution": 1.12
    },
    "energy put in by the rig": {"apparent_restitution": 1.0006},
}


@pytest.mark.parametrize("words", VERDICTS)
def test_verdict(words):
    """Its first sentence is the headline, without a full stop; the others follow below."""
    page = Page(report_html(result(**VERDICTS[words])))
    run_together = partial(re.sub, r"\s|\.(?!\d)", "")
    assert run_together(words) in run_together(page.text)


@pytest.mark.parametrize("restitution", [0.62, 1.0])
def test_restitution_is_called_energy_only_above_one(restitution):
    text = Page(report_html(result(apparent_restitution=restitution))).text
    assert "Apparent restitution" in text and "energy" not in text


def test_tables_hold_the_margins(reports):
    tables = Page(reports["full"]).tables
    orders = [row[0] for row in tables["Exact delay and Padé approximations"] if row[0]]
    assert orders == ["exact", "Padé, order 1", "Padé, order 2", "Padé, order 12"]
    assert tables["Exact delay and Padé approximations"][-3][-1] == f"unstable, which is wrong: {REASONS[0]}"
    normal = next(row for row in tables["Dynamics at the contact"] if row and row[0] == "normal")
    assert [float(cell) for cell in normal[1:]] == pytest.approx([0.533333, 2.66667, 1.632993, 0.163299], rel=1e-3)
    assert [[float(cell) for cell in row] for row in tables["matrix"]] == FULL["contact_matrix"]
    keys = [row[0] for row in tables["Sensitivities"] if row and row[0]]
    assert keys[0] == KEY and keys[-1] == "chaser.key12" and len(keys) == 12  # what is left is rounding, or none


def shaded(ax, points) -> np.ndarray:
    """Which points lie in the shade of a chart."""
    shade = next(found for found in ax.collections if isinstance(found, ContourSet) and found.filled)
    rings = [Path(ring) for path in shade.get_paths() for ring in path.to_polygons()]
    return np.sum([ring.contains_points(points) for ring in rings], axis=0) % 2 == 1  # rings in rings are holes


@pytest.mark.parametrize("dampings", [DAMPINGS, np.geomspace(20, 800, 11)], ids=["linear", "logarithmic"])
def test_shaded_is_stable_up_to_the_boundary(dampings):
    """On a grid of 13 × 11 points the shade still ends where the boundary is: closer than a tenth of a cell."""
    ax = chart_figure(result(chart(dampings=dampings))).axes[0]
    assert ax.get_yscale() == ("linear" if dampings is DAMPINGS else "log")
    rng = np.random.default_rng(0)
    damping, delay = rng.uniform(dampings[0] + 1, 799, 2000), rng.uniform(0.001, 0.599, 2000)
    clear = np.abs(delay - critical_delay(damping)) > 0.1 * (DELAYS[1] - DELAYS[0])
    points = np.stack([delay, damping], axis=1)[clear]
    np.testing.assert_array_equal(shaded(ax, points), points[:, 0] < critical_delay(points[:, 1]))


def test_what_was_not_computed_is_not_shaded():
    dataset = result(chart())
    dataset.growth_rate[0, 6:9, 1:4] = np.inf
    ax = chart_figure(dataset).axes[0]
    inside = [(DELAYS[1] + 0.01, DAMPINGS[6] + 10), (DELAYS[2] + 0.01, DAMPINGS[7] + 10)]
    assert not shaded(ax, inside).any()
    assert "no value" in ax.get_legend_handles_labels()[1]
    chart_figure(dataset.assign(growth_rate=dataset.growth_rate * np.nan))  # nothing at all


def test_family_says_on_which_side_it_is_stable(reports):
    assert "any point left of a curve is stable" in reports["family"]
    ax = family_figure(RESULTS["family"]).axes[0]
    curves = [f"body.chaser.mass = {mass} kg" for mass in (240, 375, 600)]
    assert ax.get_legend_handles_labels()[1] == [*curves, "this scenario"]
    assert not ax.collections  # no contours
    keys = [Key.of(RESULTS["family"].x), Key.of(RESULTS["family"].y)]
    for walked, side in ((slice(None), -1), (slice(None, None, -1), 1)):  # towards more damping: stable on the left
        for piece in boundary_lines(RESULTS["family"], 0):
            assert np.sign(unstable_on_left(RESULTS["family"], 0, keys, piece[walked])) == side
    ring = RESULTS["family"].copy()  # an island has no one side
    ring["growth_rate"] = ring.growth_rate * 0 + np.hypot(ring.x / 0.6 - 0.5, ring.y / 800 - 0.5) - 0.3
    assert "of a curve is stable" not in report_html(ring)


def test_sweep_marks_its_crossings():
    ax = print_chart(sweep_figure(RESULTS["line"])).axes[0]
    assert "0.192968 s" in [text.get_text() for text in ax.texts]
    assert any([0.192968, 0.0] in found.get_xydata().tolist() for found in ax.lines if len(found.get_xdata()) > 2)


def test_roots_come_in_pairs_with_the_axis():
    figure = print_chart(roots_figure(json.loads(RESULTS["bare"].attrs["margins"])))
    assert [len(ax.lines[1].get_xdata()) for ax in figure.axes] == [2, 5]  # close up, all
    for ax in figure.axes:
        assert list(ax.lines[0].get_xdata()) == [0, 0] and ax.get_xlim()[1] > 0
        assert ax.viewLim.contains(*ax.lines[1].get_xydata().min(axis=0))
    assert sorted(figure.axes[0].lines[1].get_ydata()) == [-1.620998, 1.620998]


def test_sensitivities_show_the_ten_largest():
    margins = json.loads(RESULTS["full"].attrs["margins"])
    (panel,) = sensitivity_figure(margins).panels
    lengths = [abs(area.x[1]) for area in panel.areas]
    assert len(lengths) == 10 and lengths == sorted(lengths, reverse=True)
    assert panel.ticks[0][1] == KEY and panel.ticks[0][0] == max(row for row, _ in panel.ticks)
    assert float(panel.notes[0].words.replace("−", "-")) == pytest.approx(100 * margins["sensitivities"][KEY], rel=1e-2)


@pytest.mark.full
@pytest.mark.parametrize("name", ["chart", "family", "line"])
def test_page_opens_dark_and_light(name, browse, reports, tmp_path):
    check_dark_and_light(browse, reports[name], tmp_path, height=2600)


@pytest.mark.full_cases("chart-1100", "family-1100", "family-400")
@pytest.mark.parametrize("width", [400, 1100])
@pytest.mark.parametrize("name", ["chart", "family"])
def test_figures_show_at_every_width(name, width, browse, reports, tmp_path):
    assert len(reports[name]) < 3 * picture.LARGE and "<img" not in reports[name]  # all follow the colours of the page
    assert figures_at_width(browse, reports[name], tmp_path, width) == (3, 0)


def test_delays_say_which_keys_they_are_and_what_is_counted_beside_them():
    """A robot's lag and a hold are no part of the delay that is printed, nor of the critical one."""
    margins = json.loads(next(iter(RESULTS.values())).attrs["margins"])
    told = {
        parts: [
            text
            for text in margin_lines(margins | {"counted": list(parts)})
            if isinstance(text, str) and "loop.delay" in text
        ]
        for parts in (("delay",), ("delay", "hold", "robot"))
    }
    assert told["delay",] == []
    (line,) = told["delay", "hold", "robot"]
    assert "loop.delay and loop.sensor.delay together; beside them count hold, robot:" in line


def test_rounding_is_no_sensitivity():
    """An undamped loop without delay neither grows nor decays, whatever its numbers: nothing is told to matter."""
    margins = dockdyn.margins(dockdyn.load("probe-cone", {"loop.delay": 0.0, "contact.probe.normal.damping": 0.0}))
    assert margins["growth_rate_1_s"] == pytest.approx(0.0, abs=1e-12)
    assert ranked_sensitivities(margins) == []
    damped = dockdyn.margins(dockdyn.load("probe-cone", {"loop.delay": 0.0}))
    assert len(ranked_sensitivities(damped)) > 3
