"""Tables that are copies of others: `like = "leg"` under a name takes all that the table `leg` beside it says, and what follows
changes the copy.

A copy is made as the file is read, before any key is set otherwise. `like = "ring.petals"` copies what another body carries:
as many names as are given, the last of them first, stand in the place of the table's own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError, is_key_inside, key_in, nearest, shown
from dockdyn.scenario.language.known_keys import TAGS

KEY = "like"
ONE_VALUE = ("attitude", "believed_attitude")  # in whichever form, as a list is
Tables = dict[str, Any]
Path = tuple[str, ...]


@dataclass
class Copies:
    """Which keys of the tables of a file were copied, and from where."""

    origins: dict[str, str] = field(default_factory=dict)  # by key; what is inside is copied with it

    def origin_of(self, key: str) -> str:
        """Return the dotted key that the file states in the place of a `key`; that itself where it is no copy."""
        parts = key.split(".")
        for count in range(len(parts), 0, -1):
            if (origin := self.origins.get(".".join(parts[:count]))) is not None:
                return ".".join([origin, *parts[count:]])
        return key

    def at_origin(self, error: ScenarioError, name: str, changed: Iterable[str]) -> ScenarioError:
        """Return an error about a copied key of the scenario `name` as one about the key that the file states; keys `changed`
        since are not copied."""
        key = key_in(error, name)
        if key is None or any(is_key_inside(key, other) for other in changed):
            return error
        origin = self.origin_of(key)
        if origin == key:
            return error
        said = str(error).removeprefix(f"{name}: {key}")
        return type(error)(f"{name}: {origin}{said}; {key} is like it", origin, error.words)


def with_copies(data: Tables, name: str, are_named_at: Callable[[Path], bool]) -> tuple[Tables, Copies]:
    """Return the tables `data` of the scenario `name`, those that are like others filled, and what has been copied.

    `are_named_at` says whether tables under names of their own stand at a path. Raises ScenarioError where there is no such
    table to copy, and where tables are like each other in a circle.
    """
    paths = list(_alike(data, (), are_named_at))
    if not paths:
        return data, Copies()
    filling = _Filling(copy.deepcopy(data), name, are_named_at)
    for path in paths:
        filling.fill(path)
    return filling.data, filling.copies


def _alike(place: object, path: Path, are_named_at: Callable[[Path], bool]) -> Iterable[Path]:
    """Yield the paths of the tables under names that are like another one."""
    if not isinstance(place, dict):
        return
    if KEY in place and path and are_named_at(path[:-1]):
        yield path
    for key, inside in place.items():
        yield from _alike(inside, (*path, key), are_named_at)


class _Filling:
    """Fills tables that are like others, each once the other one is filled."""

    def __init__(self, data: Tables, name: str, are_named_at: Callable[[Path], bool]):
        self.data, self.name, self.are_named_at = data, name, are_named_at
        self.copies = Copies()
        self.under_way: list[Path] = []

    def fill(self, path: Path) -> None:
        """Fill the table at a path, and those inside the one that it is like before."""
        table = self._at(path)
        if KEY not in table:
            return
        if path in self.under_way:
            circle = ", ".join(".".join(one) for one in (*self.under_way, path))
            raise ScenarioError(
                f"{self.name}: {'.'.join(path)}.{KEY}: tables are like each other in a circle ({circle})"
            )
        self.under_way.append(path)
        origin = self._path_of_original(path, table[KEY])
        for inner in list(_alike(self._at(origin), origin, self.are_named_at)):
            self.fill(inner)
        del table[KEY]
        self._copy_table(self._at(origin), table, origin, path)
        self.under_way.pop()

    def _at(self, path: Sequence[str]) -> Tables:
        place: Any = self.data
        for part in path:
            place = place[part]
        found: Tables = place
        return found

    def _path_of_original(self, path: Path, stated: object) -> Path:
        """Return the path of the table that the one at `path` is like."""
        where = f"{self.name}: {'.'.join(path)}.{KEY}"
        if not isinstance(stated, str):
            raise ScenarioError(f"{where} = {shown(stated)}: must be the name of a table beside it")
        names = [at for at in range(1, len(path)) if self.are_named_at(path[:at])]
        parts = stated.split(".")
        if len(parts) > len(names):
            raise ScenarioError(f"{where} = {shown(stated)}: must be of {len(names)} names at most")
        found = list(path)
        for at, part in zip(reversed(names), reversed(parts), strict=False):
            found[at] = part
        place: Any = self.data
        for depth, part in enumerate(found):
            if not isinstance(place, dict) or part not in place:
                known = list(place) if isinstance(place, dict) and depth in names else []
                words = f"; {nearest(part, [one for one in known if one != path[-1]])}" if known else ""
                raise ScenarioError(f"{where} = {shown(stated)}: there is no [{'.'.join(found)}]{words}")
            place = place[part]
        if not isinstance(place, dict):
            raise ScenarioError(f"{where} = {shown(stated)}: {'.'.join(found)} is no table")
        return tuple(found)

    def _copy_table(self, source: Mapping[str, Any], into: Tables, origin: Path, path: Path) -> None:
        """Put what a table says into another one, where that does not say it itself."""
        for key, value in source.items():
            if key not in into:
                into[key] = copy.deepcopy(value)
                self.copies.origins[".".join([*path, key])] = self.copies.origin_of(".".join([*origin, key]))
            elif key not in ONE_VALUE and _are_merged(into[key], value):
                self._copy_table(value, into[key], (*origin, key), (*path, key))


def _are_merged(own: object, value: object) -> bool:
    """Return whether both are tables of one sort, and no distribution."""
    if not isinstance(own, dict) or not isinstance(value, dict) or "distribution" in own or "distribution" in value:
        return False
    return all(tag not in own or own[tag] == value.get(tag) for tag in TAGS)
