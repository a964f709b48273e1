"""Rational transfer functions of one input and one output: poles, zeros, frequency response, state space.

Units: s in 1/s, frequencies rad/s; the ratio in that of the caller.
Source: controllable canonical form, Kailath 1980, Linear Systems; balancing, Osborne 1960.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dockdyn.deferred import Complex, Float
from dockdyn.records import record
from dockdyn.stability.routh import routh_array

Polynomial = tuple[float, ...]  # coefficients of powers of s (1/s), highest power first
Either = Any  # an array of NumPy or of JAX


@record
class TransferFunction:
    """numerator(s) / denominator(s); common factors are kept.

    Coefficients from the highest power of s (1/s) down, as any sequence; the unit of the ratio is the caller's.
    ValueError if one is empty or not finite, or the denominator's first coefficient is zero.
    """

    numerator: Polynomial
    denominator: Polynomial

    def __post_init__(self):
        for name in ("numerator", "denominator"):
            values = np.asarray(getattr(self, name), float)
            if values.ndim != 1 or values.size == 0:
                raise ValueError(f"{name} must be a row of at least one coefficient; got shape {values.shape}")
            if not np.isfinite(values).all():
                raise ValueError(f"{name} must be finite; got {values.tolist()}")
            object.__setattr__(self, name, tuple(values.tolist()))
        if self.denominator[0] == 0:
            raise ValueError(f"denominator must not begin with zero; got {list(self.denominator)}")
        leading = next((i for i, value in enumerate(self.numerator) if value), len(self.numerator) - 1)
        object.__setattr__(self, "numerator", self.numerator[leading:])

    @classmethod
    def of_zeros(cls, zeros: Iterable[complex], poles: Iterable[complex], gain: float) -> TransferFunction:
        """Return the gain Π(s − zero) / Π(s − pole); zeros and poles in rad/s.

        ValueError if one is not finite, or is complex without its conjugate (to 1e-9 of its size).
        """
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            numerator = gain * _real_polynomial("zeros", zeros)
            return cls(tuple(numerator), tuple(_real_polynomial("poles", poles)))

    def poles(self) -> Complex[np.ndarray, "n"]:
        """Return them in rad/s."""
        return polynomial_roots(self.denominator)

    def zeros(self) -> Complex[np.ndarray, "m"]:
        """Return them in rad/s; none for a numerator that is zero."""
        return polynomial_roots(self.numerator)

    def proper(self) -> bool:
        """Return whether the response stays finite as s grows."""
        return len(self.numerator) <= len(self.denominator)

    def relative_degree(self) -> int:
        """Return by how much the degree of the denominator is above that of the numerator."""
        return len(self.denominator) - len(self.numerator)

    def strictly_proper(self) -> bool:
        """Return whether the response goes to zero as s grows."""
        return len(self.numerator) < len(self.denominator) or self.numerator == (0.0,)

    def stable(self) -> bool:
        """Return whether every pole has a negative real part (Routh), cancelled or not."""
        return routh_array(self.denominator).stable

    def dc_gain(self) -> float:
        """Return the limit at s = 0, infinite (of the sign at small positive s) where there is an uncancelled integrator."""
        for top, bottom in zip(reversed(self.numerator), reversed(self.denominator), strict=False):
            if bottom:
                return top / bottom
            if top:
                rest = next(value for value in reversed(self.denominator) if value)
                return math.copysign(math.inf, top * rest)
        return 0.0  # the other has ended: the numerator, since a denominator has a coefficient that is not zero

    def at(self, s: Either) -> Either:
        """Return the response at s (rad/s, complex, any shape, of NumPy or JAX): same shape as s."""
        return _evaluate_polynomial(self.numerator, s) / _evaluate_polynomial(self.denominator, s)

    def state_space(
        self,
    ) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, "n 1"], Float[np.ndarray, "1 n"], Float[np.ndarray, "1 1"]]:
        """Return A, B, C, D of ẋ = A x + B u, y = C x + D u, n the denominator's degree.

        The controllable canonical form, its states scaled by powers of two so that [[A, B], [C, 0]] is balanced: time
        in s, coefficients of any size. ValueError if improper.
        """
        if not self.proper():
            raise ValueError("a transfer function whose numerator has the higher degree has no state space")
        order = len(self.denominator) - 1
        monic = np.array(self.denominator) / self.denominator[0]
        numerator = np.zeros(order + 1)
        numerator[order + 1 - len(self.numerator) :] = np.array(self.numerator) / self.denominator[0]
        whole = np.eye(order + 1, k=-1)  # [[A, B], [C, 0]]
        whole[0] = [*-monic[1:], 1] if order else 0
        whole[order] = [*numerator[1:] - numerator[0] * monic[1:], 0]
        whole = _balance_matrix(whole)
        return whole[:order, :order], whole[:order, order:], whole[order:, :order], numerator[:1, None]


def _real_polynomial(name: str, values: Iterable[complex]) -> Float[np.ndarray, "n+1"]:
    """Return the monic real polynomial with these roots, highest power first. ValueError where they are no conjugate pairs."""
    given = np.asarray(list(values), complex)
    if not np.isfinite(given).all():
        raise ValueError(f"{name} must be finite; got {given.tolist()}")
    lower = [root for root in given.tolist() if root.imag < 0]
    result = np.ones(1)
    for root in given.tolist():
        if root.imag == 0:
            result = np.convolve(result, [1, -root.real])
        elif root.imag > 0:
            gaps = [abs(other - root.conjugate()) for other in lower]
            if min(gaps, default=math.inf) > 1e-9 * abs(root):
                raise ValueError(f"{name} must come in conjugate pairs; {root:.6g} has no partner")
            lower.pop(int(np.argmin(gaps)))
            result = np.convolve(result, [1, -2 * root.real, abs(root) ** 2])
    if lower:
        raise ValueError(f"{name} must come in conjugate pairs; {lower[0]:.6g} has no partner")
    return result


def _evaluate_polynomial(polynomial: Polynomial, s: Either) -> Either:
    """Return the polynomial's value at s, which may be traced by JAX."""
    value = 0 * s
    for coefficient in polynomial:
        value = value * s + coefficient
    return value


