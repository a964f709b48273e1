"""A tensor of inertia in a scenario: a diagonal or all of it, and what a body can have."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field

from dockdyn.scenario.language.also import THREE_NUMBERS
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse

INERTIA_SLACK = 1e-9  # relative; the triangle inequality is met with equality by flat bodies


def tensor(value: object) -> object:
    """A diagonal as a 3 × 3 table."""
    if isinstance(value, list) and not any(isinstance(item, list) for item in value):
        if len(value) != 3:
            refuse(f"must be three moments of inertia in kg m², or a table of 3 by 3; has {len(value)}")
        return [[value[i] if i == j else 0.0 for j in range(3)] for i in range(3)]
    return value


def physical(value: list[list[float]]) -> list[list[float]]:
    """Refuses what no body can have: asymmetry, a principal moment not positive or larger than the two others together."""
    matrix = np.array(value)
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=1e-12 * np.abs(matrix).max()):
        refuse("must be symmetric")
    moments = np.linalg.eigvalsh(matrix)
    if moments[0] <= 0:
        refuse(f"must have positive principal moments; they are {', '.join(f'{m:g}' for m in moments)} kg m²")
    if moments[2] > (moments[0] + moments[1]) * (1 + INERTIA_SLACK):
        words = " ≤ ".join(f"{m:g}" for m in moments)
        refuse(
            f"must meet the triangle inequality (no principal moment above the sum of the two others); they are {words} kg m²"
        )
    return value


Moment = quantity("kg*m**2", "a moment of inertia", component=True)
Row = Annotated[list[Moment], Field(min_length=3, max_length=3)]
Inertia = Annotated[
    list[Row], Field(min_length=3, max_length=3), BeforeValidator(tensor), AfterValidator(physical), THREE_NUMBERS
]
