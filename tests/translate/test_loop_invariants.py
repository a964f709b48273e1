"""What is the same in every turn of a loop is computed before it, never what a branch or a division by zero guards."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from translated import assert_same, traced

from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.llvm import text_of
from dockdyn.translate.scalar_program import Branch, Compute, While

X = np.array([0.3, -1.7, 2.2])


def depths(function, operation, *arrays):
    """In how many loops and in how many branches each of the operations of one name stands."""
    found = []

    def walk(block, loops, branches):
        for line in block.lines:
            match line:
                case Compute() if line.operation == operation:
                    found.append((loops, branches))
                case While():
                    walk(line.head, loops + 1, branches)
                    walk(line.body, loops + 1, branches)
                case Branch():
                    walk(line.then, loops, branches + 1)
                    walk(line.otherwise, loops, branches + 1)

    walk(translate_function(traced(function, *arrays)).builder.body, 0, 0)
    return found


def nested(a, turns):
    """A sine that never changes, one of the outer turn, one of the inner turn."""

    def outer(i, total):
        def inner(j, sums):
            return sums * 0.5 + jnp.sin(a[0]) + jnp.sin(a[1] * i) + jnp.sin(a[2] * j)

        return lax.fori_loop(0, turns, inner, total)

    return lax.fori_loop(0, turns, outer, 0.0)


def test_each_stands_in_the_loops_in_which_it_changes():
    assert sorted(depths(nested, "sin", X, 4)) == [(0, 0), (1, 0), (2, 0)]
    assert_same(nested, X, 4)
    assert_same(nested, X, 0)


def test_a_branch_in_a_loop_still_saves_what_it_guards():
    def function(a, turns):
        def turn(i, total):
            return total + lax.cond(i > 2, lambda: jnp.exp(a[0]), lambda: 1.0)

        return lax.fori_loop(0, turns, turn, 0.0)

    assert depths(function, "exp", X, 5) == [(1, 1)]
    assert_same(function, X, 5)


def test_a_loop_in_a_branch_is_left_within_the_branch():
    def function(a, turns):
        def many():
            return lax.fori_loop(0, turns, lambda i, total: total * 0.9 + jnp.cos(a[0]), 0.0)

        return lax.cond(turns > 2, many, lambda: a[1])

    assert depths(function, "cos", X, 5) == [(0, 1)]
    assert_same(function, X, 5)
    assert_same(function, X, 1)


def test_a_loop_without_turns_divides_by_nothing():
    """An integer division by zero would end the process."""

    def function(a, divisor):
        return lax.fori_loop(0, divisor, lambda i, total: total + a[7 // divisor % 3], 0.0)

    assert all(loops for loops, _ in depths(function, "div", X, 2))
    assert_same(function, X, 2)
    assert_same(function, X, 0)


def test_what_has_left_a_loop_is_known_after_it():
    """Written once for two loops that need it."""

    def function(a):
        def turns(start):
            return lax.fori_loop(0, 3, lambda i, total: total + i * jnp.tan(a[0] + a[1]), start)

        return turns(1.0) * turns(2.0)

    assert text_of(translate_function(traced(function, X))).count("call double @dockdyn_tan(") == 1
    assert_same(function, X)
