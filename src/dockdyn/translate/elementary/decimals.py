"""Constants of elementary functions to 80 digits, and polynomials that approximate them, rounded to floats at the end.

Everything is computed from series here, by Python's decimal numbers, which are the same everywhere.

Units: none.
Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 4.1, 4.4, 7.1; a polynomial that interpolates at
the zeros of Chebyshev's is within a small factor of the best one (Muller, Elementary Functions, 3rd ed. (2016), chapter 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

CONTEXT = Context(prec=80)
LONG = Context(prec=420)  # digits of π that the reduction of the largest floats needs


def nearest_float(value: Decimal | Fraction) -> float:
    """Return the nearest float."""
    return float(Fraction(value))


def split_value(value: Decimal, *steps: int) -> list[float]:
    """Return floats that add up to a value: each a multiple of 2 to the power of its step, and the nearest one at last."""
    found, left = [], Fraction(value)
    for step in steps:
        one = Fraction(round(left * Fraction(2) ** -step)) * Fraction(2) ** step
        found.append(float(one))
        left -= one
    return [*found, float(left)]


def double_double(value: Decimal) -> tuple[float, float]:
    """Return the nearest float and that of the rest."""
    high = nearest_float(value)
    return high, nearest_float(Fraction(value) - Fraction(high))


@cache
def pi() -> Decimal:
    """Return π to 400 digits, by Machin's formula."""
    with localcontext(LONG):
        return 4 * (4 * arctangent(Decimal(1) / 5) - arctangent(Decimal(1) / 239))


def arctangent(x: Decimal) -> Decimal:
    """Return arctan x, 0 ≤ x ≤ 1, to the digits of the context."""
    halvings = 0
    while x > Decimal("0.2"):
        x, halvings = x / (1 + (1 + x * x).sqrt()), halvings + 1
    return 2**halvings * sum_series(x, lambda term, n: -term * x * x, lambda n: 2 * n + 1)


def sum_series(first: Decimal, step: Callable[[Decimal, int], Decimal], divisor: Callable[[int], int]) -> Decimal:
    """Return the sum of terms over their divisors, each term a step from the one before."""
    total, term, place = Decimal(0), first, 0
    while total != (more := total + term / divisor(place)):
        total = more
        place += 1
        term = step(term, place)
    return total


@cache
def error_scale() -> Decimal:
    """Return 2/√π."""
    with localcontext(CONTEXT):
        return 2 / pi().sqrt()


def scaled_error(x: Decimal) -> Decimal:
    """Return erf(x) e^(x²) √π/2: x (1 + 2x²/3 + (2x²)²/15 + …)."""
    return sum_series(x, lambda term, n: term * 2 * x * x / (2 * n + 1), lambda n: 1)


def error_function(x: Decimal) -> Decimal:
    """Return erf x, x ≥ 0."""
    with localcontext(Context(prec=120)):
        return error_scale() * (-x * x).exp() * scaled_error(x)


def scaled_complement(x: Decimal) -> Decimal:
    """Return erfc(x) e^(x²), x > 0: where the series loses too many digits, by a continued fraction."""
    if x < 4:
        with localcontext(Context(prec=120)):
            return (x * x).exp() - error_scale() * scaled_error(x)
    with localcontext(CONTEXT):
        found = x
        for n in range(600, 0, -1):
            found = x + Decimal(n) / 2 / found
        return error_scale() / 2 / found


def fit_polynomial(function: Callable[[Decimal], Decimal], low: Decimal, high: Decimal, count: int) -> list[Decimal]:
    """Return the coefficients of a polynomial that interpolates a function between two numbers, at Chebyshev's points."""
    with localcontext(CONTEXT):
        middle, half = (low + high) / 2, (high - low) / 2
        points = [middle + half * one for one in _chebyshev_zeros(count)]
        rows = [function(point) for point in points]
        for order in range(1, count):  # Newton's divided differences
            for place in range(count - 1, order - 1, -1):
                rows[place] = (rows[place] - rows[place - 1]) / (points[place] - points[place - order])
        found = [rows[-1]]
        for place in range(count - 2, -1, -1):  # from Newton's form to powers
            shifted = [Decimal(0), *found]
            found = [a - points[place] * b for a, b in zip(shifted, [*found, Decimal(0)], strict=True)]
            found[0] += rows[place]
        return found


def fit_floats(
    function: Callable[[Decimal], Decimal], low: Decimal | float, high: Decimal | float, count: int
) -> list[float]:
    """Return these coefficients as floats."""
    return [nearest_float(one) for one in fit_polynomial(function, Decimal(low), Decimal(high), count)]


@cache
def _chebyshev_zeros(count: int) -> list[Decimal]:
    with localcontext(CONTEXT):
        return [_cosine(pi() * (2 * k + 1) / (2 * count)) for k in range(count)]


def _cosine(x: Decimal) -> Decimal:
    return sum_series(Decimal(1), lambda term, n: -term * x * x / ((2 * n - 1) * (2 * n)), lambda n: 1)


def power_series(coefficients: Callable[[int], Fraction], count: int = 80) -> Callable[[Decimal], Decimal]:
    """Return the function of a power series."""
    with localcontext(CONTEXT):
        numbers = [Decimal(one.numerator) / one.denominator for one in map(coefficients, range(count))]

    def value_at(x: Decimal) -> Decimal:
        total = Decimal(0)
        for one in reversed(numbers):
            total = total * x + one
        return total

    return value_at


def bits_of_fraction(value: Decimal | Fraction, width: int, count: int) -> Sequence[int]:
    """Return the digits of a number below one, in pieces of so many bits."""
    left, found = Fraction(value), []
    for _ in range(count):
        left *= 2**width
        found.append(int(left))
        left -= found[-1]
    return found
