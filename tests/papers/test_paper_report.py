"""The page of a paper computed again: which printed numbers come out, by the digits that the paper prints."""

import pytest

from dockdyn.papers.report import paper_report
from dockdyn.papers.table import PaperTable, Row
from dockdyn.report.page import render_page
from dockdyn.report.verdict import sort_of


@pytest.mark.parametrize(
    ("printed", "computed", "agrees"),
    [
        ("0.0403", 0.040294, True),
        ("0.0403", 0.04044, True),  # one of the last digit
        ("0.0403", 0.0405, False),
        ("−0.000476", -0.000474624, True),
        ("17", 17.0, True),
        ("17", 15.0, False),
        ("> 0.5", 0.7, None),
        ("not fully inserted", 3.0, None),
        (None, 3.0, None),
    ],
)
def test_a_printed_number_comes_out_to_its_last_digit(printed, computed, agrees):
    assert Row("speed", printed, computed, "m/s").agrees is agrees


def test_the_page_says_how_many_come_out_and_where_it_differs():
    good = PaperTable(1, "Somebody et al., Figure 1", (Row("a", "1.0", 1.01, "1"),), "As printed.")
    rows = (Row("b", "2.00", 2.0, "m/s"), Row("c", "3.00", 6.0, "N", "Misprinted."), Row("d", None, 1.0, "1"))
    report = paper_report([good, PaperTable("table-1", "Somebody et al., Table 1", rows, "Swapped.")], [None, None])
    assert report.headline == "2 of 3 printed numbers come out" and sort_of(report) == "warn"
    assert [bar.value for bar in report.bars] == ["1 of 2", "1 of 1"]
    assert {tile.label: tile.value for tile in report.tiles} == {
        "Printed numbers that come out": "66.7",
        "Largest difference": "100",
    }
    html = render_page(report)
    assert "Where it differs" in html and "c: printed" in html and "Inputs</h2>" not in html
    assert sort_of(paper_report([good], [None])) == "ok"
