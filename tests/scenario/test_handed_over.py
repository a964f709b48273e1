"""Scenarios handed over as dictionaries and texts, and products of inertia that are set in one place."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn


@pytest.mark.parametrize("preset", ["probe-cone", "sits", "idss-soft-capture", "berthing-3d"])
def test_tables_and_text_are_the_scenario_of_their_file(preset):
    scenario = dockdyn.load(preset)
    tables = scenario.resolved()
    tables["duration"] = np.float64(scenario.content.duration)
    for given in (tables, scenario.text()):
        assert dockdyn.load(given).resolved() == scenario.resolved()
    assert dockdyn.load(tables, {"duration": 0.5}).content.duration == 0.5


def test_what_is_wrong_in_them_is_said_of_the_scenario():
    for given, words in (
        ({"schema": 2, "rgi": {"mass": 1}}, "rgi: unknown key"),
        ("schema = ", "scenario: not TOML"),
    ):
        with pytest.raises(dockdyn.ScenarioError, match=words):
            dockdyn.load(given)


@pytest.mark.parametrize("seed", range(3))
def test_a_product_of_inertia_is_set_in_row_and_column(seed):
    """As `objective` has it; two values are refused."""
    rng = np.random.default_rng(seed)
    row, column = rng.permutation(3)[:2]
    key, value = f"body.chaser.inertia.{row}.{column}", float(rng.uniform(-5, 5))
    found = np.array(dockdyn.load("probe-cone", {key: value}).content.named("chaser").inertia)
    assert found[row, column] == found[column, row] == value
    assert np.array_equal(found, np.array(dockdyn.load("probe-cone").at({key: value}).content.named("chaser").inertia))
    with pytest.raises(dockdyn.ScenarioError, match="an inertia is symmetric: set one of them"):
        dockdyn.load("probe-cone", {key: value, f"body.chaser.inertia.{column}.{row}": value + 1})
