"""Runs that are stepped from outside: one, or several side by side with a leading axis on every array."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from dockdyn.deferred import Array, Bool, PyTree
from dockdyn.results.overlap import refuse_overlap
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import table_from, whole_from, wrong_type
from dockdyn.scenario.language.keys import leaves
from dockdyn.scenario.load import Scenario
from dockdyn.trees import flatten, leaves_of, map_leaves, structure_of, unflatten

Values = Mapping[str, Any]  # by dotted keys of a scenario
NOTHING: Values = MappingProxyType({})


class SavedState(NamedTuple):
    """Where the runs of a stepper are, as plain data that can be pickled: `state` of another of the same scenario takes it."""

    scenario: str  # resolved, as TOML
    period: float | None  # s, that was asked for
    values: tuple[dict[str, Any], ...]  # by dotted keys, that each run has been reset with
    steps: int  # since the reset, of a rig
    numbers: tuple[np.ndarray, ...]  # all that goes on, each with a leading axis over the runs


class Stepper(Protocol):
    """A scenario that goes on one period at a time, told from outside what to do in it."""

    @property
    def scenario(self) -> Scenario: ...

    @property
    def period(self) -> float:
        """How long a step is (s)."""

    @property
    def time(self) -> np.ndarray:
        """Time (s) that has passed."""

    @property
    def done(self) -> np.ndarray:
        """Whether a run is over."""

    @property
    def state(self) -> SavedState:
        """Where the runs are; can be set."""

    def reset(self, values: Values | Sequence[Values] = NOTHING) -> dict[str, np.ndarray]:
        """Begin again, keys of the scenario set to `values`."""

    def step(self, command: Any = None) -> dict[str, np.ndarray]:  # noqa: ANN401, what the setup is told
        """Go on for one period; quantities by their names in results."""


class SideBySide:
    """So many runs of a scenario, or one without leading axis."""

    def __init__(self, scenario: Scenario, batch: int | None):
        self.scenario, self.batch = scenario, None if batch is None else whole_from(f"{scenario.name}: batch", batch, 1)
        self.count = self.batch or 1

    def values_of_each(self, values: Values | Sequence[Values]) -> tuple[dict[str, Any], ...]:
        """Return the values of every run, the same or each its own. ScenarioError for what is no mapping, or too many."""
        wanted = "a mapping from dotted keys to values, or one for each run"
        if isinstance(values, str) or not isinstance(values, Mapping | Sequence):
            raise wrong_type(f"{self.scenario.name}: values", values, wanted)
        several = [values] * self.count if isinstance(values, Mapping) else list(values)
        for each in several:
            table_from(f"{self.scenario.name}: values", each, wanted)
        if len(several) != self.count:
            raise ScenarioError(f"{self.scenario.name}: values for {len(several)} runs; must be for {self.count}")
        return tuple(map(dict, several))

    def cases(self, several: Sequence[Values]) -> list[Scenario]:
        """Return the scenario of every run, keys set to its values.

        Raises ScenarioError for values that are not allowed, and for a run that cannot begin as they say.
        """
        cases = [self.scenario.at(each) if each else self.scenario for each in several]
        for case in cases:
            refuse_overlap(case)
        return cases

    def stacked(self, trees: Sequence[PyTree]) -> PyTree:
        """Return trees of one structure as one, with a leading axis. ScenarioError where they differ in more than numbers."""
        if len({structure_of(tree) for tree in trees}) > 1:
            raise ScenarioError(f"{self.scenario.name}: runs of a batch must differ in numbers alone")
        return map_leaves(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *trees)

    @cached_property
    def text(self) -> str:
        """The scenario as TOML."""
        return self.scenario.text()

    def saved(self, period: float | None, values: tuple[dict[str, Any], ...], steps: int, tree: PyTree) -> SavedState:
        """Return where the runs are, in numbers of its own."""
        return SavedState(self.text, period, values, steps, tuple(np.array(leaf) for leaf in leaves_of(tree)))

    def refuse_foreign(self, state: Any, period: float | None) -> None:  # noqa: ANN401, checked here
        """Raise ScenarioError for what is no state, and for a state of another scenario, period or number of runs."""
        name = f"{self.scenario.name}: state"
        if not isinstance(state, SavedState):
            raise wrong_type(name, state, "what `state` of a stepper has given")
        if state.scenario != self.text:
            raise ScenarioError(f"{name}: is of another scenario: {_first_difference(state.scenario, self.text)}")
        for words, there, here in (("period", state.period, period), ("number of runs", len(state.values), self.count)):
            if there != here:
                raise ScenarioError(f"{name}: is of another {words}: {there}, here {here}")

    def restored(self, state: SavedState, like: PyTree) -> PyTree:
        """Return the tree whose numbers a state has. ScenarioError where they do not fit into one `like` that."""
        leaves, structure = flatten(like)
        shapes = [[(np.shape(leaf), np.asarray(leaf).dtype) for leaf in each] for each in (leaves, state.numbers)]
        if shapes[0] != shapes[1]:
            raise ScenarioError(f"{self.scenario.name}: state: its numbers do not fit; another dockdyn has written it")
        return unflatten(structure, [np.array(leaf) for leaf in state.numbers])

    def replaced(self, which: Bool[np.ndarray, "batch"], new: PyTree, old: PyTree) -> PyTree:
        """Return the tree `new` of the runs that are flagged, `old` of the others."""

        def chosen(a: Array, b: Array) -> np.ndarray:
            return np.where(np.reshape(which, (-1,) + (1,) * (np.ndim(a) - 1)), a, b)

        return map_leaves(chosen, new, old)

    def plain(self, tree: PyTree) -> Any:  # noqa: ANN401, of the same structure
        """Return a tree of arrays of all runs; of one run alone without leading axis."""
        return map_leaves(lambda array: np.array(array)[0] if self.batch is None else np.array(array), tree)

    def for_each(self, name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:  # noqa: ANN401, numbers
        """Return numbers of `shape` for every run, from those of all or the same for each. ScenarioError names them
        otherwise."""
        try:
            found = np.asarray(value, float)
        except (TypeError, ValueError):  # no numbers, or rows of several lengths
            found = np.full(1, np.nan)
        wanted = shape if self.batch is None else (self.count, *shape)
        if found.shape not in (shape, wanted) or not np.isfinite(found).all():
            raise ScenarioError(f"{self.scenario.name}: {name}: must be finite numbers of shape {wanted}")
        leading = found if found.shape == wanted and self.batch is not None else found[None]
        return np.ascontiguousarray(np.broadcast_to(leading, (self.count, *shape)))


def _first_difference(there: str, here: str) -> str:
    """Return the first key in which two scenarios as TOML differ, with both values."""
    a, b = (dict(leaves(tomllib.loads(text))) for text in (there, here))
    key = next(key for key in (a | b) if key not in a or key not in b or a[key] != b[key])
    return f"{key} = {a.get(key, 'not stated')!r} there, {b.get(key, 'not stated')!r} here"
