"""How keys name the tables of a list: by their own names, where those say which one it is, else by index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dockdyn.scenario.language.section import NamedSection, Section

NAME = re.compile(r"[A-Za-z0-9_-]+")  # of tables that stand under names of their own


def are_named(items: object) -> bool:
    """Return whether they are tables that a file has under names of their own."""
    return isinstance(items, list | tuple) and bool(items) and isinstance(items[0], NamedSection)


def name_of(items: list[Any], index: int) -> str:
    """How a key names a table of a list: by its own name where that is one, else by its index."""
    return names_of(items)[index]


def names_of(items: list[Any]) -> list[str]:
    """Return how keys name all tables of a list, in a time that their number is in proportion to."""
    own = [called(item) for item in items]
    count = Counter(own)
    return [
        name
        if name is not None and "." not in name and not name.lstrip("-").isdigit() and count[name] == 1
        else str(index)
        for index, name in enumerate(own)
    ]


def endings_of(items: list[Any]) -> list[str]:
    """Return how a key goes on from a list to each of its tables: not at all to an only one, else by a dot and its name."""
    if are_named(items):
        return [f".{item.name}" for item in items]
    return [""] if len(items) == 1 else [f".{name}" for name in names_of(items)]


def by_name(path: Sequence[str], data: Any) -> list[str]:  # noqa: ANN401, what a file holds
    """Return a path of keys and indices into `data` as a user writes it.

    A table of several is told by its own name, where that says which one it is, an only table by nothing.
    """
    found, place = [], data
    for depth, part in enumerate(path, 1):
        listed = isinstance(place, list) and part.isdecimal()
        only = listed and len(place) == 1 and isinstance(place[0], dict) and depth < len(path)
        if not only:
            found.append(name_of(place, int(part)) if listed and len(place) > 1 else part)
        inside = place.get(part) if isinstance(place, dict) else None
        place = place[int(part)] if isinstance(place, list) else inside
    return found


def called(item: object) -> str | None:
    """What a table of a list is called: its name, or else the feature it speaks of."""
    given = item if isinstance(item, dict) else dict(item) if isinstance(item, Section) else {}
    found = given.get("name") or given.get("feature")
    return found if isinstance(found, str) else None
