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
    as_numbers,
    copied,
    dtype_of,
    element,
    flat,
    in_memory,
    loaded,
    produced,
    reshaped,
    written,
)
from dockdyn.translate.jaxpr import Translator, rule
from dockdyn.translate.scalar_program import Builder, Scalar, Untranslatable, Value


@rule("reshape", "squeeze", "expand_dims")
def shaped(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    return [reshaped(arrays[0], outs[0].shape)]


@rule("broadcast_in_dim")
def spread(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, array, axes = translator.builder, arrays[0], params["broadcast_dimensions"]
    if math.prod(outs[0].shape) == math.prod(array.shape):
        return [reshaped(array, outs[0].shape)]
    array = near(builder, array, outs[0].shape)
    if isinstance(array, SmallArray) and math.prod(outs[0].shape) <= SMALL:
        lengths = dict(zip(axes, array.shape, strict=True))
        alike = array.values.reshape([lengths.get(axis, 1) for axis in range(len(outs[0].shape))])
        return [SmallArray(np.broadcast_to(alike, outs[0].shape), array.dtype)]

    def of(index: Index) -> Scalar:
        return element(
            builder,
            array,
            tuple(0 if length == 1 else index[axis] for axis, length in zip(axes, array.shape, strict=True)),
        )

    return [produced(builder, outs[0].shape, array.dtype, of)]


def near(builder: Builder, array: Array, shape: Sequence[int]) -> Array:
    """Return the array in memory where a result of this shape is not written out, unless it is one number."""
    many = math.prod(shape) > SMALL and math.prod(array.shape) > 1
    return in_memory(builder, array) if many else array


@rule("transpose")
def transposed(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array,), axes = translator.builder, arrays, params["permutation"]
    if isinstance(array, SmallArray):
        return [SmallArray(array.values.transpose(axes), array.dtype)]

    def of(index: Index) -> Scalar:
        whole: list[Scalar] = [0] * len(axes)
        for place, axis in enumerate(axes):
            whole[axis] = index[place]
        return element(builder, array, tuple(whole))

    return [produced(builder, outs[0].shape, array.dtype, of)]


@rule("rev")
def reversed_(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array,), axes = translator.builder, arrays, params["dimensions"]
    if isinstance(array, SmallArray):
        return [SmallArray(np.flip(array.values, axes), array.dtype)]

    def of(index: Index) -> Scalar:
        whole = (
            builder.compute("sub", array.shape[axis] - 1, one) if axis in axes else one
            for axis, one in enumerate(index)
        )
        return element(builder, array, tuple(whole))

    return [produced(builder, outs[0].shape, array.dtype, of)]


def _cut(
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
        return element(builder, array, tuple(whole))

    return produced(builder, shape, array.dtype, of)


@rule("slice")
def sliced(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    starts = params["start_indices"]
    strides = params["strides"] or (1,) * len(starts)
    if outs[0].shape == arrays[0].shape:
        return arrays
    return [_cut(translator.builder, arrays[0], [int(one) for one in starts], outs[0].shape, strides)]


@rule("split")
def split(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    (array,), axis, found, start = arrays, params["axis"], [], 0
    for out in outs:
        starts = [start if one == axis else 0 for one in range(len(array.shape))]
        found.append(_cut(translator.builder, array, starts, out.shape, [1] * len(starts)))
        start += out.shape[axis]
    return found


@rule("unstack")
def unstacked(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    (array,), axis, found = arrays, params["axis"], []
    length = (*array.shape[:axis], 1, *array.shape[axis + 1 :])
    for place, out in enumerate(outs):
        starts = [place if one == axis else 0 for one in range(len(array.shape))]
        found.append(reshaped(_cut(translator.builder, array, starts, length, [1] * len(starts)), out.shape))
    return found


@rule("stack")
def stacked(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    axis = params["axis"]
    longer = [reshaped(one, (*one.shape[:axis], 1, *one.shape[axis:])) for one in arrays]
    return [_joined(translator.builder, longer, axis, outs[0].shape)]


@rule("concatenate")
def joined(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    return [_joined(translator.builder, arrays, params["dimension"], outs[0].shape)]


@rule("tile")
def tiled(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, array = translator.builder, near(translator.builder, arrays[0], outs[0].shape)

    def of(index: Index) -> Scalar:
        whole = zip(index, array.shape, strict=True)
        return element(builder, array, tuple(builder.compute("rem", one, length) for one, length in whole))

    return [produced(builder, outs[0].shape, array.dtype, of)]


def _joined(builder: Builder, arrays: Sequence[Array], axis: int, shape: Sequence[int]) -> Array:
    """Return arrays one after another along an axis."""
    if math.prod(shape) <= SMALL:
        numbers = [as_numbers(builder, one) for one in arrays]
        return SmallArray(np.concatenate([one.values for one in numbers], axis), arrays[0].dtype)
    memory = StoredArray(builder.memory(arrays[0].dtype, math.prod(shape)), 0, tuple(shape), arrays[0].dtype)
    start = 0
    for array in arrays:
        _put(builder, memory, array, [start if one == axis else 0 for one in range(len(shape))])
        start += array.shape[axis]
    return memory


def _put(
    builder: Builder, into: StoredArray, array: Array, starts: Sequence[Scalar], strides: Sequence[int] | None = None
) -> None:
    """Write an array into a part of one in memory, or to every so manieth place of it along each axis."""
    if (
        isinstance(array, StoredArray)
        and strides is None
        and all(one == whole for one, whole in zip(array.shape[1:], into.shape[1:], strict=True))
    ):
        start = builder.compute("add", into.start, flat(builder, starts, into.shape))
        builder.copy(into.store, start, array.store, array.start, math.prod(array.shape))
        return

    def along(index: Index) -> None:
        if len(index) == len(array.shape):
            own = index
            if strides is not None:
                own = tuple(builder.compute("mul", one, by) for one, by in zip(index, strides, strict=True))
            there = tuple(builder.compute("add", start, one) for start, one in zip(starts, own, strict=True))
            place = builder.compute("add", into.start, flat(builder, there, into.shape))
            builder.save(into.store, place, element(builder, array, index))
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


@rule("empty", "empty2")
def unset(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return the memory that is written before it is read."""
    dtype = dtype_of(outs[0].dtype)
    zero: Scalar = {"float64": 0.0, "bool": False}.get(dtype, 0)
    if math.prod(outs[0].shape) <= SMALL:
        return [produced(translator.builder, outs[0].shape, dtype, lambda index: zero)]
    return [StoredArray(translator.builder.memory(dtype, math.prod(outs[0].shape)), 0, tuple(outs[0].shape), dtype)]


@rule("pad")
def padded(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array, filling), sides = translator.builder, arrays, params["padding_config"]
    fill, shape = element(builder, filling, ()), outs[0].shape
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
    written(builder, memory, lambda index: fill)
    strides = [inner + 1 for _, _, inner in sides] if any(inner for _, _, inner in sides) else None
    _put(builder, memory, array, [int(low) for low, _, _ in sides], strides)
    return [memory]


def clamped(builder: Builder, start: Scalar, room: int) -> Scalar:
    """Return a start that leaves room for what begins there."""
    return builder.compute("min", builder.compute("max", start, 0), room)


@rule("dynamic_slice")
def moved(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array, *starts), shape = translator.builder, arrays, outs[0].shape
    places = [
        clamped(builder, element(builder, start, ()), whole - size)
        for start, whole, size in zip(starts, array.shape, shape, strict=True)
    ]
    return [_cut(builder, array, places, shape, [1] * len(shape))]


@rule("dynamic_update_slice")
def updated(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, (array, part, *starts) = translator.builder, arrays
    places = [
        clamped(builder, element(builder, start, ()), whole - size)
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
    _put(builder, memory, part, places)
    return [loaded(builder, memory) if isinstance(array, SmallArray) else memory]


def written_alone(translator: Translator, array: Array, *read: Array) -> StoredArray:
    """Return the array in memory that may be written while the others are read."""
    shared = any(
        isinstance(one, StoredArray) and isinstance(array, StoredArray) and one.store is array.store for one in read
    )
    return copied(translator.builder, array) if shared else translator.own(array)
