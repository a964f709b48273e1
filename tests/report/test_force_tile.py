"""The force on a report's first screen is called what it is, and its curve goes up to it."""

import pytest

import dockdyn
from dockdyn.pages import report_of
from dockdyn.report.wording import format_significant


@pytest.mark.parametrize(
    ("name", "label", "note"),
    [("probe-cone", "Largest normal force", "at "), ("probe-cone-latch", "Peak force", "of the catch, at ")],
)
def test_the_curve_reaches_the_force_that_is_told(shared_run, name, label, note):
    dataset = shared_run(name)
    tile, summary = report_of(dataset).tiles[0], dockdyn.summarise(dataset)
    assert (tile.label, tile.value) == (label, format_significant(summary["peak_force_N"]))
    assert tile.note == f"{note}{format_significant(summary['peak_time_s'])} s"
    assert tile.curve.max() == pytest.approx(summary["peak_force_N"], rel=1e-3)
