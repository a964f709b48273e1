"""Field types of a body's motion: velocity, angular rate; numbers that may be left out."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dockdyn.deferred import Array, ArrayLike, Float, xp
from dockdyn.scenario.language.units import quantity

Velocity = Annotated[list[quantity("m/s", "a velocity", component=True)], Field(min_length=3, max_length=3)]
Rate = Annotated[list[quantity("rad/s", "an angular rate", component=True)], Field(min_length=3, max_length=3)]


def number(value: ArrayLike | None) -> Float[Array, ""]:
    """Return a number of a table as JAX has it; zero for one that is not stated."""

    return xp.asarray(0.0 if value is None else value, float)
