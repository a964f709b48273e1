"""Arrays of a scalar program: small ones are their numbers, large ones lie in memory.

Units: none.
Source: definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dockdyn.translate.code import Untranslatable
from dockdyn.translate.scalar_program import KINDS, Builder, MemoryBlock, Scalar, Value, kind_of

SMALL = 64  # elements; larger arrays lie in memory
FEW = 8  # turns of a loop that are written out where its body is a product and a sum
Index = tuple[Scalar, ...]


@dataclass(eq=False)
class SmallArray:
    """A small array: an array of values, of known numbers and computed ones."""

    values: np.ndarray  # of objects
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape


@dataclass(eq=False)
class StoredArray:
    """A large array, its elements one after another in a store from `start` on."""

    store: MemoryBlock
    start: Scalar
    shape: tuple[int, ...]
    dtype: str


Array = SmallArray | StoredArray


@cache
def dtype_of(dtype: np.dtype) -> str:
    """Return the name of a type of numbers. Raises Untranslatable for one that no program has."""
    name = np.dtype(dtype).name
    if name not in KINDS:
        raise Untranslatable(f"numbers of type {name}")
    return name


def flat_index(builder: Builder, index: Sequence[Scalar], shape: Sequence[int]) -> Scalar:
    """Return the place of an element among all, row by row."""
    place: Scalar = 0
    for one, length in zip(index, shape, strict=True):
        place = builder.compute("add", builder.compute("mul", place, length), one)
    return place


def index_at(builder: Builder, place: Scalar, shape: Sequence[int]) -> Index:
    """Return the index of the element at a place among all."""
    index: list[Scalar] = []
    for length in reversed(shape[1:]):
        if isinstance(place, Value):
            index.append(builder.compute("rem", place, length) if length > 1 else 0)
            place = builder.compute("div", place, length)
        else:
            index.append(int(place) % length)
            place = int(place) // length
    return (place, *reversed(index)) if shape else ()


def in_memory(builder: Builder, array: Array) -> StoredArray:
    """Return the array in memory; numbers are written there."""
    if isinstance(array, StoredArray):
        return array
    store = builder.memory(array.dtype, max(array.values.size, 1))
    for place, value in enumerate(array.values.ravel()):
        builder.save(store, place, value)
    return StoredArray(store, 0, array.shape, array.dtype)


def scalar_array(value: Scalar, dtype: str) -> SmallArray:
    """Return the array of one number and no dimension."""
    values = np.empty((), object)
    values[()] = value
    return SmallArray(values, dtype)


def array_element(builder: Builder, array: Array, index: Index) -> Scalar:
    """Return one number of an array."""
    if isinstance(array, SmallArray):
        if not index:
            return array.values.item()
        known = [int(one) for one in index if not isinstance(one, Value)]
        if len(known) == len(index):
            return array.values[tuple(known)]
        if array.values.size == 1:
            return array.values.ravel()[0]
        array = in_memory(builder, array)
    place = builder.compute("add", array.start, flat_index(builder, index, array.shape))
    return builder.load(array.store, place)


def produce_array(builder: Builder, shape: Sequence[int], dtype: str, of: Callable[[Index], Scalar]) -> Array:
    """Return the array whose elements are `of` their index."""
    shape = tuple(shape)
    if math.prod(shape) <= SMALL:
        values = np.empty(shape, object)
        for index in np.ndindex(shape):
            values[index] = of(index)
        return SmallArray(values, dtype)
    array = StoredArray(builder.memory(dtype, math.prod(shape)), 0, shape, dtype)
    fill_array(builder, array, of)
    return array


def fill_array(builder: Builder, array: StoredArray, of: Callable[[Index], Scalar]) -> None:
    """Fill an array in memory with what is `of` the index of each element."""

    def along(index: Index) -> None:
        if len(index) == len(array.shape):
            place = builder.compute("add", array.start, flat_index(builder, index, array.shape))
            builder.save(array.store, place, of(index))
            return
        with builder.repeat(array.shape[len(index)]) as one:
            along((*index, one))

    if math.prod(array.shape):
        along(())


def load_array(builder: Builder, array: StoredArray) -> Array:
    """Return the array as numbers, where it is small enough."""
    return array if math.prod(array.shape) > SMALL else as_numbers(builder, array)


def as_numbers(builder: Builder, array: Array) -> SmallArray:
    """Return all numbers of an array."""
    if isinstance(array, SmallArray):
        return array
    size = math.prod(array.shape)
    values = np.empty(size, object)
    for place in range(size):
        values[place] = builder.load(array.store, builder.compute("add", array.start, place))
    return SmallArray(values.reshape(array.shape), array.dtype)


def copy_array(builder: Builder, array: Array) -> StoredArray:
    """Return the array in memory of its own."""
    if isinstance(array, SmallArray):
        return in_memory(builder, array)
    size = math.prod(array.shape)
    store = builder.memory(array.dtype, size)
    builder.copy(store, 0, array.store, array.start, size)
    return StoredArray(store, 0, array.shape, array.dtype)


def reshape_array(array: Array, shape: Sequence[int]) -> Array:
    if isinstance(array, SmallArray):
        return SmallArray(array.values.reshape(tuple(shape)), array.dtype)
    return StoredArray(array.store, array.start, tuple(shape), array.dtype)


def fold_indices(builder: Builder, count: int, start: Scalar, step: Callable[[Scalar, Scalar], Scalar]) -> Scalar:
    """Return `step(total, index)` over the indices below `count`: few are written out, more are a loop."""
    if count <= FEW:
        for turn in range(count):
            start = step(start, turn)
        return start
    slot = builder.slot(kind_of(start), start)
    with builder.repeat(count) as place:
        builder.put(slot, step(builder.get(slot), place))
    return builder.get(slot)
