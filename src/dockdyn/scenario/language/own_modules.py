"""Which of the user's own modules, FMUs and files of data a scenario takes parts from, and whether they are still the same."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from dockdyn.files import read_file
from dockdyn.scenario.language.given_file import FMU
from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.language.section import Section


def own_modules(content: object) -> dict[str, str]:
    """Return SHA-256 of the source of every module with something of the user's own, and of every FMU, mesh and file of
    matrices, by the name of each; files that bodies are drawn with are left out."""
    sections = list(_sections_in(content))
    names = {part.own_class().partition(":")[0] for part in sections if isinstance(part, Own)}
    files = dict.fromkeys(file for part in sections if (file := part.data_file()) is not None)
    found = {file: _digest(Path(file)) for file in files}
    for name in sorted(names):
        source = getattr(sys.modules.get(name), "__file__", None)
        found[name] = _digest(Path(source)) if source else ""
    return found


def _digest(file: Path) -> str:
    """Return the SHA-256 of a file; nothing of one that is not there, or none that would be read."""
    try:
        return hashlib.sha256(read_file(file, FMU.most)).hexdigest()
    except OSError:
        return ""


def _sections_in(value: object) -> Iterator[Section]:
    """Yield all sections in a section, itself included."""
    if isinstance(value, Section):
        yield value
        for _, inside in value:
            yield from _sections_in(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _sections_in(inside)
