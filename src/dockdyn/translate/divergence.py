"""What differs between the turns of a loop that are taken at once, in a scalar program that is written in vectors.

Units: none.
Source: analysis of divergence, Coutinho et al. 2011; own construction.
"""

from __future__ import annotations

from collections.abc import Iterator

from dockdyn.translate.scalar_program import (
    Block,
    Branch,
    Builder,
    Compute,
    Copy,
    Get,
    Leave,
    LoadStatement,
    MemoryBlock,
    Put,
    Save,
    Scalar,
    Statement,
    Value,
    While,
)


class Unfit(Exception):
    """A loop whose turns change what others read."""


def blocks_in(line: Statement) -> tuple[Block, ...]:
    """Return the blocks that a statement has, in their order."""
    if isinstance(line, While):
        return line.head, line.body
    return (line.then, line.otherwise) if isinstance(line, Branch) else ()


def statements_in(block: Block) -> Iterator[Statement]:
    """Yield all statements of a block, those inside of others among them."""
    for line in block.lines:
        yield line
        for inner in blocks_in(line):
            yield from statements_in(inner)


def _stores_in(line: Statement) -> list[MemoryBlock]:
    """Return the memory that a statement itself names."""
    if isinstance(line, LoadStatement | Save):
        return [line.store]
    return [line.store, line.source] if isinstance(line, Copy) else []


class Divergence:
    """What differs between the lanes of a loop: values, slots and memory by name.

    A number of the loop's control differs where lanes that go the same way could have different ones: of a slot that is
    always put before it is read in a block, those that reach that block together.
    """

    def __init__(self, builder: Builder, loop: While):
        assert loop.apart is not None
        self.values = {loop.apart.index.name}
        self.slots: set[int] = set()
        self.stores: set[int] = set()
        self.own = loop.apart.slot
        inside = list(statements_in(loop.body))
        within = {id(line) for line in inside} | {id(line) for line in (loop, *statements_in(loop.head))}
        outside = [line for line in statements_in(builder.body) if id(line) not in within]
        elsewhere = {id(store) for line in outside for store in _stores_in(line)}
        self.private = {
            id(store)
            for line in inside
            for store in _stores_in(line)
            if store.role == "work" and id(store) not in elsewhere
        }
        self.homes = _homes_of_slots(loop.body)
        self.levels: dict[int, int] = {}
        sizes = None
        while sizes != (sizes := (len(self.values), len(self.slots), len(self.stores))):
            self.walk(loop.body, 0)
        shared = {line.slot.name for line in outside if isinstance(line, Get | Put)}
        if self.slots & shared:
            raise Unfit

    def of(self, value: Scalar) -> bool:
        return isinstance(value, Value) and value.name in self.values

    def walk(self, block: Block, level: int) -> None:
        """Note what differs in a block that so many questions surround which lanes answer differently."""
        self.levels[id(block)] = level
        for line in block.lines:
            match line:
                case Compute():
                    if any(map(self.of, line.operands)):
                        self.values.add(line.value.name)
                case Get():
                    if line.slot.name in self.slots:
                        self.values.add(line.value.name)
                case Put():
                    home = self.homes.get(line.slot.name)
                    if line.slot is self.own:
                        continue
                    if self.of(line.value) or level > (0 if home is None else self.levels.get(home, 0)):
                        self.slots.add(line.slot.name)
                case LoadStatement():
                    if id(line.store) in self.stores or self.of(line.at):
                        self.values.add(line.value.name)
                case Save():
                    self.written(line.store, line.at, level > 0 or self.of(line.value))
                case Copy():
                    differs = id(line.source) in self.stores or self.of(line.start)
                    self.written(line.store, line.at, level > 0 or differs)
                case While() | Branch():
                    inner = level + self.of(line.condition)
                    for one in blocks_in(line):
                        self.walk(one, inner)
                case Leave():
                    pass

    def written(self, store: MemoryBlock, at: Scalar, differs: bool) -> None:
        if id(store) in self.private:
            if differs or self.of(at):
                self.stores.add(id(store))
        elif not self.of(at):
            raise Unfit


def _homes_of_slots(body: Block) -> dict[int, int]:
    """Return for slots the innermost block that has all that is done with them, where they are put before they are read."""
    paths: dict[int, tuple[Block, ...]] = {}

    def note(block: Block, path: tuple[Block, ...]) -> None:
        path = (*path, block)
        for line in block.lines:
            if isinstance(line, Get | Put):
                known = paths.get(line.slot.name)
                if known is None:
                    paths[line.slot.name] = path
                elif known is not path:
                    shared = [one for one, other in zip(known, path, strict=False) if one is other]
                    paths[line.slot.name] = tuple(shared)
            for inner in blocks_in(line):
                note(inner, path)

    note(body, ())
    homes = {slot: id(path[-1]) for slot, path in paths.items()}
    put_first: set[int] = set()
    _find_put_first(body, homes, put_first)
    return {slot: home for slot, home in homes.items() if slot in put_first}


def _find_put_first(block: Block, homes: dict[int, int], found: set[int]) -> dict[int, bool]:
    """Note the slots that are put before anything reads them in the block that is their home, whichever way it goes.

    Returns whether that is so in this block, of the slots in it whose home is one around it.
    """
    first: dict[int, bool] = {}
    for line in block.lines:
        if isinstance(line, Get | Put):
            first.setdefault(line.slot.name, isinstance(line, Put))
        elif inner := [_find_put_first(one, homes, found) for one in blocks_in(line)]:
            for slot in inner[0] | inner[1]:
                first.setdefault(slot, isinstance(line, Branch) and all(one.get(slot, False) for one in inner))
    found |= {slot for slot, put in first.items() if put and homes[slot] == id(block)}
    return {slot: put for slot, put in first.items() if homes[slot] != id(block)}
