"""Functions in machine code of dockdyn's own, beside what XLA makes of them."""

from typing import Any

import jax
import numpy as np

from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.native import Native, code_of

CLOSE = 1e-12  # of the largest number
seen: set[str] = set()


def assert_same(function: Any, *arrays: Any) -> None:
    """Results agree to rounding, and what is no number or infinite stands at the same places."""
    given = [np.asarray(one) for one in arrays]
    native = Native(code_of(translate_function(traced(function, *given))))
    found = native(*given)
    expected = jax.tree.leaves(jax.jit(function)(*given))
    for one, other in zip(found, map(np.asarray, expected), strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        if one.dtype.kind != "f":
            np.testing.assert_array_equal(one, other)
            continue
        finite = np.isfinite(other)
        np.testing.assert_array_equal(np.where(finite, 0, one), np.where(finite, 0, other))
        size = np.maximum(np.abs(other), np.abs(other[finite & (np.abs(other) < 1e100)]).max(initial=0.0))
        error = np.abs(np.where(finite, one, 0) - np.where(finite, other, 0))
        np.testing.assert_array_less(error[finite], (CLOSE * size + 1e-300)[finite])


def traced(function: Any, *arrays: Any) -> Any:
    """The jaxpr of a function at arrays; its primitives count as seen."""
    jaxpr = jax.jit(function).trace(*map(np.asarray, arrays)).jaxpr
    _remember(jaxpr)
    return jaxpr


def _remember(jaxpr: Any) -> None:
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        seen.add(equation.primitive.name)
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple) else (value,):
                if hasattr(getattr(inner, "jaxpr", inner), "eqns"):
                    _remember(inner)


def primitives_of() -> set[str]:
    """Names of all primitives of the functions that were compared."""
    return seen
