"""The numbers of a scenario that can be another one without another program: where each is among the scenario's leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.scenario.language.errors import is_key_inside
from dockdyn.scenario.language.keys import constraint_on, key_of, mirrored_key, value_at
from dockdyn.scenario.language.units import Bounds
from dockdyn.trees import Path, leaves_with_paths

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario

NOT_PHYSICS = (  # tables and keys whose numbers are left out
    *("integrator", "output", "stability", "compare", "duration"),
    *("rig.settle", "rig.limits", "rig.device", "rig.emulator"),
)


@dataclass(frozen=True, eq=False)
class Place:
    """A number of the scenario, and where it is among its leaves."""

    key: str
    value: float
    unit: str
    leaves: tuple[int, ...]  # two of an inertia tensor's products, and of a pair of poles or zeros
    keys: tuple[str, ...]  # as many, as `--set` takes them
    signs: tuple[float, ...]  # as many: of the imaginary parts of a pair one is the other's negative
    limits: Bounds

    def written(self, value: float) -> dict[str, float]:
        """Return what is set where the number is to be `value`, by key."""
        return {key: sign * value for key, sign in zip(self.keys, self.signs, strict=True)}

    def direction(self, leaves: int) -> Float[np.ndarray, "leaves"]:
        """Return the direction over so many leaves of the scenario's content that changes the number by one."""
        found = np.zeros(leaves)
        found[list(self.leaves)] = self.signs
        return found


def places_of(scenario: Scenario) -> list[Place]:
    """Return all numbers of a scenario that can change alone; those that rule the computation are left out."""
    content = scenario.content
    paths = leaves_with_paths(content)
    written = [key_of(path, content) for path, _ in paths]
    partners = _partners(dict(zip(written, (value for _, value in paths), strict=True)))
    found = []
    for leaf, ((path, value), key) in enumerate(zip(paths, written, strict=True)):
        if (
            any(is_key_inside(key, table) for table in NOT_PHYSICS)
            or not isinstance(value, float)
            or not _is_written(path, content)
        ):
            continue
        twin, sign = partners.get(key, (mirrored_key(key), 1.0))
        if (twin is None and constraint_on(key)) or (twin is not None and written.index(twin) < leaf):
            continue
        keys, signs = ((key,), (1.0,)) if twin in (None, key) else ((key, str(twin)), (1.0, sign))
        number = value_at(content, key, scenario.name)
        leaves = tuple(written.index(one) if one != key else leaf for one in keys)
        found.append(Place(number.key, value, number.unit, leaves, keys, signs, number.limits))
    return found


def _partners(numbers: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """Return, by the keys of the parts of pairs of poles or zeros, the key of the partner's part and its sign beside it."""
    tables: dict[str, dict[int, list[float]]] = {}
    for key, value in numbers.items():
        table, _, place = key.rpartition(".zeros.") if ".zeros." in key else key.rpartition(".poles.")
        if table and place.replace(".", "").isdecimal():
            tables.setdefault(key[: -len(place)], {}).setdefault(int(place.partition(".")[0]), []).append(value)
    return {
        f"{name}{one}.{part}": (f"{name}{other}.{part}", sign)
        for name, rows in tables.items()
        for one, other in conjugate_pairs([rows[index] for index in sorted(rows)]).items()
        for part, sign in ((0, 1.0), (1, -1.0))
    }


def conjugate_pairs(places: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return, by the index of each complex pole or zero (its real and imaginary part, 1/s), that of its conjugate.

    Those without a conjugate are left out.
    """
    upper, lower = (
        sorted(
            (index for index, (_, part) in enumerate(places) if side * part > 0),
            key=lambda i: (places[i][0], abs(places[i][1])),
        )
        for side in (1, -1)
    )
    pairs = dict(zip(upper, lower, strict=False))
    return pairs | {other: one for one, other in pairs.items()}


def _is_written(path: Path, content: Any) -> bool:  # noqa: ANN401, walked by what is found in it
    """Return whether a number is one that a file states, and a model reads: not one that a table works out for itself, nor one
    from which it has."""
    here = content
    for part, inside in zip(path, [*path[1:], None], strict=True):
        if isinstance(part, int):
            here = here[part]
            continue
        described = type(here).model_fields.get(part)
        stated = {(field, place) for field, place, _ in here.dotted_numbers().values()}
        if described is not None and described.exclude and (part, inside) not in stated:
            return False
        if part in here.unstated() or part in here.computed_from:
            return False
        here = getattr(here, part)
    return True
