"""Elementary functions, written once in the translator's own language: the same bits on every target.

Each is within one unit in the last place of the exact value; special values are those of C's annex F. No function uses a
fused multiplication and addition, which not every target has. Constants are computed where they are used (`decimals`).

Units: none; angles in rad.
Source: the modules' own; Muller, Elementary Functions, 3rd ed. (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from dockdyn.translate.elementary import arc, circular, error, exact, exponential, hyperbolic, logarithm
from dockdyn.translate.elementary.terms import Term
from dockdyn.translate.scalar_program import Builder, Function

UNARY: dict[str, Callable[[Term], Term]] = {
    "sin": circular.sine,
    "cos": circular.cosine,
    "tan": circular.tangent,
    "asin": arc.arcsine,
    "acos": arc.arccosine,
    "atan": arc.arctangent_of,
    "sinh": hyperbolic.hyperbolic_sine,
    "cosh": hyperbolic.hyperbolic_cosine,
    "tanh": hyperbolic.hyperbolic_tangent,
    "asinh": hyperbolic.area_sine,
    "acosh": hyperbolic.area_cosine,
    "atanh": hyperbolic.area_tangent,
    "exp": exponential.exponential,
    "exp2": exponential.exponential_of_two,
    "expm1": exponential.exponential_less_one,
    "log": logarithm.logarithm,
    "log1p": logarithm.logarithm_of_one_more,
    "log2": logarithm.logarithm_of_two,
    "cbrt": logarithm.cube_root,
    "erf": error.error,
    "erfc": error.error_complement,
    "round": exact.nearest_integer,
}
BINARY: dict[str, Callable[[Term, Term], Term]] = {
    "pow": logarithm.power,
    "atan2": arc.angle,
    "fmod": exact.remainder,
    "nextafter": exact.neighbour,
}
FORMULAS: dict[str, Callable[..., Term]] = {**UNARY, **BINARY}


@cache
def function_of(name: str) -> Function:
    """Return the function of this name as a scalar program."""
    builder = Builder()
    parameters = [builder.value("float") for _ in range(1 if name in UNARY else 2)]
    result = FORMULAS[name](*[Term(builder, one) for one in parameters])
    return Function(name, parameters, builder, result.scalar)


def functions_among(operations: Iterable[str]) -> list[Function]:
    """Return the functions among the names of operations, in alphabetical order."""
    return [function_of(name) for name in sorted(operations) if name in FORMULAS]
