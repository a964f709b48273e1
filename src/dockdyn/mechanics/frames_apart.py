"""How far two frames are from each other, as rows that a constraint keeps at zero.

Units: SI: m, rad.
Source: own construction.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jnp

type Three = Float[Array, "3"]
type Turn = Float[Array, "3 3"]


def frame_difference(
    first: tuple[Three, Turn], second: tuple[Three, Turn], weld: bool, directions: int
) -> Float[Array, "rows"]:
    """Return how far two frames, by origin (m) and rotation, are from each other; with a weld also by attitude (rad).

    They can move along so many `directions`, the first ones: in space, in the plane, where they turn about z alone, or on a
    line, where they do not turn.
    """
    gap = (second[0] - first[0])[:directions]
    if not weld or directions == 1:
        return gap
    # half the axial vector of the rotation from the one attitude to the other: zero, and of slope one, where they agree
    off = first[1].T @ second[1]
    twist = 0.5 * jnp.stack([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
    return jnp.concatenate([gap, twist if directions == 3 else twist[2:]])
