"""Charts: every number arrives on paper and in the page, the window opens on the contacts, and what one does with them."""

import io
from functools import partial

import numpy as np
import pytest
import xarray as xr
from PIL import Image

import dockdyn
from dockdyn.docking.views.trajectory import trajectory_chart
from dockdyn.pages import report_html, report_of
from dockdyn.report.charts import contact_charts as plots
from dockdyn.report.charts.chart import (
    Area,
    Band,
    Chart,
    Level,
    Line,
    Panel,
    SymmetricLog,
    contact_window,
    lines_of,
    symmetric_log_scale,
    thin_rows,
)
from dockdyn.report.charts.live_charts import chart_as_json
from dockdyn.report.charts.print_chart import COLUMN, LETTERS, print_chart
from dockdyn.report.charts.section import join_curves
from dockdyn.report.charts.time_chart import lively_spans
from dockdyn.report.columns import PageColumns
from dockdyn.report.palette import COLOURS, HUES
from dockdyn.report.report import Plot
from dockdyn.report.wording import format_significant


@pytest.fixture(scope="module")
def result(shared_run):
    return shared_run("probe-cone")


class Kept(PageColumns):
    """PageColumns of a page as they were given; what packs them is tried in `test_columns.py`."""

    def __init__(self):
        super().__init__()
        self.given = {}

    def place(self, values, *, exact=False):
        place = super().place(values, exact=exact)
        self.given[place] = np.asarray(values, float)
        return place


def unpacked(charts: list[Chart]) -> tuple[list[dict], dict[int, np.ndarray]]:
    columns = Kept()
    return [chart_as_json(chart, columns) for chart in charts], columns.given


@pytest.mark.parametrize(
    "draw", [plots.depth_chart, plots.normal_force, plots.energy_chart, plots.largest_contact, plots.attitude_chart]
)
def test_every_number_arrives_on_paper_and_in_the_page(draw, result):
    chart = draw(result)
    figure = print_chart(chart)
    (facts,), columns = unpacked([chart])
    for panel, ax, sent in zip(chart.panels, figure.axes, facts["panels"], strict=True):
        drawn = [line.get_xydata() for line in ax.lines[len(panel.levels) :]]
        for line, on_paper, on_page in zip(panel.lines, drawn, sent["lines"], strict=True):
            given = np.stack([np.asarray(line.x, float), np.asarray(line.y, float)], axis=1)
            np.testing.assert_array_equal(on_paper, given)
            np.testing.assert_array_equal(columns[on_page["x"]], given[:, 0])
            np.testing.assert_array_equal(columns[on_page["y"]], given[:, 1])
        assert ax.get_ylabel() == sent["label"] == panel.label
        np.testing.assert_allclose(ax.get_xlim(), sent["x"][0])


def test_it_opens_on_the_contacts_and_knows_the_whole_run(result):
    chart = plots.normal_force(result)
    first, last = float(result.episode_onset[0]), float(result.episode_release[-1])
    (low, high), whole = chart.across(chart.panels[0])
    assert 0 < low < first < last < high < 30 and whole == (0.0, 30.0)
    assert print_chart(chart, whole=True).axes[0].get_xlim() == whole
    bands = [band for band in chart.panels[0].bands if band.name]
    assert [band.name for band in bands] == ["Q1", "Q2", "Q3", "Q4"]
    np.testing.assert_allclose([band.start for band in bands], result.episode_onset)
    time = np.linspace(0, 10, 1001)
    assert contact_window(time, []) is None and contact_window(time, [0.5, 9.0]) is None
    assert contact_window(time, [0.0, 0.0]) is None  # a single impact
    window = contact_window(time, [5.0, 5.0001])
    assert window is not None and np.sum((time >= window[0]) & (time <= window[1])) >= 20


def test_a_contact_that_lasts_leaves_room_for_those_before_it():
    """In the window that a figure opens with; alone, it is seen whole."""

    def spans(onset, release):
        episodes = {"episode_onset": ("episode", onset), "episode_release": ("episode", release)}
        return lively_spans(xr.Dataset(episodes, {"time": [0.0, 20.0]})).tolist()

    assert spans([2.0, 4.0], [3.5, np.nan]) == [[2.0, 3.5], [4.0, 5.5]]
    assert spans([2.0, 19.0], [3.5, np.nan]) == [[2.0, 3.5], [19.0, 20.0]]
    assert spans([2.0], [np.nan]) == [[2.0, 20.0]]


