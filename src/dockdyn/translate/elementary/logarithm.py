"""Logarithms and powers: ln x as a double-double to 2⁻⁶⁶ of its size.

x = 2ᵏ z with z between 0.6875 and 1.375; a table has c near 1/z with so few digits that r = c z − 1 is exact as the sum of
two floats, and −ln c. Beside one, c is one, so that small logarithms lose nothing.

Units: none.
Source: Tang, Table-driven implementation of the logarithm function in IEEE floating-point arithmetic, ACM TOMS 16 (1990);
the table of reciprocals with few digits: Wong and Goto, Fast hardware-based algorithms for elementary function computations
using rectangular multipliers, IEEE Transactions on Computers 43 (1994).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from dockdyn.translate.elementary.decimals import CONTEXT, double_double, fit_floats, power_series, split_value
from dockdyn.translate.elementary.exponential import exponential_parts, limit_argument, scaled_pair
from dockdyn.translate.elementary.terms import (
    DIGITS,
    DoubleDouble,
    Term,
    add_exactly,
    add_ordered,
    known_pair,
    multiply_exactly,
    multiply_pairs,
    polynomial,
    power_of_two,
    scale,
)

ENTRIES, ENTRY_BITS = 128, 7
FIRST = 0x3FE6000000000000  # the bits of 0.6875
LEAST_NORMAL, INFINITE = 0x0010000000000000, 0x7FF0000000000000  # bits
FINE = -42  # multiples of 2⁻⁴² below 2¹⁰ are added without rounding
SCARCE = -(2**21)  # the bits of a float whose product with nine digits is exact
NEAR = 2.0**-7


class LogarithmConstants(NamedTuple):
    two_high: float  # ln 2
    two_low: float
    reciprocal: list[float]  # c
    high: list[float]  # −ln c
    low: list[float]
    rest: list[float]  # of (ln(1 + r) − r + r²/2)/r³
    base_two: tuple[float, float]  # 1/ln 2
    third: tuple[float, float]


@cache
def constants() -> LogarithmConstants:
    with localcontext(CONTEXT):
        two_high, two_low = split_value(Decimal(2).ln(), FINE)
        reciprocals = [_reciprocal_of(place) for place in range(ENTRIES)]
        logarithms = [split_value(-Decimal(one).ln() if one != 1 else Decimal(0), FINE) for one in reciprocals]
        rest = power_series(lambda n: Fraction((-1) ** n, n + 3))
        return LogarithmConstants(
            two_high,
            two_low,
            reciprocals,
            [high for high, _ in logarithms],
            [low for _, low in logarithms],
            fit_floats(rest, -NEAR, NEAR, 9),
            double_double(1 / Decimal(2).ln()),
            double_double(Decimal(1) / 3),
        )


def _reciprocal_of(place: int) -> float:
    """Return c for the part of the table's range with this number."""
    ends = [FIRST + ((place + more) << (DIGITS - ENTRY_BITS)) for more in (0, 1)]
    low, high = [float(struct.unpack("d", struct.pack("q", one))[0]) for one in ends]
    if 1 - NEAR <= low and high <= 1 + NEAR:
        return 1.0
    return round(2.0**8 * 2 / (low + high)) / 2.0**8


def logarithm_parts(x: Term, exponent: Term | int = 0) -> DoubleDouble:
    """Return ln(x 2ⁿ) of a normal number above zero."""
    known = constants()
    shifted = x.bits() - FIRST
    power = shifted >> DIGITS
    inside = (x.bits() - (power << DIGITS)).as_float()
    place = (shifted >> (DIGITS - ENTRY_BITS)) & (ENTRIES - 1)
    reciprocal = place.of(known.reciprocal, "reciprocals")
    leading = (inside.bits() & SCARCE).as_float()
    rest = add_exactly(leading * reciprocal - 1.0, (inside - leading) * reciprocal)
    count = (power + exponent).to_float()
    whole = count * known.two_high + place.of(known.high, "logarithms_high")
    linear = add_ordered(whole, rest.high)
    short = rest.high.short()
    left = rest.high - short
    square = add_ordered(linear.high, short * short * -0.5)
    small = rest.high * rest.high * rest.high * polynomial(rest.high, known.rest)
    small = small + (left * (rest.high + short) * -0.5 - rest.high * rest.low)
    small = small + (count * known.two_low + place.of(known.low, "logarithms_low"))
    return add_ordered(square.high, ((linear.low + rest.low) + square.low) + small)


