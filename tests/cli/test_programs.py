"""Compiled programs are dropped before a process runs out of memory maps, and compile again when they come again."""

import json
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dockdyn
from dockdyn import programs

MANY_STRUCTURES = """
import json, sys, warnings
import dockdyn, jax.numpy as jnp
from dockdyn import programs

@programs.Program
def solved(matrix):
    return jnp.linalg.solve(matrix @ matrix.T + jnp.eye(len(matrix)), matrix[0])

def run(size):
    return float(solved(jnp.arange(float(size * size)).reshape(size, size) / 7).sum())

def flight():
    if sys.argv[1] == "matrices":
        return None
    return dockdyn.simulate(dockdyn.load("paraskevas-a")).kinetic_energy.values.tolist()

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    first = flight(), [run(size) for size in range(1, 4)]
    room = programs.count_memory_maps() + 400
    programs.most_maps, programs.spare = lambda: room, 0
    seen, kept = [], []
    for size in range(4, 60):
        run(size)
        seen.append(programs.count_memory_maps())
        kept.append(len(programs.kept))
    again = flight(), [run(size) for size in range(1, 4)]
told = [str(one.message) for one in told if issubclass(one.category, RuntimeWarning)]
print(json.dumps(dict(room=room, seen=seen, kept=kept, same=first == again, told=told)))
"""


@pytest.mark.full
@pytest.mark.skipif(not programs.count_memory_maps(), reason="the system does not tell the maps of a process")
@pytest.mark.parametrize("what", ["matrices", "matrices and a flight"])
def test_many_structures_stay_below_the_bound_and_give_the_same_results(what):
    command = [sys.executable, "-c", MANY_STRUCTURES, what]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    assert max(found["seen"]) <= found["room"] + 50, "but for what JAX compiles by itself between two of them"
    assert min(np.diff(found["kept"])) < 0, "programs were dropped"
    assert max(found["kept"]) > 10, "not all of them each time"
    assert found["same"]
    (warning,) = found["told"]
    assert "memory maps" in warning


def test_a_program_is_compiled_once_for_a_structure():
    traced = []

    @programs.Program
    def total(numbers, scale):
        traced.append(len(numbers["x"]))
        return scale * sum(numbers["x"]) + numbers["y"]

    def asked(count, scale):
        return float(total({"x": [jnp.asarray(1.0)] * count, "y": jnp.ones(())}, scale=scale))

    assert [asked(2, 3.0), asked(3, 3.0), asked(2, 5.0)] == [7, 10, 11]
    assert traced == [2, 3]


def test_static_arguments_are_part_of_the_structure():
    @partial(programs.Program, static=("count",))
    def repeated(x, count=2):
        return jnp.tile(x, count)

    assert repeated(jnp.ones(2)).shape == (4,)
    assert repeated(jnp.ones(2), 3).shape == (6,)
    assert repeated(jnp.ones(2), count=3).shape == (6,)


def test_a_program_of_whole_numbers_is_not_one_of_others():
    """Another type of number is another program: nothing is cut off."""

    @programs.Program
    def half(x):
        return x / 2

    found = [float(half(one)) for one in (4, 4.5, np.float64(5.5), np.array(7), np.array(True))]
    assert found == [2.0, 2.25, 2.75, 3.5, 0.5]


def test_another_title_and_other_numbers_are_not_another_program(monkeypatch):
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    counts, titles = [], []
    for title, speed in (("one", 0.05), ("another", 0.06)):
        found = dockdyn.simulate(dockdyn.load("paraskevas-a", {"title": title, "body.chaser-front.velocity": speed}))
        counts.append(len(programs.kept))
        titles.append(found.attrs["title"])
    assert counts[0] == counts[1] and titles == ["one", "another"]


def test_constants_that_are_equal_and_not_the_same():
    @partial(programs.Program, static=("by",))
    def signed(x, by):
        return jnp.copysign(x, by) * by

    found = [np.asarray(signed(np.array(3), by)) for by in (1, 1.0, 0.0, -0.0)]
    expected = [np.copysign(3, by) * by for by in (1, 1.0, 0.0, -0.0)]
    assert [str(one) for one in found] == [str(one) for one in expected]
    assert [str(np.signbit(one)) for one in found] == ["False"] * 4


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda b: jnp.dot(b, b), np.array([True, False])),
        (lambda n: jax.lax.reduce_or(n, (0,)), np.array([1, 6])),
        (lambda x: jnp.fft.fft(x), np.arange(4.0)),
    ],
)
def test_what_is_not_translated_is_named_and_compiled_by_xla(function, given, monkeypatch):
    monkeypatch.setattr(programs, "refused", {})
    assert np.array_equal(programs.Program(function)(given), jax.jit(function)(given))
    assert len(programs.refused) == 1
