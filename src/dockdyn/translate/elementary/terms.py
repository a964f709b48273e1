"""Formulas of elementary functions as they are written on paper: terms that a scalar program computes.

A double-double is the unevaluated sum of two floats, the second at most half a unit in the last place of the first.

Units: none.
Source: Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18 (1971);
Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed. (2018), chapters 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dockdyn.translate.scalar_program import Builder, ConstantTable, Scalar, Value, kind_of

SHORT = -(2**27)  # the bits of a float whose square is exact: 26 of its 53 digits
BIAS, DIGITS = 1023, 52  # of a float's exponent, and after its point


class Term:
    """A number of a formula: a float, an integer or a truth."""

    __slots__ = ("builder", "scalar")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, builder: Builder, scalar: Scalar):
        self.builder, self.scalar = builder, scalar

    def compute(self, operation: str, *operands: Term | float) -> Term:
        """Return an operation of terms and numbers; beside floats, integers are floats."""
        floats = kind_of(self.scalar) == "float"
        scalars = [one.scalar if isinstance(one, Term) else float(one) if floats else one for one in operands]
        return Term(self.builder, self.builder.compute(operation, *scalars))

    def __add__(self, other: Term | float) -> Term:
        return self.compute("add", self, other)

    def __radd__(self, other: float) -> Term:
        return self.compute("add", other, self)

    def __sub__(self, other: Term | float) -> Term:
        return self.compute("sub", self, other)

    def __rsub__(self, other: float) -> Term:
        return self.compute("sub", other, self)

    def __mul__(self, other: Term | float) -> Term:
        return self.compute("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Term | float) -> Term:
        return self.compute("div", self, other)

    def __rtruediv__(self, other: float) -> Term:
        return self.compute("div", other, self)

    def __floordiv__(self, other: int) -> Term:
        """Return an integer that is not negative, divided."""
        return self.compute("div", self, other)

    def __mod__(self, other: Term | int) -> Term:
        """Return what is left of an integer that is not negative."""
        return self.compute("rem", self, other)

    def __neg__(self) -> Term:
        return self.compute("neg", self)

    def __abs__(self) -> Term:
        return self.compute("abs", self)

    def __lt__(self, other: Term | float) -> Term:
        return self.compute("lt", self, other)

    def __le__(self, other: Term | float) -> Term:
        return self.compute("le", self, other)

    def __gt__(self, other: Term | float) -> Term:
        return self.compute("lt", other, self)

    def __ge__(self, other: Term | float) -> Term:
        return self.compute("le", other, self)

    def __eq__(self, other: Term | float) -> Term:  # type: ignore[override]
        return self.compute("eq", self, other)

    def __and__(self, other: Term | int) -> Term:
        return self.compute("and", self, other)

    def __or__(self, other: Term | int) -> Term:
        return self.compute("or", self, other)

    def __xor__(self, other: Term | int) -> Term:
        return self.compute("xor", self, other)

    def __invert__(self) -> Term:
        """Return whether what is true is not."""
        return self.compute("not", self)

    def __lshift__(self, other: Term | int) -> Term:
        return self.compute("shift_left", self, other)

    def __rshift__(self, other: Term | int) -> Term:
        return self.compute("shift_right", self, other)

    def bits(self) -> Term:
        """Return the bits of a float as an integer."""
        return self.compute("to_bits", self)

    def as_float(self) -> Term:
        """Return the float of these bits."""
        return self.compute("from_bits", self)

    def to_float(self) -> Term:
        """Return the nearest float to an integer."""
        return self.compute("to_float", self)

    def sqrt(self) -> Term:
        return self.compute("sqrt", self)

    def floor(self) -> Term:
        return self.compute("floor", self)

    def is_nan(self) -> Term:
        return self.compute("is_nan", self)

    def select(self, yes: Term | float, no: Term | float) -> Term:
        """Return the one term where this holds, else the other; both are computed."""
        scalars = [one.scalar if isinstance(one, Term) else one for one in (yes, no)]
        return Term(self.builder, self.builder.select(self.scalar, *scalars))

    def branch(self, yes: Callable[[], Term], no: Callable[[], Term]) -> Term:
        """Return what the one function answers where this holds, else the other; only that is computed."""
        (found,) = self.branch_several(lambda: (yes(),), lambda: (no(),))
        return found

    def branch_several(self, yes: Callable[[], Sequence[Term]], no: Callable[[], Sequence[Term]]) -> list[Term]:
        """Return the terms that the one function answers where this holds, else the other."""
        found = self.builder.branch(
            self.scalar, lambda: [one.scalar for one in yes()], lambda: [one.scalar for one in no()]
        )
        return [Term(self.builder, one) for one in found]

    def sign_bit(self) -> Term:
        """Return the sign of a float as bits of a zero with that sign."""
        return self.bits() & -(2**63)

    def with_sign(self, sign: Term) -> Term:
        """Return a float whose sign is changed where the bits of a zero have one."""
        return (self.bits() ^ sign).as_float()

    def short(self) -> Term:
        """Return the leading half of a float's digits."""
        return (self.bits() & SHORT).as_float()

    def of(self, table: Sequence[float] | Sequence[int], name: str) -> Term:
        """Return the number of a table at this place."""
        assert isinstance(self.scalar, Value)
        return Term(self.builder, self.builder.load(_table_of(self.builder, table, name), self.scalar))


