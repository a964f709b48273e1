"""The exponential function and its kin: a table of powers of two in steps of 1/128, and a polynomial between them.

eˣ = 2ᵐ 2^(j/128) eʳ with |r| ≤ ln 2/256; 2^(j/128) is a double-double, so that only the last addition rounds.

Units: none.
Source: Tang, Table-driven implementation of the exponential function in IEEE floating-point arithmetic, ACM TOMS 15 (1989).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import factorial
from typing import NamedTuple

from dockdyn.translate.elementary.decimals import (
    CONTEXT,
    double_double,
    fit_floats,
    nearest_float,
    power_series,
    split_value,
)
from dockdyn.translate.elementary.terms import (
    DIGITS,
    DoubleDouble,
    Term,
    add_exactly,
    add_ordered,
    polynomial,
    power_of_two,
    scale,
)

STEPS, STEP_BITS = 128, 7  # of the table, a power of two
ROUNDING = 1.5 * 2.0**DIGITS  # added to a number, rounds it to an integer, which the last bits of the sum are
LEAST, MOST = -746.0, 710.0  # beyond, eˣ is 0 or infinite


class ExponentialConstants(NamedTuple):
    steps: float  # of the table in one unit of the exponent
    step_high: float  # one step in units of the exponent, times an integer below 2¹⁸ exactly
    step_low: float
    power_high: list[float]  # 2^(j/128)
    power_low: list[float]
    rest: list[float]  # of (eʳ − 1 − r)/r²


@cache
def constants() -> ExponentialConstants:
    with localcontext(CONTEXT):
        step = Decimal(2).ln() / STEPS
        powers = [double_double((step * place).exp()) for place in range(STEPS)]
        high, low = split_value(step, -43)
        rest = power_series(lambda n: Fraction(1, factorial(n + 2)))
        return ExponentialConstants(
            nearest_float(1 / step),
            high,
            low,
            [one for one, _ in powers],
            [one for _, one in powers],
            fit_floats(rest, -step / 2, step / 2, 5),
        )


class ExponentialParts(NamedTuple):
    """A number as (high + low) 2ⁿ, high between 1 and 2."""

    high: Term
    low: Term
    exponent: Term


def round_to_integer(x: Term) -> tuple[Term, Term]:
    """Return the nearest integer to a number below 2⁵⁰, as a float and as an integer."""
    shifted = x + ROUNDING
    return shifted - ROUNDING, shifted.bits() - (Term(x.builder, ROUNDING).bits())


def power_parts(steps: Term, rest: Term) -> ExponentialParts:
    """Return 2^(steps/128) e^rest, the rest small."""
    known = constants()
    place = steps & (STEPS - 1)
    high, low = place.of(known.power_high, "powers_high"), place.of(known.power_low, "powers_low")
    grown = rest + rest * rest * polynomial(rest, known.rest)
    return ExponentialParts(high, low + high * grown, steps >> STEP_BITS)


def exponential_parts(x: Term, low: Term | float = 0.0) -> ExponentialParts:
    """Return e^(x + low), |x| < 2000."""
    known = constants()
    steps, number = round_to_integer(x * known.steps)
    rest = (x - steps * known.step_high) - steps * known.step_low
    return power_parts(number, rest + low if isinstance(low, Term) else rest)


def scaled_pair(parts: ExponentialParts, less: int = 0) -> DoubleDouble:
    """Return the double-double of parts, divided by 2 so many times; neither overflows nor is subnormal."""
    high, low = add_ordered(parts.high, parts.low)
    factor = power_of_two(parts.exponent - less)
    return DoubleDouble(high * factor, low * factor)


def limit_argument(x: Term, least: float, most: float) -> Term:
    """Return a number within limits, what is none as it is."""
    above = (x > most).select(most, x)
    return (above < least).select(least, above)


def exponential(x: Term) -> Term:
    """Return eˣ."""

    def usual() -> Term:
        parts = exponential_parts(x)
        return (parts.high + parts.low) * power_of_two(parts.exponent)

    def extreme() -> Term:
        parts = exponential_parts(limit_argument(x, LEAST, MOST))
        return scale(parts.high + parts.low, parts.exponent)

    return (abs(x) < 708.0).branch(usual, extreme)


def exponential_of_two(x: Term) -> Term:
    """Return 2ˣ."""
    with localcontext(CONTEXT):
        unit = nearest_float(Decimal(2).ln())
    inside = limit_argument(x, -1076.0, 1025.0)
    steps, number = round_to_integer(inside * float(STEPS))
    parts = power_parts(number, (inside - steps * (1.0 / STEPS)) * unit)
    return scale(parts.high + parts.low, parts.exponent)


def exponential_less_one(x: Term) -> Term:
    """Return eˣ − 1."""
    near = 0.25
    rest = fit_floats(power_series(lambda n: Fraction(1, factorial(n + 3))), -near, near, 11)

    def small() -> Term:
        square = x * x
        return x + (0.5 * square + x * square * polynomial(x, rest))

    def large() -> Term:
        half = scaled_pair(exponential_parts(limit_argument(x, -40.0, MOST)), 1)
        high, low = add_exactly(-0.5, half.high)
        return (high + (low + half.low)) * 2.0

    return (x == 0.0).select(x, (abs(x) < near).branch(small, large))
