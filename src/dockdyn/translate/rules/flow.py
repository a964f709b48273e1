"""Rules of calls, loops and branches.

Units: none.
Source: definitions of JAX's `lax`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from dockdyn.deferred import jax
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
    in_memory,
    load_array,
    produce_array,
)
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.jaxpr import Translator, jaxpr_and_constants, numbers_of, register_rule
from dockdyn.translate.rules.places import empty_rule
from dockdyn.translate.scalar_program import (
    KINDS,
    Block,
    Branch,
    Builder,
    Question,
    Scalar,
    Slot,
    Value,
    While,
)


@register_rule(
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint", "remat2"
)
def call_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        if name in params:
            return translator.call(params[name], arrays)
    raise Untranslatable("a call of what is not said")


@register_rule("call_hi_primitive")
def expand_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return a function of functions that JAX calls a primitive."""
    shapes = [jax.ShapeDtypeStruct(one.shape, np.dtype(one.dtype)) for one in arrays]
    return translator.call(jax.make_jaxpr(params["_prim"].expand)(*shapes), arrays)


@register_rule("custom_linear_solve")
def solve_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Solve it by the solver that it names, of the constants that are the solver's."""
    lengths = params["const_lengths"]
    before = lengths.matvec + lengths.vecmat
    constants = arrays[before : before + lengths.solve]
    return translator.call(params["jaxprs"].solve, [*constants, *arrays[sum(lengths) :]])


