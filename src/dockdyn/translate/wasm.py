"""A scalar program as a WebAssembly module, which browsers and Node.js load as it is: no compiler, no linker.

LLVM's object file for WebAssembly already is a module that imports its memory; an export of its function is added. It calls
nothing outside: the elementary functions are in it, so its bits are those of the other ways.

Units: none.
Source: WebAssembly Core Specification 2.0, binary format (5.4.2 values, 5.5 modules).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from dockdyn.translate.elementary import functions_among
from dockdyn.translate.jaxpr import TranslatedProgram
from dockdyn.translate.llvm import CLIBRARY, NAME, function_text, text_of
from dockdyn.translate.machine import initialised_llvm, lock, written_object
from dockdyn.translate.scalar_program import Untranslatable, operations_of

TARGET, FEATURES = "wasm32-unknown-unknown", "+bulk-memory,+nontrapping-fptoint"
LEVEL = 2  # of optimisation
HEAD = b"\0asm\1\0\0\0"
CUSTOM, IMPORT, EXPORT, DATA = 0, 2, 7, 11  # sections; those after the exports have larger numbers
FUNCTION, TABLE, MEMORY = 0, 1, 2  # what is imported
LOW, MORE = 127, 128  # seven bits of an integer, and that there are more


class WasmModule(NamedTuple):
    """A module, and how many bytes at the beginning of the memory are its own.

    It imports from `env` the memory (`__linear_memory`) and, where it needs them, `__stack_pointer`, a global variable with
    the end of a free stretch of it, and a table of functions. It exports the function, of three addresses: those of lists of
    the addresses of arguments and of results, and of working memory.
    """

    code: bytes
    data_bytes: int
    work_bytes: int


def wasm_module(program: TranslatedProgram) -> WasmModule:
    """Return a program as a module. Raises Untranslatable for an operation without a word in it."""
    operations = operations_of(program.builder.body)
    if outside := operations.intersection(CLIBRARY):
        raise Untranslatable(f"the function {min(outside)} in WebAssembly")
    llvm, machine = initialised_llvm(), _wasm_machine()
    with lock:
        module = llvm.parse_assembly(text_of(program))
        for function in functions_among(operations):
            module.link_in(llvm.parse_assembly(function_text(function)))
        written = written_object(module, machine, LEVEL)
    sections = list(_sections_of(written))
    return WasmModule(_with_export(sections), _data_end(dict(sections).get(DATA, b"\0")), max(program.builder.work, 1))


@cache
def _wasm_machine() -> Any:  # noqa: ANN401, llvmlite has no types
    """Return LLVM's description of WebAssembly."""
    llvm = initialised_llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TARGET).create_target_machine(
        features=FEATURES, opt=LEVEL, reloc="static", codemodel="default"
    )


def _sections_of(module: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the sections of a module: what they are, and what is in them."""
    at = len(HEAD)
    while at < len(module):
        size, start = _read_integer(module, at + 1)
        yield module[at], module[start : start + size]
        at = start + size


def _with_export(sections: list[tuple[int, bytes]]) -> bytes:
    """Return a module of sections that exports its first own function; names and relocations are left out."""
    name = NAME.encode()
    place = _imported_functions(dict(sections).get(IMPORT, b"\0"))
    export = b"\1" + _integer(len(name)) + name + bytes([FUNCTION]) + _integer(place)
    kept = [(kind, body) for kind, body in sections if kind != CUSTOM]
    before = sum(kind < EXPORT for kind, _ in kept)  # these stand in order
    kept.insert(before, (EXPORT, export))
    return HEAD + b"".join(bytes([kind]) + _integer(len(body)) + body for kind, body in kept)


def _imported_functions(body: bytes) -> int:
    """Return how many functions a section imports, which are counted before a module's own."""
    count, at = _read_integer(body, 0)
    found = 0
    for _ in range(count):
        for _ in ("module", "name"):
            length, at = _read_integer(body, at)
            at += length
        kind, at = body[at], at + 1
        found += kind == FUNCTION
        if kind == FUNCTION:
            _, at = _read_integer(body, at)
        elif kind in (TABLE, MEMORY):
            flags, at = body[at + (kind == TABLE)], at + 1 + (kind == TABLE)
            for _ in range(1 + (flags & 1)):
                _, at = _read_integer(body, at)
        else:
            at += 2  # a global variable
    return found


def _data_end(body: bytes) -> int:
    """Return where the constants of a module end in its memory."""
    count, at = _read_integer(body, 0)
    end = 0
    for _ in range(count):
        place, at = _read_integer(body, at + 2)  # after the flags and the instruction: a constant
        length, at = _read_integer(body, at + 1)  # after the end of the expression
        at += length
        end = max(end, place + length)
    return end


def _integer(number: int) -> bytes:
    """Return an integer in groups of seven bits."""
    found = []
    while number > LOW:
        found.append(number & LOW | MORE)
        number >>= 7
    return bytes([*found, number])


def _read_integer(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer in groups of seven bits, and where it ends."""
    found = shift = 0
    while True:
        found |= (data[at] & LOW) << shift
        shift += 7
        at += 1
        if not data[at - 1] & MORE:
            return found, at
