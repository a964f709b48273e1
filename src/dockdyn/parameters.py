"""Parameters of laws, surfaces and compensators: fields that say their unit and what values they may have.

Units: as each parameter says.
Source: definition of the interface.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

from dockdyn.records import record

MISSING: Any = dataclasses.MISSING
TOLERANCE = 1e-11  # relative error of a step, where a scenario states none
DeviceModel = Literal["as-published", "work-conjugate"]  # how a compliance device's springs share its force
Dynamics = Literal["continuous", "half-period", "zero-order-hold", "explicit-euler", "semi-implicit-euler"]
NOT_STATED = {"stated": False}  # metadata of a static field that is no key of a scenario


@record
class Parameter:
    """What a field says of itself: its unit, the quantity in words and the bounds of its value, in SI units."""

    unit: str  # as pint reads it; may name parameters before it, as in "N/m**{exponent}"
    what: str
    above: float = -math.inf
    least: float = -math.inf
    below: float = math.inf
    most: float = math.inf
    tuned: bool = False  # whether a compensator's `tune` finds it where it is not stated


def parameter(
    unit: str = "",
    what: str = "a number",
    *,
    default: float | tuple[Any, ...] = MISSING,
    tuned: bool = False,
    **bounds: float,
) -> Any:  # noqa: ANN401, as of dataclasses.field
    """Return a field of a law, a surface or a compensator: a number, or a list of numbers, with a unit and bounds.

    Args:
        unit: unit of the value, such as "N*s/m"; none for a pure number. May name parameters before it in braces.
        what: the quantity in words, for messages: "a stiffness".
        default: value (SI) where a scenario states none; without it a scenario must state one.
        tuned: of a compensator: whether its `tune` finds the value where a scenario states none.
        bounds: `above`, `least`, `below`, `most` (SI): the values that are allowed; `above` and `below` exclude the bound.

    Raises:
        TypeError: a bound has another name.
    """
    about = Parameter(unit, what, tuned=tuned, **bounds)
    given: dict[str, Any] = {} if default is MISSING else {"default": default}
    return dataclasses.field(metadata={"parameter": about}, **given)


def parameters_of(made: type) -> dict[str, Parameter]:
    """Return the parameters that a class declares, by name, in their order."""
    return {
        field.name: field.metadata["parameter"] for field in dataclasses.fields(made) if "parameter" in field.metadata
    }


def settings_of(made: type) -> dict[str, Any]:
    """Return the static fields of a class that a scenario may state, with their defaults, by name, in their order."""
    return {
        field.name: field.default
        for field in dataclasses.fields(made)
        if field.metadata.get("static") and field.metadata.get("stated", True)
    }
