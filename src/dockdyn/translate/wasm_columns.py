"""A module of WebAssembly in columns, which pack far shorter: what is done apart from what it is done to, each told by what was
before. `web/src/live/module.ts` makes the module of them.

A local variable, and a constant of 32 bits, is told by how many others of its function were used since it was; one that is new,
and the offset of a load or a store, by the difference from the last one. Numbers of it are written as short as they can be,
where LLVM leaves room for a linker.

Units: none.
Source: WebAssembly Core Specification 2.0, binary format; move to front: Ryabko, B. Ya., Problems of Information Transmission
16 (1980); columns of a program: Ernst, J., et al., Code Compression, PLDI (1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dockdyn.translate.wasm_locals import (
    BLOCK,
    END,
    GET,
    IF,
    LONG,
    LOOP,
    LOW,
    MORE,
    TEE,
    end_of_instruction,
    read_integer,
    write_integer,
)

HEAD = b"\0asm\1\0\0\0"
CODE = 10  # the section with the functions
FIRST_LOAD, LAST_STORE, CONSTANT, DOUBLE = 0x28, 0x3E, 0x41, 0x44  # instructions
FIRST_ALONE = 0x45  # from which on instructions stand alone, but for those of two parts
FAR = 255  # of places told by one byte; more follows where it is that
SIGN = 64  # of the last seven bits of an integer with a sign


class RecentUses(NamedTuple):
    """Things told by how many others were used since they were."""

    near: bytearray  # a byte each: 0 of a new one, else one more than that, at most `FAR`
    far: bytearray  # what is beyond it

    def tell(self, known: list[int], thing: int) -> bool:
        """Tell a thing among those `known`, the last one first; return whether it is new."""
        try:
            rank = known.index(thing)
        except ValueError:
            self.near.append(0)
            known.insert(0, thing)
            return True
        if rank:
            del known[rank]
            known.insert(0, thing)
        if rank + 1 < FAR:
            self.near.append(rank + 1)
        else:
            self.near.append(FAR)
            self.far.extend(write_integer(rank + 1 - FAR))
        return False


class ModuleColumns:
    """The columns of a module."""

    def __init__(self) -> None:
        self.frame = bytearray()  # sections, of functions the heads
        self.codes = bytearray()  # of instructions
        self.read, self.written, self.constant = (RecentUses(bytearray(), bytearray()) for _ in range(3))
        self.new_locals, self.new_constants = bytearray(), bytearray()
        self.memory, self.doubles, self.rest = bytearray(), bytearray(), bytearray()

    def packed(self, size: int) -> bytes:
        """Return all of them, with the `size` of the module and theirs before."""
        ranked = (part for both in (self.read, self.written, self.constant) for part in both)
        parts = [self.frame, self.codes, *ranked, self.new_locals, self.new_constants]
        parts += [self.memory, self.doubles, self.rest]
        return b"".join([*map(write_integer, [size, *map(len, parts)]), *parts])

    def add_function(self, body: bytes) -> None:
        """Add a function, all but its size."""
        groups, at = read_integer(body, 0)
        for _ in range(groups):
            at = read_integer(body, at)[1] + 1
        self.frame += body[:at]
        known: list[int] = []  # local variables, the last one used first
        constants: list[int] = []
        local = constant = offset = 0  # the last new ones
        depth = 1
        while depth:
            code, start = body[at], at + 1
            self.codes.append(code)
            if code >= FIRST_ALONE and code != LONG:
                at = start
                continue
            at = end_of_instruction(body, code, start)
            if GET <= code <= TEE:
                which = read_integer(body, start)[0]
                if (self.read if code == GET else self.written).tell(known, which):
                    self.new_locals += _write_signed(which - local)
                    local = which
            elif code == CONSTANT:
                value = _read_signed(body, start)
                if self.constant.tell(constants, value):
                    self.new_constants += _write_signed(value - constant)
                    constant = value
            elif FIRST_LOAD <= code <= LAST_STORE:
                aligned, place = read_integer(body, start)
                there = read_integer(body, place)[0]
                self.memory += write_integer(aligned) + _write_signed(there - offset)
                offset = there
            else:
                (self.doubles if code == DOUBLE else self.rest).extend(body[start:at])
                depth += (code in (BLOCK, LOOP, IF)) - (code == END)


def sections_of(module: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the sections of a module: what they are, and what is in them."""
    at = len(HEAD)
    while at < len(module):
        size, start = read_integer(module, at + 1)
        yield module[at], module[start : start + size]
        at = start + size


def columns_of(module: bytes) -> bytes:
    """Return a module in columns."""
    found = ModuleColumns()
    for kind, body in sections_of(module):
        found.frame.append(kind)
        if kind != CODE:
            found.frame += write_integer(len(body)) + body
            continue
        count, at = read_integer(body, 0)
        found.frame += write_integer(count)
        for _ in range(count):
            size, at = read_integer(body, at)
            found.add_function(body[at : at + size])
            at += size
    return found.packed(len(module))


def _write_signed(number: int) -> bytes:
    """Return an integer with a sign, which is in its last bit."""
    return write_integer(2 * number if number >= 0 else -2 * number - 1)


def _read_signed(data: bytes, at: int) -> int:
    """Return an integer as a module has one with a sign: the complement of two in groups of seven bits."""
    found = shift = 0
    while True:
        found |= (data[at] & LOW) << shift
        shift += 7
        if not data[at] & MORE:
            return found - (1 << shift) if data[at] & SIGN else found
        at += 1