def test_limits_hold_what_is_seen():
    x = np.linspace(0, 10, 101)
    panel = Panel("a, m", [Line(x, x**2)])
    chart = Chart([panel], whole=(0.0, 10.0), window=(2.0, 4.0))
    (low, high), (least, most) = chart.up(panel)
    assert low < 4 < 16 < high < 20 and least < 0 and 100 < most < 110
    empty = Chart([Panel("b", [Line([1.0, 2.0], [np.nan, np.nan])])])
    assert empty.up(empty.panels[0])[0] == (0.0, 1.0)
    same = Panel("c", [Line([0.0, 1.0], [3.0, 3.0])])
    low, high = Chart([same]).up(same)[0]
    assert low < 3 < high


def test_a_diverging_run_is_drawn_on_a_symmetric_scale():
    values = np.array([1.0, -1e5, 1e12])
    scale = symmetric_log_scale(values, 1.0)
    assert (
        isinstance(scale, SymmetricLog) and scale.limits[1] <= 1e8 and symmetric_log_scale(values[:1], 1.0) == "linear"
    )
    assert print_chart(Chart([Panel("a", [Line([0, 1, 2], values)], scale=scale)])).axes[0].get_yscale() == "symlog"


def test_thinned_lines_keep_their_extremes():
    values = np.zeros(100_000)
    values[[31_415, 77_777]] = 5.0, -3.0
    rows = thin_rows(values, 1000)
    assert {0, 31_415, 77_777, 99_999} <= set(rows) and len(rows) <= 1002 and np.all(np.diff(rows) > 0)


def test_long_lines_over_the_same_times_share_them_and_keep_their_extremes():
    time, other = np.linspace(0.0, 10.0, 50_000), np.zeros(50_000)
    other[[31_415, 44_444]] = 5.0, -3.0
    lines = [Line(time, np.sin(time)), Line(time, other), Line(time[::2], other[::2])]
    (facts,), columns = unpacked([Chart([Panel("a", lines)])])
    first, second, third = facts["panels"][0]["lines"]
    assert first["x"] == second["x"] != third["x"] and len(columns[first["x"]]) <= 4002
    for line, values in ((first, np.sin(time)), (second, other), (third, other[::2])):
        assert np.ptp(columns[line["y"]]) == pytest.approx(np.ptp(values), rel=1e-4)
        near = np.interp(columns[line["x"]], time, np.sin(time) if line is first else other)
        np.testing.assert_allclose(columns[line["y"]], near, atol=1e-3)


def test_no_two_lines_of_a_figure_look_alike():
    lines = lines_of([0.0, 1.0], np.zeros((2, 12)), [f"joint {i}" for i in range(12)])
    assert len({line.colour for line in lines}) == 12 and len({COLOURS[hue] for hue in HUES}) == len(HUES)


def test_the_legend_has_what_is_drawn_and_nothing_else():
    seen = Panel("a", [Line([0, 1], [0, 1], name="seen"), Line([0, 1], [1, 0], "green", "too")], levels=[Level(0.0)])
    figure = print_chart(Chart([seen, Panel("b", [Line([0, 1], [0, 1], name="seen")], bands=[Band(0, 1)])]))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["seen", "too"]
    assert not print_chart(Chart([Panel("a", [Line([0, 1], [0, 1], name="alone")])])).legends


@pytest.mark.full
def test_on_paper_it_has_the_width_of_a_column(result):
    from matplotlib.text import Text

    for chart in (plots.depth_chart(result), plots.load_chart(result)):
        figure = print_chart(chart, "paper")
        assert figure.get_size_inches()[0] == pytest.approx(COLUMN) == pytest.approx(88 / 25.4)
        assert {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()} == {LETTERS}