def _table_of(builder: Builder, values: Sequence[float] | Sequence[int], name: str) -> ConstantTable:
    """Return the table of a function with these numbers."""
    return builder.tables.setdefault(name, ConstantTable(name, values))


class DoubleDouble(NamedTuple):
    """A double-double."""

    high: Term
    low: Term


def exactly(value: Term) -> DoubleDouble:
    """Return a term as a double-double."""
    return DoubleDouble(value, Term(value.builder, 0.0))


def known_pair(beside: Term, pair: tuple[float, float]) -> DoubleDouble:
    """Return a double-double that is known."""
    return DoubleDouble(*[Term(beside.builder, one) for one in pair])


def add_ordered(a: Term, b: Term) -> DoubleDouble:
    """Return a + b exactly, where a is zero or not smaller than b."""
    total = a + b
    return DoubleDouble(total, b - (total - a))


def add_exactly(a: Term | float, b: Term) -> DoubleDouble:
    """Return a + b exactly."""
    total = a + b
    other = total - a
    return DoubleDouble(total, (a - (total - other)) + (b - other))


def multiply_exactly(a: Term, b: Term) -> DoubleDouble:
    """Return a b to 2⁻¹⁰⁵ of its size."""
    a_high, b_high = a.short(), b.short()
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return DoubleDouble(product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)


def add_pairs(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return the sum of double-doubles, to 2⁻¹⁰⁰ of the larger."""
    high, low = add_exactly(a.high, b.high)
    return add_ordered(high, low + (a.low + b.low))


def multiply_pairs(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return the product of double-doubles, to 2⁻¹⁰⁰ of its size."""
    high, low = multiply_exactly(a.high, b.high)
    return add_ordered(high, low + (a.high * b.low + a.low * b.high))


def divide_pairs(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return the quotient of double-doubles, to 2⁻¹⁰⁰ of its size."""
    quotient = a.high / b.high
    high, low = multiply_exactly(quotient, b.high)
    return add_ordered(quotient, (((a.high - high) - low) + (a.low - quotient * b.low)) / b.high)


def square_root(a: DoubleDouble) -> DoubleDouble:
    """Return the square root of a double-double above zero."""
    root = a.high.sqrt()
    high, low = multiply_exactly(root, root)
    return add_ordered(root, (((a.high - high) - low) + a.low) / (2 * root))


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """Return c₀ + c₁ x + …, pairs of terms first: half as many operations wait for each other as by Horner's rule."""
    pairs = [coefficients[at] + coefficients[at + 1] * x for at in range(0, len(coefficients) - 1, 2)]
    if len(coefficients) % 2:
        pairs.append(Term(x.builder, coefficients[-1]))
    square, total = x * x, pairs[-1]
    for one in reversed(pairs[:-1]):
        total = one + square * total
    return total


def power_of_two(exponent: Term) -> Term:
    """Return 2ⁿ of an integer from −1022 to 1023."""
    return ((exponent + BIAS) << DIGITS).as_float()


def scale(a: Term, exponent: Term) -> Term:
    """Return a 2ⁿ of an integer from −2044 to 2046, rounded once where a is between 0.5 and 2."""
    half = exponent >> 1
    return (a * power_of_two(half)) * power_of_two(exponent - half)
