"""Columns of a module of WebAssembly: the page's script makes of them a module that says the same."""

import numpy as np
import pytest
from page_script import needs_node, run_in_web

import dockdyn
from dockdyn.packing import packed_text
from dockdyn.results.browser_unit import browser_unit
from dockdyn.translate.wasm_columns import CODE, HEAD, columns_of, sections_of
from dockdyn.translate.wasm_locals import write_integer

pytestmark = needs_node
DEEP = 400  # local variables of a function, more than places that one byte tells


def made_again(modules, folder):
    """What the page's script makes of the columns of modules."""
    files = [folder / str(number) for number in range(len(modules))]
    for file, module in zip(files, modules, strict=True):
        file.write_bytes(columns_of(module))
    script = folder / "module_files.mjs"
    run_in_web(
        *("npx", "esbuild", "test/module_files.ts", "--bundle", "--format=esm", "--platform=node"),
        *("--log-level=error", f"--outfile={script}"),
    )
    run_in_web("node", str(script), *map(str, files))
    return [file.with_suffix(".wasm").read_bytes() for file in files]


def signed(value):
    """An integer with a sign in as few groups of seven bits as it needs."""
    found = []
    while not -64 <= value < 64:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value & 127])


def drawn_instruction(draw):
    """An instruction, by how the standard writes it, and how many blocks it opens."""
    number = write_integer(int(draw.integers(2 ** draw.integers(1, 20))))
    local = write_integer(int(draw.integers(DEEP)))
    value = signed(int(draw.integers(-(2**31), 2**31)) >> int(draw.integers(31)))
    bounds = write_integer(int(draw.integers(4))) + write_integer(int(draw.integers(2 ** draw.integers(1, 33))))
    kinds = [
        *[bytes([code]) + local for code in (0x20, 0x20, 0x20, 0x21, 0x22)],
        *[bytes([0x41]) + value] * 3,
        *[bytes([int(draw.integers(0x28, 0x3F))]) + bounds] * 3,
        *[bytes([int(draw.integers(0x45, 0xC0))])] * 5,
        bytes([0x44]) + draw.bytes(8),
        bytes([0x43]) + draw.bytes(4),
        bytes([0x42]) + signed(int(draw.integers(-(2**62), 2**62))),
        bytes([0x10]) + number,
        bytes([0x11]) + number + b"\0",
        bytes([0x0C]) + number,
        bytes([0x0D]) + number,
        bytes([0x0E]) + write_integer(3) + 4 * number,
        bytes([0x1C, 1, 0x7C]),
        bytes([0x23]) + number,
        b"\x00\x01\x0f\x1a\x1b"[(place := int(draw.integers(5))) : place + 1],
        b"\xfc" + write_integer(int(draw.integers(8))),
        b"\xfc\x0a\0\0",
        b"\xfc\x0b\0",
        b"\x3f\0",
    ]
    return kinds[int(draw.integers(len(kinds)))]


def drawn_module(seed):
    """A module of functions of instructions at random, in blocks, which need not be valid."""
    draw = np.random.default_rng(seed)
    functions = []
    for _ in range(int(draw.integers(1, 4))):
        body, depth = bytearray(write_integer(1) + write_integer(DEEP) + b"\x7c"), 1
        for _ in range(int(draw.integers(5000))):
            if draw.random() < 0.05:
                body += bytes([int(draw.integers(2, 5)), 0x40])
                depth += 1
            elif draw.random() < 0.05 and depth > 1:
                body += b"\x0b"
                depth -= 1
            else:
                body += drawn_instruction(draw)
        body += b"\x0b" * depth
        functions.append(write_integer(len(body)) + body)
    code = write_integer(len(functions)) + b"".join(functions)
    parts = [(1, draw.bytes(30)), (CODE, code), (11, draw.bytes(200))]
    return HEAD + b"".join(bytes([kind]) + write_integer(len(part)) + part for kind, part in parts)


@pytest.mark.full
def test_modules_at_random_come_back_as_they_are(tmp_path):
    modules = [drawn_module(seed) for seed in range(12)]
    assert made_again(modules, tmp_path) == modules


def test_the_module_of_a_run_says_the_same_and_packs_shorter(tmp_path):
    """Its numbers are written shorter where LLVM leaves room for a linker."""
    module = browser_unit(dockdyn.load("probe-cone")).module.code
    (found,) = made_again([module], tmp_path)
    size = len(write_integer(len(module)))
    assert len(found) < len(module) and columns_of(found)[size:] == columns_of(module)[size:]
    assert [kind for kind, _ in sections_of(found)] == [kind for kind, _ in sections_of(module)]
    others = [[part for kind, part in sections_of(one) if kind != CODE] for one in (found, module)]
    assert others[0] == others[1]
    assert len(packed_text(columns_of(module))) < 0.85 * len(packed_text(module))