@register_rule("pure_callback")
def callback_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return the end of the program: what Python must do, as raising an error, XLA does from the beginning.

    In branches only, where that is the exception.
    """
    if not translator.branches:
        raise Untranslatable("the primitive pure_callback")
    translator.builder.leave()
    return [empty_rule(translator, [], {}, [one])[0] for one in outs]


@dataclass
class Carried:
    """What a loop carries from one turn to the next: slots of small arrays, memory of large ones."""

    builder: Builder
    fixed: list[Array | None]  # what no turn changes
    slots: list[list[Slot]]
    memories: list[StoredArray | None]
    like: list[Array]

    @staticmethod
    def of(translator: Translator, start: Sequence[Array], changes: Sequence[bool]) -> Carried:
        """Return it from what a loop starts with; `changes` says what its turns may change."""
        builder = translator.builder
        fixed: list[Array | None] = []
        slots: list[list[Slot]] = []
        memories: list[StoredArray | None] = []
        taken: set[int] = set()
        for array, change in zip(start, changes, strict=True):
            fixed.append(None if change else array)
            values = list(array.values.ravel()) if isinstance(array, SmallArray) and change else []
            slots.append([builder.slot(KINDS[array.dtype], one) for one in values])
            memory = None
            if change and not isinstance(array, SmallArray):
                memory = translator.own(array) if id(array.store) not in taken else copy_array(builder, array)
                taken.add(id(memory.store))
            memories.append(memory)
        return Carried(builder, fixed, slots, memories, list(start))

    def now(self) -> list[Array]:
        """Return the arrays as they are when this is reached."""
        found: list[Array] = []
        for fixed, slots, memory, like in zip(self.fixed, self.slots, self.memories, self.like, strict=True):
            if fixed is not None:
                found.append(fixed)
            elif memory is not None:
                found.append(memory)
            else:
                found.append(numbers_of([self.builder.get(slot) for slot in slots], like.shape, like.dtype))
        return found

    def become(self, before: Sequence[Array], after: Sequence[Array]) -> None:
        """Hand what a turn gives to the next."""
        builder = self.builder
        moves = []
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            if self.fixed[place] is not None:
                continue
            if memory := self.memories[place]:
                new = in_memory(builder, new)
                if new.store is not memory.store:
                    moves.append((memory, new))
                continue
            for slot, was, value in zip(
                self.slots[place], _array_values(builder, old), _array_values(builder, new), strict=True
            ):
                if was is not value:
                    builder.put(slot, value)
        own = {id(memory.store) for memory in self.memories if memory is not None}
        aside = []
        for memory, new in moves:
            if id(new.store) in own:  # which is written in its turn
                kept = builder.memory(new.dtype, math.prod(new.shape))
                builder.copy(kept, 0, new.store, new.start, kept.count)
                new = StoredArray(kept, 0, new.shape, new.dtype)
            aside.append((memory, new))
        for memory, new in aside:
            builder.copy(memory.store, memory.start, new.store, new.start, math.prod(new.shape))


def _array_values(builder: Builder, array: Array) -> list[Scalar]:
    """Return all numbers of a small array."""
    return list(as_numbers(builder, array).values.ravel())


def _changed_arrays(jaxpr: Any, constants: int, carried: int) -> list[bool]:  # noqa: ANN401, JAX's
    """Return which of the carried arrays a turn may change: it does not answer what it was given."""
    given = jaxpr.invars[constants : constants + carried]
    return [one is not other for one, other in zip(given, jaxpr.outvars[:carried], strict=True)]


@register_rule("while")
def while_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder = translator.builder
    first, second = params["cond_nconsts"], params["body_nconsts"]
    asked, used = arrays[:first], arrays[first : first + second]
    start = arrays[first + second :]
    del arrays[:]
    body, _ = jaxpr_and_constants(params["body_jaxpr"])
    changes = _changed_arrays(body, second, len(start))
    fixed = [one for one, change in zip(start, changes, strict=True) if not change]
    head, turn = Question(), Block()
    with translator.freezing([*asked, *used, *fixed]):
        carried = Carried.of(translator, start, changes)
        with builder.inside(head, again=True):
            now = carried.now()
            with translator.freezing(now):  # which the turn reads after the question
                (asking,) = translator.call(params["cond_jaxpr"], [*asked, *now])
            lanes = [array_element(builder, asking, index) for index in np.ndindex(asking.shape)]
            condition = reduce(partial(builder.compute, "or"), lanes)
            with builder.inside(turn, again=True), translator.freezing(now if asking.shape else []):
                after = translator.call(params["body_jaxpr"], [*used, *now])
                if asking.shape:
                    after = [_select_lanes(builder, asking, one, old) for one, old in zip(after, now, strict=True)]
                carried.become(now, after)
    builder.block.lines.append(While(head, condition, turn))
    return carried.now()


def _select_lanes(builder: Builder, going: Array, new: Array, old: Array) -> Array:
    """Return the new numbers of the lanes that go on, the old ones of those that have ended."""
    going = in_memory(builder, going) if math.prod(new.shape) > SMALL else going

    def of(index: Index) -> Scalar:
        lane = array_element(builder, going, index[: len(going.shape)])
        return builder.select(lane, array_element(builder, new, index), array_element(builder, old, index))

    return produce_array(builder, new.shape, new.dtype, of)


@register_rule("scan")
def scan_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    builder, length = translator.builder, params["length"]
    constants, start, rows = _scan_parts(arrays, params)
    del arrays[:]
    body, _ = jaxpr_and_constants(params["jaxpr"])
    many = len(start)
    if not length:
        return [*start, *(SmallArray(np.empty(one.shape, object), dtype_of(one.dtype)) for one in outs[many:])]
    changes = _changed_arrays(body, len(constants), many)
    fixed = [one for one, change in zip(start, changes, strict=True) if not change]
    rows = [in_memory(builder, one) if length > 1 else one for one in rows]
    kept = [
        StoredArray(
            builder.memory(dtype_of(one.dtype), max(math.prod(one.shape), 1)), 0, tuple(one.shape), dtype_of(one.dtype)
        )
        for one in outs[many:]
    ]
    with translator.freezing([*constants, *rows, *fixed]):
        carried = Carried.of(translator, start, changes)
        _write_turns(translator, params, carried, constants, rows, kept)
    return [*carried.now(), *(load_array(builder, one) for one in kept)]


def _write_turns(
    translator: Translator,
    params: dict[str, Any],
    carried: Carried,
    constants: list[Array],
    rows: list[Array],
    kept: list[StoredArray],
) -> None:
    """Write the turns of a scan."""
    builder, length, many = translator.builder, params["length"], len(carried.like)
    with builder.repeat(length, apart=not many and not params["reverse"]) as index:
        at = builder.compute("sub", length - 1, index) if params["reverse"] else index
        now = carried.now()
        after = translator.call(params["jaxpr"], [*constants, *now, *(_read_row(builder, one, at) for one in rows)])
        for memory, row in zip(kept, after[many:], strict=True):
            _write_row(builder, memory, row, at)
        carried.become(now, after[:many])


def _scan_parts(arrays: list[Array], params: dict[str, Any]) -> tuple[list[Array], list[Array], list[Array]]:
    """Return constants, what is carried, and rows."""
    if "ft_in" in params:
        constants, carried, rows = (list(one) for one in params["ft_in"].update(arrays).unpack())
        return constants, carried, rows
    first, second = params["num_consts"], params["num_carry"]
    return arrays[:first], arrays[first : first + second], arrays[first + second :]


def _read_row(builder: Builder, array: Array, at: Scalar) -> Array:
    """Return one row of an array."""
    shape = array.shape[1:]
    if isinstance(array, SmallArray):
        assert not isinstance(at, Value)
        return SmallArray(np.asarray(array.values[int(at)], object).reshape(shape), array.dtype)
    start = builder.compute("add", array.start, builder.compute("mul", at, math.prod(shape)))
    return load_array(builder, StoredArray(array.store, start, shape, array.dtype))


def _write_row(builder: Builder, rows: StoredArray, row: Array, at: Scalar) -> None:
    """Write a row of an array in memory."""
    size = math.prod(rows.shape[1:])
    start = builder.compute("add", rows.start, builder.compute("mul", at, size))
    if isinstance(row, StoredArray):
        builder.copy(rows.store, start, row.store, row.start, size)
        return
    for place, value in enumerate(row.values.ravel()):
        builder.save(rows.store, builder.compute("add", start, place), value)


@register_rule("cond")
def branch_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    which, *operands = arrays
    index = array_element(translator.builder, which, ())
    del arrays[:]
    return _chosen_branch(translator, index, list(params["branches"]), operands, outs)


def _chosen_branch(
    translator: Translator, index: Scalar, branches: list[Any], operands: list[Array], outs: list[Any]
) -> list[Array]:
    """Return what the branch of this index answers; one below is the first, one beyond the last."""
    builder = translator.builder
    if not isinstance(index, Value):
        return translator.call(branches[min(max(int(index), 0), len(branches) - 1)], operands)
    if len(branches) == 1:
        return translator.call(branches[0], operands)
    first = index if index.kind == "bool" else builder.compute("lt", 0, index)
    later, earlier = Block(), Block()
    translator.branches += 1
    with builder.inside(later):
        if len(branches) == 2:
            yes = translator.call(branches[1], operands)
        else:
            yes = _chosen_branch(translator, builder.compute("sub", index, 1), branches[1:], operands, outs)
    with builder.inside(earlier):
        no = translator.call(branches[0], operands)
    translator.branches -= 1
    joined = [_join_branches(builder, later, a, earlier, b) for a, b in zip(yes, no, strict=True)]
    builder.block.lines.append(Branch(first, later, earlier))
    return [
        numbers_of([builder.get(one) if isinstance(one, Slot) else one for one in found[0]], found[1], found[2])
        if isinstance(found, tuple)
        else found
        for found in joined
    ]


def _join_branches(builder: Builder, later: Block, a: Array, earlier: Block, b: Array) -> Any:  # noqa: ANN401, see below
    """Return what one array is after two branches: memory, or the shape and type of numbers with what holds each."""
    if isinstance(a, StoredArray) and isinstance(b, StoredArray):
        if a.store is b.store and a.start == b.start:
            return a
        memory = StoredArray(builder.memory(a.dtype, math.prod(a.shape)), 0, a.shape, a.dtype)
        for block, source in ((later, a), (earlier, b)):
            with builder.inside(block):
                builder.copy(memory.store, 0, source.store, source.start, memory.store.count)
        return memory
    with builder.inside(later):
        ones = _array_values(builder, a)
    with builder.inside(earlier):
        others = _array_values(builder, b)
    held: list[Scalar | Slot] = []
    for one, other in zip(ones, others, strict=True):
        if one is other:
            held.append(one)
            continue
        slot = Slot(len(builder.slots), KINDS[a.dtype])
        builder.slots.append(slot)
        for block, value in ((later, one), (earlier, other)):
            with builder.inside(block):
                builder.put(slot, value)
        held.append(slot)
    return held, a.shape, a.dtype
