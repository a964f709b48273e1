"""Sine, cosine and tangent: what is left of multiples of π/2, and two polynomials.

Up to 2²⁰ π/2 a multiple of π/2 is taken off in three pieces (Cody and Waite). Beyond, and where what is left is too small for
that, the digits of 2/π that count are multiplied in integers (Payne and Hanek).

Units: rad.
Source: Cody and Waite, Software Manual for the Elementary Functions (1980); Payne and Hanek, Radian reduction for
trigonometric functions, SIGNUM Newsletter 18 (1983).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import factorial
from typing import NamedTuple

from dockdyn.translate.elementary.decimals import (
    CONTEXT,
    bits_of_fraction,
    double_double,
    fit_floats,
    fit_polynomial,
    nearest_float,
    pi,
    power_series,
    split_value,
)
from dockdyn.translate.elementary.exponential import round_to_integer
from dockdyn.translate.elementary.terms import (
    BIAS,
    DIGITS,
    DoubleDouble,
    Term,
    add_exactly,
    add_ordered,
    divide_pairs,
    exactly,
    known_pair,
    multiply_exactly,
    multiply_pairs,
    polynomial,
)

FEW_QUARTERS = 1.6e6  # rad: below, there are fewer than 2²⁰ quarters
LOST = 2.0**-55  # of a quarter times their number: less left has too few digits
WIDTH, LIMBS = 27, 7  # of the integers that 2/π is multiplied in
AHEAD = 162  # zero bits before those of 2/π
MASK = 2**WIDTH - 1


class CircularConstants(NamedTuple):
    inverse: float  # 2/π
    first: float  # of π/2, with 33 digits
    second: float
    third: float
    sine: list[float]  # of (sin x − x)/x³ in x²
    third_order: tuple[float, float]  # the first of these
    cosine: list[float]  # of (cos x − 1 + x²/2)/x⁴ in x²
    quarter: tuple[float, float]  # π/2
    digits: list[int]  # of 2/π


@cache
def constants() -> CircularConstants:
    with localcontext(CONTEXT):
        quarter = pi() / 2
        most = (quarter / 2) ** 2
        sine = fit_polynomial(
            power_series(lambda n: Fraction((-1) ** (n + 1), factorial(2 * n + 3))), Decimal(0), most, 7
        )
        cosine = power_series(lambda n: Fraction((-1) ** n, factorial(2 * n + 4)))
        first, second, third = split_value(quarter, -32, -65)
        return CircularConstants(
            nearest_float(1 / quarter),
            first,
            second,
            third,
            list(map(nearest_float, sine)),
            double_double(sine[0]),
            fit_floats(cosine, 0, most, 7),
            double_double(quarter),
            [0] * (AHEAD // WIDTH) + list(bits_of_fraction(2 / Fraction(pi()), WIDTH, 50)),
        )


class Reduced(NamedTuple):
    """An angle less a number of quarters, as high + low."""

    high: Term
    low: Term
    quarters: Term


def with_reduced(x: Term, finish: Callable[[Reduced], Term]) -> Term:
    """Return what is made of an angle without its quarters."""
    known = constants()
    count, number = round_to_integer(x * known.inverse)
    rest = x - count * known.first
    high, low = add_exactly(rest, -(count * known.second))
    moved = count * known.third
    found = add_exactly(high, -moved)
    close = Reduced(found.high, found.low + low, number)
    usual = (abs(x) < FEW_QUARTERS) & (abs(found.high) >= abs(count) * LOST)

    def far() -> Term:
        return (abs(x) < float("inf")).branch(lambda: finish(reduce_far(x)), lambda: x - x)

    return usual.branch(lambda: finish(close), far)


def reduce_far(x: Term) -> Reduced:
    """Return a finite angle above 2⁻²⁰ without its quarters, by all digits of 2/π that count."""
    known = constants()
    bits = abs(x).bits()
    whole = (bits & (2**DIGITS - 1)) | 2**DIGITS
    exponent = (bits >> DIGITS) - (BIAS + DIGITS)  # |x| = whole 2^exponent; multiples of 4 quarters are left out
    start = exponent + (AHEAD - 2)
    word, shift = start // WIDTH, start % WIDTH
    raw = [(word + place).of(known.digits, "quarter_digits") for place in range(LIMBS + 1)]
    left = WIDTH - shift
    limbs = [(((raw[place] << WIDTH) | raw[place + 1]) >> left) & MASK for place in range(LIMBS)][::-1]
    parts = (whole & MASK, whole >> WIDTH)
    carry: Term | int = 0
    product = []
    for place in range(LIMBS):  # the last digits first; what comes before the first ones is a multiple of 4 quarters
        total = parts[0] * limbs[place] + carry
        if place:
            total = total + parts[1] * limbs[place - 1]
        product.append(total & MASK)
        carry = total >> WIDTH
    top = (product[6] << WIDTH) | product[5]  # 54 digits, two of them before the point
    quarters = (top + 2 ** (DIGITS - 1)) >> DIGITS
    pieces = [top - (quarters << DIGITS), product[4], product[3], product[2]]
    high, *lower = [piece.to_float() * 2.0 ** -(DIGITS + WIDTH * place) for place, piece in enumerate(pieces)]
    first = add_exactly(high, lower[0])
    second = add_exactly(first.high, lower[1] + lower[2])
    turned = multiply_pairs(DoubleDouble(second.high, second.low + first.low), known_pair(x, known.quarter))
    sign = x.sign_bit()
    negative = sign < 0
    return Reduced(turned.high.with_sign(sign), turned.low.with_sign(sign), negative.select(0 - quarters, quarters))


def sine_rest(x: Reduced) -> Term:
    """Return sin(high + low) − high."""
    square = x.high * x.high
    return (x.low * (1.0 - 0.5 * square)) + x.high * square * polynomial(square, constants().sine)


def cosine_pair(x: Reduced) -> DoubleDouble:
    """Return cos(high + low)."""
    square = x.high * x.high
    half = 0.5 * square
    one = 1.0 - half
    return DoubleDouble(
        one, ((1.0 - one) - half) + (square * square * polynomial(square, constants().cosine) - x.high * x.low)
    )


def fine_sine(x: Reduced, square: DoubleDouble) -> DoubleDouble:
    """Return sin(high + low), the cube as a double-double."""
    known = constants()
    cube = multiply_pairs(square, exactly(x.high))
    third = multiply_pairs(cube, known_pair(x.high, known.third_order))
    rest = cube.high * square.high * polynomial(square.high, known.sine[1:])
    linear = add_ordered(x.high, third.high)
    return add_ordered(linear.high, linear.low + (third.low + rest + x.low * (1.0 - 0.5 * square.high)))


def turned_sine(x: Term, turned: int) -> Term:
    """Return the sine of an angle and a number of quarters."""

    def finish(reduced: Reduced) -> Term:
        quarters = reduced.quarters + turned
        cosine = cosine_pair(reduced)
        sine = reduced.high + sine_rest(reduced)
        found = ((quarters & 1) == 0).select(sine, cosine.high + cosine.low)
        return found.with_sign((quarters & 2) << 62)

    return with_reduced(x, finish)


def sine(x: Term) -> Term:
    """Return sin x."""
    return (x == 0.0).select(x, turned_sine(x, 0))


def cosine(x: Term) -> Term:
    """Return cos x."""
    return turned_sine(x, 1)


def tangent(x: Term) -> Term:
    """Return tan x."""

    def finish(reduced: Reduced) -> Term:
        square = multiply_exactly(reduced.high, reduced.high)
        sine = fine_sine(reduced, square)
        rough = cosine_pair(reduced)
        cosine = add_ordered(rough.high, rough.low - 0.5 * square.low)
        odd = (reduced.quarters & 1) == 1
        above = DoubleDouble(odd.select(-cosine.high, sine.high), odd.select(-cosine.low, sine.low))
        below = DoubleDouble(odd.select(sine.high, cosine.high), odd.select(sine.low, cosine.low))
        found = divide_pairs(above, below)
        return found.high + found.low

    return (abs(x) < 2.0**-27).branch(lambda: x, lambda: with_reduced(x, finish))
