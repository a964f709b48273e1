"""Every program of a run at any numbers: C has the bits of machine code, and XLA's numbers are those but for rounding."""

import sys
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest
from test_c import GCC, CProgram

import dockdyn
from dockdyn.results import unit
from dockdyn.results.methods import settings_of
from dockdyn.scenario.language.places import places_of
from dockdyn.translate.jaxpr import translate_function
from dockdyn.trees import flatten, leaves_of, unflatten

sys.path.append(str(Path(__file__).parents[1] / "report"))
from browser_unit_cases import drawn

pytestmark = pytest.mark.skipif(GCC is None, reason="no C compiler here")
CLOSE = 1e-12  # of the largest number of an array
ALL = np.int64(2**62)  # iterations: of a whole run
ROWS = 3


def programs_of(scenario, content, settings, iterations):
    """Yield the programs of a run by name, each with its arguments and with what machine code answers.

    One step is that after so many `iterations`.
    """

    def advanced(until):
        return unit.advance(content, settings, np.int64(until), unit.begin(content, settings))

    def tell(*given):
        return unit.tell.function(scenario.setup, *given)

    begun, ended = unit.begin(content, settings), advanced(ALL)
    yield "begin", unit.begin.function, (content, settings), begun
    step = (content, settings, np.int64(iterations + 1), advanced(iterations))
    yield "step", unit.advance.function, step, advanced(iterations + 1)
    yield "advance", unit.advance.function, (content, settings, ALL, begun), ended
    observed = unit.observe(content, settings, ended)
    yield "observe", unit.observe.function, (content, settings, ended), observed
    yield "tell", tell, (content, settings, observed), unit.tell(scenario.setup, content, settings, observed)


def content_with(scenario, numbers):
    """The content of a scenario with other numbers at their places."""
    leaves, structure = flatten(scenario.content)
    for place, value in numbers:
        for leaf, sign in zip(place.leaves, place.signs, strict=True):
            leaves[leaf] = sign * value
    return unflatten(structure, leaves)


class OtherWays:
    """A program as C and by XLA, compiled once."""

    def __init__(self, function, given, folder):
        leaves, structure = flatten(given)
        self.by_xla = jax.jit(lambda *leaves: function(*unflatten(structure, leaves)))
        folder.mkdir()
        self.in_c = CProgram(translate_function(self.by_xla.trace(*map(np.asarray, leaves)).jaxpr), folder)


def check_preset(name, folder, rows, seed=12):
    """Compare rows of numbers at random; how many numbers were compared, and XLA's largest difference."""
    scenario, random = dockdyn.load(name, {"output.interval": "0.1 s"}), np.random.default_rng(seed)
    settings, places = settings_of(scenario.content), places_of(scenario)
    ways, compared, worst = {}, 0, 0.0
    for row in range(rows):
        numbers = [(place, drawn(place, random) if row else place.value) for place in places]
        content, iterations = content_with(scenario, numbers), int(random.integers(400))
        for what, function, given, answer in programs_of(scenario, content, settings, iterations):
            if what not in ways:
                ways[what] = OtherWays(function, given, folder / what)
            leaves, expected = list(map(np.asarray, leaves_of(given))), list(map(np.asarray, leaves_of(answer)))
            for one, other in zip(ways[what].in_c(leaves), expected, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{name}, {what}, row {row}")
                compared += other.size
            if what != "advance":  # in which how long steps are hangs on rounding
                found = ways[what].by_xla(*leaves)
                if what == "step":  # and so do estimates of errors
                    found, answer = found.point, answer.point
                for one, other in zip(leaves_of(found), leaves_of(answer), strict=True):
                    worst = max(worst, difference(np.asarray(one, float), np.asarray(other, float)))
    assert worst <= CLOSE, worst
    return compared, worst


def difference(one, other, usual=0.0):
    """The largest difference of two arrays relative to the largest number in them, or what is `usual`; to a millionth (SI)
    where all are less."""
    np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))
    finite = np.isfinite(other)
    size = np.abs(other[finite]).max(initial=0.0)
    return np.abs(one[finite] - other[finite]).max(initial=0.0) / max(size, usual, 1e-6)


@pytest.mark.full
@pytest.mark.parametrize("name", ["paraskevas-b", "probe-cone", "paraskevas-latch", "sazawal-compliance"])
def test_c_has_the_bits_and_xla_the_numbers(name, tmp_path):
    compared, _ = check_preset(name, tmp_path, ROWS)
    assert compared > 10_000


@pytest.mark.full
def test_one_step_of_any_of_a_thousand_rows_is_xlas():
    """Where a number all but vanishes, as the force at a release or a power whose parts cancel, as close as to what it was."""
    scenario, random = dockdyn.load("paraskevas-a", {"output.interval": "0.1 s"}), np.random.default_rng(13)
    settings, places = settings_of(scenario.content), places_of(scenario)
    step = None
    for row in range(1000):
        numbers = [(place, drawn(place, random) if row else place.value) for place in places]
        iterations, content = int(random.integers(400)), content_with(scenario, numbers)
        before = unit.advance(content, settings, np.int64(iterations), unit.begin(content, settings))
        after = unit.advance(content, settings, np.int64(iterations + 1), before)
        leaves, structure = flatten((content, settings, np.int64(iterations + 1), before))
        if step is None:
            step = jax.jit(partial(point_after, structure))
        points = (step(*leaves), after.point, before.point)
        for found, expected, begun in zip(*map(leaves_of, points), strict=True):
            usual = np.abs(np.asarray(begun, float))
            off = difference(
                np.asarray(found, float), np.asarray(expected, float), usual[np.isfinite(usual)].max(initial=0.0)
            )
            assert off <= CLOSE, (row, off)


def point_after(structure, *leaves):
    """Where a run is after one more iteration, by what traces it."""
    return unit.advance.function(*unflatten(structure, leaves)).point
