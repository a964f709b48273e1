"""A process that meets many structures: run by itself, it prints for each how much it holds, as JSON.

A structure is so many rows of so many masses between springs. Half of them come again.
"""

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np

import dockdyn  # noqa: F401  sets JAX up
from dockdyn import programs

STEP, STEPS = 1e-2, 400  # s; enough that some are written again, better


@programs.Program
def swing(rows: tuple[tuple[Any, Any], ...]) -> Any:
    """The rows after so many steps."""

    def step(_: Any, rows: Any) -> Any:
        return tuple(_after(jax.numpy, x, v) for x, v in rows)

    return jax.lax.fori_loop(0, STEPS, step, rows)


def _after(numpy: Any, x: Any, v: Any) -> Any:
    stretch = numpy.diff(numpy.concatenate([numpy.zeros(1), x, numpy.zeros(1)]))
    v = v + STEP * (stretch[1:] - stretch[:-1])
    return x + STEP * v, v


def expected(rows: Any) -> Any:
    """The same by NumPy."""
    for _ in range(STEPS):
        rows = tuple(_after(np, x, v) for x, v in rows)
    return rows


def resident() -> int:
    """Bytes of memory that the process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(count: int) -> None:
    warnings.simplefilter("ignore", RuntimeWarning)  # that programs are dropped
    rng, held = np.random.default_rng(0), []
    for number in range(count):
        for place in {number, number // 2}:
            shape = 1 + place % 5, 2 + place // 5
            rows = tuple((rng.normal(size=shape[1]), rng.normal(size=shape[1])) for _ in range(shape[0]))
            for found, known in zip(jax.tree.leaves(swing(rows)), jax.tree.leaves(expected(rows)), strict=True):
                np.testing.assert_allclose(found, known, rtol=0, atol=1e-12 * np.abs(known).max())
        held.append((programs.count_memory_maps(), resident()))
    assert not programs.refused, programs.refused
    json.dump({"held": held, "kept": len(programs.kept)}, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]))
