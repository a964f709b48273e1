"""How keys name the tables of a list: by their own names, where those say which one it is, else by index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dockdyn.scenario.language.section import Section


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


def by_name(path: Sequence[str], data: Any) -> list[str]:  # noqa: ANN401, what a file holds
    """A path of keys and indices into `data` with a table of several by its own name, where that says which one it is."""
    found, place = [], data
    for part in path:
        several = isinstance(place, list) and len(place) > 1 and part.isdecimal()
        found.append(name_of(place, int(part)) if several else part)
        inside = place.get(part) if isinstance(place, dict) else None
        place = place[int(part)] if isinstance(place, list) else inside
    return found


def called(item: object) -> str | None:
    """What a table of a list is called: its name, or else the feature it speaks of."""
    given = item if isinstance(item, dict) else dict(item) if isinstance(item, Section) else {}
    found = given.get("name") or given.get("feature")
    return found if isinstance(found, str) else None
