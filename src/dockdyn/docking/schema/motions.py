"""How the bodies of a mechanism may move, `motion`, and the schema of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.docking.schema.on_line import LineMechanismSection
from dockdyn.scenario.language.errors import ScenarioError, shown

SPACE = "space"
MECHANISMS: dict[str, type[MechanismSection]] = {
    SPACE: MechanismSection,
    "plane": MechanismSection,
    "line": LineMechanismSection,
}


def schema_by_motion[Schema](data: Mapping[str, Any], name: str, schemas: Mapping[str, type[Schema]]) -> type[Schema]:
    """Return the schema of the motion that a scenario called `name` states. Raises ScenarioError for one that has none."""
    motion = data.get("motion", SPACE)
    if not isinstance(motion, str) or motion not in schemas:
        raise ScenarioError(f"{name}: motion = {shown(motion)}: must be one of {', '.join(schemas)}")
    return schemas[motion]
