"""What a scenario sets up, a mechanism or a rig around one: which of the two its tables say, and what knows how it runs.

Each is loaded when it is first asked for, so that reading a scenario loads no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dockdyn.docking.setup import Setup

SETUPS = {
    "mechanism": "dockdyn.docking.mechanism_setup:MechanismSetup",
    "rig": "dockdyn.rig.rig_setup:RigSetup",
}


def setup_of(data: Mapping[str, Any]) -> Setup:
    """Return the setup of the scenario that has these tables: with a table `rig` it is a rig."""
    return setup_named("rig" if "rig" in data else "mechanism")


@cache
def setup_named(name: str) -> Setup:
    """Return the setup of that name, which must be one of `SETUPS`."""
    module, _, place = SETUPS[name].partition(":")
    found: Setup = getattr(import_module(module), place)()
    return found
