"""A scalar program: straight lines, loops and branches over numbers, as every printer needs it.

Values are numbers of Python where they are known and `Value`s where they are computed. The builder folds what is known,
keeps one copy of what is computed twice, and never assumes anything that rounding, infinities or NaN would break.

Units: none.
Source: definition.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from dockdyn.translate.code import SIZES

Kind = Literal["float", "int", "bool"]
KINDS: dict[str, Kind] = {"float64": "float", "int64": "int", "int32": "int", "uint32": "int", "bool": "bool"}


class Value:
    """A number that the program computes."""

    __slots__ = ("home", "kind", "name")

    def __init__(self, name: int, kind: Kind, home: Block):
        self.name, self.kind, self.home = name, kind, home  # the block that computes it


Scalar = Value | float | int | bool


@dataclass(eq=False)
class Slot:
    """A number that changes: what a loop carries, what branches answer."""

    name: int
    kind: Kind


@dataclass(eq=False)
class MemoryBlock:
    """A piece of memory: an argument, a result or a part of the working memory."""

    role: Literal["in", "out", "work", "table"]
    place: int  # which argument or result; of working memory, the first byte
    dtype: str
    count: int  # elements


class ConstantTable(MemoryBlock):
    """Constant numbers of a function, by place."""

    def __init__(self, name: str, values: Sequence[float] | Sequence[int]):
        super().__init__("table", 0, "int64" if isinstance(values[0], int) else "float64", len(values))
        self.name, self.values = name, values


@dataclass
class Block:
    """Statements, one after another."""

    lines: list[Statement] = field(default_factory=list)


@dataclass
class Question(Block):
    """The head of a loop, which is done once more than its body."""


@dataclass
class Compute:
    """value = operation(operands)."""

    value: Value
    operation: str
    operands: tuple[Scalar, ...]


@dataclass
class LoadStatement:
    """value = store[at]."""

    value: Value
    store: MemoryBlock
    at: Scalar


@dataclass
class Save:
    """store[at] = value."""

    store: MemoryBlock
    at: Scalar
    value: Scalar


@dataclass
class Get:
    """value = slot."""

    value: Value
    slot: Slot


@dataclass
class Put:
    """slot = value."""

    slot: Slot
    value: Scalar


@dataclass
class Copy:
    """store[at : at + count] = source[start : start + count], which do not overlap."""

    store: MemoryBlock
    at: Scalar
    source: MemoryBlock
    start: Scalar
    count: int


@dataclass
class TurnsApart:
    """Of a loop whose turns do not depend on each other: its counter from zero, as its head reads it, and how many turns."""

    slot: Slot
    index: Value
    count: int


@dataclass
class While:
    """Again and again: `head`, then `body` while `condition` holds."""

    head: Question
    condition: Scalar
    body: Block
    apart: TurnsApart | None = None


@dataclass
class Branch:
    """`then` where `condition` holds, else `otherwise`."""

    condition: Scalar
    then: Block
    otherwise: Block


@dataclass
class Leave:
    """The end of the program, without results."""


Statement = Compute | LoadStatement | Save | Get | Put | Copy | While | Branch | Leave


def kind_of(value: Scalar) -> Kind:
    if isinstance(value, Value):
        return value.kind
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "float"


def _wrap_integer(value: int) -> int:
    """Return an integer of 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


def _float_bits(value: float) -> int:
    """Return the bits of a float as a signed integer."""
    return int(struct.unpack("q", struct.pack("d", value))[0])


def _divide_floats(a: float, b: float) -> float | None:
    if isinstance(a, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else None
    return a / b if b else None


def _fold_remainder(a: float, b: float) -> float | None:
    if isinstance(a, int):
        return abs(a) % abs(b) * (-1 if a < 0 else 1) if b else None
    return None


# operation: kind of its result ("same": that of its last operand) and, where it can be folded, how
FOLDS: dict[str, Callable[..., float | int | bool | None] | None] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide_floats,
    "rem": _fold_remainder,
    "max": lambda a, b: max(a, b) if isinstance(a, int) else None,
    "min": lambda a, b: min(a, b) if isinstance(a, int) else None,
    "is_nan": lambda a: math.isnan(a),
    "narrow": lambda a: (a + 2**31) % 2**32 - 2**31,
    "narrow_unsigned": lambda a: a % 2**32,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else None,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": lambda a, b: a & b,  # of integers, bit by bit
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << b,
    "shift_right": lambda a, b: a >> b,  # the sign comes in
    "not": lambda a: not a,
    "to_float": float,
    "to_int": lambda a: int(a) if isinstance(a, bool) else None,
    "to_bits": lambda a: _float_bits(a),
    "from_bits": lambda a: struct.unpack("d", struct.pack("q", a))[0],
}
RESULTS: dict[str, Kind] = dict.fromkeys(("eq", "ne", "lt", "le", "not", "is_nan"), "bool")
RESULTS |= {
    "to_float": "float",
    "to_int": "int",
    "to_bits": "int",
    "from_bits": "float",
}  # kinds of results; of all others it is that of the last operand
COMMUTE = {"add", "mul", "and", "or", "xor", "eq", "ne"}


