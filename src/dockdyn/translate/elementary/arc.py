"""Inverse circular functions: the angle of a point, its coordinates double-doubles.

Of the quotient q of the smaller and the larger coordinate, the nearest multiple c of 1/64 has its angle in a table; what is
left is t = (a − c b)/(b + c a), at most 1/128. Small quotients need no table.

Units: rad.
Source: addition theorem of the arctangent, with a table as in Gal and Bachelis, An accurate elementary mathematical library
for the IEEE floating point standard, ACM TOMS 17 (1991).
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from dockdyn.translate.elementary.decimals import CONTEXT, arctangent, double_double, fit_floats, pi, power_series
from dockdyn.translate.elementary.exponential import round_to_integer
from dockdyn.translate.elementary.logarithm import SCARCE
from dockdyn.translate.elementary.terms import (
    DoubleDouble,
    Term,
    add_exactly,
    add_ordered,
    divide_pairs,
    exactly,
    multiply_exactly,
    polynomial,
    square_root,
)

PARTS = 64  # of a quotient of one
NEAR = 0.25  # a quotient that needs no table
FLAT = 2.0**-100  # the angle of a smaller quotient is the quotient
HUGE, TINY, FACTOR = 2.0**500, 2.0**-400, 2.0**600


class ArcConstants(NamedTuple):
    high: list[float]  # arctan(place/64)
    low: list[float]
    near: list[float]  # of (arctan q − q)/q³ in q²
    rest: list[float]  # the same for |q| ≤ 1/128
    half_turn: tuple[float, float]  # π
    quarter: tuple[float, float]


@cache
def constants() -> ArcConstants:
    with localcontext(CONTEXT):
        angles = [double_double(arctangent(Decimal(place) / PARTS)) for place in range(2 * PARTS)]
        series = power_series(lambda n: Fraction((-1) ** (n + 1), 2 * n + 3))
        return ArcConstants(
            [one for one, _ in angles],
            [one for _, one in angles],
            fit_floats(series, 0, Decimal(NEAR) ** 2, 11),
            fit_floats(series, 0, Decimal(1) / (2 * PARTS) ** 2, 4),
            double_double(+pi()),
            double_double(pi() / 2),
        )


def angle_of_quotient(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return arctan(a/b), 0 ≤ a ≤ b, b between 2⁻⁵⁰⁰ and 2⁵⁰⁰."""
    known = constants()
    quotient = a.high / b.high

    def of_small_quotient() -> DoubleDouble:
        exact = divide_pairs(a, b)
        square = exact.high * exact.high
        rest = exact.low + exact.high * square * polynomial(square, known.near)
        flat = quotient < FLAT
        return DoubleDouble(flat.select(quotient, exact.high), flat.select(0.0, rest))

    def from_table() -> DoubleDouble:
        whole, number = round_to_integer(quotient * float(PARTS))
        place = number & (2 * PARTS - 1)  # in the table, whatever the quotient is
        c = whole * (1.0 / PARTS)
        leading = (b.high.bits() & SCARCE).as_float()
        above = ((a.high - c * leading) - c * (b.high - leading)) + (a.low - c * b.low)
        turn = above / (b.high + c * a.high)
        square = turn * turn
        rest = place.of(known.low, "angles_low") + turn * square * polynomial(square, known.rest)
        return add_ordered(place.of(known.high, "angles_high"), turn + rest)

    return DoubleDouble(*(quotient < NEAR).branch_several(of_small_quotient, from_table))


def angle_of_point(y: DoubleDouble, x: DoubleDouble, mirrored: Term) -> DoubleDouble:
    """Return the angle of (±x, y), x and y not negative, the larger one between 2⁻⁵⁰⁰ and 2⁵⁰⁰; `mirrored` where it is −x."""
    known = constants()
    steep = y.high > x.high
    a = DoubleDouble(steep.select(x.high, y.high), steep.select(x.low, y.low))
    b = DoubleDouble(steep.select(y.high, x.high), steep.select(y.low, x.low))
    angle = angle_of_quotient(a, b)
    base = [
        steep.select(quarter, mirrored.select(half, 0.0))
        for quarter, half in zip(known.quarter, known.half_turn, strict=True)
    ]
    back = (steep ^ mirrored).select(-(2**63), 0)
    high, low = add_ordered(base[0], angle.high.with_sign(back))
    return DoubleDouble(high, low + (base[1] + angle.low.with_sign(back)))


def angle(y: Term, x: Term) -> Term:
    """Return the angle of the point (x, y), as C's annex F.9.1.4 has it."""
    a, b = abs(y), abs(x)
    large = (a > b).select(a, b)

    def usual(p: Term, q: Term) -> Term:
        found = angle_of_point(exactly(p), exactly(q), x.bits() < 0)
        return found.high + found.low

    def edge() -> Term:
        endless = large == math.inf
        factor = (large < 1.0).select(FACTOR, 1 / FACTOR)
        p, q = [endless.select((one == math.inf).select(1.0, 0.0), one * factor) for one in (a, b)]
        ahead = (x.bits() >= 0) & (a < b * FLAT) & (b < math.inf)  # scaled, it could be nothing
        return ahead.select(a / b, usual(p, (large == 0.0).select(1.0, q)))

    inside = ((large < HUGE) & (large > TINY)).branch(lambda: usual(a, b), edge)
    return (x.is_nan() | y.is_nan()).select(math.nan, inside.with_sign(y.sign_bit()))


def arctangent_of(x: Term) -> Term:
    """Return arctan x."""
    a = abs(x)
    one = Term(x.builder, 1.0)
    limited = (a > 2.0**200).select(2.0**200, a)
    found = angle_of_point(exactly(limited), exactly(one), Term(x.builder, False))
    return (a < 2.0**-27).select(x, x.is_nan().select(x, (found.high + found.low).with_sign(x.sign_bit())))


def beside(x: Term) -> DoubleDouble:
    """Return √(1 − x²)."""
    square = multiply_exactly(x, x)
    high, low = add_exactly(1.0, -square.high)
    rest = add_ordered(high, low - square.low)
    root = square_root(DoubleDouble((rest.high > 0.0).select(rest.high, 1.0), rest.low))
    return DoubleDouble((rest.high > 0.0).select(root.high, 0.0), (rest.high > 0.0).select(root.low, 0.0))


def arcsine(x: Term) -> Term:
    """Return arcsin x."""
    a = abs(x)
    found = angle_of_point(exactly(a), beside(a), Term(x.builder, False))
    inside = (a < 2.0**-27).select(x, (found.high + found.low).with_sign(x.sign_bit()))
    return (a <= 1.0).select(inside, math.nan)


def arccosine(x: Term) -> Term:
    """Return arccos x."""
    a = abs(x)
    found = angle_of_point(beside(a), exactly(a), x < 0.0)
    return (a <= 1.0).select(found.high + found.low, math.nan)
