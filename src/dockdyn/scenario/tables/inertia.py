"""A tensor of inertia in a scenario: a diagonal or all of it, and what a body can have."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field

from dockdyn.deferred import Float
from dockdyn.scenario.language.also import THREE_NUMBERS
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse

INERTIA_SLACK = 1e-9  # relative; the triangle inequality is met with equality by flat bodies
ROUNDING = 1e-14  # relative, of principal moments
THINNEST = 1e-4  # m, root mean square, of bodies whose inertia is repaired


def tensor(value: object) -> object:
    """Return a diagonal as a 3 × 3 table."""
    if not isinstance(value, list):
        refuse("must be a list of three moments of inertia in kg m², or a table of 3 by 3")
    if isinstance(value, list) and not any(isinstance(item, list) for item in value):
        if len(value) != 3:
            refuse(f"must be three moments of inertia in kg m², or a table of 3 by 3; has {len(value)}")
        return [[value[i] if i == j else 0.0 for j in range(3)] for i in range(3)]
    return value


def physical(value: list[list[float]]) -> list[list[float]]:
    """Refuse what no body can have: asymmetry, a principal moment not positive or larger than the two others together."""
    matrix = np.array(value)
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=1e-12 * np.abs(matrix).max()):
        refuse("must be symmetric")
    moments = np.linalg.eigvalsh(matrix)
    if moments[0] <= ROUNDING * abs(moments[2]):
        refuse(f"must have positive principal moments; they are {principal_moments(matrix)} kg m²")
    if moments[2] > (moments[0] + moments[1]) * (1 + INERTIA_SLACK):
        words = " ≤ ".join(f"{m:g}" for m in moments)
        refuse(
            f"must meet the triangle inequality (no principal moment above the sum of the two others); they are {words} kg m²"
        )
    return value


def physical_or_point(value: list[list[float]]) -> list[list[float]]:
    """Return it as `physical` does; all zeros, too, of a point mass whose joints give it what it turns about."""
    return physical(value) if np.any(value) else value


def nearest_possible(mass: float, inertia: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "3 3"]:
    """Return the possible inertia (kg m²) that is nearest to an impossible one, of a body of a `mass` (kg).

    Nearest is the second-moment matrix, ∫ r rᵀ dm = ½ tr(I) 1 − I, in the Frobenius norm, among those of bodies that are
    `THINNEST` or thicker in each direction: its eigenvalues below m `THINNEST`² are raised to that.
    Source: Wensing, Kim and Slotine 2018, Linear matrix inequalities for physically consistent inertial parameter
    identification, eq. 12; Higham 1988, Computing a nearest symmetric positive semidefinite matrix, theorem 2.1.
    """
    values, axes = np.linalg.eigh(np.trace(inertia) / 2 * np.eye(3) - inertia)
    moments = (axes * np.maximum(values, mass * THINNEST**2)) @ axes.T
    found = np.trace(moments) * np.eye(3) - moments
    return (found + found.T) / 2


def principal_moments(inertia: Float[np.ndarray, "3 3"]) -> str:
    """Return them in words for a message, without a unit."""
    return ", ".join(f"{moment:g}" for moment in np.linalg.eigvalsh(inertia))


Moment = quantity("kg*m**2", "a moment of inertia", component=True)
Row = Annotated[list[Moment], Field(min_length=3, max_length=3)]
Inertia = Annotated[
    list[Row], Field(min_length=3, max_length=3), BeforeValidator(tensor), AfterValidator(physical), THREE_NUMBERS
]
InertiaOrPoint = Annotated[
    list[Row],
    Field(min_length=3, max_length=3),
    BeforeValidator(tensor),
    AfterValidator(physical_or_point),
    THREE_NUMBERS,
]
