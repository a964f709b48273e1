"""Numbers of a scenario as arrays, traced ones as they are."""

from __future__ import annotations

from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike


@overload
def number(value: None) -> None: ...
@overload
def number(value: ArrayLike | list[Any]) -> Any: ...  # noqa: ANN401, for fields that are traced later
def number(value: ArrayLike | list[Any] | None) -> Any:
    """Return a number, or numbers, as an array; traced ones as they are."""
    if value is None or isinstance(value, jax.core.Tracer):
        return value
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))
    return jnp.asarray(value, float) if traced else np.asarray(value, float)