def _value_key(value: Scalar) -> object:
    """Return what two equal values share: of floats the bits, for 0.0 is not −0.0."""
    if isinstance(value, Value):
        return value.name
    return struct.pack("d", value) if isinstance(value, float) else (type(value), value)


def _operand_keys(operation: str, operands: tuple[Scalar, ...]) -> tuple[object, ...]:
    """Return the keys of operands; of what commutes in one order."""
    keys = tuple([one.name if type(one) is Value else _value_key(one) for one in operands])
    if operation not in COMMUTE:
        return keys
    first, second = keys
    if type(first) is int and type(second) is int:
        return keys if first <= second else (second, first)
    return keys if type(first) is int else (second, first)  # a computed value before a known one


@dataclass
class Function:
    """A function of floats that programs call by its name, with what computes it."""

    name: str
    parameters: list[Value]
    builder: Builder
    result: Scalar


class Builder:
    """Builds a program, statement by statement."""

    def __init__(self) -> None:
        self.body = Block()
        self.block = self.body
        self.known: dict[object, Value] = {}  # computed already, in this block and those around it
        self.around = [self.body]  # blocks that the present one is in, outermost first, and itself
        self.turns = [False]  # which of these are done again and again, whatever holds
        self.since: list[list[object]] = [[]]  # what is known since each of them began
        self.slots: list[Slot] = []
        self.tables: dict[str, ConstantTable] = {}
        self.work = 0  # bytes of working memory
        self.count = 0  # of values

    def value(self, kind: Kind) -> Value:
        self.count += 1
        return Value(self.count, kind, self.block)

    def compute(self, operation: str, *operands: Scalar) -> Scalar:
        """Return the result of an operation, known already where it can be."""
        computed = [one for one in operands if type(one) is Value]
        if len(computed) < len(operands):
            if not computed and (folded := _fold_constants(operation, operands)) is not None:
                return folded
            if (simple := _simplify_operation(operation, operands)) is not None:
                return simple
        kind = RESULTS.get(operation) or kind_of(operands[-1])
        key = (operation, kind, *_operand_keys(operation, operands))
        value = self.known.get(key)
        if value is None:
            place = self.earliest(operation, operands[0], computed)
            home = self.around[place]
            self.count += 1
            value = self.known[key] = Value(self.count, kind, home)
            self.since[place].append(key)
            home.lines.append(Compute(value, operation, operands))
        return value

    def earliest(self, operation: str, first: Scalar, computed: list[Value]) -> int:
        """Return the block around, by number, where an operation is computed: before the loops in which it would always be the
        same.

        Not before a branch, which may be there to save it.
        """
        found = place = len(self.around) - 1
        if not self.turns[place]:
            return found
        for one in computed:
            if one.home is self.block:
                return found
        if operation in ("div", "rem") and kind_of(first) == "int":  # stops the process where it divides by zero
            return found
        homes = {id(one.home) for one in computed}
        while self.turns[place] and id(self.around[place]) not in homes:
            place -= 1
            if not isinstance(self.around[place], Question):
                found = place
        return found

    def select(self, condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
        if not isinstance(condition, Value):
            return yes if condition else no
        if yes is no or (
            not isinstance(yes, Value) and not isinstance(no, Value) and _value_key(yes) == _value_key(no)
        ):
            return yes
        return self.compute("select", condition, yes, no)

    def load(self, store: MemoryBlock, at: Scalar) -> Value:
        value = self.value(KINDS[store.dtype])
        self.block.lines.append(LoadStatement(value, store, at))
        return value

    def save(self, store: MemoryBlock, at: Scalar, value: Scalar) -> None:
        self.block.lines.append(Save(store, at, value))

    def copy(self, store: MemoryBlock, at: Scalar, source: MemoryBlock, start: Scalar, count: int) -> None:
        self.block.lines.append(Copy(store, at, source, start, count))

    def leave(self) -> None:
        self.block.lines.append(Leave())

    def memory(self, dtype: str, count: int) -> MemoryBlock:
        """Return working memory for so many elements."""
        store = MemoryBlock("work", self.work, dtype, count)
        self.work += -(-count * SIZES[dtype] // 16) * 16
        return store

    def slot(self, kind: Kind, value: Scalar) -> Slot:
        slot = Slot(len(self.slots), kind)
        self.slots.append(slot)
        self.put(slot, value)
        return slot

    def get(self, slot: Slot) -> Value:
        value = self.value(slot.kind)
        self.block.lines.append(Get(value, slot))
        return value

    def put(self, slot: Slot, value: Scalar) -> None:
        self.block.lines.append(Put(slot, value))

    @contextmanager
    def inside(self, block: Block, again: bool = False) -> Iterator[None]:
        """Let what is built go into `block`, which a loop does `again` and again."""
        outer, self.block = self.block, block
        self.around.append(block)
        self.turns.append(again)
        self.since.append([])
        yield
        for key in self.since.pop():
            del self.known[key]
        self.around.pop()
        self.turns.pop()
        self.block = outer

    @contextmanager
    def repeat(self, count: Scalar, start: Scalar = 0, apart: bool = False) -> Iterator[Scalar]:
        """Write a loop over the integers from `start` to below `count`, whose turns may be `apart`: none depends on others."""
        if isinstance(count, int) and isinstance(start, int) and count - start == 1:
            yield start
            return
        slot = self.slot("int", start)
        head, body = Question(), Block()
        with self.inside(head, again=True):
            index = self.get(slot)
            going = self.compute("lt", index, count)
            with self.inside(body, again=True):
                yield index
                self.put(slot, self.compute("add", index, 1))
        known = TurnsApart(slot, index, count) if apart and isinstance(count, int) and start == 0 else None
        self.block.lines.append(While(head, going, body, known))

    def branch(
        self, condition: Scalar, yes: Callable[[], Sequence[Scalar]], no: Callable[[], Sequence[Scalar]]
    ) -> list[Scalar]:
        """Return the numbers that one of two functions computes: the first where a condition holds."""
        then, otherwise = Block(), Block()
        with self.inside(then):
            found = yes()
            slots = [Slot(len(self.slots) + place, kind_of(one)) for place, one in enumerate(found)]
            self.slots += slots
            for slot, one in zip(slots, found, strict=True):
                self.put(slot, one)
        with self.inside(otherwise):
            for slot, one in zip(slots, no(), strict=True):
                self.put(slot, one)
        self.block.lines.append(Branch(condition, then, otherwise))
        return [self.get(slot) for slot in slots]

    @contextmanager
    def where(self, condition: Scalar) -> Iterator[None]:
        """Write what is done only where a condition holds."""
        then = Block()
        with self.inside(then):
            yield
        self.block.lines.append(Branch(condition, then, Block()))


def operations_of(block: Block) -> set[str]:
    """Return the names of the operations in a block and in those inside it."""
    found = set()
    for line in block.lines:
        match line:
            case Compute():
                found.add(line.operation)
            case While():
                found |= operations_of(line.head) | operations_of(line.body)
            case Branch():
                found |= operations_of(line.then) | operations_of(line.otherwise)
    return found


def _fold_constants(operation: str, operands: tuple[Scalar, ...]) -> Scalar | None:
    fold = FOLDS.get(operation)
    if fold is None:
        return None
    try:
        found = fold(*operands)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    return _wrap_integer(found) if type(found) is int else found


def _simplify_operation(operation: str, operands: tuple[Scalar, ...]) -> Scalar | None:
    """Return the result where it is an operand, bit for bit, whatever the operands hold."""
    if operation == "mul":
        for one, other in (operands, operands[::-1]):
            if not isinstance(one, Value) and one == 1:
                return other
            if kind_of(other) == "int" and not isinstance(one, Value) and one == 0:
                return 0
    if operation in ("add", "sub") and not isinstance(operands[1], Value) and kind_of(operands[0]) == "int":
        return operands[0] if operands[1] == 0 else None
    if operation == "add" and not isinstance(operands[0], Value) and kind_of(operands[1]) == "int":
        return operands[1] if operands[0] == 0 else None
    if operation == "div" and not isinstance(operands[1], Value) and operands[1] == 1:
        return operands[0]
    if operation in ("and", "or"):
        for one, other in (operands, operands[::-1]):
            if isinstance(one, bool):
                return other if one == (operation == "and") else one
    return None
