"""PageColumns of numbers inside a page, packed; `web/src/columns.ts` unpacks them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.packing import packed_text

STEPS = 65534  # of a column's range; one more stands for a gap
GAP = 65535
CELLS = 2.0**32  # in the middles of which a sequence of Sobol has its points
HIGHEST = 3  # order of differences
ALL_BUT_SIGN = np.int32(0x7FFFFFFF)
NEAR = 1e-9  # of its range, by which a number may be off its place
COARSE = 4  # of a grid's steps, the least that is between numbers of a column on it
LARGEST = float(np.finfo("f4").max)


class PageColumns:
    """PageColumns of numbers, each of them once.

    A column is `even` where its numbers are equally spaced and a `grid` where they are some of such numbers, in order (both are
    exact), else of `STEPS` steps of its range or of single precision, as differences, where the range says too little
    of it; or all its bits: of second coordinates on a circle how far they are off what the first ones tell, of roots of the
    middles of cells the cells. Gaps (NaN) are kept.
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

    def place_bits(self, values: ArrayLike, rows: int | None = None) -> int:
        """Return the place of a column that is kept to the last bit, or only so many `rows` of it and then single precision:
        one that a page computes with."""
        column = np.ascontiguousarray(values, "<f8").ravel()
        exact = column.size if rows is None else min(rows, column.size)
        key = column.tobytes(), ("bits", exact)
        if key not in self._places:
            self._places[key] = len(self._facts)
            if exact < column.size:
                self._facts.append(["mixed", column.size, exact])
                self._parts += [_planes_of(column[:exact]), _planes_of(column[exact:].astype("<f4"))]
            elif (squares := _cells_of_squares(column)) is not None:
                self._facts.append(["roots", column.size])
                self._parts.append(_planes_of(squares))
            else:
                self._facts.append(["double", column.size])
                self._parts.append(_planes_of(column))
        return self._places[key]

    def place_on_circle(self, values: ArrayLike, beside: ArrayLike) -> int:
        """Return the place of a column, kept to the last bit, of second coordinates of points on a circle of radius 1, of which
        the first ones are `beside`: by how many numbers in between they are off what these tell."""
        place = self.place_bits(beside)
        column, first = (np.ascontiguousarray(each, "<f8").ravel() for each in (values, beside))
        key = column.tobytes(), ("circle", place)
        if key not in self._places:
            self._places[key] = len(self._facts)
            off = np.abs(column).view("<i8") - np.sqrt(1 - first * first).view("<i8")
            self._facts.append(["circle", column.size, place])
            self._parts += [np.signbit(column).tobytes(), _planes_of((off << 1) ^ (off >> 63))]
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
            self._parts.append(_planes_of(np.diff(rows, prepend=0).astype("<u2")))
        elif exact or np.isinf(column).any():
            bits = np.clip(column, -LARGEST, LARGEST).astype("<f4").view("<i4")
            order, part = _by_differences(bits ^ ((bits >> 31) & ALL_BUT_SIGN))  # in the order of the numbers
            self._facts.append(["single", length, order])
            self._parts.append(part)
        else:
            level = np.full(length, GAP)
            level[np.isfinite(column)] = np.rint((finite - low) / ((high - low) or 1.0) * STEPS)
            order, part = _by_differences(level.astype("<u2").view("<i2"))
            self._facts.append(["steps", length, low, high, order])
            self._parts.append(part)

    def packed(self) -> dict[str, Any]:
        """Return all columns as JSON has them: what each is, and the bytes of all."""
        return {"columns": self._facts, "data": packed_text(b"".join(self._parts))}


def _planes_of(column: np.ndarray) -> bytes:
    """Return the bytes of a column: the first ones of all its numbers, then the second ones, and so on."""
    return column.view(np.uint8).reshape(-1, column.itemsize).T.tobytes()


def _by_differences(column: np.ndarray) -> tuple[int, bytes]:
    """Return of which order the differences of a column of integers say least, and their bytes, signs in the last bits."""
    differences, found = column, []
    for order in range(HIGHEST + 1):
        if order:
            differences = np.diff(differences, prepend=differences.dtype.type(0))  # it wraps round
        part = _planes_of((differences << 1) ^ (differences >> (8 * column.itemsize - 1)))
        found.append((_bits_of(part, column.size), order, part))
    _, order, part = min(found)
    return order, part


def _bits_of(part: bytes, count: int) -> float:
    """Return how many bits the first bytes of so many numbers take by how often each is there, and the second
    ones, and so on."""
    if not count:
        return 0.0
    shares = [np.bincount(plane, minlength=256) / count for plane in np.frombuffer(part, np.uint8).reshape(-1, count)]
    return float(-count * sum((some * np.log2(some)).sum() for share in shares if (some := share[share > 0]).size))


def _cells_of_squares(column: np.ndarray) -> np.ndarray | None:
    """Return in which of `CELLS` from 0 to 1 the squares of a column's numbers are; None where one is not, to the last bit,
    that of the middle of its cell."""
    if not column.size or not ((column > 0) & (column < 1)).all():
        return None
    cells = np.minimum(column**2 * CELLS, CELLS - 1).astype("<u4")
    return cells if np.array_equal(np.sqrt((cells + 0.5) / CELLS), column) else None


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
