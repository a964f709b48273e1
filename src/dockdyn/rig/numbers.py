"""Numbers of a scenario as arrays, traced ones as they are."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from dockdyn.deferred import ArrayLike, is_traced, jnp
from dockdyn.trees import leaves_of


@overload
def number(value: None) -> None: ...
@overload
def number(value: ArrayLike | list[Any]) -> Any: ...  # noqa: ANN401, for fields that are traced later
def number(value: ArrayLike | list[Any] | None) -> Any:
    """Return a number, or numbers, as an array; traced ones as they are."""
    if value is None or is_traced(value):
        return value
    traced = any(is_traced(leaf) for leaf in leaves_of(value))
    return jnp.asarray(value, float) if traced else np.asarray(value, float)
