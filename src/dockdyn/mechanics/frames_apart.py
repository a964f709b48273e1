"""How far two frames are from each other, as rows that a constraint keeps at zero.

Units: SI: m, rad.
Source: own construction.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

Three = Float[Array, "3"]
Turn = Float[Array, "3 3"]


def apart(first: tuple[Three, Turn], second: tuple[Three, Turn], weld: bool, planar: bool) -> Float[Array, "rows"]:
    """Return how far two frames, by origin (m) and rotation, are from each other; with a weld also by attitude (rad)."""
    gap = second[0] - first[0]
    if not weld:
        return gap[:2] if planar else gap
    # half the axial vector of the rotation from the one attitude to the other: zero, and of slope one, where they agree
    off = first[1].T @ second[1]
    twist = 0.5 * jnp.stack([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
    return jnp.concatenate([gap[:2], twist[2:]]) if planar else jnp.concatenate([gap, twist])
