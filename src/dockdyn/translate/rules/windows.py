"""Rules of gathers and scatters: windows into an array, at starts that are computed.

Units: none.
Source: definitions of XLA's gather and scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockdyn.translate.arrays import (
    Array,
    Index,
    SmallArray,
    StoredArray,
    array_element,
    as_numbers,
    flat_index,
    in_memory,
    index_at,
    load_array,
    produce_array,
)
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.jaxpr import Translator, register_rule
from dockdyn.translate.rules.elementwise import SAME, fit_integer
from dockdyn.translate.rules.places import clamp_start, store_if_large, written_alone
from dockdyn.translate.scalar_program import Builder, Scalar, Value


@dataclass
class ArrayWindows:
    """Windows of one size into an array, of a gather or a scatter, each at the start that a row of `starts` is."""

    builder: Builder
    shape: Sequence[int]  # of the array
    starts: Array
    sizes: Sequence[int]
    started: Sequence[int]  # axes of the array, one for each number of a start
    batched: list[tuple[int, int]]  # axes that array and starts share
    along: list[tuple[int, int]]  # axes of the array that a window extends along, and those of an index
    checked: bool  # whether a window may lie outside; else it is moved inside

    def place(self, index: Index) -> tuple[Index, Scalar]:
        """Return the place in the array of what has this index among all windows, and whether its window is inside."""
        inner = {there for _, there in self.along}
        batch = [one for axis, one in enumerate(index) if axis not in inner]
        whole: list[Scalar] = [0] * len(self.shape)
        inside: Scalar = True
        for number, axis in enumerate(self.started):
            start = array_element(self.builder, self.starts, (*batch, number))
            room = self.shape[axis] - self.sizes[axis]
            if self.checked:
                inside = self.builder.compute("and", inside, _is_within(self.builder, start, room))
            whole[axis] = clamp_start(self.builder, start, room)
        for axis, other in self.batched:
            whole[axis] = batch[other]
        for axis, there in self.along:
            whole[axis] = self.builder.compute("add", whole[axis], index[there])
        return tuple(whole), inside


def _window_axes(shape: Sequence[int], without: Sequence[int], windows: Sequence[int]) -> list[tuple[int, int]]:
    """Return the axes of an array that windows extend along, each with that of an index."""
    kept = (axis for axis in range(len(shape)) if axis not in without)
    return list(zip(kept, windows, strict=True))


@register_rule("gather")
def gather_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array, starts) = translator.builder, arrays
    names = params["dimension_numbers"]
    if not math.prod(array.shape):
        raise Untranslatable("a gather from nothing")
    filled = "FILL" in str(params["mode"]).upper()
    fill = _fill_value(params["fill_value"], array.dtype)
    if isinstance(array, SmallArray) and not _is_known(starts):
        array = in_memory(builder, array)
    array, starts = (store_if_large(builder, one, outs[0].shape) for one in (array, starts))
    batched = list(zip(names.operand_batching_dims, names.start_indices_batching_dims, strict=True))
    without = (*names.collapsed_slice_dims, *names.operand_batching_dims)
    along = _window_axes(array.shape, without, names.offset_dims)
    sizes, started = params["slice_sizes"], names.start_index_map
    windows = ArrayWindows(builder, array.shape, starts, sizes, started, batched, along, filled)

    def of(index: Index) -> Scalar:
        place, inside = windows.place(index)
        return builder.select(inside, array_element(builder, array, place), fill)

    return [produce_array(builder, outs[0].shape, array.dtype, of)]


def _is_known(array: Array) -> bool:
    """Return whether all its numbers are known: not where it lies in memory."""
    return isinstance(array, SmallArray) and not any(isinstance(one, Value) for one in array.values.ravel())


def _is_within(builder: Builder, start: Scalar, room: int) -> Scalar:
    return builder.compute("and", builder.compute("le", 0, start), builder.compute("le", start, room))


def _fill_value(stated: Any, dtype: str) -> Scalar:  # noqa: ANN401, of JAX's parameters
    """Return what stands where nothing is gathered."""
    if stated is not None:
        return np.asarray(stated).astype(dtype).item()
    return {"float64": math.nan, "bool": True, "int32": -(2**31), "int64": -(2**63), "uint32": 2**32 - 1}[dtype]


def _register_scatter(name: str, operation: str | None) -> None:
    @register_rule(name)
    def apply(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
        builder, (array, starts, parts) = translator.builder, arrays
        del arrays[:]
        names = params["dimension_numbers"]
        batched = list(zip(names.operand_batching_dims, names.scatter_indices_batching_dims, strict=True))
        without = (*names.inserted_window_dims, *names.operand_batching_dims)
        along = _window_axes(array.shape, without, names.update_window_dims)
        sizes = [1] * len(array.shape)
        for axis, there in along:
            sizes[axis] = parts.shape[there]
        checked, started = "CLIP" not in str(params["mode"]).upper(), names.scatter_dims_to_operand_dims
        where = ArrayWindows(builder, array.shape, starts, sizes, started, batched, along, checked).place

        def new(old: Any, part: Any) -> Scalar:  # noqa: ANN401, of tables of objects
            return part if operation is None else fit_integer(builder, SAME[operation](builder, old, part), array.dtype)

        known = _is_known(starts)
        if isinstance(array, SmallArray) and known:
            values = array.values.copy()
            numbers = as_numbers(builder, parts)
            for index in np.ndindex(numbers.shape):
                place, inside = where(index)
                if inside:
                    whole = tuple(int(one) for one in place if not isinstance(one, Value))
                    values[whole] = new(values[whole], numbers.values[index])
            return [SmallArray(values, array.dtype)]
        memory = written_alone(translator, array, starts, parts)
        _scatter_into(builder, memory, starts, parts, where, new)
        return [load_array(builder, memory) if isinstance(array, SmallArray) else memory]


def _scatter_into(builder: Builder, memory: StoredArray, starts: Array, parts: Array, where: Any, new: Any) -> None:  # noqa: ANN401
    """Update of an array in memory, one after another."""

    def one(index: Index) -> None:
        place, inside = where(index)
        at = builder.compute("add", memory.start, flat_index(builder, place, memory.shape))
        value = array_element(builder, parts, index)
        if inside is True:
            builder.save(memory.store, at, new(builder.load(memory.store, at), value))
        elif inside is not False:
            with builder.where(inside):
                builder.save(memory.store, at, new(builder.load(memory.store, at), value))

    count = math.prod(parts.shape)
    if isinstance(parts, SmallArray) and isinstance(starts, SmallArray):
        for index in np.ndindex(parts.shape):
            one(index)
    elif count:
        parts = in_memory(builder, parts)
        with builder.repeat(count) as place:
            one(index_at(builder, place, parts.shape))


for _name, _of in (("scatter", None), ("scatter-add", "add"), ("scatter-mul", "mul"), ("scatter-min", "min")):
    _register_scatter(_name, _of)
_register_scatter("scatter-max", "max")
_register_scatter("scatter_add", "add")
_register_scatter("scatter_mul", "mul")
