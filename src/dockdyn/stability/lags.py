"""Transfer functions with a gain of 1 at rest by what data sheets say of them: time constant, bandwidth, damping.

The bandwidth is the frequency at which the amplitude is 1/√2 (−3 dB) of that at rest. Numbers may be traced by JAX.

Units: s, Hz; coefficients of a polynomial in powers of s (time), highest first.
Source: closed forms of |G(j ω)|² = 1/2.
"""

from __future__ import annotations

import math
from typing import Any

Number = Any  # a float, or a traced number of JAX
Denominator = list[Number]  # of 1 / (...): its last coefficient is 1


def equal_lags(time_constant: Number, order: int) -> Denominator:
    """Return (T s + 1)ⁿ of n lags, each with the time constant T (s)."""
    return [math.comb(order, power) * time_constant**power for power in range(order, 0, -1)] + [1.0]


def lag_of_bandwidth(bandwidth: Number, order: int) -> Number:
    """Return the time constant (s) of each of n equal lags that have a bandwidth (Hz) together."""
    return math.sqrt(2 ** (1 / order) - 1) / (2 * math.pi * bandwidth)


def second_order(bandwidth: Number, damping: Number) -> Denominator:
    """Return (s/ω)² + 2 ζ s/ω + 1 with a bandwidth (Hz) and a damping ratio ζ."""
    middle = 1 - 2 * damping**2
    natural = 2 * math.pi * bandwidth * ((middle**2 + 1) ** 0.5 - middle) ** 0.5  # rad/s
    return [1 / natural**2, 2 * damping / natural, 1.0]
