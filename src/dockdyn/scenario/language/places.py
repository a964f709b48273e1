"""The numbers of a scenario that can be another one without another program: where each is among the scenario's leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax

from dockdyn.scenario.language.keys import constrained, key_of, value_at
from dockdyn.scenario.language.units import Bounds

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario

NOT_PHYSICS = ("integrator", "output", "stability", "duration")  # tables and keys whose numbers are left out


@dataclass(frozen=True, eq=False)
class Place:
    """A number of the scenario, and where it is among its leaves."""

    key: str
    value: float
    unit: str
    leaves: tuple[int, ...]  # two of an inertia tensor's products
    keys: tuple[str, ...]  # as many, as `--set` takes them
    limits: Bounds


def places_of(scenario: Scenario) -> list[Place]:
    """All numbers of a scenario that can change alone; those that rule the computation are left out."""
    content = scenario.content
    paths, _ = jax.tree_util.tree_flatten_with_path(content)
    written = [key_of(path, content) for path, _ in paths]
    found = []
    for leaf, ((path, value), key) in enumerate(zip(paths, written, strict=True)):
        if key.split(".")[0] in NOT_PHYSICS or constrained(key) or not isinstance(value, float):
            continue
        if not _is_written(path, content):
            continue
        twin = _transposed(key)
        if twin is not None and key > twin:
            continue
        keys = (key,) if twin in (None, key) else (key, str(twin))
        number = value_at(content, key, scenario.name)
        leaves = tuple(written.index(one) if one != key else leaf for one in keys)
        found.append(Place(number.key, value, number.unit, leaves, keys, number.limits))
    return found


def _is_written(path: tuple[Any, ...], content: Any) -> bool:  # noqa: ANN401, walked by what is found in it
    """Whether a number is one that a file states: not one that a table works out for itself."""
    here = content
    for part in path:
        if hasattr(part, "idx"):
            here = here[part.idx]
            continue
        described = type(here).model_fields.get(part.name)
        stated = {field for field, _, _ in here.dotted_numbers().values()}
        if described is not None and described.exclude and part.name not in stated:
            return False
        here = getattr(here, part.name)
    return True


def _transposed(key: str) -> str | None:
    """The key of the same product in an inertia tensor; None of other numbers."""
    *table, row, column = key.split(".") if key.count(".") >= 2 else ("", "", "")
    return ".".join([*table, column, row]) if table and table[-1] == "inertia" else None
