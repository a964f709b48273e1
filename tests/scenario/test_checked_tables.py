"""Cases read one after the other, tables of the same words checked once: the same contents and refusals as each by itself."""

import copy

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import content_at
from dockdyn.scenario.preset_files import presets
from dockdyn.studies.cases.batch import cases_of
from dockdyn.trees import flatten, flatten_all

CASES, KEYS = 12, 4
QUICK = 6  # presets of `make test`


def numbers_in(table, path=()):
    """Yield the dotted keys of all numbers of a scenario, with their values."""
    items = enumerate(table) if isinstance(table, list) else table.items()
    for key, value in items:
        if isinstance(value, dict | list):
            yield from numbers_in(value, (*path, str(key)))
        elif isinstance(value, float):
            yield ".".join([*path, str(key)]), value


def other(chance, value):
    """Another number or word in the place of a value: mostly near it, and some that are refused."""
    near = [value, value * (1 + 0.01 * chance.uniform()), value + 1e-6]
    given = near if chance.uniform() < 0.7 else [-value, 0.0, 1e9, "5 mm", "none"]
    return given[chance.integers(len(given))]


def alone(scenario, keys, row):
    """The content of one case, or why it is refused, read by itself."""
    try:
        data = copy.deepcopy(scenario.nominal())
        return content_at(data, dict(zip(keys, row, strict=True)), scenario.name, scenario.folder)
    except ScenarioError as error:
        return str(error)


def drawn(preset):
    """Cases of a preset, some of whose numbers are others."""
    chance = np.random.default_rng(sum(map(ord, preset)))
    scenario = dockdyn.load(preset)
    found = dict(numbers_in(scenario.nominal()))
    keys = list(chance.choice(list(found), min(KEYS, len(found)), replace=False))
    return scenario, keys, [[other(chance, found[key]) for key in keys] for _ in range(CASES)]


NAMES = sorted(presets())


@pytest.mark.parametrize(
    "preset",
    [
        *NAMES[::8][:QUICK],
        *(pytest.param(name, marks=pytest.mark.full) for name in NAMES if name not in NAMES[::8][:QUICK]),
    ],
)
def test_cases_that_share_checked_tables_are_those_read_alone(preset):
    scenario, keys, rows = drawn(preset)
    together = list(cases_of(scenario, keys, rows, check_damping=False))
    expected = [alone(scenario, keys, row) for row in rows]
    taken = [case for case in together if not isinstance(case, ScenarioError)]
    apart = iter(flatten_all([case.content for case in taken]))
    for case, want in zip(together, expected, strict=True):
        if isinstance(want, str):
            assert str(case) == want
            continue
        leaves, structure = next(apart)
        by_itself, same = flatten(want)
        assert structure == same
        assert all(
            (a is b or np.array_equal(a, b, equal_nan=True)) and type(a) is type(b)
            for a, b in zip(leaves, by_itself, strict=True)
        )
    assert next(apart, None) is None


def test_tables_of_the_same_words_are_one():
    scenario = dockdyn.load("probe-cone")
    first, second = cases_of(scenario, ["body.chaser.mass"], [[900.0], [901.0]], check_damping=False)
    assert first.content.contact[0] is second.content.contact[0]
    assert [body.mass for case in (first, second) for body in case.content.body if body.name == "chaser"] == [
        900.0,
        901.0,
    ]
