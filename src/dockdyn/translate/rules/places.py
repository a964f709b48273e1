"""Rules of what moves numbers about: shapes, slices, joins.

Units: none.
Source: definitions of JAX's `lax`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dockdyn.translate.arrays import (
    SMALL,
    Array,
    Index,
    SmallArray,
    StoredArray,
    array_element,
    as_numbers,
    copy_array,
    dtype_of,
    fill_array,
    flat_index,
    in_memory,
    load_array,
    produce_array,
    reshape_array,
)
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.jaxpr import Translator, register_rule
from dockdyn.translate.scalar_program import Builder, Scalar, Value


@register_rule("reshape", "squeeze", "expand_dims")
def reshape_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    return [reshape_array(arrays[0], outs[0].shape)]


@register_rule("broadcast_in_dim")
def broadcast_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, array, axes = translator.builder, arrays[0], params["broadcast_dimensions"]
    if math.prod(outs[0].shape) == math.prod(array.shape):
        return [reshape_array(array, outs[0].shape)]
    array = store_if_large(builder, array, outs[0].shape)
    if isinstance(array, SmallArray) and math.prod(outs[0].shape) <= SMALL:
        lengths = dict(zip(axes, array.shape, strict=True))
        alike = array.values.reshape([lengths.get(axis, 1) for axis in range(len(outs[0].shape))])
        return [SmallArray(np.broadcast_to(alike, outs[0].shape), array.dtype)]

    def of(index: Index) -> Scalar:
        return array_element(
            builder,
            array,
            tuple(0 if length == 1 else index[axis] for axis, length in zip(axes, array.shape, strict=True)),
        )

    return [produce_array(builder, outs[0].shape, array.dtype, of)]


def store_if_large(builder: Builder, array: Array, shape: Sequence[int]) -> Array:
    """Return the array in memory where a result of this shape is not written out, unless it is one number."""
    many = math.prod(shape) > SMALL and math.prod(array.shape) > 1
    return in_memory(builder, array) if many else array


@register_rule("transpose")
def transpose_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array,), axes = translator.builder, arrays, params["permutation"]
    if isinstance(array, SmallArray):
        return [SmallArray(array.values.transpose(axes), array.dtype)]

    def of(index: Index) -> Scalar:
        whole: list[Scalar] = [0] * len(axes)
        for place, axis in enumerate(axes):
            whole[axis] = index[place]
        return array_element(builder, array, tuple(whole))

    return [produce_array(builder, outs[0].shape, array.dtype, of)]


@register_rule("rev")
def reverse_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array,), axes = translator.builder, arrays, params["dimensions"]
    if isinstance(array, SmallArray):
        return [SmallArray(np.flip(array.values, axes), array.dtype)]

    def of(index: Index) -> Scalar:
        whole = (
            builder.compute("sub", array.shape[axis] - 1, one) if axis in axes else one
            for axis, one in enumerate(index)
        )
        return array_element(builder, array, tuple(whole))

    return [produce_array(builder, outs[0].shape, array.dtype, of)]


def _cut_array(
    builder: Builder, array: Array, starts: Sequence[Scalar], shape: Sequence[int], strides: Sequence[int]
) -> Array:
    """Return the part of an array from `starts` on."""
    if isinstance(array, SmallArray):
        known = [int(start) for start in starts if not isinstance(start, Value)]
        if len(known) == len(starts):
            ends = (at + by * (length - 1) + 1 for at, length, by in zip(known, shape, strides, strict=True))
            part = tuple(map(slice, known, ends, strides))
            return SmallArray(np.asarray(array.values[part], object), array.dtype)
        array = in_memory(builder, array)

    def of(index: Index) -> Scalar:
        whole = (
            builder.compute("add", start, builder.compute("mul", one, stride))
            for start, one, stride in zip(starts, index, strides, strict=True)
        )
        return array_element(builder, array, tuple(whole))

    return produce_array(builder, shape, array.dtype, of)


@register_rule("slice")
def slice_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    starts = params["start_indices"]
    strides = params["strides"] or (1,) * len(starts)
    if outs[0].shape == arrays[0].shape:
        return arrays
    return [_cut_array(translator.builder, arrays[0], [int(one) for one in starts], outs[0].shape, strides)]


@register_rule("split")
def split_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    (array,), axis, found, start = arrays, params["axis"], [], 0
    for out in outs:
        starts = [start if one == axis else 0 for one in range(len(array.shape))]
        found.append(_cut_array(translator.builder, array, starts, out.shape, [1] * len(starts)))
        start += out.shape[axis]
    return found


@register_rule("unstack")
def unstack_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    (array,), axis, found = arrays, params["axis"], []
    length = (*array.shape[:axis], 1, *array.shape[axis + 1 :])
    for place, out in enumerate(outs):
        starts = [place if one == axis else 0 for one in range(len(array.shape))]
        found.append(reshape_array(_cut_array(translator.builder, array, starts, length, [1] * len(starts)), out.shape))
    return found


@register_rule("stack")
def stack_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    axis = params["axis"]
    longer = [reshape_array(one, (*one.shape[:axis], 1, *one.shape[axis:])) for one in arrays]
    return [_concatenate_arrays(translator.builder, longer, axis, outs[0].shape)]


@register_rule("concatenate")
def concatenate_rule(
    translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]
) -> list[Array]:
    return [_concatenate_arrays(translator.builder, arrays, params["dimension"], outs[0].shape)]


@register_rule("tile")
def tile_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, array = translator.builder, store_if_large(translator.builder, arrays[0], outs[0].shape)

    def of(index: Index) -> Scalar:
        whole = zip(index, array.shape, strict=True)
        return array_element(builder, array, tuple(builder.compute("rem", one, length) for one, length in whole))

    return [produce_array(builder, outs[0].shape, array.dtype, of)]


def _concatenate_arrays(builder: Builder, arrays: Sequence[Array], axis: int, shape: Sequence[int]) -> Array:
    """Return arrays one after another along an axis."""
    if math.prod(shape) <= SMALL:
        numbers = [as_numbers(builder, one) for one in arrays]
        return SmallArray(np.concatenate([one.values for one in numbers], axis), arrays[0].dtype)
    memory = StoredArray(builder.memory(arrays[0].dtype, math.prod(shape)), 0, tuple(shape), arrays[0].dtype)
    start = 0
    for array in arrays:
        _write_into(builder, memory, array, [start if one == axis else 0 for one in range(len(shape))])
        start += array.shape[axis]
    return memory


def _write_into(
    builder: Builder, into: StoredArray, array: Array, starts: Sequence[Scalar], strides: Sequence[int] | None = None
) -> None:
    """Write an array into a part of one in memory, or to every so manieth place of it along each axis."""
    if (
        isinstance(array, StoredArray)
        and strides is None
        and all(one == whole for one, whole in zip(array.shape[1:], into.shape[1:], strict=True))
    ):
        start = builder.compute("add", into.start, flat_index(builder, starts, into.shape))
        builder.copy(into.store, start, array.store, array.start, math.prod(array.shape))
        return

    def along(index: Index) -> None:
        if len(index) == len(array.shape):
            own = index
            if strides is not None:
                own = tuple(builder.compute("mul", one, by) for one, by in zip(index, strides, strict=True))
            there = tuple(builder.compute("add", start, one) for start, one in zip(starts, own, strict=True))
            place = builder.compute("add", into.start, flat_index(builder, there, into.shape))
            builder.save(into.store, place, array_element(builder, array, index))
            return
        length = array.shape[len(index)]
        if isinstance(array, SmallArray):
            for place in range(length):
                along((*index, place))
        else:
            with builder.repeat(length) as one:
                along((*index, one))

    if math.prod(array.shape):
        along(())


@register_rule("empty", "empty2")
def empty_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return the memory that is written before it is read."""
    dtype = dtype_of(outs[0].dtype)
    zero: Scalar = {"float64": 0.0, "bool": False}.get(dtype, 0)
    if math.prod(outs[0].shape) <= SMALL:
        return [produce_array(translator.builder, outs[0].shape, dtype, lambda index: zero)]
    return [StoredArray(translator.builder.memory(dtype, math.prod(outs[0].shape)), 0, tuple(outs[0].shape), dtype)]


