"""Meetings of pairs in machine code of dockdyn's own, beside what XLA makes of them."""

import jax
import pytest
from pair_cases import PAIRS, meeting, rows_of
from translated import assert_same

SLOW = {"capsule on grid"}  # XLA takes minutes to compile it


@pytest.mark.full_cases(
    "ball on box",
    "ball on grid",
    "ball on pin",
    "ball on plane",
    "ball on sphere",
    "ball on torus",
    "capsule on box",
    "capsule on cone",
    "capsule on pin",
    "capsule on plane",
    "capsule on ring",
    "capsule on sphere",
    "capsule on torus",
    "capsule on capsule",
    "ball on cone",
)
@pytest.mark.parametrize("name", [name for name in PAIRS if name not in SLOW])
def test_meetings_of_a_group(name):
    """And their time derivatives, row by row."""
    leaves, structure = jax.tree.flatten(rows_of(name, 5, seed=4))

    def one(row):
        return jax.jvp(lambda time: meeting(*row, time), (0.0,), (1.0,))

    assert_same(lambda *leaves: jax.lax.map(one, jax.tree.unflatten(structure, leaves)), *leaves)
