"""Loops and branches in machine code: whatever is written in place, nobody else's numbers change."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox.internal import unvmap_all, unvmap_any, unvmap_max
from jax import lax
from translated import assert_same

from dockdyn import backend, programs
from dockdyn.translate import native
from dockdyn.translate.code import Untranslatable
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.llvm import text_of
from dockdyn.translate.native import code_of

RNG = np.random.default_rng(5)
FEW, MANY = RNG.normal(size=6), RNG.normal(size=200)
BOTH = pytest.mark.parametrize("x", [FEW, MANY], ids=["numbers", "memory"])


@BOTH
def test_carried_arrays_that_change_places(x):
    def turn(carry):
        count, a, b = carry
        return count + 1, b, a.at[count].add(1.0)

    assert_same(lambda a: lax.while_loop(lambda carry: carry[0] < 5, turn, (0, a, 2 * a)), x)


@BOTH
def test_an_array_that_is_read_after_it_was_written_elsewhere(x):
    def function(a):
        b = a.at[2].set(7.0)
        c = b.at[3].set(9.0)
        return a, b, c, (b + c).sum()

    assert_same(function, x)


@BOTH
def test_one_array_twice(x):
    """Carried twice, and read by every turn as well."""

    def function(a):
        b = a * 2

        def turn(carry):
            count, c, d = carry
            return count + 1, c.at[count].set(b[count + 1] + d[0]), d.at[0].add(b[1])

        return b, lax.while_loop(lambda carry: carry[0] < 4, turn, (0, b, b))

    assert_same(function, x)


@BOTH
def test_what_a_turn_makes_of_a_constant_is_gone_in_the_next(x):
    def function(a):
        b = a + 1

        def turn(index, total):
            return total + b.at[index].set(0.0).sum()

        return lax.fori_loop(0, 5, turn, 0.0)

    assert_same(function, x)


@BOTH
def test_what_a_question_makes_of_an_array_the_turn_does_not_see(x):
    def go_on(carry):
        return carry.at[1].set(0.0).sum() < 1e3

    assert_same(lambda a: lax.while_loop(go_on, lambda carry: carry.at[0].add(carry[1] ** 2 + 9), a), x)


@BOTH
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_in_and_out(x, reverse):
    rows = RNG.normal(size=(7, x.size))

    def turn(carry, row):
        carry = 0.5 * carry + row
        return carry, (carry[0], carry * 2, jnp.argmax(row))

    assert_same(lambda start, rows: lax.scan(turn, start, rows, reverse=reverse), x, rows)
    assert_same(lambda start, rows: lax.scan(turn, start, rows[:1], reverse=reverse), x, rows)
    assert_same(lambda start, rows: lax.scan(turn, start, rows[:0], reverse=reverse), x, rows)
    assert_same(lambda start: lax.scan(lambda a, _: (a * 2, None), start, length=3), x)


@BOTH
@pytest.mark.parametrize("which", [-1, 0, 1, 2, 9])
def test_branches(x, which):
    branches = [lambda a: (a, a.sum()), lambda a: (a.at[1].set(3.0), 2.0), lambda a: (a[::-1], a[0])]
    assert_same(lambda index, a: (lax.switch(index, branches, a + 1), a), np.array(which), x)
    assert_same(lambda a: lax.switch(which, branches, a), x)
    assert_same(lambda a: lax.cond(a[0] > which, lambda: a * 2, lambda: a), x)


@BOTH
def test_branches_in_loops_in_branches(x):
    def turn(carry):
        count, a = carry
        a = lax.cond(a[0] > 0, lambda a: a.at[0].add(-1.0), lambda a: a.at[1].add(a[0] ** 2 + 1), a)
        return count + 1, lax.fori_loop(0, count, lambda i, a: a.at[i % 4].multiply(1.5), a)

    def function(a):
        return lax.cond(a.sum() > -100, lambda a: lax.while_loop(lambda c: c[0] < 6, turn, (0, a)), lambda a: (0, a), a)

    assert_same(function, x)


@BOTH
def test_lanes_side_by_side(x):
    """A loop whose lanes end one after another."""

    def one(start):
        return lax.while_loop(lambda c: c[1] < 3.0, lambda c: (c[0] + 1, c[1] + start), (0, 0.1 * start))

    assert_same(jax.vmap(one), np.abs(x) + 0.3)


def test_a_loop_that_makes_no_turn_and_one_that_is_no_number():
    assert_same(lambda a: lax.while_loop(lambda c: c[0] > 100, lambda c: c * 2, a), FEW)
    assert_same(lambda a: lax.while_loop(lambda c: c[0] < jnp.nan, lambda c: c * 2, a), FEW)


@pytest.mark.parametrize("numbers", [[1.0, 2.0], [np.nan, 0.0], [-np.inf, -0.0]])
def test_what_other_libraries_call_primitives(numbers):
    """Equinox's, each by the function of JAX's that it stands for."""

    def turn(carry):
        count, rows = carry
        return count + 1, rows.at[count].set(rows[count - 1] * 2)

    def grown(x):
        start = (1, jnp.zeros((9, 2)).at[0].set(x))
        return eqx.internal.while_loop(lambda c: c[0] < 9, turn, start, kind="lax", buffers=lambda carry: carry[1])

    x = np.array(numbers)
    assert_same(lambda x: (unvmap_any(x > 0), unvmap_all(x == x), unvmap_max(jnp.arange(3) * x.size)), x)
    assert_same(lambda x: eqx.internal.nonbatchable(x) + 1, x)
    assert_same(grown, x)


@pytest.fixture
def program(monkeypatch):
    """A function that ends in an error where its numbers are too large, and what of it is machine code."""
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    monkeypatch.setattr(programs, "refused", {})

    def limited(x):
        halves = lax.fori_loop(0, 3, lambda i, y: eqx.error_if(y / 2, y.max() > 8, "too large by half"), x)
        return halves, x.sum()

    return programs.Program(limited)


@pytest.mark.parametrize("word", backend.BACKENDS)
def test_an_error_is_raised_whoever_compiles(word, program, monkeypatch):
    monkeypatch.setenv(backend.VARIABLE, word)
    for numbers in ([8.0, 1.0], [4.0, np.nan], [7.0, 9.0], [8.0, 1.0]):  # after an error as before
        if numbers[1] == 9.0:
            with pytest.raises(Exception, match="too large by half"):
                jax.block_until_ready(program(np.array(numbers)))
        else:
            halves, total = program(np.array(numbers))
            np.testing.assert_array_equal(halves, np.array(numbers) / 8)
            np.testing.assert_array_equal(total, np.sum(numbers))
    (compiled,) = programs.kept.values()
    assert isinstance(compiled, programs.Translated) == (word == "native")
    assert list(programs.refused.values()) == ["it has called Python"] * (word == "native")


def test_what_python_answers_in_a_branch_is_its_answer():
    program = programs.Program(lambda x: lax.cond(x[0] > 0, lambda: jax.pure_callback(np.sin, x, x), lambda: x))
    np.testing.assert_array_equal(program(-(FEW**2)), -(FEW**2))
    np.testing.assert_array_equal(program(FEW**2), np.sin(FEW**2))


def test_where_nothing_better_can_be_written_the_first_code_goes_on(monkeypatch):
    code = code_of(translate_function(jax.jit(jnp.sin).trace(FEW).jaxpr))
    function = native.Native(code, changed=pytest.fail)
    function.price = 0.0

    def no_room(text, level):
        raise RuntimeError("LLVM: out of room")

    monkeypatch.setattr(native, "machine_code", no_room)
    for _ in range(2):
        (found,) = function(FEW)
        np.testing.assert_allclose(found, np.sin(FEW), rtol=1e-15)
    assert function.unimproved == "RuntimeError: LLVM: out of room" and function.code is code


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: jax.pure_callback(np.sin, x, x), "pure_callback"),
        (lambda x: jnp.linalg.eigvalsh(x[:, None] * x), "eigh"),
        (lambda x: jnp.fft.fft(x), "complex128"),
        (lambda x: x.astype(jnp.float32) * 2, "float32"),
        (
            lambda x: lax.fori_loop(0, 9, lambda i, y: jnp.stack([jnp.sin(y * n) for n in range(50)]).sum(0), x),
            "more than 300",
        ),
    ],
)
def test_what_is_not_known_is_named(function, says, monkeypatch):
    monkeypatch.setattr("dockdyn.translate.jaxpr.MOST", 300)
    with pytest.raises(Untranslatable, match=says):
        translate_function(jax.jit(function).trace(FEW).jaxpr)


def test_a_program_is_written_better_once_that_is_worth_its_time_and_a_huge_one_never(monkeypatch):
    levels, made = [], native.machine_code
    monkeypatch.setattr(native, "machine_code", lambda text, level: levels.append(level) or made(text, level))
    code = code_of(translate_function(jax.jit(jnp.sin).trace(FEW).jaxpr))
    function = native.Native(code)
    price, function.price = function.price, np.inf  # no call is as dear, however busy the machine
    function(FEW)
    assert levels == [0]
    function.price, function.spent = price, native.price_of(1000)
    (found,) = function(FEW)
    assert levels == [0, 1] and function.code.level == 1
    np.testing.assert_allclose(found, np.sin(FEW), rtol=1e-15)
    assert native.price_of(60_000) > 4 * native.price_of(20_000)
    monkeypatch.setattr(native, "MOST_LINES", 1)
    function = native.Native(code)
    function.spent = 1e9
    function(FEW)
    assert levels == [0, 1] and function.code is code


@pytest.mark.parametrize("longest", [1, 3, 1000])
def test_long_blocks_are_cut_without_another_bit(longest, monkeypatch):
    """Loops, branches and straight lines, at both levels of optimisation."""

    def function(x):
        for number in range(40):
            x = jnp.sin(x) * (number + 1.5) + x[::-1]
        x = lax.fori_loop(0, 5, lambda i, y: y * 1.01 + jnp.cos(y) * i, x)
        return lax.cond(x[0] > 0, lambda y: jnp.sqrt(jnp.abs(y)), lambda y: jnp.exp(-(y**2)), x)

    rows = np.random.default_rng(longest).normal(size=(20, *np.shape(FEW)))
    program = translate_function(jax.jit(function).trace(rows[0]).jaxpr)
    whole = native.Native(code_of(program))
    monkeypatch.setattr("dockdyn.translate.llvm.LONGEST_BLOCK", longest)
    cut = native.Native(code_of(program))
    assert (cut.code.text.unpacked().count("\npart") > 10) is (longest < 1000)
    for level in (0, 1):
        cut.price = whole.price = (np.inf, 0.0)[level]  # s: the next call writes the better one, or none does
        for row in rows:
            np.testing.assert_array_equal(cut(row)[0], whole(row)[0])
        assert cut.code.level == whole.code.level == level


@pytest.mark.full
def test_machine_code_takes_a_time_that_grows_with_the_length_of_a_program():
    """Sixteen times the straight lines: not the 48 times as long that one block would take.

    Numbers are arguments, as in programs of scenarios, of which one of 20,000 lines has 40 constants: LLVM looks for each
    among all that a function has, so that as many as there are lines would take their square.
    """

    def of(count):
        def function(x):
            last, found = list(x), []
            for number in range(count):
                place = number % 8
                last[place] = jnp.sin(last[place]) * last[(number + 3) % 8] + x[place]
                found.append(last[place])
            return jnp.stack(found)

        text = text_of(translate_function(jax.jit(function).trace(np.ones(8)).jaxpr))
        times = []
        for _ in range(3):
            began = time.process_time()
            native.machine_code(text, 0)
            times.append(time.process_time() - began)
        return min(times)

    assert of(32_000) < 30 * of(2000)
