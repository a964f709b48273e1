"""How deep a contact may be pressed in, by the sizes of the feature and of the surface that touch in it.

Units: SI. Source: own construction.
"""

from __future__ import annotations

from typing import Any

from dockdyn.scenario.sanity.stated import StatedNumber

RADII = 4.0  # of a feature: what is pressed in deeper has passed through
SIZES = ("radius", "rim_radius", "half_width", "length")  # keys of surfaces


def depths_of(content: Any, numbers: list[StatedNumber]) -> dict[str, tuple[float, float]]:  # noqa: ANN401, of a scenario
    """Return by the key of each law of contacts whose features have a radius how deep (m) they may be pressed in, and that
    radius (m): of several that share a law the least.

    A surface whose own size is larger, as the rim of a cone, bears as much as that.
    """
    contacts = getattr(content, "contact", None)
    meetings: list[tuple[str, float]] = getattr(content, "meetings", list)()
    if not isinstance(contacts, list) or len(contacts) != len(meetings):
        return {}
    sizes: dict[str, float] = {}
    for one in numbers:
        if "surface" in one.path[:-1] and one.unit == "m" and one.field in SIZES and isinstance(one.value, float):
            name = str(getattr(one.table, "name", ""))
            sizes[name] = min(sizes.get(name, one.value), one.value)
    found: dict[str, tuple[float, float]] = {}
    for contact, (_, radius) in zip(contacts, meetings, strict=True):
        size = sizes.get(contact.between[1].rpartition(".")[2], 0.0)
        if radius > 0:
            key, own = f"{content.law_key(contact, 'normal')}.", (max(RADII * radius, size), radius)
            found[key] = min(found.get(key, own), own)
    return found
