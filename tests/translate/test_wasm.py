"""WebAssembly in Node.js: the bits of machine code, of elementary functions and of a whole docking."""

import shutil
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from test_elementary import arguments_of, assert_same_bits, function_named

import dockdyn
from dockdyn.results.plan import settings_for
from dockdyn.results.unit import advance, begin
from dockdyn.translate import wasm
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.elementary import FORMULAS
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.native import Native, code_of
from dockdyn.translate.wasm import wasm_module
from dockdyn.translate.wasm_locals import read_integer

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node.js here")
STACK, ALIGNED = 65536, 16  # bytes
COUNT, MANY = 2_000, 100_000  # arguments


def answers(program, given, folder):
    """Whether the module has answered, and what."""
    module = wasm_module({"program": code_of(program)})
    memory = bytearray(module.data_bytes + STACK)
    stack = len(memory) // ALIGNED * ALIGNED

    def put(data):
        memory.extend(b"\0" * (-len(memory) % ALIGNED))
        memory.extend(data)
        return len(memory) - len(data)

    leaves = [np.ascontiguousarray(one, store.dtype) for one, store in zip(given, program.arguments, strict=False)]
    results = [np.zeros(shape, store.dtype) for store, shape in zip(program.results, program.shapes, strict=True)]
    given_at = [put(leaf.tobytes()) for leaf in [*leaves, *program.constants]]
    found_at = [put(row.tobytes()) for row in results]
    lists = [put(np.array(places, np.uint32).tobytes()) for places in (given_at, found_at)]
    work = put(bytes(module.work_bytes + ALIGNED))
    (folder / "program.wasm").write_bytes(module.code)
    (folder / "memory").write_bytes(memory)
    words = [folder / "program.wasm", folder / "memory", stack, *lists, work]
    ended = subprocess.run([NODE, Path(__file__).parent / "wasm_run.mjs", *map(str, words)], capture_output=True)
    assert ended.returncode in (0, 3), ended.stderr.decode()
    after = (folder / "memory").read_bytes()
    rows = zip(results, found_at, strict=True)
    return ended.returncode == 0, [np.frombuffer(after, row.dtype, row.size, at).reshape(row.shape) for row, at in rows]


def check_bits(function, given, folder):
    program = translate_function(jax.jit(function).trace(*given).jaxpr)
    ended, found = answers(program, given, folder)
    assert ended
    for one, other in zip(found, Native(code_of(program))(*given), strict=True):
        if other.dtype.kind == "f":
            assert_same_bits(one, other)
        else:
            np.testing.assert_array_equal(one, other)
    return found


@pytest.mark.parametrize("count", [COUNT, pytest.param(MANY, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", FORMULAS)
def test_elementary_functions(name, count, tmp_path):
    check_bits(function_named(name), arguments_of(name, count, 3), tmp_path)


@pytest.mark.parametrize("name", ["paraskevas-b", pytest.param("probe-cone", marks=pytest.mark.full)])
def test_a_docking(name, tmp_path):
    """The integrator with all its events."""
    content = dockdyn.load(name).content
    settings = settings_for(content)
    leaves, structure = jax.tree.flatten((content, settings, np.asarray(400), begin(content, settings)))

    def steps(*given):
        return jax.tree.leaves(advance.function(*jax.tree.unflatten(structure, given)))

    assert len(check_bits(steps, leaves, tmp_path)) > 10


@pytest.mark.full
def test_variables_share_places_where_they_are_not_needed_at_once(tmp_path, monkeypatch):
    """Loops in loops, of which variables from outside are needed to the end, and branches."""
    monkeypatch.setattr(wasm, "LARGE", 0)
    monkeypatch.setattr(wasm.kept, "find_entry", lambda *_: None)
    counts, share = [], wasm.share_locals

    def counted(types, functions, code):
        counts.append((count_locals(code), count_locals(shared := share(types, functions, code))))
        return shared

    monkeypatch.setattr(wasm, "share_locals", counted)

    def function(x, n):
        def outer(i, carried):
            total, rows = carried
            inner = lax.fori_loop(0, i + n[0], lambda j, t: t * 0.5 + jnp.sin(rows[j % 7] + total) * x[0], x[1] * i)
            rows = lax.cond(inner > x[2], lambda r: r.at[i % 7].set(inner), lambda r: r + x[3], rows)
            return total + inner / x[4], rows

        return lax.fori_loop(0, n[1], outer, (x[5], x))

    drawn = np.random.default_rng(8).uniform(0.5, 2.0, (20, 7))
    for row in drawn:
        check_bits(function, [row, np.array([3, 9])], tmp_path)
    assert len(counts) == len(drawn) and all(after < 0.6 * before for before, after in counts), counts


def count_locals(code):
    """The local variables of the largest function of a code section."""
    count, at = read_integer(code, 0)
    sizes = []
    for _ in range(count):
        size, at = read_integer(code, at)
        groups, place = read_integer(code, at)
        total = 0
        for _ in range(groups):
            number, place = read_integer(code, place)
            total, place = total + number, place + 1
        sizes.append(total)
        at += size
    return max(sizes)


def test_a_function_of_the_c_library_is_refused():
    program = translate_function(jax.jit(lax.lgamma).trace(np.ones(3)).jaxpr)
    with pytest.raises(Untranslatable, match="lgamma in WebAssembly"):
        wasm_module({"program": code_of(program)})
