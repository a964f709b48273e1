"""Difference equations fitted to samples: least squares (ARX), refined instrumental variables, output error.

    A(q) ŷ_k = B(q) u_k + start,    y_k = ŷ_k + offset + error_k
    A = 1 + a₁ q⁻¹ + … + a_n q⁻ⁿ,   B = b₁ q⁻¹ + … + b_m q⁻ᵐ,   m ≤ n

b₁ answers the command one period before: that of a robot without dead time, whose command is held for a period. What was
before the first sample is unknown: a pulse on each of the first n samples stands for it, which in ARX comes to rows from
k = n + 1 on (SITS eqs. 28–30, whose regressor must not hold the unknown error v_k). All three methods solve for the same
columns: those of ARX as measured, those of the others filtered by 1/A and with ŷ in the place of y. That takes the bias
out which output noise gives ARX (Young's refined instrumental variables; Ljung, System Identification, 7.4 and 10.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from scipy.signal import lfilter

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.studies.identification.residuals import parameter_covariance

Method = Literal["arx", "iv", "oe"]
REFINED = 12  # refinements of instrumental variables, at most
DESCENTS = 40  # steps of Gauss and Newton, at most
RADII = (0.0, 0.5, 0.8, 0.95)  # poles of the filters that make the starts; z = 0 is none
DESCENDED = 2  # starts, the best, that are followed
ROUGH = 1e-7  # share of the sum of squares below which a gain ends the search for a start
RIDGE = 1e-14  # of columns of size one: what keeps the normal equations solvable
SETTLED = 1e-9  # relative change of all parameters at which they end
INSIDE = 0.999  # radius to which poles of a filter on or outside the unit circle are brought
type Row = Float[np.ndarray, "n"]
type Solver = Callable[[Float[np.ndarray, "rows p"], Row], Row]


class Orders(NamedTuple):
    """How many coefficients, and the dead time in whole samples."""

    a: int
    b: int
    delay: int = 0

    def words(self) -> str:
        return f"{self.a},{self.b} and a delay of {self.delay} {'sample' if self.delay == 1 else 'samples'}"


@record
class DifferenceFit:
    """A difference equation and how it fits; units of command and position alike (m)."""

    orders: Orders
    method: Method
    a: Row
    b: Row
    offset: float  # m, of the measured positions
    covariance: Float[np.ndarray, "p p"]  # of a and b
    simulated: Row  # m, ŷ + offset, from sample `orders.delay` on
    residual: Row  # m, y less that

    @property
    def variance(self) -> float:
        """m², of the residuals."""
        return float(np.mean(self.residual**2))


def fit_difference_equation(command: Row, actual: Row, orders: Orders, method: Method = "oe") -> DifferenceFit:
    """Return the difference equation between two equally sampled signals (m).

    Output error and instrumental variables begin at the best of several starts. ValueError where the command does not
    tell the coefficients apart.
    """
    late = orders.delay
    u, y = command[: len(command) - late], actual[late:]
    scale = float(np.std(y)) or 1.0
    problem = Samples(u / scale, y / scale, orders)
    theta = problem.arx() if method == "arx" else problem.search()
    if method != "arx":
        theta = problem.refined(theta) if method == "iv" else problem.descended(theta)
    a, b = theta[: orders.a], theta[orders.a : orders.a + orders.b]
    offset, start = theta[orders.a + orders.b], theta[orders.a + orders.b + 1 :]
    simulated = problem.simulated(theta)
    if method == "arx":  # its error is of the equation, not of the output
        start = problem.start_of(theta)
        simulated = problem.simulated(np.r_[theta[: len(theta) - orders.a], start])
    kept = orders.a + orders.b
    return DifferenceFit(
        orders,
        method,
        a,
        b,
        float(offset) * scale,
        problem.covariance(theta, method)[:kept, :kept],
        simulated * scale,
        (problem.y - simulated) * scale,
    )


def least_residual(command: Row, actual: Row, orders: Orders) -> Row:
    """Return the output error (m), from sample `orders.delay` on, whose squares are least to about a millionth.

    ValueError where the samples do not determine even a first guess.
    """
    late = orders.delay
    u, y = command[: len(command) - late], actual[late:]
    scale = float(np.std(y)) or 1.0
    problem = Samples(u / scale, y / scale, orders)
    return (problem.y - problem.simulated(problem.search())) * scale


class Samples:
    """Scaled samples, and the columns of the equations that fit them.

    Parameters: a, b, offset (of the output), start (one pulse for each of the first n samples).
    """

    def __init__(self, u: Row, y: Row, orders: Orders):
        self.u, self.y, self.orders = u, y, orders
        self.pulse = np.zeros(len(y))
        self.pulse[0] = 1.0

    def columns(self, output: Row, a: Row) -> Float[np.ndarray, "n p"]:
        """Return derivatives of A(q) y by the parameters over the past of `output`, filtered by 1/A."""
        filtering, (n, m, _) = np.r_[1.0, a], self.orders
        output, u, pulse = (lfilter([1.0], filtering, signal) for signal in (output, self.u, self.pulse))
        found = np.zeros((2 * n + m + 1, len(u)))
        for i in range(n):
            found[i, i + 1 :] = -output[: len(u) - i - 1]
            found[n + m + 1 + i, i:] = pulse[: len(u) - i]
        for j in range(m):
            found[n + j, j + 1 :] = u[: len(u) - j - 1]
        found[n + m] = 1.0
        return found.T

    def search(self) -> Row:
        """Return the parameters of the least output error that is reached from several starts, nearly at their optimum."""
        starts = sorted((self.with_poles_of(a) for a in self.starts()), key=self.squares)
        found = [self.descended(start, _solved_quickly, ROUGH) for start in starts[:DESCENDED]]
        return min(found, key=self.squares)

    def starts(self) -> Iterator[Row]:
        """Yield first guesses of a: least squares of the equation error, plain and of signals filtered by slow poles.

        Noise on the output biases each of them, the less the more of it the filter takes away (Steiglitz and McBride 1965,
        whose first step this is with an assumed denominator).
        """
        for radius in RADII:
            assumed = np.poly(np.full(self.orders.a, radius))[1:]
            yield _mirror_unstable_poles(
                _solved_quickly(self.columns(self.y, assumed), lfilter([1.0], np.r_[1.0, assumed], self.y))[
                    : self.orders.a
                ]
            )

    def with_poles_of(self, a: Row) -> Row:
        """Return `a` with the b, offset and start that fit best."""
        slope = self.columns(np.zeros(len(self.y)), a)[:, self.orders.a :]
        return np.r_[a, _solved_quickly(slope, self.y)]

    def squares(self, theta: Row) -> float:
        """Return the sum of the squared output error, infinite where it is not finite."""
        error = self.y - self.simulated(theta)
        found = float(error @ error)
        return found if np.isfinite(found) else np.inf

    def arx(self) -> Row:
        """Return the least squares of the equation error."""
        theta = _solve_scaled(self.columns(self.y, np.zeros(self.orders.a)), self.y)
        at = self.orders.a + self.orders.b  # there: A(1) offset
        gain = 1 + theta[: self.orders.a].sum()
        theta[at] = theta[at] / gain if abs(gain) > 1e-12 else 0.0
        return theta

    def simulated(self, theta: Row) -> Row:
        """Return ŷ + offset."""
        a, b, offset, start = self.parts(theta)
        moved = lfilter(np.r_[0.0, b], np.r_[1.0, a], self.u)
        return moved + lfilter(start, np.r_[1.0, a], self.pulse) + offset

    def parts(self, theta: Row) -> tuple[Row, Row, float, Row]:
        n, m = self.orders.a, self.orders.b
        return theta[:n], theta[n : n + m], float(theta[n + m]), theta[n + m + 1 :]

    def replayed(self, a: Row, b: Row) -> Row:
        """Return ŷ + offset with coefficients as they are; offset and start are fitted."""
        moved = lfilter(np.r_[0.0, b], np.r_[1.0, a], self.u)
        pulse = lfilter([1.0], np.r_[1.0, a], self.pulse)
        free = np.stack([np.ones(len(moved)), *(_delay_signal(pulse, i) for i in range(len(a)))], axis=1)
        return moved + free @ _solve_scaled(free, self.y - moved)

    def start_of(self, theta: Row) -> Row:
        """Return the start that fits best with a and b as they are."""
        a, b, offset, _ = self.parts(theta)
        stable = _mirror_unstable_poles(a)
        moved = lfilter(np.r_[0.0, b], np.r_[1.0, a], self.u) + offset
        pulses = [_delay_signal(lfilter([1.0], np.r_[1.0, stable], self.pulse), i) for i in range(self.orders.a)]
        return _solve_scaled(np.stack(pulses, axis=1), np.nan_to_num(self.y - moved))

    def refined(self, theta: Row) -> Row:
        """Return refined instrumental variables: the simulated output instruments the measured one, both filtered by 1/A."""
        n = self.orders.a
        theta = np.r_[_mirror_unstable_poles(theta[:n]), theta[n:]]
        for _ in range(REFINED):
            a, _, offset, _ = self.parts(theta)
            instruments = self.columns(self.simulated(theta) - offset, a)
            # what A(q) y/A is linear in: the offset is not delayed with y
            measured = self.columns(self.y - offset, a)
            filtered = lfilter([1.0], np.r_[1.0, a], self.y - offset)
            spanned, _ = np.linalg.qr(instruments / np.linalg.norm(instruments, axis=0))
            found = _solve_scaled(spanned.T @ measured, spanned.T @ filtered)
            found[n + self.orders.b] += offset
            found[:n] = _mirror_unstable_poles(found[:n])
            change = np.abs(found - theta)[: n + self.orders.b].max()
            theta = found
            if change < SETTLED:
                break
        return theta

    def descended(self, theta: Row, solve: Solver | None = None, settled: float = 1e-12) -> Row:
        """Return the least squares of the output error, by Gauss–Newton with halved steps.

        It ends where a step gains less than the share `settled` of the sum of squares.
        """
        n = self.orders.a
        error = self.y - self.simulated(theta)
        for _ in range(DESCENTS):
            a, _, offset, _ = self.parts(theta)
            slope = self.columns(self.y - error - offset, a)
            step = (solve or _solve_scaled)(slope, error)
            for share in (1.0, 0.5, 0.25, 0.1, 0.02):
                tried = theta + share * step
                if np.abs(discrete_poles(tried[:n])).max() >= 1.0:
                    continue
                again = self.y - self.simulated(tried)
                if again @ again <= error @ error:
                    break
            else:
                return theta
            gained = error @ error - again @ again
            theta, error = tried, again
            if gained <= settled * (error @ error) or np.abs(share * step[: n + self.orders.b]).max() < SETTLED:
                break
        return theta

    def covariance(self, theta: Row, method: Method) -> Float[np.ndarray, "p p"]:
        """Return that of the parameters."""
        if method == "arx":
            slope = self.columns(self.y, np.zeros(self.orders.a))
            at = self.orders.a + self.orders.b
            raw = np.r_[theta[:at], theta[at] * (1 + theta[: self.orders.a].sum()), theta[at + 1 :]]
            error = self.y - slope @ raw
        else:
            a, _, offset, _ = self.parts(theta)
            simulated = self.simulated(theta)
            slope, error = self.columns(simulated - offset, a), self.y - simulated
        return parameter_covariance(slope, error)


def _delay_signal(signal: Row, by: int) -> Row:
    """Return a signal later by so many samples, zeros before."""
    return np.r_[np.zeros(by), signal[: len(signal) - by]]


def _solve_scaled(matrix: Float[np.ndarray, "rows p"], right: Row) -> Row:
    """Return the least squares with columns of like size; ValueError where some depend on others."""
    size = np.linalg.norm(matrix, axis=0)
    if not (size > 0).all() or not np.isfinite(matrix).all():
        raise ValueError("the samples do not determine all coefficients")
    found, _, rank, _ = np.linalg.lstsq(matrix / size, right, rcond=1e-15)
    if rank < matrix.shape[1]:
        raise ValueError("the samples do not determine all coefficients")
    return found / size


def _solved_quickly(matrix: Float[np.ndarray, "rows p"], right: Row) -> Row:
    """Return the least squares by the normal equations, good to half the digits; a column that depends on others is given
    little."""
    square = matrix.T @ matrix
    size = np.sqrt(np.diag(square))
    if not np.isfinite(size).all():
        raise ValueError("the samples do not determine all coefficients")
    size = np.where(size > 0, size, 1.0)
    ridge = RIDGE * np.eye(len(size))
    return np.linalg.solve(square / np.outer(size, size) + ridge, matrix.T @ right / size) / size


def discrete_poles(a: Row) -> np.ndarray:
    """Return complex, of 1/A in z."""
    return np.roots(np.r_[1.0, a])


def _mirror_unstable_poles(a: Row) -> Row:
    """Return `a` with poles on or outside the unit circle mirrored into it: what can be a filter."""
    found = discrete_poles(a)
    size = np.abs(found)
    if size.max(initial=0.0) < 1:
        return a
    inside = np.where(size >= 1, found / np.maximum(size**2, size / INSIDE), found)
    return np.real(np.poly(inside))[1:]