@pytest.mark.full
def test_exported_figures_are_what_they_say(result, dock, tmp_path):
    from dockdyn.results.store import write_result

    write_result(result, tmp_path / "result.nc")
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for kind, start in starts.items():
        done = dock("export", "result.nc", "--to", kind, "--figure", "normal-force", "--style", "paper")
        assert (done.returncode, done.stdout) == (0, f"Wrote normal-force.{kind}\n")
        assert (tmp_path / f"normal-force.{kind}").read_bytes().startswith(start)
    with Image.open(tmp_path / "normal-force.png") as image:
        assert image.width == pytest.approx(600 * COLUMN, abs=1)
    assert "249.4" in (tmp_path / "normal-force.svg").read_text("utf-8")  # 88 mm in pt
    names = ", ".join(plot.name for plot in report_of(result).plots)
    for words, message in (
        (("--to", "png"), f"--figure: is missing; must be one of {names}"),
        (("--to", "png", "--figure", "nothing"), f"--figure nothing: no such figure; must be one of {names}"),
        (("--to", "svg", "--figure", "normal-force"), "normal-force.svg: exists; give --force"),
        (
            ("--to", "csv", "--figure", "depth"),
            "--figure: is for figures; give it with --to png, svg or pdf, or leave it out",
        ),
    ):
        done = dock("export", "result.nc", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {message}") and done.stderr.count("\n") == 1
    assert dock("export", "result.nc", "--to", "svg", "--figure", "depth", "--whole-run").returncode == 0
    assert "<text" in (tmp_path / "depth.svg").read_text("utf-8")  # text that can be searched


def test_a_figure_drawn_by_matplotlib_is_exported_too(result, tmp_path):
    from dockdyn.report.figure_file import figure_file

    drawn = Plot("depth", partial(dockdyn.plot, result, "depth"), "Depth.")
    assert figure_file(drawn, "svg", "paper").startswith(b"<?xml")


def test_tiles_and_areas_are_printed(result):
    (trajectory,) = (plot for plot in report_of(result).plots if plot.name == "trajectory")
    chart = trajectory.draw()
    for style in ("report", "paper"):
        figure = print_chart(chart, style)
        view, *sections = figure.axes
        assert not view.axison and all(ax.axison for ax in sections)  # beside each other, also in a column
        assert len({round(ax.get_position(original=True).y0, 6) for ax in figure.axes}) == 2
        for ax, panel in zip(sections, chart.panels[1:], strict=True):
            assert len(ax.patches) == len(panel.areas) and ax.get_xlim() == panel.across_limits


def test_an_axis_has_names_or_numbers_that_are_read():
    named = Panel("met", [Line([1.0, 2.0], [0.0, 1.0])], ticks=[(0.0, "no"), (1.0, "yes")], limits=(-0.3, 1.3))
    assert [text.get_text() for text in print_chart(Chart([named])).axes[0].get_yticklabels()] == ["no", "yes"]
    (facts,), _ = unpacked([Chart([named])])
    assert facts["panels"][0]["ticks"] == [(0.0, "no"), (1.0, "yes")]
    short = Panel("k, N/m", [Line([1.0, 2.0], [200.0, 900.0])], scale="log", limits=(200.0, 1000.0))
    figure = print_chart(Chart([short]))
    figure.canvas.draw()
    assert {"200", "500", "1000"} <= {text.get_text() for text in figure.axes[0].get_yticklabels()}


def test_a_hole_of_an_area_stays_open():
    square = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]], float)
    hole = 1 + square[::-1] / 2
    x, y = join_curves([square, hole]).T
    figure = print_chart(Chart([Panel("a", [], areas=[Area(x, y, "ink")], limits=(0, 4), across_limits=(0, 4))]))
    figure.savefig(drawn := io.BytesIO(), format="png")
    picture, box = np.asarray(Image.open(drawn).convert("L")), figure.axes[0].get_window_extent()
    scale = picture.shape[1] / figure.bbox.width
    dark = [
        picture[int(picture.shape[0] - scale * (box.y0 + up * box.height)), int(scale * (box.x0 + up * box.width))]
        < 128
        for up in (0.12, 0.5, 0.88)
    ]
    assert dark == [True, False, True]


def test_a_report_without_the_replay_is_whole(result):
    page = report_html(result, replay={})
    assert page.count("data-chart=") >= 5 and 'id="scene"' not in page


