"""Rules of sums, extremes, products of matrices, and what else goes through an array.

Units: none.
Source: definitions of JAX's `lax`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from dockdyn.translate.arrays import (
    FEW,
    SMALL,
    Array,
    Index,
    SmallArray,
    StoredArray,
    array_element,
    as_numbers,
    dtype_of,
    fill_array,
    flat_index,
    fold_indices,
    in_memory,
    index_at,
    load_array,
    produce_array,
)
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.jaxpr import Translator, numbers_of, register_rule
from dockdyn.translate.rules.elementwise import SAME, One, fit_integer
from dockdyn.translate.scalar_program import Builder, Scalar

MOST_EXCHANGES = 4000  # of a sort or a search that is written out
STARTS: dict[str, dict[str, Any]] = {
    "add": {"float64": 0.0, "other": 0},
    "mul": {"float64": 1.0, "other": 1},
    "max": {"float64": -math.inf, "bool": False},
    "min": {"float64": math.inf, "bool": True},
    "or": {"bool": False},
    "and": {"bool": True},
    "xor": {"bool": False},
}


def _initial_value(name: str, dtype: str) -> Scalar:
    """Return what a reduction begins with. Raises Untranslatable where it has no meaning for the type."""
    if name in ("max", "min") and dtype not in STARTS[name]:
        limits = np.iinfo(dtype)
        return int(limits.min if name == "max" else limits.max)
    if dtype not in STARTS[name] and ("other" not in STARTS[name] or dtype == "bool"):
        raise Untranslatable(f"{name} over numbers of type {dtype}")
    return STARTS[name].get(dtype, STARTS[name].get("other", 0))


def _register_reduction(name: str) -> None:
    of = SAME[name]

    @register_rule({"add": "reduce_sum", "mul": "reduce_prod"}.get(name, f"reduce_{name}"))
    def apply(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
        builder, (array,) = translator.builder, arrays
        axes = [int(axis) for axis in params["axes"]]
        dtype, lengths = dtype_of(outs[0].dtype), [array.shape[axis] for axis in axes]
        array = _store_if_large(builder, array, math.prod(outs[0].shape))
        if isinstance(array, SmallArray):
            found = []
            for row in _reduction_rows(array, [axis for axis in range(len(array.shape)) if axis not in axes], axes):
                total = _initial_value(name, dtype)
                for one in row:
                    total = fit_integer(builder, of(builder, total, one), dtype)
                found.append(total)
            return [numbers_of(found, outs[0].shape, dtype)]

        def at(index: Index) -> Scalar:
            def step(total: Scalar, place: Scalar) -> Scalar:
                inner, outer = dict(zip(axes, index_at(builder, place, lengths), strict=True)), iter(index)
                whole = tuple(inner[axis] if axis in inner else next(outer) for axis in range(len(array.shape)))
                return fit_integer(builder, of(builder, total, array_element(builder, array, whole)), dtype)

            return fold_indices(builder, math.prod(lengths), _initial_value(name, dtype), step)

        return [produce_array(builder, outs[0].shape, dtype, at)]


for _name in STARTS:
    _register_reduction(_name)


def _reduction_rows(array: SmallArray, kept: Sequence[int], along: Sequence[int]) -> list[list[Scalar]]:
    """Return the numbers of an array, one row `along` some axes for every place on those that are `kept`."""
    values = array.values.transpose([*kept, *along])
    count = math.prod(values.shape[: len(kept)])
    return values.reshape(count, -1 if count else 0).tolist()


def _store_if_large(builder: Builder, array: Array, results: int) -> Array:
    """Return the array in memory where so many results are not written out."""
    return in_memory(builder, array) if results > SMALL else array


def _register_arg_reduction(name: str) -> None:
    @register_rule(name)
    def apply(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
        """Return the first of the extreme ones; what is no number counts as extreme."""
        builder, (array,), (axis,) = translator.builder, arrays, params["axes"]
        count = array.shape[axis]
        searched = in_memory(builder, array) if count > SMALL else array

        def at(index: Index) -> Scalar:
            def one(place: Scalar) -> Scalar:
                found = array_element(builder, searched, (*index[:axis], place, *index[axis:]))
                return builder.compute("to_int", found) if array.dtype == "bool" else found

            def is_better(value: Scalar, best: Scalar) -> Scalar:
                better = builder.compute("lt", *((best, value) if name == "argmax" else (value, best)))
                if array.dtype != "float64":
                    return better
                known = builder.compute("not", builder.compute("is_nan", best))
                return builder.compute("or", better, builder.compute("and", builder.compute("is_nan", value), known))

            def step(where: Scalar, before: Scalar) -> Scalar:
                place = builder.compute("add", before, 1)
                return builder.select(is_better(one(place), one(where)), place, where)

            if count > SMALL:
                return fold_indices(builder, count - 1, 0, step)
            best, where = one(0), cast(Scalar, 0)
            for place in range(1, count):
                value = one(place)
                better = is_better(value, best)
                best, where = builder.select(better, value, best), builder.select(better, place, where)
            return where

        return [produce_array(builder, outs[0].shape, dtype_of(outs[0].dtype), at)]


_register_arg_reduction("argmax")
_register_arg_reduction("argmin")


def _register_cumulation(name: str, of: One) -> None:
    @register_rule(name)
    def apply(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
        builder, (array,), axis = translator.builder, arrays, params["axis"]
        count, backwards = array.shape[axis], params["reverse"]
        others = array.shape[:axis] + array.shape[axis + 1 :]
        memory = StoredArray(builder.memory(array.dtype, max(math.prod(array.shape), 1)), 0, array.shape, array.dtype)
        source = array if isinstance(array, StoredArray) else in_memory(builder, array)
        with builder.repeat(math.prod(others)) as place:
            around = index_at(builder, place, others)
            total = array_element(builder, source, (*around[:axis], count - 1 if backwards else 0, *around[axis:]))
            slot = builder.slot("float" if array.dtype == "float64" else "int", total)
            with builder.repeat(count) as step:
                at = builder.compute("sub", count - 1, step) if backwards else step
                whole = (*around[:axis], at, *around[axis:])
                value = array_element(builder, source, whole)
                both = fit_integer(builder, of(builder, builder.get(slot), value), array.dtype)
                new = builder.select(builder.compute("lt", 0, step), both, value)
                builder.put(slot, new)
                builder.save(memory.store, flat_index(builder, whole, array.shape), new)
        return [load_array(builder, memory)]


for _name, _of in (("cumsum", SAME["add"]), ("cumprod", SAME["mul"]), ("cummax", SAME["max"]), ("cummin", SAME["min"])):
    _register_cumulation(_name, _of)


@register_rule("dot_general")
def product_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (a, b) = translator.builder, arrays
    (first, second), (left, right) = params["dimension_numbers"]
    lengths = [a.shape[axis] for axis in first]
    free_a = [axis for axis in range(len(a.shape)) if axis not in (*first, *left)]
    free_b = [axis for axis in range(len(b.shape)) if axis not in (*second, *right)]
    dtype = dtype_of(outs[0].dtype)
    a, b = (_store_if_large(builder, one, math.prod(outs[0].shape)) for one in (a, b))
    if isinstance(a, SmallArray) and isinstance(b, SmallArray):
        rows, columns = _reduction_rows(a, [*left, *free_a], first), _reduction_rows(b, [*right, *free_b], second)
        batches = math.prod(a.shape[axis] for axis in left)
        return [numbers_of(_row_products(builder, rows, columns, batches, dtype), outs[0].shape, dtype)]

    results, turns = math.prod(outs[0].shape), math.prod(lengths)
    if turns > FEW:  # in loops, which read both from memory
        a, b = in_memory(builder, a), in_memory(builder, b)

    def at(index: Index) -> Scalar:
        batch, rest = index[: len(left)], index[len(left) :]
        of_a = dict(zip([*left, *free_a], [*batch, *rest[: len(free_a)]], strict=True))
        of_b = dict(zip([*right, *free_b], [*batch, *rest[len(free_a) :]], strict=True))

        def step(total: Scalar, place: Scalar) -> Scalar:
            inner = index_at(builder, place, lengths)
            there_a, there_b = of_a | dict(zip(first, inner, strict=True)), of_b | dict(zip(second, inner, strict=True))
            factors = (
                array_element(builder, one, tuple(there[axis] for axis in range(len(one.shape))))
                for one, there in ((a, there_a), (b, there_b))
            )
            return fit_integer(builder, builder.compute("add", total, builder.compute("mul", *factors)), dtype)

        return fold_indices(builder, turns, _initial_value("add", dtype), step)

    if results > SMALL or turns <= FEW:
        return [produce_array(builder, outs[0].shape, dtype, at)]
    found = StoredArray(builder.memory(dtype, results), 0, tuple(outs[0].shape), dtype)
    fill_array(builder, found, at)
    return [load_array(builder, found)]


def _row_products(
    builder: Builder, rows: list[list[Scalar]], columns: list[list[Scalar]], batches: int, dtype: str
) -> list[Scalar]:
    """Return the products of all rows and all columns of each batch, written out."""
    many, wide = len(rows) // max(batches, 1), len(columns) // max(batches, 1)
    found = []
    for batch in range(batches):
        for row in rows[batch * many : (batch + 1) * many]:
            for column in columns[batch * wide : (batch + 1) * wide]:
                total = _initial_value("add", dtype)
                for one, other in zip(row, column, strict=True):
                    both = builder.compute("add", total, builder.compute("mul", one, other))
                    total = fit_integer(builder, both, dtype)
                found.append(total)
    return found


@register_rule("sort")
def sort_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Order by exchanges of neighbours, which keeps the order of equal ones."""
    builder, axis, keys = translator.builder, params["dimension"], params["num_keys"]
    count, size = arrays[0].shape[axis], math.prod(arrays[0].shape)
    if size * count > MOST_EXCHANGES:
        raise Untranslatable(f"sorting {arrays[0].shape}")
    tables = [np.moveaxis(as_numbers(builder, one).values.copy(), axis, -1) for one in arrays]
    for index in np.ndindex(tables[0].shape[:-1]):
        for last in range(count - 1, 0, -1):
            for place in range(last):
                _exchange_neighbours(builder, [table[index] for table in tables], place, keys)
    return [SmallArray(np.moveaxis(table, -1, axis), one.dtype) for table, one in zip(tables, arrays, strict=True)]


def _exchange_neighbours(builder: Builder, rows: list[np.ndarray], place: int, keys: int) -> None:
    """Exchange neighbours where the second comes before the first."""
    swap: Scalar = False
    for row in reversed(rows[:keys]):
        earlier = SAME["lt_to"](builder, row[place + 1], row[place])
        equal = builder.compute("not", SAME["lt_to"](builder, row[place], row[place + 1]))
        swap = builder.compute("or", earlier, builder.compute("and", equal, swap))
    for row in rows:
        first, second = row[place], row[place + 1]
        row[place], row[place + 1] = builder.select(swap, second, first), builder.select(swap, first, second)
