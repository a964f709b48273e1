"""Attitudes as a user writes them."""

from __future__ import annotations

import pytest

import dockdyn


@pytest.mark.parametrize("length", [0.0, 0.998, 1.002, 3.0])
def test_what_is_no_unit_quaternion_is_refused_in_one_line(length):
    with pytest.raises(dockdyn.ScenarioError, match=r"chaser\.attitude.*1e-3") as told:
        dockdyn.load("probe-cone", {"body.chaser.attitude": [0.6 * length, 0.8 * length, 0.0, 0.0]})
    assert "\n" not in str(told.value)
