"""The one loop on the host: a compiled integrator goes on slice by slice until its run ends.

Between two slices progress is told. A request to end (`dockdyn.interrupt`) needs nothing from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import jax
import numpy as np
from jaxtyping import Array, Int, PyTree

from dockdyn.integrate.solution import Status

Progress = Callable[[float], None]


class Resumable(Protocol):
    """A run between two slices, all that the next slice needs."""

    @property
    def status(self) -> Int[Array, ""] | Status:
        """A `Status`, as a number."""


def drive[SolverState: Resumable](
    solver: SolverState,
    advance: Callable[[SolverState, int], SolverState],
    share: Callable[[SolverState], float],
    iterations: int,
    progress: Progress | None,
    most: int | None = None,
) -> SolverState:
    """The run that began as `solver`, at its end, or still running after `most` iterations.

    `advance` takes a run to its end, or to so many iterations since it began; a slice has `iterations` of them. `share`
    is how much of the duration is done (0 to 1), which `progress` is told after every slice.
    """
    until = 0
    while int(solver.status) == Status.RUNNING and (most is None or until < most):
        until = until + iterations if most is None else min(until + iterations, most)
        solver = advance(solver, until)
        if progress is not None:
            progress(share(solver))
    return solver


def finite_rows(columns: dict[str, Any]) -> tuple[int, str]:
    """How many rows come before the first number that is not finite, and in which column that is, in words; "" for none.

    Each column is an array, or a tree of arrays, with the rows along the first axis.
    """
    found = {name: _finite_in_row(values) for name, values in columns.items()}
    count = min(len(finite) for finite in found.values())
    first, first_nonfinite = count, ""
    for name, finite in found.items():
        bad = np.flatnonzero(~finite[:first])
        if len(bad):
            first, first_nonfinite = int(bad[0]), name.replace("_", " ")
    return first, first_nonfinite


def _finite_in_row(values: PyTree) -> np.ndarray:
    """Whether all numbers in a row are finite, row by row."""
    leaves = [np.isfinite(leaf) for leaf in jax.tree.leaves(values)]
    return np.all([leaf.all(axis=tuple(range(1, leaf.ndim))) for leaf in leaves], axis=0)


def name_of_nonfinite(first_nonfinite: int, names: Callable[[], list[str]]) -> str:
    """The name of the first number that was not finite, by its place among a model's `names`; empty for −1."""
    if first_nonfinite < 0:
        return ""
    known = names()
    return known[first_nonfinite] if first_nonfinite < len(known) else "a contact force or rate"
