"""Place, velocity and acceleration of a robot from the positions of its encoders at the steps before, by differences.

Positions are known at steps that are a `period` apart; between them they are on straight lines. Differences are those over
one period on either side of the place that is `delay` old, or one period old, so that all of it has been read already.

Units: periods and delays s; weights 1, 1/s, 1/s².
Source: central differences; linear interpolation.
"""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Array, ArrayLike, Float, jnp

EDGE = 1e-9  # of a period
type Weights = Float[Array, "rows"]


def rows_needed(delay: ArrayLike, period: ArrayLike) -> int:
    """Return how many positions, the newest included, differences about what is `delay` (s) old need."""
    return int(np.max(np.ceil(np.asarray(delay, float) / np.asarray(period, float) - EDGE), initial=1)) + 2


def _weights_at(age: Float[Array, ""], period: Float[Array, ""], rows: int) -> Weights:
    """Return what makes the position that is `age` (s) old of those at the steps, the newest first."""
    return jnp.maximum(1.0 - jnp.abs(age / period - jnp.arange(rows)), 0.0)


def place_weights(delay: Float[Array, ""], period: Float[Array, ""], rows: int) -> Weights:
    """Return what makes of the positions at the steps, the newest first, that which is `delay` (s) old."""
    return _weights_at(delay, period, rows)


def velocity_weights(delay: Float[Array, ""], period: Float[Array, ""], rows: int) -> Weights:
    """Return the same for the velocity (1/s)."""
    newer, _, older = _difference_weights(delay, period, rows)
    return (newer - older) / (2 * period)


def acceleration_weights(delay: Float[Array, ""], period: Float[Array, ""], rows: int) -> Weights:
    """Return the same for the acceleration (1/s²)."""
    newer, there, older = _difference_weights(delay, period, rows)
    return (newer - 2 * there + older) / period**2


def _difference_weights(
    delay: Float[Array, ""], period: Float[Array, ""], rows: int
) -> tuple[Weights, Weights, Weights]:
    """Return weights of the position after, at and before what the differences are about."""
    middle = jnp.maximum(delay, period)
    newer, there, older = (_weights_at(age, period, rows) for age in (middle - period, middle, middle + period))
    return newer, there, older
