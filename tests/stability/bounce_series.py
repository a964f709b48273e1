"""A bounce off an undamped spring whose force comes late, as an exact series.

Without history and with unit mass and stiffness, d″(t) = −d(t − h) from d(0) = 0, d′(0) = 1 has the solution
Σ (−1)ⁿ (t − n h)^(2n+1) / (2n+1)! over all n with t > n h (method of steps). The force ends one delay after the release.
"""

import math

import numpy as np
from scipy.optimize import brentq


def series(time, delay, derivative):
    """d (0) or d′ (1)."""
    powers = ((n, time - n * delay, 2 * n + 1 - derivative) for n in range(80) if time > n * delay)
    return math.fsum((-1) ** n * left**power / math.factorial(power) for n, left, power in powers)


def exact_restitution(delay):
    times = np.arange(0.01, 6, 0.01)
    after = next(time for time in times if series(time, delay, 0) < 0)
    release = brentq(series, after - 0.01, after, args=(delay, 0), xtol=1e-15)
    return -series(release + delay, delay, 1)
