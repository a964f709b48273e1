"""Peaks and integrals of quantities along steps, by the cubics through their values and rates at both ends.

Units: times s, quantities in those of the model, integrals times s.
Source: cubic Hermite interpolation (Hairer, Nørsett and Wanner 1993, section II.6).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.hybrid import cubic
from dockdyn.integrate.hybrid.node import Node
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.vector import once


class Watch(NamedTuple):
    """Peaks and integrals of the watched quantities since the last logged moment."""

    peaks: Float[Array, "watched"]
    peak_times: Float[Array, "watched"]
    integrals: Float[Array, "watched"]

    @staticmethod
    def fresh(size: int) -> Watch:
        return Watch(jnp.full(size, -jnp.inf), jnp.zeros(size), jnp.zeros(size))


def watched(watch: Watch, node: Node, at: Node, step: Scalar) -> Watch:
    """Peaks and integrals with the step from `node` to `at` added."""
    if not node.sensed.watched:
        return watch
    a, b = jnp.stack(node.sensed.watched), jnp.stack(at.sensed.watched)
    da, db = jnp.stack(node.slopes.watched) * step, jnp.stack(at.slopes.watched) * step
    _, high = once(cubic.extremes(a, b, da, db))
    inside = (high > 0) & (high < 1)
    peaks, times = watch.peaks, watch.peak_times
    for value, when in (
        (a, node.time),
        (jnp.where(inside, cubic.value(high, a, b, da, db), -jnp.inf), node.time + high * step),
        (b, at.time),
    ):
        times = jnp.where(value > peaks, when, times)
        peaks = jnp.maximum(value, peaks)
    return Watch(peaks, times, watch.integrals + step * cubic.integral(a, b, da, db))
