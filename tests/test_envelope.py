"""Envelopes: boundaries of known shape, the least speed that latches in closed form, the command, refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import dockdyn
from dockdyn.study import envelope as study
from dockdyn.study.batch import Cases

SPEED, MASS = "approach.closing_speed", "chaser.mass"
RANGES = {SPEED: (0.0, 0.1), MASS: (1000.0, 3000.0)}

# --- outcomes of a known shape, in place of runs ---------------------------------------------------------------------


@pytest.fixture
def shaped(monkeypatch):
    """The envelope of a shape over the unit square: `inside(x, y)` says where it is captured, `fails(x, y)` where runs fail."""

    def envelope(inside, fails=lambda x, y: np.zeros(x.shape, bool), tolerance=1e-3):
        def run_cases(scenario, keys, values):
            assert list(keys) == list(RANGES)
            x, y = ((part - low) / (high - low) for part, (low, high) in zip(values.T, RANGES.values(), strict=True))
            assert ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all()
            return Cases({"captured": inside(x, y) * 1.0}, ["jammed" if bad else "" for bad in fails(x, y)])

        monkeypatch.setattr(study, "run_cases", run_cases)
        found = dockdyn.envelope(dockdyn.load("probe-cone-latch"), RANGES, tolerance=tolerance)
        answer = json.loads(found.attrs["envelope"])
        return answer, [in_square(piece) for piece in answer["boundary"]]

    return envelope


def in_square(piece):
    return np.array(
        [[(x - low) / (high - low) for x, (low, high) in zip(at, RANGES.values(), strict=True)] for at in piece]
    )


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4])
def test_a_circle_within_the_tolerance_for_a_small_part_of_the_grid(shaped, tolerance):
    answer, (piece,) = shaped(lambda x, y: np.hypot(x - 0.48, y - 0.55) < 0.3, tolerance=tolerance)
    assert (piece[0] == piece[-1]).all()
    middles = (piece[1:] + piece[:-1]) / 2
    for points in (piece, middles):
        assert np.abs(np.hypot(*(points - [0.48, 0.55]).T) - 0.3).max() < tolerance
    assert answer["share_met"] == pytest.approx(math.pi * 0.3**2, abs=2 * tolerance)
    assert answer["grid_runs"] == (round(1 / tolerance) + 1) ** 2
    assert answer["runs"] < answer["grid_runs"] / (20 if tolerance < 5e-3 else 5)
    assert answer["failed"] == 0


def test_islands_and_lines_that_end_at_the_edge_are_pieces_of_their_own(shaped):
    def inside(x, y):
        return (np.hypot(x - 0.25, y - 0.3) < 0.12) ^ (np.hypot(x - 0.7, y - 0.25) < 0.15) ^ (y > 0.7 + 0.1 * x)

    answer, pieces = shaped(inside)
    assert len(pieces) == 3
    closed = [piece for piece in pieces if (piece[0] == piece[-1]).all()]
    (line,) = [piece for piece in pieces if not (piece[0] == piece[-1]).all()]
    assert len(closed) == 2
    ends = line[np.argsort(line[:, 0])][[0, -1]]
    assert ends == pytest.approx(np.array([[0, 0.7], [1, 0.8]]), abs=1e-3)
    assert line[:, 1] - 0.1 * line[:, 0] == pytest.approx(0.7, abs=1e-3)
    assert answer["share_met"] == pytest.approx(0.25 + math.pi * (0.12**2 + 0.15**2), abs=3e-3)


def test_where_runs_fail_the_boundary_is_left_open(shaped):
    """A line y = ½, runs failing right of x = 0.4 up to 0.6."""
    answer, pieces = shaped(lambda x, y: y > 0.5 + 0.01 * x, lambda x, y: np.abs(x - 0.5) < 0.1)
    assert len(pieces) == 2
    assert answer["failed"] > 10
    assert answer["failures"] == ["jammed"]
    x = np.concatenate(pieces)[:, 0]
    assert x.min() == 0
    assert x.max() == 1
    assert not ((x > 0.4) & (x < 0.6)).any()
    assert 0.37 < x[x < 0.5].max() <= 0.4  # as close as the cells along the line are wide
    assert answer["share_met"] == pytest.approx(0.495, abs=0.01)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_or_nothing_has_no_boundary(shaped, share):
    answer, pieces = shaped(lambda x, y: np.full(x.shape, bool(share)))
    assert pieces == []
    assert answer["share_met"] == share


def test_where_all_runs_fail_nothing_is_known(shaped):
    answer, pieces = shaped(lambda x, y: x > 0, lambda x, y: x >= 0)
    assert pieces == []
    assert answer["share_met"] is None
