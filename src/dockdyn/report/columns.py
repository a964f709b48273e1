"""PageColumns of numbers inside a page, packed; `web/src/columns.ts` unpacks them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.packing import packed_text

STEPS = 65534  # of a column's range; one more stands for a gap
GAP = 65535
NEAR = 1e-9  # of its range, by which a number may be off its place
COARSE = 4  # of a grid's steps, the least that is between numbers of a column on it
LARGEST = float(np.finfo("f4").max)


class PageColumns:
    """PageColumns of numbers, each of them once.

    A column is `even` where its numbers are equally spaced and a `grid` where they are some of such numbers, in order (both are
    exact), else of `STEPS` steps of its range, as second differences, or of single precision where the range says too little
    of it; or all its bits. Gaps (NaN) are kept.
    """

    def __init__(self) -> None:
        self._facts: list[list[Any]] = []
        self._parts: list[bytes] = []
        self._places: dict[tuple[bytes, object], int] = {}

    def place(self, values: ArrayLike, *, exact: bool = False) -> int:
        """Return the place of a column, in single precision if `exact`: within 1/131,068 of its range otherwise."""
        column = np.ascontiguousarray(values, float).ravel()
        key = column.tobytes(), exact
        if key not in self._places:
            self._places[key] = len(self._facts)
            self._add(column, exact)
        return self._places[key]

    def place_bits(self, values: ArrayLike) -> int:
        """Return the place of a column that is kept to the last bit: one that a page computes with."""
        column = np.ascontiguousarray(values, "<f8").ravel()
        key = column.tobytes(), "bits"
        if key not in self._places:
            self._places[key] = len(self._facts)
            self._facts.append(["double", column.size])
            self._parts.append(column.view(np.uint8).reshape(-1, 8).T.tobytes())
        return self._places[key]

    def _add(self, column: np.ndarray, exact: bool) -> None:
        """Add a column in the shortest way that keeps it."""
        length, finite = column.size, column[np.isfinite(column)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        whole = finite.size == length
        if (
            whole
            and length
            and np.abs(column - np.linspace(column[0], column[-1], length)).max() <= NEAR * (high - low)
        ):
            self._facts.append(["even", length, float(column[0]), float(column[-1])])
        elif whole and length and (found := _on_grid(column)) is not None:
            step, rows = found
            self._facts.append(["grid", length, low, step])
            self._parts.append(np.diff(rows, prepend=0).astype("<u2").view(np.uint8).reshape(-1, 2).T.tobytes())
        elif exact or np.isinf(column).any():
            self._facts.append(["single", length])
            self._parts.append(
                np.clip(column, -LARGEST, LARGEST).astype("<f4").view(np.uint8).reshape(-1, 4).T.tobytes()
            )
        else:
            level = np.full(length, GAP)
            level[np.isfinite(column)] = np.rint((finite - low) / ((high - low) or 1.0) * STEPS)
            slope = np.diff(level, prepend=0)
            bend = (np.diff(slope, prepend=0) & 65535).astype("<u2")
            self._facts.append(["steps", length, low, high])
            self._parts.append(bend.view(np.uint8).reshape(-1, 2).T.tobytes())

    def packed(self) -> dict[str, Any]:
        """Return all columns as JSON has them: what each is, and the bytes of all."""
        return {"columns": self._facts, "data": packed_text(b"".join(self._parts))}


def _on_grid(column: np.ndarray) -> tuple[float, np.ndarray] | None:
    """Return the step of a grid that numbers, in order, are on, and how many steps each is from the first; None of others."""
    span, least = column[-1] - column[0], np.diff(column).min(initial=np.inf)
    if not 0 < least < np.inf or span / least > GAP * COARSE:
        return None
    for parts in range(1, COARSE + 1):
        rows = np.rint((column - column[0]) / (least / parts))
        step = span / rows[-1]
        if np.abs(column - column[0] - step * rows).max() <= NEAR * span and np.diff(rows).max() < GAP:
            return float(step), rows
    return None
