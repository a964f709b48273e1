"""Field types of a body's motion: attitude, velocity, angular rate; numbers that may be left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from jaxtyping import Array, ArrayLike, Float


def unit(value: list[float]) -> list[float]:
    """Return a quaternion, normalised when it is within 1e-3 of unit length."""
    length = math.sqrt(sum(part * part for part in value))
    if abs(length - 1) > 1e-3:
        refuse(f"must be a quaternion within 1e-3 of unit length, scalar first; its length is {length:g}")
    return value if abs(length - 1) < 1e-15 else [part / length for part in value]


Attitude = Annotated[list[Number], Field(min_length=4, max_length=4), AfterValidator(unit)]
Velocity = Annotated[list[quantity("m/s", "a velocity", component=True)], Field(min_length=3, max_length=3)]
Rate = Annotated[list[quantity("rad/s", "an angular rate", component=True)], Field(min_length=3, max_length=3)]


def number(value: ArrayLike | None) -> Float[Array, ""]:
    """Return a number of a table as JAX has it; zero for one that is not stated."""
    import jax.numpy as jnp

    return jnp.asarray(0.0 if value is None else value, float)
