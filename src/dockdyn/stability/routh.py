"""Routh's criterion, exact for every real polynomial: how many roots lie in the right half plane.

Units: coefficients in powers of 1/s, any unit besides.
Source: Routh 1877; singular cases as named in `routh_array`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dockdyn.deferred import Float


@dataclass(frozen=True, eq=False)
class Routh:
    """What Routh's array says of a polynomial aₙ sⁿ + … + a₀.

    `array` has shape (n + 1, ⌈(n + 1)/2⌉), row k belonging to sⁿ⁻ᵏ; a singular row stands there as replaced.
    `sign_changes` in its first column count the roots with positive real part. `stable` says that every root has a
    negative real part. `conditions` has one line for each entry of the first column, as it was before any replacement.
    """

    array: np.ndarray
    sign_changes: int
    stable: bool
    conditions: tuple[str, ...]

    @property
    def first_column(self) -> Float[np.ndarray, "n+1"]:
        """Its sign changes count the roots to the right."""
        return self.array[:, 0]


def routh_array(polynomial: Sequence[float] | Float[np.ndarray, "n"]) -> Routh:
    """Return Routh's array of a polynomial, highest power first. ValueError if it is zero, empty or not finite.

    Computed in rational numbers, so a zero is a zero and no sign is lost to rounding. Two cases are singular:

    - A row that begins with k zeros but is not zero is a polynomial f(s) that is 2k degrees short. It is multiplied by
      1 + (−s²)ᵏ, which is positive on the imaginary axis, so no root crosses that axis (Benidir and Picinbono 1990,
      IEEE Trans. Autom. Control 35:218). Unlike the limit of a small ε, this stays right beside zero rows.
    - A row of zeros: the row above holds a factor whose roots lie symmetric about the origin; its derivative follows.
    """
    coefficients = [float(value) for value in polynomial]
    if not all(map(math.isfinite, coefficients)):
        raise ValueError(f"coefficients of a polynomial must be finite; got {coefficients}")
    while coefficients and coefficients[0] == 0:
        coefficients.pop(0)
    if not coefficients:
        raise ValueError("a polynomial needs at least one coefficient that is not zero")
    exact = [Fraction(value) for value in coefficients]
    degree = len(exact) - 1
    width = degree // 2 + 1
    rows = [_pad_row(exact[0::2], width)]
    found = [rows[0][0]]  # the first column before replacements
    for power in range(degree - 1, -1, -1):
        row = _pad_row(exact[1::2], width) if power == degree - 1 else _next_row(rows[-2], rows[-1])
        found.append(row[0])
        rows.append(row if row[0] else _replace_leading_zero(row, rows[-1], power))
    signs = [row[0] > 0 for row in rows]
    positive = signs[0]
    holds = [(entry > 0) == positive and entry != 0 for entry in found]
    conditions = tuple(
        f"row s^{degree - index}: {nearest_double(entry):.6g} {'>' if positive else '<'} 0 {'holds' if held else 'fails'}"
        for index, (entry, held) in enumerate(zip(found, holds, strict=True))
    )
    changes = sum(here != following for here, following in pairwise(signs))
    array = np.array([[nearest_double(entry) for entry in row] for row in rows])
    return Routh(array, changes, all(holds), conditions)


Row = list[Fraction]


def _pad_row(row: Row, width: int) -> Row:
    """Return a row of the array with zeros behind it."""
    return row + [Fraction(0)] * (width - len(row))


def _next_row(above: Row, row: Row) -> Row:
    """Return the row that follows two others."""
    ratio = above[0] / row[0]
    return [upper - ratio * lower for upper, lower in zip(above[1:], row[1:], strict=True)] + [Fraction(0)]


def _replace_leading_zero(row: Row, above: Row, power: int) -> Row:
    """Return a row that begins with zero, of the powers s^power, s^(power − 2) …, as the table continues with it."""
    if not any(row):
        return [entry * max(power + 1 - 2 * index, 0) for index, entry in enumerate(above)]
    zeros = next(index for index, entry in enumerate(row) if entry)
    shifted = _pad_row(row[zeros:], len(row))
    return [entry + (-1) ** zeros * moved for entry, moved in zip(row, shifted, strict=True)]


def nearest_double(value: Fraction) -> float:
    """Return the nearest double, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
