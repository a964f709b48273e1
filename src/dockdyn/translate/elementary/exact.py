"""Functions whose results are exact: remainders, neighbours, the nearest integer.

Units: none.
Source: ISO/IEC 9899:1999, 7.12.10.1, 7.12.11.3, 7.12.9.6.
"""

from __future__ import annotations

import math

from dockdyn.translate.elementary.terms import DIGITS, Term
from dockdyn.translate.scalar_program import Block, Question, While

ONCE = 10  # digits that a remainder of 53 is shifted at once


def nearest_integer(x: Term) -> Term:
    """Return the nearest integer, of two the one farther from zero."""
    a = abs(x)
    below = a.floor()
    return (a - below >= 0.5).select(below + 1.0, below).with_sign(x.sign_bit())


def neighbour(x: Term, y: Term) -> Term:
    """Return the next float after x towards y."""
    bits = x.bits()
    away = (x < y) ^ (bits < 0)
    moved = (bits + away.select(1, -1)).as_float()
    least = (y.bits() & -(2**63) | 1).as_float()  # after zero
    found = (x == 0.0).select(least, moved)
    found = (x == y).select(y, found)
    return (x.is_nan() | y.is_nan()).select(math.nan, found)


def remainder(x: Term, y: Term) -> Term:
    """Return x less a whole number of y, with the sign of x and smaller than y: by long division, some digits at once."""
    a, b = abs(x), abs(y)
    regular = (a < math.inf) & (b > 0.0)

    def divided() -> Term:
        return (a < b).branch(lambda: x, lambda: long_division(a, b).with_sign(x.sign_bit()))

    nothing = x.is_nan() | y.is_nan() | ~regular
    return nothing.branch(lambda: Term(x.builder, math.nan), divided)


def long_division(a: Term, b: Term) -> Term:
    """Return what is left of a, a ≥ b > 0."""
    builder = a.builder
    (left, above), (divisor, below) = (digits_of(one) for one in (a, b))
    rest = builder.slot("int", (left % divisor).scalar)
    turns = builder.slot("int", (above - below).scalar)
    head, body = Question(), Block()
    with builder.inside(head, again=True):
        more = Term(builder, builder.get(turns))
        going = more > 0
        with builder.inside(body, again=True):
            step = (more < ONCE).select(more, ONCE)
            shifted = Term(builder, builder.get(rest)) << step
            builder.put(rest, (shifted % divisor).scalar)
            builder.put(turns, (more - step).scalar)
    builder.block.lines.append(While(head, going.scalar, body))
    return float_of_digits(Term(builder, builder.get(rest)), below)


def digits_of(a: Term) -> tuple[Term, Term]:
    """Return a positive float as an integer and the bits of its exponent, at least one."""
    field = a.bits() >> DIGITS
    normal = field > 0
    return (a.bits() & (2**DIGITS - 1)) | normal.select(2**DIGITS, 0), normal.select(field, 1)


def float_of_digits(digits: Term, field: Term) -> Term:
    """Return the float of an integer below 2⁵³ and the bits of an exponent."""
    unit = (field > DIGITS).branch(
        lambda: digits.to_float() * ((field - DIGITS) << DIGITS).as_float(),
        lambda: (digits.to_float() * (field << DIGITS).as_float()) * 2.0**-DIGITS,
    )
    return unit
