"""How keys name tables that repeat: by names of their own, the items of a list by index."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Any

from dockdyn.scenario.language.section import NamedSection

NAME = re.compile(r"[A-Za-z0-9_-]+")  # of tables that stand under names of their own


def are_named(items: object) -> bool:
    """Return whether they are tables that a file has under names of their own."""
    return (
        isinstance(items, list | tuple) and bool(items) and isinstance(items[0], NamedSection) and bool(items[0].name)
    )


def count_of_name(parts: Sequence[str], names: Container[str]) -> int:
    """Return how many of the `parts` of a key, from the first, are one of the `names`, which may have dots; 0 of none."""
    return next((count for count in range(len(parts), 0, -1) if ".".join(parts[:count]) in names), 0)


def names_of(items: Sequence[Any]) -> list[str]:
    """Return how keys name all items of a list."""
    return [item.name for item in items] if are_named(items) else [str(index) for index in range(len(items))]