@pytest.mark.full
def test_a_capture_is_seen_at_first_and_whole(shared_run):
    """The load of the catch comes after the last contact; what presses in the seat may be more than any contact."""
    result = shared_run("probe-cone-latch")
    chart = plots.normal_force(result)
    (opens, _), (_, whole) = chart.across(chart.panels[0]), chart.up(chart.panels[0])
    assert opens[0] < float(result.capture_time) < float(result.capture_peak_time) < opens[1]
    assert whole[1] > float(result.normal_force.max()) > float(result.episode_peak_force.max())
    notes = {note.words: note for note in chart.panels[0].notes}
    seat, free = (
        format_significant(float(result[name].max()), 3) for name in ("seated_contact_peak_force", "episode_peak_force")
    )
    assert set(notes) == {seat, free} and notes[free].side == "right"  # the force rises on beyond it
    assert notes[seat].x == float(result.seated_contact_peak_time) and notes[seat].side == "center"


def test_the_largest_normal_force_of_the_words_is_the_largest(shared_run):
    """Where a catch presses the probe on the wall harder than any contact did, the verdict and the key figures say so."""
    result = shared_run("probe-cone-latch")
    report, seat, free = (
        report_of(result),
        float(result.seated_contact_peak_force),
        float(result.episode_peak_force.max()),
    )
    assert seat > 2 * free
    force, free_force = (f"{format_significant(value)} N" for value in (seat, free))
    assert f"largest normal force {force} (at " in report.verdict and f", {free_force} in Q1 before" in report.verdict
    assert dict(report.key)["Largest normal force"].startswith(force)


@pytest.mark.full
def test_contacts_are_marked_where_the_path_turns_back(run):
    """On the plate, a tip's radius from the middle of the tip, wherever on its body the plate is."""
    dataset = run(
        {
            "duration": 2.0,
            "chaser": {
                "mass": 500,
                "inertia": [100, 100, 100],
                "position": [2.05, 0.3, 0],
                "velocity": [-0.05, 0, 0],
                "feature": {"tip": {"position": [-1, 0, 0.1], "radius": 0.02}},
            },
            "target": {
                "mass": 800,
                "inertia": [200, 200, 200],
                "surface": {"plate": {"shape": "plane", "point": [1, 0, 0], "normal": [1, 0, 0]}},
            },
            "contact": {"tip": {"between": ["tip", "plate"], "normal": {"law": "hertz", "stiffness": 1e5}}},
        }
    )
    (plot,) = (plot for plot in report_of(dataset).plots if plot.name == "trajectory")
    panel = plot.draw().panels[1]  # x and z
    (mark,) = (line for line in panel.lines if line.name == "contact, at onset")
    assert (float(mark.x[0]), float(mark.y[0])) == pytest.approx((0.0, 0.1), abs=1e-9)


def test_names_of_contacts_in_space_stand_apart(shared_run):
    """Also where two contacts are close: neither a name nor a mark of another contact is in the room of a name."""
    panel = trajectory_chart(shared_run("probe-cone")).panels[0]
    a_point = np.ptp(panel.across_limits) / (72 * panel.height)  # in the panel's unit
    marks = next(line for line in panel.lines if line.marker and not line.joined)
    places = np.stack([marks.x, marks.y], axis=1) / a_point
    rooms = []
    for note in (note for note in panel.notes if note.words.startswith("Q")):
        wide, (x, y) = 5.0 * len(note.words), np.array([note.x, note.y]) / a_point + note.away
        low = np.array([x if note.side == "left" else x - wide, y - 8.0 if note.level == "top" else y])
        rooms.append((low, low + np.array([wide, 8.0])))
    assert len(rooms) >= 3
    for number, (low, high) in enumerate(rooms):
        assert not any(np.all((place > low) & (place < high)) for place in places)
        for other, most in rooms[:number]:
            assert np.any((high < other) | (most < low))


def test_contacts_are_named_at_their_peaks(result):
    """Bands of contacts that overlap hide where each is: a name in the middle of one could stand over another's peak."""
    bands = [band for band in plots.normal_force(result).panels[0].bands if band.name]
    assert [band.place for band in bands] == result.episode_peak_time.values.tolist()
    facts = chart_as_json(plots.normal_force(result), PageColumns())["panels"][0]["bands"]
    assert [band["at"] for band in facts if band["name"]] == result.episode_peak_time.values.tolist()
    impact = result.assign(episode_peak_time=result.episode_peak_time * np.nan)
    first = plots.depth_chart(impact).panels[0].bands[0]
    assert first.place == pytest.approx((first.start + first.end) / 2)
