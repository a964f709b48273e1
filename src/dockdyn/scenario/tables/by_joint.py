"""Lists with one entry a joint: the units of prismatic joints."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.units import Bounds, number_of
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.tree import LinkSection

# key of a list: unit for a prismatic joint, what it is
SLIDING = {
    "stiffness": ("N/m", "a gain"),
    "damping": ("N*s/m", "a gain"),
    "limit": ("N", "a force"),
    "set_point": ("m", "a length"),
}


def of_slides(table: dict[str, Any], joints: list[LinkSection]) -> dict[str, Any]:
    """The lists of `table`, texts for prismatic joints as numbers; of other joints the table's section knows the units."""
    found = {}
    for key, (unit, what) in SLIDING.items():
        given = table.get(key)
        if not isinstance(given, list) or len(given) != len(joints):
            continue
        found[key] = list(given)
        for place, link in enumerate(joints):
            if link.joint == "prismatic" and isinstance(given[place], str):
                try:
                    found[key][place] = number_of(given[place], unit, what, Bounds())
                except PydanticCustomError as error:
                    name = link.coordinate or link.name
                    refuse(f"{key}.{place} = {given[place]!r}: {error} ({name} is prismatic)")
    return found
