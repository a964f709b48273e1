"""Places so far from a body's centre of mass that they are hardly meant, as where a unit is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from dockdyn.docking.schema.multibody import ELEMENTS
from dockdyn.scenario.language.keys import key_of, unit_of, value_at
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.mesh import HUGE
from dockdyn.scenario.tables.part import refuse
from dockdyn.trees import Path

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
            for key, value in _lengths_beyond(limit, section, section, ()):
                inside = key.startswith(("joint.stroke.", "joint.range."))
                if inside or (key.startswith("position.") and getattr(section, "on", "") is None):
                    continue
                found = value_at(content, f"{table}.{section.name}.{key}", "")
                refuse(
                    f"{found.key} = {value:g} m: beyond {limit:.3g} m; no body has a radius of gyration above "
                    f'{max(sizes):.3g} m; is it in mm? then state it so, as in "5 mm"'
                )


def _lengths_beyond(limit: float, whole: Section, section: Section, at: Path) -> Iterator[tuple[str, float]]:
    """Yield the components of places in a section, at a path in a `whole` one, that are beyond the limit (m): key and value."""
    for field, value in section.fields().items():
        if isinstance(value, Section):
            yield from _lengths_beyond(limit, whole, value, (*at, field))
        elif isinstance(value, list):
            for inside, one in _members(value):
                if isinstance(one, Section):
                    yield from _lengths_beyond(limit, whole, one, (*at, field, *inside))
                elif isinstance(one, float) and abs(one) > limit and unit_of(section, field, inside) == "m":
                    yield key_of((*at, field, *inside), whole), one


def _members(values: list[Any], at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield what a list holds, and the lists in it, each with its indices."""
    for index, value in enumerate(values):
        if isinstance(value, list):
            yield from _members(value, (*at, index))
        else:
            yield (*at, index), value
