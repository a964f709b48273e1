"""Constants that functions inside hold: large ones are arguments of the program, on every target."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from test_c import GCC, compiled
from test_wasm import NODE, check_bits
from translated import assert_same, traced

from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.native import Native, code_of

RANDOM = np.random.default_rng(4)
TABLE, PLACES, BITS = RANDOM.normal(size=(70, 80)), RANDOM.integers(0, 70, 90), RANDOM.random(100) > 0.5
X = RANDOM.normal(size=80)


def of_tables(x):
    """Tables that are read, by several functions and in a loop, and one that is written."""

    def turn(_, found):
        return found + (TABLE @ x)[PLACES].sum()

    def product(x):
        return jnp.asarray(TABLE) @ x

    def written(x):
        return jnp.asarray(TABLE).at[3].set(x)[PLACES, 0]

    inner = jax.jit(product)(x), jax.jit(written)(x), jax.jit(lambda x: jnp.where(jnp.asarray(BITS)[:80], x, -x))(x)
    return *inner, jax.jit(product)(2 * x), lax.fori_loop(0, 3, turn, 0.0)


def test_they_are_read_as_by_xla():
    assert_same(of_tables, X)


def test_each_is_there_once_and_stays_as_it_is():
    program = translate_function(traced(of_tables, X))
    sizes = [one.size for one in program.constants]
    assert sizes.count(TABLE.size) == 1 and len(program.arguments) == 1 + len(program.constants)
    assert program.builder.count < TABLE.size
    native = Native(code_of(program))
    for one, other in zip(native(X), native(X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(GCC is None, reason="no C compiler here")
def test_c_has_the_same_bits(tmp_path):
    for one, other in zip(*compiled(of_tables, [X], tmp_path), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(NODE is None, reason="no Node.js here")
def test_webassembly_has_the_same_bits(tmp_path):
    check_bits(of_tables, [X], tmp_path)


def test_lanes_have_them_in_common():
    """In turns that are apart, of which a vector's lanes take several."""
    rows = RANDOM.normal(size=(20, 80))

    def of_each(rows):
        return lax.map(lambda x: jax.jit(lambda x: jnp.asarray(TABLE) @ jnp.sin(x))(x).sum(), rows)

    assert_same(of_each, rows)
