"""How the bodies of a mechanism may move, `motion`, and the schema of each, imported when a scenario has it."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.section import Section

SPACE = "space"
MECHANISMS = {
    SPACE: "dockdyn.docking.schema.mechanism:MechanismSection",
    "plane": "dockdyn.docking.schema.mechanism:MechanismSection",
    "line": "dockdyn.docking.schema.on_line:LineMechanismSection",
}


def schema_by_motion(data: Mapping[str, Any], name: str, schemas: Mapping[str, str]) -> type[Section]:
    """Return the schema of the motion that a scenario called `name` states. Raises ScenarioError for one that has none."""
    motion = data.get("motion", SPACE)
    if not isinstance(motion, str) or motion not in schemas:
        raise ScenarioError(f"{name}: motion = {shown(motion)}: must be one of {', '.join(schemas)}")
    return resolve_name(schemas[motion])


def different_schemas(schemas: Mapping[str, str]) -> list[type[Section]]:
    """Return the schemas of all motions, each once."""
    return list(map(resolve_name, dict.fromkeys(schemas.values())))
