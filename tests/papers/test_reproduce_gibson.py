"""Gibson and Murphey recomputed: printed numbers, pictures, and the two runs behind them."""

import cmath
import itertools
import math

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from dockdyn import open_result
from dockdyn.papers.gibson.reproduce import FIGURES, reproduce, retreat, tip_distances

MU, AXIS = 3.986004418e14, 6731.29e3  # m³/s², m


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gibson")


@pytest.fixture(scope="module")
def tables(folder):
    return {table.name: table for table in reproduce(None, folder)}


def value(table, start):
    (found,) = [row.computed for row in table.rows if row.quantity.startswith(start)]
    return found


def test_the_preset_has_what_the_text_gives(tmp_path):
    (table,) = reproduce("given", tmp_path)
    found = {row.quantity: row.computed for row in table.rows}
    assert all(float(row.printed) == pytest.approx(row.computed, rel=1e-8) for row in table.rows)
    assert (found["length of the station"], found["iterations"]) == pytest.approx((73, 4000), rel=1e-8)
    assert [found[f"docked {letter}"] for letter in "ψαβ"] == [2.932, 0.741, 0.776]
    assert {found[f"kp of {letter}"] / found[f"kd of {letter}"] for letter in "ψαβ"} == {5}


@pytest.mark.full
def test_the_orbit_is_that_of_kepler_not_the_printed_one(tables):
    orbit = tables[2]
    assert value(orbit, "orbital speed") == pytest.approx(math.sqrt(MU / AXIS), rel=1e-12)
    assert value(orbit, "orbital period") == pytest.approx(2 * math.pi * math.sqrt(AXIS**3 / MU), rel=1e-12)
    assert [row.printed for row in orbit.rows[:2]] == ["7706.6", "5460"]
    assert value(orbit, "orbital speed") < 7706.6 and value(orbit, "orbital period") > 5460


@pytest.mark.full
def test_impacts_are_where_the_paper_has_them(tables):
    """Printed: 12.50 and 27.51 s; by an independent integration 12.491 and 27.495 s."""
    found = tables["impacts"]
    assert value(found, "impacts within") == 2
    assert value(found, "impact 1, side-wall: time") == pytest.approx(12.491, abs=1e-3)
    assert value(found, "impact 2, floor: time") == pytest.approx(27.495, abs=1e-3)
    assert value(found, "impact 1, side-wall: step") == 1250
    assert abs(value(found, "impact 2, floor: step") - 2751) <= 1


@pytest.mark.full
def test_the_payload_stays_and_the_arm_goes_back(tables):
    assert value(tables[4], "latch closes") == pytest.approx(27.495, abs=1e-3)
    assert value(tables[5], "payload moves") < 1e-9
    assert value(tables[5], "arm’s tip") == pytest.approx(1.498048 + 1.210199, abs=0.2)  # from the floor to its start
    for letter in "ψαβ":
        assert abs(value(tables[4], f"{letter} at the end")) < math.radians(2)


@pytest.mark.full
def test_close_ups_are_those_of_the_caption_of_figure_5(tables):
    """(a) initial condition; (b) brought in; (c), (d) first and second impact; (e) docked; (f) the arm moves away."""
    rows = {row.quantity[11]: row for row in tables[5].rows if row.quantity.startswith("instant of ")}
    times = {letter: row.computed for letter, row in rows.items()}
    assert list(times) == list("abcdef") and list(times.values()) == sorted(times.values())
    assert times["a"] == 0
    assert (times["c"], times["d"]) == pytest.approx((12.491, 27.495), abs=1e-3)
    assert (rows["c"].printed, rows["d"].printed) == ("12.50", "27.51")
    time, apart = retreat().time.values, tip_distances(retreat())
    assert apart[time <= times["e"]][-1] < 1e-9  # held to the end
    assert 0.5 <= apart[time >= times["f"]][0] < 0.51


@pytest.mark.full
def test_close_ups_show_payload_and_letters():
    """In every picture the payload is seen, in a where the angles at the start put it, and no title lies on another word."""
    figure, _ = FIGURES[5].make(lambda share: None)
    FigureCanvasAgg(figure).draw()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert [title.partition(": ")[2][0] for title in titles] == list("abcdef")
    payloads = [ax.lines[-1].get_xydata()[0] for ax in figure.axes]
    for ax, (x, y) in zip(figure.axes, payloads, strict=True):
        assert ax.get_xlim()[0] < x < ax.get_xlim()[1] and ax.get_ylim()[0] < y < ax.get_ylim()[1]
    angles = itertools.accumulate((2.432, 0.241, 1.276))  # rad, one link upon another
    tip = sum(length * cmath.exp(1j * angle) for length, angle in zip((1.84, 1.84, 0.736), angles, strict=True))
    assert complex(*payloads[0]) == pytest.approx(tip, abs=1e-9)
    words = [(ax._left_title, ax.xaxis.label, *ax.get_xticklabels()) for ax in figure.axes]
    boxes = [text.get_window_extent() for texts in words for text in texts if text.get_text() and text.get_visible()]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


@pytest.mark.full
def test_it_takes_less_time_than_the_paper(tables):
    assert 0 < value(tables["time"], "time of all steps") < 182


@pytest.mark.full
def test_pictures_and_runs_are_written(tables, folder):
    assert set(tables) == set(FIGURES)
    for number in (2, 3, 4, 5, 6):
        assert {file.suffix for file in tables[number].pictures} == {".png", ".svg"}
        assert all(file.stat().st_size > 5000 for file in tables[number].pictures)
    assert open_result(folder / "docking.nc").attrs["title"] != open_result(folder / "retreat.nc").attrs["title"]
    assert "12.50" in (folder / "tables.md").read_text(encoding="utf-8")
