"""How long two things cannot touch yet.

Units: m, m/s, m/s², s.
Source: uniform acceleration.
"""

from __future__ import annotations

import jax.numpy as jnp

from dockdyn.mechanics.vector import Scalar


def least_time(gap: Scalar, speed: Scalar, acceleration: Scalar | float) -> Scalar:
    """Time (s) in which a `gap` (m) closes at a `speed` (m/s) that grows by `acceleration` (m/s²); zero where there is none."""
    gap = jnp.maximum(gap, 0.0)
    # gap = speed t + acceleration t²/2
    root = jnp.sqrt(speed**2 + 2 * acceleration * gap)
    return 2 * gap / jnp.maximum(speed + root, 1e-300)
