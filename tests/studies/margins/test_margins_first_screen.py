"""What the page of margins says first, of a loop whose critical delay has a closed form."""

import numpy as np
import pytest
from made_up_margins import MARGINS, UNSTABLE, critical_delay, result

from dockdyn.report.verdict import sort_of
from dockdyn.studies.margins.report import margins_report
from dockdyn.studies.margins.wording import format_duration


def tiles_of(**changes):
    report = margins_report(result(**changes))
    return report, {tile.label: tile for tile in report.tiles}


def test_a_stable_loop_says_how_much_delay_it_has_to_spare():
    report, tiles = tiles_of()
    spare = 1e3 * (float(critical_delay(200.0)) - 0.016)
    assert report.headline == f"Stable, with {spare:.0f} ms of delay to spare" and sort_of(report) == "ok"
    assert (tiles["Delay to spare"].value, tiles["Delay to spare"].unit) == (f"{spare:.0f}", "ms")
    assert tiles["Growth rate"].note == f"halves in {np.log(2) / 0.247277:.2f} s"
    assert report.advice[-1].command.startswith("dockdyn stability scenario.toml --sweep loop.delay=0:")


def test_an_unstable_loop_says_by_how_much_its_delay_is_too_long():
    report, tiles = tiles_of(**UNSTABLE)
    critical = float(critical_delay(200.0))
    assert report.headline == f"Unstable: the delay may be {format_duration(critical)} at most"
    assert sort_of(report) == "bad" and tiles["Growth rate"].alarming
    assert float(tiles["Delay too much"].value) == pytest.approx(1e3 * (0.2 - critical), abs=0.01)


def test_a_loop_that_gives_energy_to_a_bounce_is_marked_so():
    _, tiles = tiles_of(apparent_restitution=1.12)
    assert tiles["Restitution of a bounce"].value == "1.12" and "energy in" in tiles["Restitution of a bounce"].note
    assert 'class="place bad"' in tiles["Restitution of a bounce"].html()
    assert "energy in" not in tiles_of(apparent_restitution=0.9)[1]["Restitution of a bounce"].note


def test_what_ten_percent_more_of_a_key_does_is_a_tenth_of_its_sensitivity():
    _, tiles = tiles_of(sensitivities={"loop.delay": -0.016, "body.target.mass": 0.002})
    tile = tiles["Delay margin, by 10 % more"]
    assert (tile.value, tile.unit, tile.note) == ("−1.60", "ms", "by the slope here, of loop.delay")
    assert [bar[1] for bar in tile.bars] == pytest.approx([1.0, 0.125])


def test_a_loop_without_a_critical_delay_says_so():
    found = {"critical_delay_s": None, "delay_margin_s": None, "stable_delays_s": [[0.0, None]]}
    report, tiles = tiles_of(**found)
    assert report.headline == "Stable, whatever the delay" and not any("elay" in label for label in tiles)
    assert MARGINS["critical_delay_s"] is not None
