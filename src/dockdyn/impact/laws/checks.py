"""Checks of what a caller hands in: one line that names the value and says what is allowed.

Values that are being traced by JAX (inside `jit`, `vmap`, a derivative) cannot be looked at, and are let through.

Units: those of the value that is checked.
Source: own construction; every check raises ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.deferred import Array, ArrayLike, Float, PyTree, is_traced
from dockdyn.trees import leaves_of


def is_concrete(*values: PyTree) -> bool:
    """Return whether all values are there to be looked at."""
    return not any(is_traced(leaf) for leaf in leaves_of(values))


def format_number(value: ArrayLike | Sequence[ArrayLike]) -> str:
    """Return a number or list of numbers as it reads best."""
    array = np.asarray(value, float)
    return f"{array:.6g}" if array.ndim == 0 else "[" + ", ".join(f"{entry:.6g}" for entry in array.ravel()) + "]"


def check_range(
    name: str, value: ArrayLike | Sequence[ArrayLike], least: float, greatest: float = np.inf, open_ends: bool = False
) -> None:
    """Raise ValueError unless every number in `value` is finite and in the range, ends included or not."""
    if not is_concrete(value):
        return
    array = np.asarray(value, float)
    inside = (array > least) & (array < greatest) if open_ends else (array >= least) & (array <= greatest)
    if np.all(inside & np.isfinite(array)):
        return
    if np.isfinite(greatest):
        allowed = f"between {least:g} and {greatest:.6g}"
    else:
        allowed = f"above {least:g}" if open_ends else f"{least:g} or more"
    raise ValueError(f"{name} must be {allowed}; got {format_number(value)}")


def require_positive(**values: ArrayLike) -> None:
    """Raise ValueError for the first value that is not a finite number above zero."""
    for name, value in values.items():
        check_range(name.replace("_", " "), value, 0.0, open_ends=True)


def require_masses(name: str, values: Float[np.ndarray | Array, "masses"] | Sequence[ArrayLike]) -> None:
    """Raise ValueError unless `values` are one or more masses above zero."""
    if len(values) == 0:
        raise ValueError(f"{name} needs at least one mass")
    check_range(f"{name} masses", list(values) if is_concrete(values) else values, 0.0, open_ends=True)
