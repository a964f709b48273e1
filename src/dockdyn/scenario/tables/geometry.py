"""Field types of geometry: places, directions, lengths."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from dockdyn.scenario.language.units import Coordinate, Number, quantity
from dockdyn.scenario.tables.part import refuse

SHORT = 1e-100  # a direction's largest component

Point = Annotated[list[Coordinate], Field(min_length=3, max_length=3)]
Triple = Annotated[list[Number], Field(min_length=3, max_length=3)]


def _pointing(value: list[float]) -> list[float]:
    """Return a direction, scaled where the square of its length would be no number."""
    if not any(value):
        refuse("must not be the zero vector")
    largest = max(map(abs, value))
    return value if largest > SHORT else [part / largest for part in value]


Direction = Annotated[Triple, AfterValidator(_pointing)]
Length = quantity("m", "a length", above=0)