def logarithm_by(x: Term, finish: Callable[[DoubleDouble], Term]) -> Term:
    """Return what is made of ln x, of any number."""

    def unusual() -> Term:
        subnormal = finish(logarithm_parts(x * 2.0**54, -54))
        below = (x == 0.0).select(-math.inf, (x < 0.0).select(math.nan, subnormal))
        return ((x == math.inf) | x.is_nan()).select(x, below)

    usual = (x.bits() >= LEAST_NORMAL) & (x.bits() < INFINITE)
    return usual.branch(lambda: finish(logarithm_parts(x)), unusual)


def logarithm(x: Term) -> Term:
    """Return ln x."""
    return logarithm_by(x, lambda pair: pair.high + pair.low)


def logarithm_of_two(x: Term) -> Term:
    """Return log₂ x."""
    unit = constants().base_two

    def finish(pair: DoubleDouble) -> Term:
        found = multiply_pairs(pair, known_pair(x, unit))
        return found.high + found.low

    return logarithm_by(x, finish)


def logarithm_of_one_more(x: Term) -> Term:
    """Return ln(1 + x)."""
    total = add_exactly(1.0, x)

    def finish(pair: DoubleDouble) -> Term:
        return pair.high + (pair.low + total.low / total.high)

    exact = logarithm_by(total.high, finish)
    return ((abs(x) < 2.0**-54) | (x == math.inf)).select(x, exact)


def logarithm_of_pair(x: DoubleDouble, exponent: Term | int = 0) -> DoubleDouble:
    """Return ln(x 2ⁿ) of a double-double above zero, normal and finite."""
    found = logarithm_parts(x.high, exponent)
    return add_ordered(found.high, found.low + x.low / x.high)


def power(x: Term, y: Term) -> Term:
    """Return xʸ, as C's annex F.9.4.4 has it: soonest of zero, the depth of a contact that is open, and of exponents 1, of a
    stiffness that is one number, and 0, of its derivative."""

    def of_zero() -> Term:
        return (y > 0.0).select(0.0, (y < 0.0).select(math.inf, (y == 0.0).select(1.0, y)))

    def of_others() -> Term:
        simple = (y == 1.0) | (y == 0.0)
        return simple.branch(lambda: (y == 0.0).select(1.0, x), lambda: power_of_others(x, y))

    return (x.bits() == 0).branch(of_zero, of_others)


def power_of_others(x: Term, y: Term) -> Term:
    """Return xʸ, by y ln x where that is within limits."""
    base = abs(x)

    def unusual() -> DoubleDouble:
        small = base.bits() < LEAST_NORMAL
        found = logarithm_parts(small.select(base * 2.0**54, base), small.select(-54, 0))
        return DoubleDouble((base == 0.0).select(-math.inf, (base < math.inf).select(found.high, base)), found.low)

    usual = (x.bits() >= LEAST_NORMAL) & (x.bits() < INFINITE)
    logarithm = DoubleDouble(*usual.branch_several(lambda: logarithm_parts(x), unusual))
    high, low = multiply_exactly(y, logarithm.high)
    low = low + y * logarithm.low

    def inside() -> Term:
        parts = exponential_parts(high, low)
        return (parts.high + parts.low) * power_of_two(parts.exponent)

    return (usual & (abs(high) < 708.0)).branch(inside, lambda: any_power(x, y, base, DoubleDouble(high, low)))


def any_power(x: Term, y: Term, base: Term, product: DoubleDouble) -> Term:
    """Return xʸ for any numbers, given y ln |x|, where that is a number."""
    high = limit_argument((base == 1.0).select(0.0, product.high), -800.0, 800.0)
    low = (abs(product.high) < 800.0).select(product.low, 0.0)
    parts = exponential_parts(high, low)
    found = scale(parts.high + parts.low, parts.exponent)
    half = y * 0.5
    even, whole = half.floor() == half, y.floor() == y
    negative = x.sign_bit() < 0
    odd = whole & ~even & negative
    found = odd.select(-found, found)
    found = ((x < 0.0) & ~whole & (base < math.inf)).select(math.nan, found)
    return ((y == 0.0) | (x == 1.0)).select(1.0, (x.is_nan() | y.is_nan()).select(math.nan, found))


def cube_root(x: Term) -> Term:
    """Return the cube root of x."""
    base = abs(x)

    def usual() -> Term:
        small = base.bits() < LEAST_NORMAL
        found = logarithm_parts(small.select(base * 2.0**54, base), small.select(-54, 0))
        product = multiply_pairs(found, known_pair(x, constants().third))
        pair = scaled_pair(exponential_parts(product.high, product.low))
        return (pair.high + pair.low).with_sign(x.sign_bit())

    return ((x == 0.0) | ~(base < math.inf)).branch(lambda: x, usual)
