"""Random contacts for tests of impact laws, and the laws over many of them at once.

A random contact is (W, u, e, μ) with W symmetric and positive definite, its eigenvalues spread over two decades. The
checks marked full take 2000 of them, or laws that take long to compile; without that mark they take 20.
"""

from functools import cache

import jax
import numpy as np
import pytest
from compiled import by_rows

import dockdyn  # noqa: F401  sets JAX up
from dockdyn.impact import LAWS, resolve_impact

COUNTS = [20, pytest.param(2000, marks=pytest.mark.full)]
BATCH = 20  # the size for which everything is compiled, once
ENDS = ("energetic", "poisson", "newton")
COULOMB = tuple(name for name, law in LAWS.items() if "friction" in law.parameters)


def slow(*values, when=True):
    """Values of a parametrised test, marked full if they take seconds to compile."""
    return pytest.param(*values, marks=[pytest.mark.full] if when else [])


def compiles_long(law, rows):
    """Paths in space do; one law stands for them where time is short."""
    return rows == 3 and law in ("poisson", "newton")


IN_SPACE = [slow(law, when=compiles_long(law, 3)) for law in ENDS]
PATHS = [slow(law, rows, when=compiles_long(law, rows)) for law in ENDS for rows in (2, 3)]


def contacts(count, rows, seed=0):
    """W, u, e, μ of `count` random contacts; friction from next to none to 3, some impacts plastic, some elastic."""
    rng = np.random.default_rng([seed, rows])
    turns = np.linalg.qr(rng.normal(size=(count, rows, rows)))[0]
    matrix = np.einsum("nij,nj,nkj->nik", turns, 10 ** rng.uniform(-2, 0, (count, rows)), turns)
    velocity = rng.normal(size=(count, rows))
    velocity[:, 0] = -np.abs(velocity[:, 0])
    velocity[:, 1:] *= 10 ** rng.uniform(-2, 1, (count, 1))
    restitution = rng.uniform(0, 1, count)
    restitution[::7], restitution[1::7] = 0, 1
    return matrix, velocity, restitution, 10 ** rng.uniform(-2, 0.5, count)


@cache
def batched(function):
    """`function` over the first axis of its arguments, in batches of one size."""
    many = by_rows(function)

    def over(*arguments):
        count = len(arguments[0])
        rows = np.arange(-(-count // BATCH) * BATCH) % count  # the last batch is filled up
        parts = [many(*(one[rows[at : at + BATCH]] for one in arguments)) for at in range(0, len(rows), BATCH)]
        return jax.tree.map(lambda *pieces: np.concatenate(pieces)[:count], *parts)

    return over


@cache
def solver(law):
    """The law over many W, u and the two numbers that it may have."""

    def one(matrix, velocity, *numbers):
        names = ("energy_ratio", "friction_ratio") if law == "energy-pair" else ("restitution", "friction")
        given = dict(zip(names, numbers, strict=True))
        return resolve_impact(law, matrix, velocity, **{name: given[name] for name in LAWS[law].parameters})

    return batched(one)


@cache
def solved(law, count, rows):
    return solver(law)(*contacts(count, rows))


def kinetic(matrix, velocity):
    """½ uᵀ W⁻¹ u (J): what a plastic impact takes."""
    return 0.5 * np.einsum("ni,ni->n", velocity, np.linalg.solve(matrix, velocity[..., None])[..., 0])
