"""Rules of primitives that answer number by number.

Units: none.
Source: definitions of JAX's `lax`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dockdyn.translate.arrays import (
    SMALL,
    Array,
    Index,
    SmallArray,
    array_element,
    dtype_of,
    in_memory,
    produce_array,
    scalar_array,
)
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.jaxpr import Translator, numbers_of, register_rule
from dockdyn.translate.scalar_program import Builder, Scalar, kind_of

One = Callable[..., Scalar]


def map_arrays(translator: Translator, arrays: list[Array], out: Any, of: One) -> Array:  # noqa: ANN401, JAX's
    """Return `of` the numbers of the arrays, place by place; along a dimension of one an array is the same everywhere."""
    builder, shape = translator.builder, out.shape
    dtype = dtype_of(out.dtype)
    if not shape:  # most of all arrays: a number each
        return scalar_array(
            fit_integer(builder, of(builder, *[array_element(builder, one, ()) for one in arrays]), dtype), dtype
        )
    small = [one.values for one in arrays if isinstance(one, SmallArray)]
    if math.prod(shape) <= SMALL and len(small) == len(arrays):
        rows = zip(*(_spread_values(values, shape) for values in small), strict=True)
        return numbers_of([fit_integer(builder, of(builder, *row), dtype) for row in rows], shape, dtype)
    if math.prod(shape) > SMALL:
        arrays = [in_memory(builder, one) if math.prod(one.shape) > 1 else one for one in arrays]

    def at(index: Index) -> Scalar:
        found = []
        for one in arrays:
            there = () if not one.shape else tuple(0 if n == 1 else i for i, n in zip(index, one.shape, strict=True))
            found.append(array_element(builder, one, there))
        return fit_integer(builder, of(builder, *found), dtype)

    return produce_array(builder, shape, dtype, at)


def _spread_values(values: np.ndarray, shape: tuple[int, ...]) -> list[Scalar]:
    """Return all numbers of an array, which is the same everywhere along a dimension of one, row by row of a shape."""
    return (values if values.shape == shape else np.broadcast_to(values, shape)).ravel().tolist()


def fit_integer(builder: Builder, value: Scalar, dtype: str) -> Scalar:
    """Return an integer within its type: shorter ones wrap around."""
    if dtype == "int32":
        return builder.compute("narrow", value)
    return builder.compute("narrow_unsigned", value) if dtype == "uint32" else value


def _binary_operation(name: str) -> One:
    return lambda builder, *operands: builder.compute(name, *operands)


def _logical_operation(name: str) -> One:
    def one(builder: Builder, *operands: Scalar) -> Scalar:
        if kind_of(operands[0]) != "bool":
            raise Untranslatable(f"{name} of integers")
        return builder.compute(name, *operands)

    return one


def _swapped_comparison(name: str) -> One:
    return lambda builder, a, b: builder.compute(name, b, a)


def _extreme_operation(name: str) -> One:
    def one(builder: Builder, a: Scalar, b: Scalar) -> Scalar:
        if kind_of(a) == "bool":
            return builder.compute("or" if name == "max" else "and", a, b)
        return builder.compute(name, a, b)

    return one


def _quotient_operation(name: str) -> One:
    def one(builder: Builder, a: Scalar, b: Scalar) -> Scalar:
        """Return, of integers by zero, −1, and the number itself as remainder; of the least by −1: itself, as XLA has it."""
        if kind_of(a) == "float":
            return builder.compute("fmod" if name == "rem" else name, a, b)
        if isinstance(b, int) and b not in (0, -1):
            return builder.compute(name, a, b)
        zero, opposite = builder.compute("eq", b, 0), builder.compute("eq", b, -1)
        found = builder.compute(name, a, builder.select(builder.compute("or", zero, opposite), 1, b))
        found = builder.select(opposite, _negate_value(builder, a) if name == "div" else 0, found)
        return builder.select(zero, -1 if name == "div" else a, found)

    return one


def _negate_value(builder: Builder, a: Scalar) -> Scalar:
    return builder.compute("sub", 0, a) if kind_of(a) == "int" else builder.compute("neg", a)


def _sign_of(builder: Builder, a: Scalar) -> Scalar:
    """Return ±1, and what is neither above nor below zero as it is: zeros keep their sign, what is no number stays none."""
    up, down = (1.0, -1.0) if kind_of(a) == "float" else (1, -1)
    below = builder.select(builder.compute("lt", a, up * 0), down, a)
    return builder.select(builder.compute("lt", up * 0, a), up, below)


def _is_finite(builder: Builder, a: Scalar) -> Scalar:
    return builder.compute("lt", builder.compute("abs", a), math.inf)


def _absolute_value(builder: Builder, a: Scalar) -> Scalar:
    if kind_of(a) == "int":
        return builder.compute("max", a, builder.compute("sub", 0, a))
    return builder.compute("abs", a)


def _total_order(builder: Builder, a: Scalar, b: Scalar, strict: bool) -> Scalar:
    """Return a before b, where what is no number comes after all numbers."""
    if kind_of(a) != "float":
        return builder.compute("lt" if strict else "le", a, b)
    none = builder.compute("is_nan", b)
    some = builder.compute("not", builder.compute("is_nan", a))
    last = builder.compute("and", none, some) if strict else none
    return builder.compute("or", builder.compute("lt" if strict else "le", a, b), last)


SAME: dict[str, One] = {
    "add": _binary_operation("add"),
    "add_any": _binary_operation("add"),
    "sub": _binary_operation("sub"),
    "mul": _binary_operation("mul"),
    "div": _quotient_operation("div"),
    "rem": _quotient_operation("rem"),
    "neg": _negate_value,
    "abs": _absolute_value,
    "sign": _sign_of,
    "square": lambda builder, a: builder.compute("mul", a, a),
    "one_minus_square": lambda builder, a: builder.compute(
        "mul", builder.compute("add", 1.0, a), builder.compute("sub", 1.0, a)
    ),
    "max": _extreme_operation("max"),
    "min": _extreme_operation("min"),
    "eq": _binary_operation("eq"),
    "ne": _binary_operation("ne"),
    "lt": _binary_operation("lt"),
    "le": _binary_operation("le"),
    "gt": _swapped_comparison("lt"),
    "ge": _swapped_comparison("le"),
    "lt_to": lambda builder, a, b: _total_order(builder, a, b, True),
    "le_to": lambda builder, a, b: _total_order(builder, a, b, False),
    "and": _logical_operation("and"),
    "or": _logical_operation("or"),
    "xor": _logical_operation("xor"),
    "not": _logical_operation("not"),
    "is_finite": _is_finite,
    "rsqrt": lambda builder, a: builder.compute("div", 1.0, builder.compute("sqrt", a)),
    "clamp": lambda builder, low, a, high: builder.compute("min", builder.compute("max", a, low), high),
    "copy": lambda builder, a: a,
    "copy_p": lambda builder, a: a,
    "stop_gradient": lambda builder, a: a,
    "nextafter": _binary_operation("nextafter"),
    "atan2": _binary_operation("atan2"),
}
for _name in ("sqrt", "floor", "ceil", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"):
    SAME[_name] = _binary_operation(_name)
for _name in ("acosh", "atanh", "exp", "exp2", "expm1", "log", "log1p", "log2", "cbrt", "erf", "erfc", "lgamma"):
    SAME[_name] = _binary_operation(_name)


def _register_operations() -> None:
    for name, of in SAME.items():

        def apply(
            translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any], of: One = of
        ) -> list[Array]:
            return [map_arrays(translator, arrays, outs[0], of)]

        register_rule(name)(apply)


_register_operations()


@register_rule("pow")
def power_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    def of(builder: Builder, a: Scalar, b: Scalar) -> Scalar:
        exponent = builder.compute("to_float", b) if kind_of(b) == "int" else b
        return builder.compute("pow", a, exponent)

    return [map_arrays(translator, arrays, outs[0], of)]


@register_rule("integer_pow")
def integer_power(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    exponent = params["y"]

    def of(builder: Builder, a: Scalar) -> Scalar:
        if kind_of(a) != "float":
            raise Untranslatable("integer_pow of integers")
        left, square, found = abs(exponent), a, None
        while left:
            if left & 1:
                found = square if found is None else builder.compute("mul", found, square)
            left >>= 1
            square = builder.compute("mul", square, square) if left else square
        found = 1.0 if found is None else found
        return builder.compute("div", 1.0, found) if exponent < 0 else found

    return [map_arrays(translator, arrays, outs[0], of)]


@register_rule("polynomial")
def polynomial_rule(
    translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]
) -> list[Array]:
    """Return it by Horner's rule."""

    def of(builder: Builder, a: Scalar, *coefficients: Scalar) -> Scalar:
        *lower, found = coefficients
        for one in reversed(lower):
            found = builder.compute("add", builder.compute("mul", found, a), one)
        return found

    return [map_arrays(translator, arrays, outs[0], of)]


