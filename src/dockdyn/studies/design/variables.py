"""What is sought: real numbers, whole numbers and choices of a scenario, and where in its range each is."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from dockdyn.records import record
from dockdyn.scenario.axis import Axis, Sweep, axis_of
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.language.units import whole_number
from dockdyn.scenario.load import Scenario, content_at
from dockdyn.scenario.tables.design import DesignVariableSection

DECADE = 10.0  # a range of positive numbers that is wider is searched by its logarithm


@record
class RealVariable:
    """A real number between two ends; its coordinate is a share of the range."""

    axis: Axis
    key: str  # in one way
    count = None  # of values: any number of them
    ordered = True

    @property
    def unit(self) -> str:
        return self.axis.unit

    @property
    def ends(self) -> tuple[float, float]:
        return self.axis.low, self.axis.high

    @property
    def by_logarithm(self) -> bool:
        return self.axis.low > 0 and self.axis.high >= DECADE * self.axis.low

    def at(self, coordinate: float) -> float:
        """Return the number (SI) at a coordinate."""
        low, high = self.ends
        value = low * (high / low) ** coordinate if self.by_logarithm else low + (high - low) * coordinate
        return min(max(value, low), high)

    def coordinate(self, value: float) -> float:
        """Return where in the range a number (SI) is."""
        low, high = self.ends
        return math.log(value / low) / math.log(high / low) if self.by_logarithm else (value - low) / (high - low)

    def slope(self, coordinate: float) -> float:
        """Return by how much the number (SI) changes with its coordinate."""
        low, high = self.ends
        return self.at(coordinate) * math.log(high / low) if self.by_logarithm else high - low

    def own(self) -> float:
        """Return the coordinate of the scenario's own number; the middle where it states none within."""
        now = self.axis.now
        return self.coordinate(now) if now is not None and self.axis.low <= now <= self.axis.high else 0.5


@record
class ListedVariable:
    """A whole number between two ends, or one of several values; its coordinate is its place among them."""

    key: str
    values: tuple[Any, ...]
    now: Any  # the scenario's own value
    ordered: bool  # whole numbers are
    unit = ""
    by_logarithm = False

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest whole number; None of a choice."""
        return (self.values[0], self.values[-1]) if self.ordered else None

    def at(self, coordinate: float) -> Any:  # noqa: ANN401, what a file holds
        """Return the value at a coordinate."""
        return copy.deepcopy(self.values[int(coordinate)])  # a table may be changed by keys that go into it

    def coordinate(self, value: Any) -> float:  # noqa: ANN401, likewise
        """Return the place of a value."""
        return float(self.values.index(value))

    def own(self) -> float:
        """Return the place of the scenario's own value; that of the middle or, of a choice, the first where it is none of
        them."""
        if self.now in self.values:
            return self.coordinate(self.now)
        return float(len(self.values) // 2) if self.ordered else 0.0


Variable = RealVariable | ListedVariable


def variables_of(scenario: Scenario, stated: Sequence[DesignVariableSection]) -> tuple[Variable, ...]:
    """Return the variables that a scenario states. Raises ScenarioError for one that cannot be sought."""
    nominal = scenario.at({})
    found: list[Variable] = []
    for one in stated:
        where = f"{scenario.name}: design.variable.{one.name}"
        variable = _variable_of(nominal, one, where)
        if any(variable.key in dispersion.keys for dispersion in scenario.dispersions):
            raise ScenarioError(f"{where}.key: {one.key} is distributed; must be a number that is not")
        if any(_is_same(variable, other) for other in found):
            raise ScenarioError(f"{where}.key: {one.key} is given twice; must differ")
        found.append(variable)
    return tuple(found)


def _is_same(one: Variable, other: Variable) -> bool:
    if isinstance(one, RealVariable) and isinstance(other, RealVariable):
        return one.axis.leaf == other.axis.leaf
    return one.key == other.key


def _variable_of(nominal: Scenario, stated: DesignVariableSection, where: str) -> Variable:
    """Return a variable as stated."""
    if stated.values is not None:
        return _choice_variable(nominal, stated, where)
    if _is_count(nominal, stated):
        return _whole_variable(nominal, stated, where)
    axis = axis_of(nominal, Sweep(stated.key, stated.low, stated.high, count=2, option=where.partition(": ")[2]))
    return RealVariable(axis, _key_with(nominal, stated.key, axis.high))


def _is_count(nominal: Scenario, stated: DesignVariableSection) -> bool:
    """Return whether a key has a whole number; one that is not stated, or not there, is told by what its end makes of it."""
    content = content_at(nominal.nominal(), {stated.key: stated.high}, nominal.name, nominal.folder)
    value = value_at(content, stated.key, nominal.name).value
    return isinstance(value, int) and not isinstance(value, bool)


def _key_with(nominal: Scenario, key: str, value: object) -> str:
    """Return a key in one way, where it is set to a value; ScenarioError where that is not allowed."""
    return value_at(content_at(nominal.nominal(), {key: value}, nominal.name, nominal.folder), key, nominal.name).key


def _whole_variable(nominal: Scenario, stated: DesignVariableSection, where: str) -> ListedVariable:
    """Return a whole number between two ends."""
    ends = []
    for name, given in (("low", stated.low), ("high", stated.high)):
        if (end := whole_number(f"{given:.15g}" if isinstance(given, float) else str(given))) is None:
            raise ScenarioError(f"{where}.{name} = {shown(given)}: must be a whole number, as {stated.key} is")
        ends.append(end)
    low, high = ends
    if low == high:
        raise ScenarioError(
            f"{where} {stated.key}: {low} to {high} changes nothing; must be a number with different ends"
        )
    if low > high:
        raise ScenarioError(f"{where} {stated.key}: from {low} to {high}; must rise")
    for end in ends:
        key = _key_with(nominal, stated.key, end)
    return ListedVariable(key, tuple(range(low, high + 1)), _nominal_value(nominal, key), ordered=True)


def _choice_variable(nominal: Scenario, stated: DesignVariableSection, where: str) -> ListedVariable:
    """Return one of several values."""
    assert stated.values is not None
    for place, value in enumerate(stated.values):
        if value in stated.values[:place]:
            raise ScenarioError(f"{where}.values.{place} = {shown(value)}: is given twice; must differ")
        key = _key_with(nominal, stated.key, copy.deepcopy(value))
    return ListedVariable(key, tuple(stated.values), _nominal_value(nominal, key), ordered=False)


def _nominal_value(nominal: Scenario, key: str) -> Any:  # noqa: ANN401, what a file holds
    """Return what a scenario has at a key; None where it is not there."""
    try:
        return value_at(nominal.content, key, nominal.name).value
    except ScenarioError:
        return None
