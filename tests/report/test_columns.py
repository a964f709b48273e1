"""PageColumns of a page are in the browser what they were in Python."""

import json

import numpy as np
import pytest
from page_script import needs_node, run_in_web

from dockdyn.report.columns import PageColumns


def columns_and_bounds():
    """Return columns of each sort with how far from them what is unpacked may lie."""
    rng = np.random.default_rng(3)
    wave = 40 + 30 * np.sin(np.linspace(0, 20, 3001))
    gaps = np.where(np.arange(200) % 50 == 7, np.nan, rng.normal(size=200))
    jumps = np.where(np.arange(500) % 2, -1e6, 1e6)
    return [
        (np.linspace(0, 30, 2001), False, 1e-14),
        (np.full(5, -2.5), False, 0.0),
        (np.zeros(0), False, 0.0),
        (np.array([4.25]), False, 0.0),
        (wave, False, 60 / 131068 * 1.001),
        (gaps, False, np.nanmax(gaps) / 65534),
        (jumps, False, 2e6 / 131068),
        (2.0 + 1e-3 * np.cumsum(rng.integers(1, 40, 3000)), True, 1e-12),
        (2.0 + 1e-3 * np.cumsum(rng.integers(2, 5, 3000)), True, 1e-12),
        (10.0 ** rng.uniform(-18, 0, 300), True, 1e-7),
        (np.full(4, np.nan), False, 0.0),
    ]


@needs_node
def test_columns_are_unpacked_as_they_were(tmp_path):
    given = columns_and_bounds()
    columns = PageColumns()
    places = [columns.place(values, exact=exact) for values, exact, _ in given]
    bits = [(values, True, 0.0) for values, _, _ in given if values.size]
    places += [columns.place_bits(values) for values, _, _ in bits]
    turn = 2 * np.pi * np.random.default_rng(5).uniform(size=3000)
    turn[:4] = 0.0, np.pi, np.pi / 2, 3 * np.pi / 2
    cosine, sine, parts = (
        np.cos(turn),
        np.sin(turn),
        np.sqrt((np.random.default_rng(6).integers(0, 2**32, 900) + 0.5) / 2**32),
    )
    places += [columns.place_bits(cosine), columns.place_on_circle(sine, cosine), columns.place_bits(parts)]
    bits += [(cosine, True, 0.0), (sine, True, 0.0), (parts, True, 0.0)]
    figures = np.where(turn < 1, np.nan, 1e5 * turn)
    places.append(columns.place_bits(figures, 40))
    bits += [(figures, True, 1e6 * 6e-8)]
    assert "roots" in [kind for kind, *_ in columns.packed()["columns"]]
    given += bits
    assert places == list(range(len(given)))
    written = [[None if np.isnan(value) else value for value in values] for values, _, _ in given]
    within = [bound for _, _, bound in given]
    file = tmp_path / "packed.json"
    file.write_text(json.dumps({"packed": columns.packed(), "values": written, "within": within}))
    said = run_in_web("npm", "test", PACKED_COLUMNS=str(file))
    assert "columns are what Python packed # SKIP" not in said and "columns are what Python packed" in said


def test_the_same_numbers_are_in_a_page_once():
    columns = PageColumns()
    assert columns.place([1, 2, 4]) == columns.place(np.array([1.0, 2.0, 4.0])) == 0
    assert columns.place([1, 2, 4], exact=True) == 1
    assert len(columns.packed()["columns"]) == 2


def test_numbers_on_a_grid_take_two_bytes_each():
    columns, rows = PageColumns(), np.cumsum(np.random.default_rng(4).integers(3, 9, 4000))
    columns.place(0.5e-3 * rows, exact=True)
    ((kind, length, first, step),) = columns.packed()["columns"]
    assert (kind, length, first) == ("grid", 4000, 0.5e-3 * rows[0]) and step == pytest.approx(0.5e-3)
