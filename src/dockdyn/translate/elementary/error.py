"""The error function and its complement: a polynomial in each eighth of a power of two.

erfc x = e^(−x²) s(x), where s falls slowly; its leading coefficient is a double-double, as is e^(−x²).

Units: none.
Source: Cody, Rational Chebyshev approximations for the error function, Mathematics of Computation 23 (1969), for the two
forms; the polynomials are computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache, partial
from typing import NamedTuple

from dockdyn.translate.elementary.decimals import (
    CONTEXT,
    double_double,
    error_function,
    error_scale,
    fit_floats,
    fit_polynomial,
    nearest_float,
    scaled_complement,
)
from dockdyn.translate.elementary.exponential import exponential_parts, limit_argument
from dockdyn.translate.elementary.terms import (
    BIAS,
    DIGITS,
    DoubleDouble,
    Term,
    add_exactly,
    add_ordered,
    multiply_exactly,
    multiply_pairs,
    polynomial,
    scale,
)

PART_BITS = 3  # an eighth of a power of two
NEAR = 0.25  # below, erf x is x times a polynomial in x²
MOST, GONE = 6.0, 28.0  # erf is one, erfc is nothing


class ErrorPieces(NamedTuple):
    """Polynomials of parts, from a first number on."""

    first: int  # the bits of the first number, without those that no part's number needs
    middle: list[float]
    high: list[float]  # the leading coefficients
    low: list[float]
    others: list[list[float]]  # by power, the others


def pieces_of(function: Callable[[Decimal], Decimal], first: float, powers: int, count: int) -> ErrorPieces:
    """Return the polynomials of a function from a power of two over so many powers, with so many coefficients."""
    parts = 2**PART_BITS
    middle, rows = [], []
    with localcontext(CONTEXT):
        for power in range(powers):
            for part in range(parts):
                low, width = Decimal(first) * 2**power * (parts + part) / parts, Decimal(first) * 2**power / parts
                center = low + width / 2
                middle.append(float(center))
                rows.append(fit_polynomial(partial(_beside, function, center), -width / 2, width / 2, count))
    leading = [double_double(row[0]) for row in rows]
    return ErrorPieces(
        (BIAS + int(math.log2(first))) << PART_BITS,
        middle,
        [high for high, _ in leading],
        [low for _, low in leading],
        [[nearest_float(row[power]) for row in rows] for power in range(1, count)],
    )


def _beside(function: Callable[[Decimal], Decimal], center: Decimal, distance: Decimal) -> Decimal:
    return function(center + distance)


def value_of(pieces: ErrorPieces, x: Term, name: str) -> DoubleDouble:
    """Return the function of these pieces, at a number among them."""
    place = limited_place((x.bits() >> (DIGITS - PART_BITS)) - pieces.first, len(pieces.middle))
    beyond = x - place.of(pieces.middle, f"{name}_middle")
    others = [place.of(one, f"{name}_{power + 1}") for power, one in enumerate(pieces.others)]
    rest = beyond * terms_polynomial(beyond, others)
    return add_ordered(place.of(pieces.high, f"{name}_high"), rest + place.of(pieces.low, f"{name}_low"))


def limited_place(place: Term, count: int) -> Term:
    """Return a place of a table of so many, whatever it is."""
    return place.compute("max", place.compute("min", place, count - 1), 0)


def terms_polynomial(x: Term, coefficients: list[Term]) -> Term:
    """Return c₀ + c₁ x + …."""
    found = coefficients[-1]
    for one in reversed(coefficients[:-1]):
        found = one + x * found
    return found


@cache
def near_coefficients() -> tuple[float, float, list[float]]:
    """Return 2/√π − 1 as a double-double, and the polynomial in x² of (erf(x)/x − 2/√π)/x²."""
    with localcontext(CONTEXT):

        def rest(square: Decimal) -> Decimal:
            x = square.sqrt()
            return (error_function(x) / x - error_scale()) / square

        return *double_double(error_scale() - 1), fit_floats(rest, 0, NEAR**2, 9)


@cache
def error_pieces() -> ErrorPieces:
    return pieces_of(error_function, NEAR, 5, 13)


@cache
def complement_pieces() -> ErrorPieces:
    return pieces_of(scaled_complement, NEAR, 7, 14)


def near_zero(x: Term) -> DoubleDouble:
    """Return erf x near zero."""
    high, low, rest = near_coefficients()
    square = x * x
    return DoubleDouble(x, x * high + (x * low + x * square * polynomial(square, rest)))


def error(x: Term) -> Term:
    """Return erf x."""
    a = abs(x)

    def far() -> Term:
        found = value_of(error_pieces(), limit_argument(a, NEAR, MOST), "error")
        return (a < MOST).select(found.high + found.low, a.is_nan().select(a, 1.0)).with_sign(x.sign_bit())

    def near() -> Term:
        found = near_zero(x)
        return found.high + found.low

    return (x == 0.0).select(x, (a < NEAR).branch(near, far))


def error_complement(x: Term) -> Term:
    """Return 1 − erf x."""
    a = abs(x)

    def near() -> Term:
        found = near_zero(x)
        high, low = add_exactly(1.0, -found.high)
        return high + (low - found.low)

    def far() -> Term:
        inside = limit_argument(a, NEAR, GONE)
        square = multiply_exactly(inside, inside)
        parts = exponential_parts(-square.high, -square.low)
        falling = add_ordered(parts.high, parts.low)
        found = multiply_pairs(falling, value_of(complement_pieces(), inside, "complement"))
        right = scale(found.high + found.low, parts.exponent)
        opposite = 2.0 - right
        return (x < 0.0).select(opposite, right)

    return (a < NEAR).branch(near, far)
