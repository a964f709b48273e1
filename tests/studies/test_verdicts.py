"""Derivatives held against differences: how many runs that takes, and what they clear."""

import numpy as np
import pytest

from dockdyn.studies.cases.batch import Cases
from dockdyn.studies.objectives.verdict import judge_derivatives


class Number:
    """A number of a scenario that is varied by itself."""

    def __init__(self, key, value):
        self.key, self.value, self.keys = key, value, [key]

    def written(self, value):
        return {self.key: value}


@pytest.mark.parametrize("seed", range(5))
def test_numbers_in_doubt_take_four_more_runs(seed):
    """Smooth numbers are cleared by one run to either side; those at a kink have four more; the scenario itself each time."""
    draw = np.random.default_rng(seed)
    numbers = [Number(f"key{i}", value) for i, value in enumerate(draw.uniform(0.5, 2.0, draw.integers(2, 6)))]
    values = np.array([one.value for one in numbers])
    slopes, kinked = draw.uniform(1, 2, values.size), draw.random(values.size) < 0.5
    ran = []

    def run(keys, rows):
        ran.append(len(rows))
        where = [int(key.removeprefix("key")) for key in keys]
        off = rows - values[where]
        figure = 1.0 + (slopes[where] * off + kinked[where] * np.abs(off)).sum(axis=1) + off.sum(axis=1) ** 2
        return Cases({"load": figure}, [""] * len(rows))

    found = judge_derivatives(run, {"load": (slopes + 0.3 * kinked).tolist()}, numbers)["load"]
    doubtful = int(kinked.sum())
    assert ran == [1 + 2 * len(numbers), *([1 + 4 * doubtful] if doubtful else [])]
    assert [one.holds for one in found] == (~kinked).tolist()
