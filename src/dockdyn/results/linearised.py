"""How a run changes with the numbers of its scenario: its arrays, their derivatives, and the dataset that they make.

The run itself is differentiated in forward mode, through its events. What a dataset and its summary make of a run's
arrays, sums and largest values of them, is carried on by central differences of those arrays, which take no run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.deferred import Float, PyTree, jax
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.trees import Structure, combine, flatten, is_real_array, map_leaves, split, unflatten

if TYPE_CHECKING:
    from dockdyn.dataset import Dataset

type Leaves = Float[np.ndarray, "leaves"]
STEP = 1e-5  # of a number: how far the arrays of a run are moved along their derivatives
BUILT = 1e-3  # of a number: how far it is moved where the parts of a model are differentiated by differences
ZERO = 1e-2  # SI units: in place of a number that is zero
WEIGHTS = (45 / 60, -9 / 60, 1 / 60)  # central difference of the sixth order


class Numbers(NamedTuple):
    """The leaves of a scenario's content: real numbers, zero in the places of arrays, and the arrays by their places."""

    values: Leaves
    arrays: dict[int, np.ndarray]
    structure: Structure

    @staticmethod
    def of(content: PyTree) -> Numbers:
        leaves, structure = flatten(content)
        arrays = {place: leaf for place, leaf in enumerate(leaves) if np.ndim(leaf)}
        return Numbers(np.array([0.0 if np.ndim(leaf) else leaf for leaf in leaves], float), arrays, structure)

    def content(self, values: Leaves) -> Any:  # noqa: ANN401, of any setup's schema
        """Return the content with other real numbers."""
        return content_of(self.structure, np.asarray(values).tolist(), self.arrays)


def content_of(structure: Structure, values: Sequence[Any], arrays: Mapping[int, Any]) -> Any:  # noqa: ANN401, of any setup's schema
    """Return the content of a scenario from its leaves, traced or not."""
    return unflatten(structure, [arrays.get(place, value) for place, value in enumerate(values)])


class LinearisedRun(NamedTuple):
    """A run and its derivatives along directions in the numbers of its scenario.

    Attributes:
        along: from a direction over the leaves of the scenario's content, the arrays of the run, a tree, and their
            derivatives along it, a tree like it with None for what is no real number. Raises ScenarioError for a run that
            ends early.
        dataset: the dataset of a run that such arrays make.
    """

    along: Callable[[Leaves], tuple[PyTree, PyTree]]
    dataset: Callable[[PyTree], Dataset]


def tangent_of(function: Callable[[Any], PyTree], numbers: PyTree, direction: PyTree) -> tuple[PyTree, PyTree]:
    """Return what a function of arrays gives, and its derivative along a direction, None for what is no real number.

    JAX may trace it.
    """

    def parted(numbers: PyTree) -> tuple[PyTree, PyTree]:
        return split(function(numbers), is_real_array)

    found, change, rest = jax.jvp(parted, (numbers,), (direction,), has_aux=True)
    return combine(found, rest), change


def by_differences(
    function: Callable[[Leaves], PyTree], numbers: Leaves, direction: Leaves, name: str
) -> tuple[PyTree, PyTree]:
    """Return the same of a function that JAX cannot trace, by central differences of the sixth order.

    For what builds a model, without events. Raises ScenarioError where the answer's structure changes with the numbers.
    """
    own = function(numbers)
    leaves, structure = flatten(own)
    kept: Any = structure
    total = [np.zeros(np.shape(leaf)) for leaf in leaves]
    step = BUILT * _direction_size(numbers, direction)
    for count, weight in enumerate(WEIGHTS, 1):
        for side in (1, -1):
            moved, same = flatten(function(numbers + side * count * step * direction))
            if kept != same or [np.shape(one) for one in moved] != [np.shape(one) for one in leaves]:
                raise ScenarioError(
                    f"{name}: no derivative: what is simulated changes its form within {3 * BUILT:g} of the number, as a "
                    "schedule of periods does"
                )
            with np.errstate(invalid="ignore"):
                total = [sum_ + side * weight / step * _plain_leaf(one) for sum_, one in zip(total, moved, strict=True)]
    changes = [
        np.where(np.isfinite(leaf), change, 0.0) if _is_real(leaf) else None  # an infinite limit stays one
        for change, leaf in zip(total, leaves, strict=True)
    ]
    return own, unflatten(structure, changes)


def _plain_leaf(leaf: Any) -> Any:  # noqa: ANN401, of any type of number
    return np.asarray(leaf, float) if _is_real(leaf) else 0.0


def _is_real(leaf: Any) -> bool:  # noqa: ANN401, of any type of number
    return np.asarray(leaf).dtype.kind == "f"


def _direction_size(numbers: Leaves, direction: Leaves) -> float:
    """Return the size of the number that a direction changes."""
    return float(np.abs(numbers[direction != 0]).max(initial=0.0)) or ZERO


def advance_along_derivatives(parts: PyTree, change: PyTree, step: float) -> PyTree:
    """Return the arrays of a run, as numbers a `step` away along their derivatives would have them, to first order."""
    return map_leaves(
        lambda leaf, slope: leaf if slope is None else leaf + step * slope,
        parts,
        change,
        is_leaf=lambda one: one is None,
    )


def slopes_along(
    run: LinearisedRun,
    numbers: Leaves,
    direction: Leaves,
    figures: Callable[[Dataset], Mapping[str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return figures of a run, numbers or arrays by name, and their derivatives along a direction; those that come or go have
    none."""
    parts, change = map_leaves(np.asarray, run.along(direction))
    step = STEP * _direction_size(numbers, direction)
    own, up, down = (figures(run.dataset(advance_along_derivatives(parts, change, side * step))) for side in (0, 1, -1))
    there = [name for name in own if name in up and name in down and np.shape(up[name]) == np.shape(down[name])]
    return dict(own), {name: (up[name] - down[name]) / (2 * step) for name in there}


def named_numbers(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return every real number of a summary by its dotted name, those in tables and lists too: impacts.0.energy_loss_J."""
    return dict(_numbers_in(summary, ""))


def _numbers_in(value: object, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        yield name, value
    elif isinstance(value, Mapping | list):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for part, item in items:
            yield from _numbers_in(item, f"{name}.{part}" if name else str(part))
