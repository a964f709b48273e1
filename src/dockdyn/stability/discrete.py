"""From a robot identified in samples to the continuous one behind a zero-order hold.

Units: periods s; coefficients dimensionless or in powers of 1/s.
Source: zero-order-hold equivalence, Åström and Wittenmark 1997, Computer-Controlled Systems, chapter 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.deferred import Float, jax
from dockdyn.stability.transfer_function import TransferFunction

SMALL = 1e-9  # of the largest: what counts as zero
TRUE = 1e-6  # relative error of the converted response at the samples that is still taken for round-off


def continuous_equivalent(a: Sequence[float], b: Sequence[float], period: float) -> TransferFunction:
    """Return the strictly proper transfer function whose zero-order-hold equivalent at `period` (s) is that of `a` and `b`.

    y_k = −a₁ y_{k−1} − … + b₁ u_{k−1} + …, a without its leading 1, b from the first delay on and no longer than a. The
    poles are ln(z) / T; the numerator is what gives the same response to a held unit at the first samples.

    Raises ValueError where there is none: a pole z at zero or on the negative real axis has no (real) logarithm.
    """
    bottom = np.concatenate([[1.0], np.asarray(a, float)])
    order = len(bottom) - 1
    top = np.asarray(b, float)
    if not 1 <= len(top) <= order:
        raise ValueError(
            f"b has {len(top)} coefficients and a {order}; b must have at least one and at most as many as a"
        )
    poles = np.roots(bottom)
    if len(poles) < order or np.abs(poles).min() < SMALL:
        raise ValueError(
            "a pole at z = 0 has no logarithm: no continuous robot behaves so; drop it or take it as a delay"
        )
    negative = poles[(poles.real < 0) & (np.abs(poles.imag) <= SMALL * np.abs(poles))]
    if len(negative):
        raise ValueError(
            f"the pole at z = {negative[0].real:.6g} has no real logarithm: no continuous robot behaves so; "
            "identify at another order or period"
        )
    # in periods, so that all numbers are of like size
    denominator = np.poly(np.log(poles.astype(complex))).real
    wanted = _impulse_response(bottom, top, 2 * order)
    basis = _held_responses(denominator, 2 * order)
    numerator = np.linalg.solve(basis[:order], wanted[:order])
    if np.abs(basis @ numerator - wanted).max() > TRUE * max(np.abs(wanted).max(), SMALL):
        raise ValueError(
            "its poles lie too close together for a continuous robot to be found; identify at a lower order"
        )
    numerator = np.where(
        np.abs(numerator) < SMALL * np.abs(numerator).max(), 0.0, numerator
    )  # round-off is no zero far out
    powers = period ** np.arange(order + 1)
    return TransferFunction(tuple(numerator / powers[1:]), tuple(denominator / powers))


def _impulse_response(
    bottom: Float[np.ndarray, "a"], top: Float[np.ndarray, "b"], count: int
) -> Float[np.ndarray, "count"]:
    """Return the response of the discrete robot to a unit impulse at the samples 1 … count."""
    from scipy.signal import lfilter  # takes long to import, and few scenarios need it

    return lfilter([0.0, *top], bottom, np.eye(1, count + 1)[0])[1:]


def _held_responses(denominator: Float[np.ndarray, "n+1"], count: int) -> Float[np.ndarray, "count n"]:
    """Return the same of every s^(n−1) … s⁰ over `denominator` (time in periods) behind a hold: a unit held for one period."""
    order = len(denominator) - 1
    whole = np.zeros((order + 1, order + 1))
    whole[0, :order] = -denominator[1:]
    whole[0, order] = 1.0
    whole[1:order, : order - 1] += np.eye(order - 1)
    grown = np.asarray(jax.scipy.linalg.expm(whole))
    step, drive = grown[:order, :order], grown[:order, order]
    rows = [drive]
    for _ in range(count - 1):
        rows.append(step @ rows[-1])
    return np.stack(rows)
