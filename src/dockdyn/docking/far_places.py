"""Places so far from a body's centre of mass that they are hardly meant, as where a unit is wrong."""

from __future__ import annotations

import math
from typing import Any

from dockdyn.docking.schema.multibody import ELEMENTS
from dockdyn.scenario.language.keys import key_of, value_at
from dockdyn.scenario.tables.mesh import HUGE
from dockdyn.scenario.tables.part import refuse
from dockdyn.trees import leaves_of, leaves_with_paths

NEAR = 20.0  # m: a place no farther than that may be on any body, however small


def refuse_far_places(content: Any) -> None:  # noqa: ANN401, a section with bodies
    """Refuse a place on a body that is `HUGE` times as far as the largest radius of gyration of all bodies, and not `NEAR`.

    So are millimetres that are read as metres. Where bodies begin in space, approaches and the ends of a joint's stroke or
    range may be any distance.
    """
    sizes = [math.sqrt(max(map(max, body.inertia)) / body.mass) for body in content.body if not body.fixed]
    limit = max(HUGE * max(sizes), NEAR)
    for table in ("body", "tank", *ELEMENTS):
        for section in getattr(content, table):
            if max((abs(value) for value in leaves_of(section) if isinstance(value, float)), default=0.0) > limit:
                words = f"beyond {limit:.3g} m; no body has a radius of gyration above {max(sizes):.3g} m"
                _refuse_beyond(limit, words, content, table, section)


def _refuse_beyond(limit: float, words: str, content: Any, table: str, section: Any) -> None:  # noqa: ANN401, as above
    """Refuse the first component of a place in a section that is beyond the limit (m)."""
    for path, value in leaves_with_paths(section):
        far = isinstance(value, float) and abs(value) > limit
        if not far or not isinstance(path[-1], int):
            continue
        inner = key_of(path, section)
        if inner.startswith(("joint.stroke.", "joint.range.")) or (
            inner.startswith("position.") and getattr(section, "on", "") is None
        ):
            continue
        found = value_at(content, f"{table}.{section.name}.{inner}", "")
        if found.unit == "m":
            refuse(f'{found.key} = {value:g} m: {words}; is it in mm? then state it so, as in "5 mm"')
