"""What a scenario is, a docking or a rig around one: which of the two its tables say, and what knows how it runs.

Each is loaded when it is first asked for, so that reading a scenario loads no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dockdyn.kinds.kind import Kind

KINDS = {
    "assembly": "dockdyn.kinds.assembly.kind:AssemblyKind",
    "rig": "dockdyn.kinds.rig.kind:RigKind",
}


def kind_of(data: Mapping[str, Any]) -> Kind:
    """Return the kind of scenario that has these tables: with a table `rig` it is one."""
    return kind_named("rig" if "rig" in data else "assembly")


@cache
def kind_named(name: str) -> Kind:
    """Return the kind of that name, which must be one of `KINDS`."""
    module, _, place = KINDS[name].partition(":")
    found: Kind = getattr(import_module(module), place)()
    return found
