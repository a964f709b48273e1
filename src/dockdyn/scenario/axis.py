"""A key of a scenario as an axis: from which to which value, and which of the scenario's numbers it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.deferred import PyTree
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.load import Scenario, parse
from dockdyn.trees import flatten

PROBE = 1e-3  # SI units: a value told apart from the upper end where the lower end is zero and so not there


@record
class Sweep:
    """One key from `low` to `high` (as written, units allowed) in `count` values."""

    key: str
    low: Any
    high: Any
    count: int
    option: str = "--sweep"  # of the command line, for messages

    @property
    def text(self) -> str:
        """As it is written on the command line."""
        return f"{self.key}={self.low}:{self.high}:{self.count}"


@record
class Axis:
    """A swept key as the number of the scenario that it is."""

    sweep: Sweep
    leaf: int  # which of the scenario's numbers
    low: float  # SI
    high: float
    unit: str
    now: float | None  # the scenario's own value

    def values(self) -> np.ndarray:
        return np.linspace(self.low, self.high, self.sweep.count)

    def at(self, share: np.ndarray) -> np.ndarray:
        return self.low + (self.high - self.low) * share

    def coordinate(self, values: np.ndarray, dimension: str) -> tuple[str, np.ndarray, dict[str, str]]:
        return dimension, values, {"units": self.unit or "1", "long_name": self.sweep.key}


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def axis_of(scenario: Scenario, sweep: Sweep) -> Axis:
    """Return which number of the scenario a key is, and its range in SI units."""
    low, high = (_with_value(scenario, sweep.key, value) for value in (sweep.low, sweep.high))
    leaves, structure = _numbers_of(high)
    other, other_structure = _numbers_of(low)
    start = None
    where = f"{scenario.name}: {sweep.option} {sweep.key}"
    if structure != other_structure:  # zero may mean that something is not there
        probe, probe_structure = _numbers_of(_with_value(scenario, sweep.key, PROBE))
        if probe_structure == other_structure:
            raise ScenarioError(f"{where}: from {sweep.low} to {sweep.high}; must rise")
        other, other_structure, start = probe, probe_structure, 0.0
    different = [i for i, (a, b) in enumerate(zip(other, leaves, strict=False)) if not np.array_equal(a, b)]
    if structure != other_structure or len(different) > 1 or any(np.ndim(leaves[i]) for i in different):
        raise ScenarioError(f"{where}: changes more than one number; must be a single number")
    if not different:
        raise ScenarioError(
            f"{where}: {sweep.low} to {sweep.high} changes nothing; must be a number with different ends"
        )
    (leaf,) = different
    begin = float(other[leaf]) if start is None else start
    own, own_structure = _numbers_of(scenario.content)
    now = float(own[leaf]) if own_structure == structure else start
    if not begin < float(leaves[leaf]):
        raise ScenarioError(f"{where}: from {sweep.low} to {sweep.high}; must rise")
    return Axis(sweep, leaf, begin, float(leaves[leaf]), value_at(high, sweep.key, scenario.name).unit, now)


def _numbers_of(content: PyTree) -> tuple[list[Any], Any]:
    """Return all numbers of a scenario, and everything else."""
    return flatten(content)


def _with_value(scenario: Scenario, key: str, value: object) -> Any:  # noqa: ANN401, of the schema of its setup
    return parse(scenario.text(), scenario.name, {key: value}).content
