"""Programs as a WebAssembly module, which browsers and Node.js load as it is: no compiler, no linker.

LLVM's object file for WebAssembly already is a module that imports its memory; exports of its functions are added. It calls
nothing outside: the elementary functions are in it, so its bits are those of the other ways.

Units: none.
Source: WebAssembly Core Specification 2.0, binary format (5.4.2 values, 5.5 modules); its object file linking, symbol table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from dockdyn import kept
from dockdyn.translate.code import NAME, Code, Untranslatable
from dockdyn.translate.library import elementary_text
from dockdyn.translate.machine import initialised_llvm, lock, written_object
from dockdyn.translate.store import name_of, store_folder
from dockdyn.translate.wasm_columns import CODE, HEAD, sections_of
from dockdyn.translate.wasm_locals import read_integer, share_locals, write_integer

TARGET, FEATURES = "wasm32-unknown-unknown", "+bulk-memory,+nontrapping-fptoint"
LEVEL = 2  # of optimisation
LARGE = (
    800_000  # letters of a program beyond which LLVM does not share local variables: that takes the square of its size
)
CUSTOM, TYPES, IMPORT, FUNCTIONS, EXPORT, DATA = (
    0,
    1,
    2,
    3,
    7,
    11,
)  # sections; those after the exports have larger numbers
FUNCTION, TABLE, MEMORY = 0, 1, 2  # what is imported
LINKING, SYMBOLS = b"\x07linking", 8  # the section for linkers, and its table of symbols
DATA_SYMBOL, SECTION_SYMBOL = 1, 3  # besides functions, of which the number is that of imports
UNDEFINED, NAMED = 0x10, 0x40  # flags of symbols
SIZE = 8  # bytes of a number that is kept with a module


class WasmModule(NamedTuple):
    """A module, how many bytes at the beginning of the memory are its own, and how many its functions work in.

    It imports from `env` the memory (`__linear_memory`) and, where it needs them, `__stack_pointer`, a global variable with
    the end of a free stretch of it, and a table of functions. It exports functions of three addresses: those of lists of the
    addresses of arguments (the constants of the code come last) and of results, and of working memory.
    """

    code: bytes
    data_bytes: int
    work_bytes: int


def wasm_module(codes: Mapping[str, Code]) -> WasmModule:
    """Return programs as a module that exports each under its name, kept from one process to the next.

    Raises Untranslatable for what needs a library.
    """
    stored = name_of(
        (TARGET, FEATURES, LEVEL, LARGE, [(name, code.text.packed, code.work) for name, code in codes.items()])
    )
    body = kept.find_entry(store_folder(), stored)
    if body is None:
        made = _made_module(codes)
        body = b"".join(size.to_bytes(SIZE, "little") for size in made[1:]) + made.code
        kept.keep_entry(store_folder(), stored, body)
    sizes = (int.from_bytes(body[at : at + SIZE], "little") for at in (0, SIZE))
    return WasmModule(body[2 * SIZE :], *sizes)


def _made_module(codes: Mapping[str, Code]) -> WasmModule:
    large = any(code.text.letters > LARGE for code in codes.values())
    llvm, machine = initialised_llvm(), _wasm_machine(0 if large else LEVEL)
    with lock:
        module = llvm.parse_assembly("")
        for name, code in codes.items():
            module.link_in(llvm.parse_assembly(code.text.unpacked().replace(f"@{NAME}(", f"@{name}(", 1)))
        for function in sorted({one for code in codes.values() for one in code.text.calls}):
            module.link_in(llvm.parse_assembly(elementary_text(function)))
        written = written_object(module, machine, LEVEL)
    sections = list(sections_of(written))
    if large:
        types, functions = (dict(sections)[kind] for kind in (TYPES, FUNCTIONS))
        sections = [(kind, share_locals(types, functions, body) if kind == CODE else body) for kind, body in sections]
    outside = _imported_functions(dict(sections).get(IMPORT, b"\0"))
    if outside:
        raise Untranslatable(f"the function {outside[0]} in WebAssembly")
    work = max(1, *(code.work for code in codes.values()))
    return WasmModule(_with_exports(sections, list(codes)), _data_end(dict(sections).get(DATA, b"\0")), work)


@cache
def _wasm_machine(level: int) -> Any:  # noqa: ANN401, llvmlite has no types
    """Return LLVM's description of WebAssembly, which writes code at a level."""
    llvm = initialised_llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TARGET).create_target_machine(
        features=FEATURES, opt=level, reloc="static", codemodel="default"
    )


def _with_exports(sections: list[tuple[int, bytes]], names: Sequence[str]) -> bytes:
    """Return a module of sections that exports its functions of these names; its own names and relocations are left out."""
    places = _function_places(sections)
    exports = [
        write_integer(len(name)) + name.encode() + bytes([FUNCTION]) + write_integer(places[name.encode()])
        for name in names
    ]
    kept = [(kind, body) for kind, body in sections if kind != CUSTOM]
    before = sum(kind < EXPORT for kind, _ in kept)  # these stand in order
    kept.insert(before, (EXPORT, write_integer(len(exports)) + b"".join(exports)))
    return HEAD + b"".join(bytes([kind]) + write_integer(len(body)) + body for kind, body in kept)


def _function_places(sections: list[tuple[int, bytes]]) -> dict[bytes, int]:
    """Return the places of functions by their names, from the table of symbols that a linker would read."""
    (body,) = (body for kind, body in sections if kind == CUSTOM and body.startswith(LINKING))
    _, at = read_integer(body, len(LINKING))  # the version
    while body[at] != SYMBOLS:
        size, at = read_integer(body, at + 1)
        at += size
    _, at = read_integer(body, at + 1)
    count, at = read_integer(body, at)
    found = {}
    for _ in range(count):
        kind, at = body[at], at + 1
        flags, at = read_integer(body, at)
        place = -1
        if kind != DATA_SYMBOL:
            place, at = read_integer(body, at)
        if kind != SECTION_SYMBOL and (kind == DATA_SYMBOL or not flags & UNDEFINED or flags & NAMED):
            length, at = read_integer(body, at)
            name, at = body[at : at + length], at + length
            if kind == FUNCTION:
                found[name] = place
        if kind == DATA_SYMBOL and not flags & UNDEFINED:
            for _ in ("segment", "offset", "size"):
                _, at = read_integer(body, at)
    return found


def _imported_functions(body: bytes) -> list[str]:
    """Return the names of the functions that a section imports."""
    count, at = read_integer(body, 0)
    found = []
    for _ in range(count):
        for _ in ("module", "name"):
            length, at = read_integer(body, at)
            name, at = body[at : at + length], at + length
        kind, at = body[at], at + 1
        if kind == FUNCTION:
            found.append(name.decode())
            _, at = read_integer(body, at)
        elif kind in (TABLE, MEMORY):
            flags, at = body[at + (kind == TABLE)], at + 1 + (kind == TABLE)
            for _ in range(1 + (flags & 1)):
                _, at = read_integer(body, at)
        else:
            at += 2  # a global variable
    return found


def _data_end(body: bytes) -> int:
    """Return where the constants of a module end in its memory."""
    count, at = read_integer(body, 0)
    end = 0
    for _ in range(count):
        place, at = read_integer(body, at + 2)  # after the flags and the instruction: a constant
        length, at = read_integer(body, at + 1)  # after the end of the expression
        at += length
        end = max(end, place + length)
    return end
