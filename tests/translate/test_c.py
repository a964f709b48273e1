"""C that another compiler takes without a warning, and whose numbers are those of the other ways."""

import ctypes
import shutil
import subprocess

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import dockdyn
from dockdyn.results.plan import settings_for
from dockdyn.results.unit import advance, begin
from dockdyn.translate.c import c_text
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.native import Native, code_of

GCC = shutil.which("gcc")
pytestmark = pytest.mark.skipif(GCC is None, reason="no C compiler here")
FLAGS = "-std=c99 -pedantic -Wall -Wextra -Werror -Wno-unused -ffp-contract=off -O1 -shared -fPIC".split()
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e-310, 0.5, -0.75, 2.5, -3.5, 7.0])


def compiled(function, given, folder):
    """Results of the C function, and of the machine code that LLVM writes, at the leaves `given`."""
    program = translate_function(jax.jit(function).trace(*given).jaxpr)
    return CProgram(program, folder)(given), Native(code_of(program))(*given)


class CProgram:
    """A program in C, compiled."""

    def __init__(self, program, folder):
        (folder / "f.c").write_text(c_text(program, "f"))
        subprocess.run([GCC, *FLAGS, "f.c", "-lm", "-o", "f.so"], cwd=folder, check=True)
        self.program, self.library = program, ctypes.CDLL(folder / "f.so")
        self.library.f.restype = ctypes.c_bool

    def __call__(self, given):
        """The results at these leaves, if it answers."""
        program = self.program
        leaves = [np.ascontiguousarray(one, store.dtype) for one, store in zip(given, program.arguments, strict=False)]
        leaves += program.constants
        answers = [np.empty(shape, store.dtype) for store, shape in zip(program.results, program.shapes, strict=True)]
        work = np.empty(ctypes.c_int64.in_dll(self.library, "f_work_bytes").value // 8 + 1)
        addresses = [
            (ctypes.c_void_p * max(len(rows), 1))(*[row.ctypes.data for row in rows]) for rows in (leaves, answers)
        ]
        return answers if self.library.f(*addresses, ctypes.c_void_p(work.ctypes.data)) else None


def number_by_number(x, n, b):
    others = (
        lax.polynomial(x, [2.0, -1.0, 0.5]),
        jnp.sign(x),
        jnp.round(x),
        lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        x.astype(int),
        jnp.floor(x),
    )
    pairs = (jnp.maximum(x, x[::-1]), jnp.minimum(x, -x), x / x[::-1], x % 2.0, jnp.sqrt(x), jnp.abs(x), x > 1, x != x)
    whole = (n * n, n // 3, n % 5, -n, jnp.maximum(n, 2), n.astype(jnp.int32) * 2**30, n.astype(float), n.astype(bool))
    return others, pairs, whole, (b & ~b[::-1], b | b[::-1], b ^ b[::-1], b.astype(int), jnp.where(b, 1.5, jnp.nan))


def in_turns(x, n, b):
    rows = jnp.outer(x[6:], jnp.arange(40.0))

    def turn(carry, row):
        carry = lax.cond(row[1] > 0, lambda c: c.at[n[0]].add(row.sum()), lambda c: c * 0.5, carry)
        return carry, (carry[:2], jnp.argmin(row))

    grown = lax.while_loop(lambda c: c[0] < 9, lambda c: (c[0] + 1, c[1].at[c[0]].set(c[0] * 0.5)), (0, rows[0]))
    return (
        lax.scan(turn, rows[0], rows),
        grown,
        jnp.sort(x),
        jnp.linalg.inv(jnp.outer(x[7:], x[7:]) + jnp.eye(5)),
        b[n[1]],
    )


@pytest.mark.parametrize("function", [number_by_number, in_turns])
def test_same_bits(function, tmp_path):
    given = [ODD, np.array([3, 1, -7, 2**40, -(2**62)]), np.array([True, False, False, True])]
    for one, other in zip(*compiled(function, given, tmp_path), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_python_s_is_not_answered(tmp_path):
    program = translate_function(jax.jit(lambda x: eqx.error_if(2 * x, x.max() > 7, "too large")).trace(ODD).jaxpr)
    in_c = CProgram(program, tmp_path)
    for number, answered in ((7.0, True), (8.0, False), (-7.0, True)):
        found = in_c([np.full(12, number)])
        assert (found is not None) == answered and (not answered or (found[0] == 2 * number).all())


def test_a_docking(tmp_path):
    """The integrator with all its events: whole runs agree to the last bit."""
    content = dockdyn.load("paraskevas-b").content
    settings = settings_for(content)
    solver = begin(content, settings)
    leaves, structure = jax.tree.flatten((content, settings, np.asarray(400), solver))
    found, expected = compiled(
        lambda *given: jax.tree.leaves(advance.function(*jax.tree.unflatten(structure, given))), leaves, tmp_path
    )
    assert len(found) > 10
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
