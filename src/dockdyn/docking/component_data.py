"""What runs tell of bodies by finite elements: what is recovered at places over time, and what their modes leave out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import xp
from dockdyn.docking.schema.finite_elements import FiniteElementSection

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection
    from dockdyn.results.run import Run

RECOVERED = {  # name: dimensions, unit, words
    "recovered": (
        ("time", "recovery"),
        "SI",
        "what is recovered at places of bodies by finite elements, in the unit of recovery_unit",
    ),
    "recovered_peak": (("recovery",), "SI", "largest size of that, as sampled"),
}
COMPONENTS = {
    "static_loss": ("1", "largest share of a point's compliance that the modes of the body leave out"),
    "highest_frequency": ("Hz", "frequency of the highest mode of the body"),
}


def _components(content: SeveralBodiesSection) -> Iterator[tuple[str, FiniteElementSection]]:
    for body in content.bodies:
        if isinstance(body.flexible, FiniteElementSection):
            yield body.name, body.flexible


def recovery_names(content: SeveralBodiesSection) -> tuple[list[str], list[str]]:
    """Return what is recovered, "body.name", with the row where there are several, and the units."""
    names, units = list[str](), list[str]()
    for body, flexible in _components(content):
        for one, count in zip(flexible.recovery, flexible.recovered_counts(), strict=True):
            rows = [""] if count == 1 else [f".{row}" for row in range(count)]
            names += [f"{body}.{one.name}{row}" for row in rows]
            units += [one.unit] * count
    return names, units


def recovered_data(content: SeveralBodiesSection, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `recovered` and its largest sizes, also from traced numbers; `data` has samples of modal coordinates."""
    if not recovery_names(content)[0] or "modal_coordinate" not in data:
        return {}
    links = [name for name, _ in content.modes()]
    found = []
    for body, flexible in _components(content):
        own = np.flatnonzero([link == body for link in links])
        found.append(data["modal_coordinate"][:, own] @ xp.asarray(flexible.recovery_shapes()).T)
    values = xp.concatenate(found, axis=1)
    return {"recovered": values, "recovered_peak": xp.max(xp.abs(values), axis=0)}


def component_variables(content: SeveralBodiesSection, run: Run) -> dict[str, Any]:
    """Return the variables of bodies by finite elements; nothing where there is none."""
    parts = list(_components(content))
    if not parts:
        return {}
    numbers = {
        "static_loss": [flexible.static_loss() for _, flexible in parts],
        "highest_frequency": [flexible.highest_frequency() for _, flexible in parts],
    }
    recovered = recovered_data(content, run.sampled)
    return {
        **{
            name: (("component",), np.array(numbers[name]), {"units": unit, "long_name": words})
            for name, (unit, words) in COMPONENTS.items()
        },
        **{
            name: (dimensions, np.asarray(recovered[name], float), {"units": unit, "long_name": words})
            for name, (dimensions, unit, words) in RECOVERED.items()
            if name in recovered
        },
    }


def component_names(content: SeveralBodiesSection) -> dict[str, Any]:
    """Return the names along the dimensions of these variables."""
    (names, units), components = recovery_names(content), [name for name, _ in _components(content)]
    found: dict[str, Any] = {"component": components} if components else {}
    return found | ({"recovery": names, "recovery_unit": ("recovery", units)} if names else {})


def recovery_figures(names: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the largest size of each that is recovered, as in "recovery.chaser.root-stress.peak"."""
    if "recovered_peak" not in data:
        return {}
    return {f"recovery.{name}.peak": data["recovered_peak"][index] for index, name in enumerate(names)}
