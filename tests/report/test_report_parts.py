"""A report as data: what the one page and the one printer make of its parts, whatever it is of."""

import re

import numpy as np
import pytest
from report_page import Page
from xarray import Dataset

from dockdyn.report.beside import differing_inputs
from dockdyn.report.charts.chart import Chart, Line, Panel
from dockdyn.report.page import render_page
from dockdyn.report.report import Plot, Report, ReportBlock, Table, lines_of_run
from dockdyn.report.terminal import show_parts, show_report
from dockdyn.report.tile import Tile
from dockdyn.report.wording import align_numbers

TABLE = Table([("part", ""), ("force", "N")], [["ramp", "1.5"], ["<b>", "2"]], worded={0}, left_out=3)
PLAIN = Report("A title", "It went well. The rest, too.", key=[("Mass", "3", "kg")], scenario="mass = 3\n")


@pytest.fixture
def printed(capsys, monkeypatch):
    """What is printed on a terminal of 80 columns, line by line."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(function, *arguments):
        function(*arguments)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return call


def page_with(*blocks: ReportBlock, **parts) -> str:
    return render_page(Report(**vars(PLAIN) | {"blocks": blocks} | parts))


def test_a_page_of_least():
    page = render_page(PLAIN)
    assert re.findall("<h2>(.*?)</h2>", page) == ["Key figures", "Inputs", "How it was made"]
    assert '"headline">It went well</p>' in page and '"lead">The rest, too.</p>' in page and "<dd>3 kg</dd>" in page
    assert "Scenario, as it ran" in page and "mass = 3" in page and "To get it again" not in page


def test_blocks_stand_where_they_belong():
    places = {"requirements": 0, "key": 1, "before": 2, "after": 3, "inputs": 4}
    words = {where: f"said {where}" for where in places}
    page = page_with(*(ReportBlock("Part", words=words[where], where=where) for where in reversed(places)))
    assert sorted(words.values(), key=page.index) == list(words.values())
    assert page.count("<h2>Part</h2>") == 2  # key figures, requirements and inputs have headings of their own
    assert "<h2>Requirements</h2>" in page and "Scenario, as it ran" not in page


def test_a_block_has_what_it_has_in_this_order():
    page = page_with(ReportBlock("Part", "first", TABLE, [("second", "2")], "third", ["fourth", "fifth"]))
    order = ["<h2>Part", "<p>first", "ramp", "And 3 more", "second", "<pre", "third", "fourth", "fifth"]
    assert sorted(order, key=page.index) == order
    assert Page(page).tables["Part"][1:] == [["ramp", "1.5"], ["<b>", "2"]] and "<b>" not in page.split("<h2>Part")[1]
    assert "<summary>folded</summary>" in page_with(ReportBlock(text="text", folded="folded"))


def test_blocks_of_one_title_are_one_section_and_empty_ones_none():
    page = page_with(
        ReportBlock("Part", table=None, notes=["lost"]), ReportBlock("Part", words="a"), ReportBlock("Part", words="b")
    )
    assert page.count("<h2>Part</h2>") == 1 and "lost" not in page
    assert "Part" not in page_with(ReportBlock("Part", table=Table([("a", "")], []), notes=["lost"]))


def test_the_terminal_shows_title_verdict_and_warnings_or_what_is_chosen(printed):
    warned = Report(**vars(PLAIN) | {"warnings": ["beware"]})
    assert printed(show_report, warned) == [PLAIN.title, PLAIN.verdict, "warning: beware"]
    chosen = Report(**vars(warned) | {"terminal": ["a line", ReportBlock(table=TABLE)]})
    lines = printed(show_report, chosen)
    assert lines[:2] == ["a line", "warning: beware"] and lines[-1] == "and 3 more"
    assert ["ramp", "1.5"] in [line.split() for line in lines]


def test_words_are_wrapped_and_text_is_not(printed):
    long = "word " * 40
    assert len(printed(show_parts, [long])) == 3
    assert printed(show_parts, [ReportBlock(text=f"{long}\nnext")]) == [long.rstrip(), "next"]


def test_many_columns_have_a_line_for_each_word_of_their_headings(printed):
    few, many = (Table([("two words", "")] * count, [["1"] * count]) for count in (2, 6))
    assert any("two words" in line for line in printed(show_parts, [ReportBlock(table=few)]))
    assert not any("two words" in line for line in printed(show_parts, [ReportBlock(table=many)]))


def test_a_run_needs_no_more_than_warnings_and_requirements():
    assert lines_of_run({"requirements": []}) == []
    lines = lines_of_run({"requirements": [], "energy_error": 2e-9, "integrator": "x", "steps": 3, "wall_time_s": 0.5})
    assert lines == ["energy error: 2.0e-09", "x, 3 steps, 0.50 s"]


def test_a_rounded_zero_has_no_sign():
    assert align_numbers([-4e-16, 250.0, -0.5, None]) == ["0.0", "250.0", "-0.5", "–"]


def test_what_is_recommended_is_marked_in_its_table():
    table = Table([("law", ""), ("error", "%")], [["none", "9"], ["lead", "1"], ["late", "3"]], worded={0}, chosen=[1])
    page = render_page(Report("A", verdict="B.", blocks=[ReportBlock("Laws", table=table)]))
    assert re.findall(r'<tr class="chosen"><td[^>]*>([^<]*)', page) == ["lead"]


def test_numbers_of_scenarios_have_the_digits_that_tell_them_apart():
    def shown(*values):
        results = {
            str(place): Dataset({}, attrs={"scenario": f"speed = {value!r}\nother = {place}\n"})
            for place, value in enumerate(values)
        }
        return differing_inputs(results).rows[0][1:]

    assert shown("0.036000000000000004 m/s", "30 mm/s") == ["0.036 m/s", "30 mm/s"]
    assert shown(0.30000000000000004, 0.4) == ["0.3", "0.4"]
    assert shown(0.1234567891, 0.1234567892) == ["0.1234567891", "0.1234567892"]


def test_what_a_command_is_asked_for_stands_right_below_the_verdict():
    """As the chart of a sweep: above all other figures and tables."""

    def curve():
        return Chart([Panel("growth", [Line(np.arange(3.0), np.arange(3.0))])])

    plots = [Plot("other", curve, "Another."), Plot("sweep", curve, "The one.", asked=True)]
    block = ReportBlock("Told", table=TABLE, where="before")
    page = render_page(Report("A title", "It is stable.", plots=plots, blocks=[block]))
    places = [page.index(one) for one in ('id="verdict"', 'id="chart"', "The one.", ">Told<", "Another.")]
    assert places == sorted(places) and "Figure 1.</b> The one." in page


def test_a_tile_draws_fast_swings_as_their_band():
    """Lines of hundreds of turns run into a blob with slits; a band says how far they go, and slow curves stay lines."""
    time = np.linspace(0.0, 60.0, 6000)

    def drawn(turns):
        return str(
            Tile("Force", "1", "N", time=time, curve=np.exp(-time / 20) * np.sin(np.pi * turns * time / 60)).html()
        )

    assert "spark band" not in drawn(20) and "stroke-width" in drawn(20)
    band = drawn(200)
    assert "spark band" in band and "stroke-width" not in band
    heights = [float(point.split(" ")[1]) for point in re.search(r'd="M([^Z]+)Z', band)[1].split("L")]
    over, under = np.array(heights[: len(heights) // 2]), np.array(heights[len(heights) // 2 :])[::-1]
    assert np.all(over < under) and np.ptp(over[:10]) < 15  # no slits
    assert under[-6] - over[-6] == pytest.approx(np.exp(-55 / 20) * (under[5] - over[5]), rel=0.15)
