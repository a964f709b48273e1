"""Hyperbolic functions and their inverses, from exponentials and logarithms that are double-doubles; near zero, polynomials.

Units: none.
Source: definitions; Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 4.5 and 4.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import factorial

from dockdyn.translate.elementary.decimals import fit_floats, power_series
from dockdyn.translate.elementary.exponential import exponential_parts, limit_argument, scaled_pair
from dockdyn.translate.elementary.logarithm import logarithm_of_pair
from dockdyn.translate.elementary.terms import (
    DoubleDouble,
    Term,
    add_exactly,
    add_ordered,
    add_pairs,
    divide_pairs,
    exactly,
    multiply_exactly,
    polynomial,
    square_root,
)

NEAR = 0.25  # below, a function is x + x³ times a polynomial
GONE = 40.0  # e⁻ˣ is nothing beside eˣ
MOST = 711.0  # sinh and cosh are infinite
HUGE = 2.0**400  # the square of more could overflow: area functions are ln 2x


@cache
def tangent_series() -> list[Fraction]:
    """Return the coefficients of tanh x/x in x²."""
    found: list[Fraction] = []
    for n in range(80):  # tanh' = 1 − tanh²
        square = sum((found[k] * found[n - 1 - k] for k in range(n)), Fraction(0))
        found.append(((1 if n == 0 else 0) - square) / (2 * n + 1))
    return found


def series_of(coefficient: Callable[[int], Fraction], count: int) -> list[float]:
    """Return the polynomial in x² of (f(x) − x)/x³ near zero."""
    return fit_floats(power_series(coefficient), 0, NEAR**2, count)


def near_zero(x: Term, coefficients: list[float]) -> Term:
    """Return x + x³ p(x²)."""
    square = x * x
    return x + x * square * polynomial(square, coefficients)


def odd(x: Term, coefficients: list[float], far: Callable[[Term], Term]) -> Term:
    """Return an odd function: near zero by a polynomial, else by what `far` makes of |x|."""
    found = (abs(x) < NEAR).branch(lambda: near_zero(x, coefficients), lambda: far(abs(x)).with_sign(x.sign_bit()))
    return (x == 0.0).select(x, found)


def halves(x: Term) -> tuple[DoubleDouble, DoubleDouble]:
    """Return eˣ/4 and e⁻ˣ/4, x from 0 to `MOST`."""
    grown = scaled_pair(exponential_parts(x), 2)
    shrunk = scaled_pair(exponential_parts((x > GONE).select(-GONE, -x)), 2)
    return grown, shrunk


def hyperbolic_sine(x: Term) -> Term:
    """Return sinh x."""

    def far(a: Term) -> Term:
        grown, shrunk = halves(limit_argument(a, 0.0, MOST))
        found = add_pairs(grown, DoubleDouble(-shrunk.high, -shrunk.low))
        return (found.high + found.low) * 2.0

    return odd(x, series_of(lambda n: Fraction(1, factorial(2 * n + 3)), 6), far)


def hyperbolic_cosine(x: Term) -> Term:
    """Return cosh x."""
    found = add_pairs(*halves(limit_argument(abs(x), 0.0, MOST)))
    return (found.high + found.low) * 2.0


def hyperbolic_tangent(x: Term) -> Term:
    """Return tanh x."""

    def far(a: Term) -> Term:
        grown = scaled_pair(exponential_parts(limit_argument(a, 0.0, 20.0) * 2.0))
        above, below = [add_pairs(grown, exactly(Term(x.builder, one))) for one in (-1.0, 1.0)]
        found = divide_pairs(above, below)
        return found.high + found.low

    return odd(x, series_of(lambda n: tangent_series()[n + 1] if n < 79 else Fraction(0), 10), far)


def area_tangent(x: Term) -> Term:
    """Return artanh x."""

    def far(a: Term) -> Term:
        inside = (a < 1.0).select(a, 0.5)
        above, below = (logarithm_of_pair(add_exactly(1.0, one)) for one in (inside, -inside))
        found = add_pairs(above, DoubleDouble(-below.high, -below.low))
        return (a < 1.0).select((found.high + found.low) * 0.5, (a == 1.0).select(math.inf, math.nan))

    return odd(x, series_of(lambda n: Fraction(1, 2 * n + 3), 14), far)


def area_of(a: Term, sign: float) -> DoubleDouble:
    """Return ln(a + √(a² + sign)), a² above −sign."""
    large = a > HUGE
    inside = large.select(1.0, a)
    square = multiply_exactly(inside, inside)
    below = add_exactly(sign, square.high)
    under = add_ordered(below.high, below.low + square.low)
    root = square_root(DoubleDouble((under.high > 0.0).select(under.high, 1.0), under.low))
    less = add_exactly(inside, (under.high > 0.0).select(root.high, 0.0))
    total = add_ordered(less.high, less.low + (under.high > 0.0).select(root.low, 0.0))
    finite = (a < math.inf).select(a, 1.0)
    argument = DoubleDouble(large.select(finite, total.high), large.select(0.0, total.low))
    return logarithm_of_pair(argument, large.select(1, 0))


def area_sine(x: Term) -> Term:
    """Return arsinh x."""

    def far(a: Term) -> Term:
        found = area_of(a, 1.0)
        return (a < math.inf).select(found.high + found.low, a)

    def coefficient(n: int) -> Fraction:
        k = n + 1
        return Fraction((-1) ** k * factorial(2 * k), 4**k * factorial(k) ** 2 * (2 * k + 1))

    return odd(x, series_of(coefficient, 14), far)


def area_cosine(x: Term) -> Term:
    """Return arcosh x."""
    found = area_of(x, -1.0)
    inside = (x < math.inf).select(found.high + found.low, x)
    return (x < 1.0).select(math.nan, inside)
