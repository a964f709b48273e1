"""Padé approximants of delay and hold, and with them a loop with a robot in it as a polynomial.

An approximation of the loop, good at low frequencies only: the exact answer is the sampled loop's. For the rig of the
paper named SITS here ("Stability Analysis and Delay Compensation for Space Instable Target Simulator", preprint, 2024)
the first order is 0.003 % off in the smallest stabilising gain and 24 % off in the largest.

Units: durations s, polynomials in s (1/s), gains N s/m.
Source: as named above, eqs. 22 and 37 corrected; Padé's approximants, Golub and Van Loan, section 9.3.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from dockdyn.deferred import Complex, Float
from dockdyn.records import record
from dockdyn.stability.loop import Loop, Velocity
from dockdyn.stability.routh import routh_array
from dockdyn.stability.transfer_function import Polynomial, TransferFunction, characteristic_rate, polynomial_roots


def pade_delay(duration: float, order: int) -> TransferFunction:
    """Return the diagonal approximant of exp(−s T), T the `duration` (s, ≥ 0), of order 1 to 5; error ∝ (s T)^(2 order + 1).

    Σ cₖ (−s T)ᵏ / Σ cₖ (s T)ᵏ with whole cₖ = (2n − k)! / (k! (n − k)!); for n = 1, (2 − T s)/(2 + T s).
    """
    terms = _whole_terms(duration, order)
    powers = np.arange(len(terms) - 1, -1, -1)
    scaled = terms * duration**powers
    return TransferFunction(tuple(scaled * (-1.0) ** powers), tuple(scaled))


def pade_hold(duration: float, order: int) -> TransferFunction:
    """Return the hold (1 − exp(−s T))/(s T) through the delay's approximant, T the `duration` (s, ≥ 0); for order 1, 2/(2 + T
    s).

    The factor s is taken out of the algebra: (Σ cₖ (s T)ᵏ − Σ cₖ (−s T)ᵏ)/(s T) = 2 Σ c₂ᵢ₊₁ (s T)²ⁱ. Unit DC gain.
    (SITS eqs. 10, 12 and 22 lack the 1/T.)
    """
    terms = _whole_terms(duration, order)
    if len(terms) == 1:
        return TransferFunction((1.0,), (1.0,))
    powers = np.arange(order, -1, -1)
    even = 2 * terms[:-1] * (powers[:-1] % 2) * duration ** powers[1:]
    return TransferFunction(tuple(even), tuple(terms * duration**powers))


def _whole_terms(duration: float, order: int) -> Float[np.ndarray, "order+1"]:
    """Return cₙ … c₀; for no duration (s), one. ValueError for an order other than 1 to 5, and for a negative duration."""
    if order not in range(1, 6):
        raise ValueError(f"order of a Padé approximant must be 1 to 5; got {order}")
    if not 0 <= duration < math.inf:
        raise ValueError(f"duration must be finite and not negative (s); got {duration}")
    if duration == 0:
        return np.ones(1)
    below = [math.factorial(k) * math.factorial(order - k) for k in range(order, -1, -1)]
    return np.array([math.factorial(order + i) / part for i, part in enumerate(below)])


@record
class LoopPolynomial:
    """constant(s) + gain · per_gain(s), the characteristic polynomial of a loop; highest power of s (1/s) first.

    The gain is in the unit that the two polynomials imply: N s/m from `loop_polynomial`, positive where it damps.
    """

    constant: Polynomial
    per_gain: Polynomial

    def at(self, gain: float) -> Float[np.ndarray, "n+1"]:
        """Return the polynomial at one gain, highest power first."""
        return np.polyadd(self.constant, np.multiply(gain, self.per_gain))

    def roots(self, gain: float) -> Complex[np.ndarray, "n"]:
        """Return its roots (rad/s, complex) at one gain."""
        return polynomial_roots(self.at(gain))

    def stabilising_gains(self) -> list[tuple[float, float]]:
        """Return the open intervals of gain, ascending, in which every root has a negative real part; ends may be infinite.

        A gain at which roots touch the imaginary axis and return ends one interval and begins the next.
        """
        edges = pairwise([-math.inf, *self.crossing_gains(), math.inf])
        return [(low, high) for low, high in edges if routh_array(self.at(_number_between(low, high))).stable]

    def crossing_gains(self) -> list[float]:
        """Return all gains, ascending, at which a root may change its side: through jω, through zero or through infinity.

        At s = jω the gain is −constant/per_gain, which is real where Im(constant · conj(per_gain)) = 0. With y = ω²
        and p(jω) = pₑ(y) + jω pₒ(y) that is a polynomial in y.
        """
        size = max(len(self.constant), len(self.per_gain))
        p, q = (np.pad(part, (size - len(part), 0)) for part in (self.constant, self.per_gain))
        unit = characteristic_rate(p) ** np.arange(size - 1, -1, -1)
        p, q = p * unit, q * unit
        gains = {-p[end] / q[end] for end in (0, -1) if q[end]}
        (p_even, p_odd), (q_even, q_odd) = even_and_odd_parts(p), even_and_odd_parts(q)
        for y in np.roots(np.polysub(np.polymul(p_odd, q_even), np.polymul(p_even, q_odd))):
            if abs(y.imag) > 1e-6 * abs(y) or y.real <= 0:
                continue
            s = 1j * math.sqrt(y.real)
            constant, per_gain = np.polyval(p, s), np.polyval(q, s)
            # zeros of per_gain on the axis, such as the hold's own, are reached at infinite gain only
            if abs(per_gain) > 1e-9 * np.polyval(abs(q), abs(s)):
                gains.add(-(constant / per_gain).real)
        return sorted(map(float, gains))


def loop_polynomial(
    effective_mass: float,
    stiffness: float,
    damping: float,
    delay: float,
    hold: float,
    robot: TransferFunction | None,
    order: int,
    *,
    velocity: Velocity = "robot",
    leads: tuple[float, float] = (0.0, 0.0),
    virtual: tuple[float, float] = (0.0, 0.0),
) -> LoopPolynomial:
    """Return the loop of a hybrid simulator with damping on the velocity of robot or model (SITS eqs. 19–37, corrected).

    m Ẍ = F′(t − delay) − gain Ẋ_R − K_v X − B_v Ẋ, F′ = −(stiffness + damping s) X_R, X_R = robot · hold · (1 + l₁ s +
    l₂ s²) X, the `leads` l₁ and l₂ (s, s²) those of the command, K_v and B_v (N/m, N s/m) of the `virtual` contact; the
    robot's delay is in its transfer function, and None is one that follows exactly (its velocity, held too, has no second
    lead). kg, N/m, N s/m, s, s; `delay` and `hold` may be zero. `order`
    of both Padé approximants. The sign of the gain is opposite to the paper's K_h. With delay = Nₑ/Dₑ, hold = Nₕ/Dₕ,
    robot = Nᵣ/Dᵣ and L = 1 + l₁ s + l₂ s²:
    (m s² + B_v s + K_v) Dᵣ Dₕ Dₑ + (K + B s) L Nₑ Nᵣ Nₕ + gain s L Dₑ Nᵣ Nₕ, or + gain s Dᵣ Dₕ Dₑ of the model's velocity.
    """
    late, held = pade_delay(delay, order), pade_hold(hold, order)
    moved = robot or TransferFunction((1.0,), (1.0,))
    (lead, second_lead), (virtual_stiffness, virtual_damping) = leads, virtual
    forward = np.polymul(moved.numerator, held.numerator)
    back = np.polymul(np.polymul(moved.denominator, held.denominator), late.denominator)
    place = np.array([second_lead, lead, 1.0])
    speed = np.polymul([1.0, 0.0], place if robot is not None else [lead, 1.0])
    inertia = np.polymul([effective_mass, virtual_damping, virtual_stiffness], back)
    touch = np.polyadd(np.multiply(stiffness, place), np.multiply(damping, speed))
    contact = np.polymul(np.polymul(np.trim_zeros(touch, "f"), late.numerator), forward)
    per_gain = np.polymul([1, 0], back)
    if velocity == "robot":
        per_gain = np.polymul(np.polymul(np.trim_zeros(speed, "f"), late.denominator), forward)
    return LoopPolynomial(tuple(np.polyadd(inertia, contact).tolist()), tuple(per_gain.tolist()))


def approximate_loop(loop: Loop, robot: TransferFunction | None, order: int) -> LoopPolynomial:
    """Return the polynomial of `loop`, whose robot is also given as a transfer function. The periods of its sensor and of its
    dynamics, a sensor that averages, and a tool's inertia are left out.

    Commands that apply later make the force later, and the robot's velocity, which a gain may multiply, too.
    """
    waiting = 0.0 if loop.hold is None else loop.applies_after * float(loop.hold)
    found = loop_polynomial(
        float(loop.moved_mass),
        float(loop.stiffness),
        float(loop.damping),
        float(loop.delay) + waiting,
        0.0 if loop.hold is None else float(loop.hold),
        robot,
        order,
        velocity=loop.velocity,
        leads=(float(loop.lead), float(loop.second_lead)),
        virtual=(float(loop.virtual_stiffness), float(loop.virtual_damping)),
    )
    if not waiting or loop.velocity == "model":
        return found
    late = pade_delay(waiting, order)
    constant, per_gain = np.polymul(found.constant, late.denominator), np.polymul(found.per_gain, late.numerator)
    return LoopPolynomial(tuple(constant.tolist()), tuple(per_gain.tolist()))


def even_and_odd_parts(
    polynomial: Float[np.ndarray, "n"],
) -> tuple[Float[np.ndarray, "even"], Float[np.ndarray, "odd"]]:
    """Return pₑ and pₒ of p(jω) = pₑ(ω²) + jω pₒ(ω²), highest power first."""
    ascending = polynomial[::-1]
    even, odd = (ascending[start::2] for start in (0, 1))
    return tuple((part * (-1.0) ** np.arange(len(part)))[::-1] for part in (even, odd))


def _number_between(low: float, high: float) -> float:
    """Return a number between two, either of which may be infinite."""
    if math.isinf(low) and math.isinf(high):
        return 0.0
    if math.isinf(low):
        return high - max(abs(high), 1.0)
    if math.isinf(high):
        return low + max(abs(low), 1.0)
    return (low + high) / 2