def polynomial_roots(polynomial: Polynomial | Float[np.ndarray, "n+1"]) -> Complex[np.ndarray, "n"]:
    """Return roots of a polynomial, highest power first, found in its own unit of time."""
    coefficients = np.trim_zeros(np.asarray(polynomial, float), "f")
    unit = characteristic_rate(coefficients)
    powers = np.arange(coefficients.size - 1, -1, -1)
    return unit * np.roots(coefficients * unit**powers)


def characteristic_rate(polynomial: Float[np.ndarray, "n+1"]) -> float:
    """Return the geometric mean of the sizes of a polynomial's nonzero roots: the unit of 1/s that keeps its coefficients
    alike."""
    (present,) = np.nonzero(polynomial)
    if present.size < 2:
        return 1.0
    first, last = present[0], present[-1]
    return float(2 ** np.round(np.log2(abs(polynomial[last] / polynomial[first])) / (last - first)))


def _balance_matrix(matrix: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Return a diagonal similarity of powers of two that brings each row and column of a matrix to a like size (Osborne)."""
    matrix = matrix.copy()
    for _ in range(100):
        changed = False
        for i in range(len(matrix)):
            others = np.arange(len(matrix)) != i
            column, row = abs(matrix[others, i]).sum(), abs(matrix[i, others]).sum()
            if column == 0 or row == 0:
                continue
            factor = 2.0 ** np.round(np.log2(row / column) / 2)
            if column * factor + row / factor < 0.95 * (column + row):
                matrix[:, i] *= factor
                matrix[i] /= factor
                changed = True
        if not changed:
            break
    return matrix
