"""The kinds of scenario by name. Each is loaded when it is first asked for, so that reading a scenario loads no other.

A package of one's own adds a kind through the entry point group `dockdyn.kinds`: name = "module:Class".
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dockdyn.kinds.kind import Kind

GROUP = "dockdyn.kinds"
BUILT_IN = {
    "assembly": "dockdyn.kinds.assembly.kind:AssemblyKind",
    "rig": "dockdyn.kinds.rig.kind:RigKind",
}


@cache
def known_kinds() -> dict[str, str]:
    """Return where the class of every kind is, "module:Class" by the kind's name; dockdyn's own first."""
    from importlib.metadata import entry_points

    return BUILT_IN | {entry.name: entry.value for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN}


def is_kind(name: object) -> bool:
    """Return whether a kind has that name; packages of one's own are looked for where dockdyn has none of it."""
    return isinstance(name, str) and (name in BUILT_IN or name in known_kinds())


@cache
def kind_named(name: str) -> Kind:
    """Return the kind of that name, which must be one of `known_kinds`."""
    module, _, place = (BUILT_IN.get(name) or known_kinds()[name]).partition(":")
    found: Kind = getattr(import_module(module), place)()
    return found
