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
    """Smooth numbers are cleared by one run to either side; those at a kink have four more, also where the derivative is the
    mean of both sides; the scenario itself each time."""
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

    found = judge_derivatives(run, {"load": (slopes + draw.choice([0.0, 0.3]) * kinked).tolist()}, numbers)["load"]
    doubtful = int(kinked.sum())
    assert ran == [1 + 2 * len(numbers), *([1 + 4 * doubtful] if doubtful else [])]
    assert [one.holds for one in found] == (~kinked).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_what_is_said_is_what_differences_show(seed):
    """A kink has other differences on each side; where both agree and the derivative is another, it is not the kink's fault;
    and a derivative that drowns in the figure's rounding is not called smooth."""
    draw = np.random.default_rng([seed, 3])
    slope, size = draw.uniform(1, 5) * draw.choice([-1, 1]), 10 ** draw.uniform(-3, 3)
    kinked, other = "not differentiable here: differences give", "not certain: differences give"
    cases = {
        "smooth": (lambda off: slope * off, slope, True, ""),
        "kink": (lambda off: slope * off + 0.2 * slope * np.abs(off), slope, False, kinked),
        "wrong": (lambda off: slope * off, 1.02 * slope, False, f"{other} {size * slope:.4g} to both sides"),
        "drowned": (lambda off: 1e-5 * slope * off, 1e-5 * slope, None, "unresolved"),
        "without": (lambda off: 0.0 * off, 0.0, True, ""),
    }
    for name, (figure, derivative, holds, words) in cases.items():
        value = draw.uniform(0.5, 2.0)

        def run(_, rows, figure=figure, value=value):
            rounding = 2e-11 * draw.uniform(-1, 1, len(rows))
            return Cases({"load": size * (1 + figure(rows[:, 0] - value) + rounding)}, [""] * len(rows))

        (verdict,) = judge_derivatives(run, {"load": [size * derivative]}, [Number("key", value)])["load"]
        assert verdict.holds is holds and verdict.reason.startswith(words) and bool(verdict.reason) == bool(words), name
