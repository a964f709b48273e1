"""Which of the user's own modules a scenario takes parts from, and whether they are still the same."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.language.section import Section


def own_modules(content: object) -> dict[str, str]:
    """SHA-256 of the source of every module with something of the user's own, by the module's name."""
    names = {part.own_class().partition(":")[0] for part in _sections_in(content) if isinstance(part, Own)}
    found = {}
    for name in sorted(names):
        source = getattr(sys.modules.get(name), "__file__", None)
        found[name] = hashlib.sha256(Path(source).read_bytes()).hexdigest() if source else ""
    return found


def _sections_in(value: object) -> Iterator[Section]:
    """All sections in a section, itself included."""
    if isinstance(value, Section):
        yield value
        for _, inside in value:
            yield from _sections_in(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _sections_in(inside)