@register_rule("pad")
def pad_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array, filling), sides = translator.builder, arrays, params["padding_config"]
    fill, shape = array_element(builder, filling, ()), outs[0].shape
    if math.prod(shape) <= SMALL:
        values = np.empty(shape, object)
        values[...] = fill
        numbers = as_numbers(builder, array)
        for index in np.ndindex(array.shape):
            places = [low + one * (inner + 1) for one, (low, _, inner) in zip(index, sides, strict=True)]
            if all(0 <= one < length for one, length in zip(places, shape, strict=True)):
                values[tuple(places)] = numbers.values[index]
        return [SmallArray(values, array.dtype)]
    if any(low < 0 or high < 0 for low, high, _ in sides):
        raise Untranslatable("padding below zero of many numbers")
    memory = StoredArray(builder.memory(array.dtype, math.prod(shape)), 0, tuple(shape), array.dtype)
    fill_array(builder, memory, lambda index: fill)
    strides = [inner + 1 for _, _, inner in sides] if any(inner for _, _, inner in sides) else None
    _write_into(builder, memory, array, [int(low) for low, _, _ in sides], strides)
    return [memory]


def clamp_start(builder: Builder, start: Scalar, room: int) -> Scalar:
    """Return a start that leaves room for what begins there."""
    return builder.compute("min", builder.compute("max", start, 0), room)


@register_rule("dynamic_slice")
def dynamic_slice_rule(
    translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]
) -> list[Array]:
    builder, (array, *starts), shape = translator.builder, arrays, outs[0].shape
    places = [
        clamp_start(builder, array_element(builder, start, ()), whole - size)
        for start, whole, size in zip(starts, array.shape, shape, strict=True)
    ]
    return [_cut_array(builder, array, places, shape, [1] * len(shape))]


@register_rule("dynamic_update_slice")
def dynamic_update_rule(
    translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]
) -> list[Array]:
    builder, (array, part, *starts) = translator.builder, arrays
    places = [
        clamp_start(builder, array_element(builder, start, ()), whole - size)
        for start, whole, size in zip(starts, array.shape, part.shape, strict=True)
    ]
    del arrays[:]
    known = [one for one in places if not isinstance(one, Value)]
    if isinstance(array, SmallArray) and len(known) == len(places):
        values = array.values.copy()
        numbers = as_numbers(builder, part)
        values[tuple(slice(int(one), int(one) + size) for one, size in zip(known, part.shape, strict=True))] = (
            numbers.values
        )
        return [SmallArray(values, array.dtype)]
    memory = written_alone(translator, array, part)
    _write_into(builder, memory, part, places)
    return [load_array(builder, memory) if isinstance(array, SmallArray) else memory]


def written_alone(translator: Translator, array: Array, *read: Array) -> StoredArray:
    """Return the array in memory that may be written while the others are read."""
    shared = any(
        isinstance(one, StoredArray) and isinstance(array, StoredArray) and one.store is array.store for one in read
    )
    return copy_array(translator.builder, array) if shared else translator.own(array)