@register_rule("round")
def round_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    name = "round_even" if int(params["rounding_method"]) == 1 else "round"
    return [map_arrays(translator, arrays, outs[0], _binary_operation(name))]


@register_rule("select_n")
def select_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    def of(builder: Builder, which: Scalar, *cases: Scalar) -> Scalar:
        if kind_of(which) == "bool":
            return cases[0] if len(cases) == 1 else builder.select(which, cases[1], cases[0])
        found = cases[-1]
        for place in reversed(range(len(cases) - 1)):
            found = builder.select(builder.compute("le", which, place), cases[place], found)
        return found

    return [map_arrays(translator, arrays, outs[0], of)]


def _limit_value(builder: Builder, value: Scalar, dtype: np.dtype) -> Scalar:
    """Return the nearest number that a shorter type has."""
    limits = np.iinfo(dtype)
    if limits.bits == 64:
        return value
    return builder.compute("min", builder.compute("max", value, int(limits.min)), int(limits.max))


@register_rule("convert_element_type")
def convert_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    to = np.dtype(outs[0].dtype).kind

    def of(builder: Builder, a: Scalar) -> Scalar:
        kind = kind_of(a)
        if to == "f":
            return a if kind == "float" else builder.compute("to_float", a)
        if to in "iu":
            return a if kind == "int" else _limit_value(builder, builder.compute("to_int", a), outs[0].dtype)
        zero = {"float": 0.0, "int": 0}.get(kind)
        return a if zero is None else builder.compute("ne", a, zero)

    (array,) = arrays
    if array.dtype == dtype_of(outs[0].dtype):
        return [array]
    return [map_arrays(translator, arrays, outs[0], of)]


@register_rule("optimization_barrier", "pvary")
def identity_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    return arrays


@register_rule("iota")
def iota_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    dtype, along = dtype_of(outs[0].dtype), params["dimension"]

    def of(index: Index) -> Scalar:
        place = index[along]
        return translator.builder.compute("to_float", place) if dtype == "float64" else place

    return [produce_array(translator.builder, outs[0].shape, dtype, of)]


@register_rule("platform_index")
def platform_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return the branch for CPUs, or the one for all others, which has no names."""
    for place, names in enumerate(params["platforms"]):
        if names is None or "cpu" in names:
            return [SmallArray(np.array(place, object), dtype_of(outs[0].dtype))]
    raise Untranslatable("a function without a branch for CPUs")
