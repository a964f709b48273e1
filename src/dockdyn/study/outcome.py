"""Whether the outcome of an approach is still open at the end of a run, and how long it takes to see it.

A run is judged at the end of its duration. Its outcome is open then where the latch has not caught the probe and

- bodies touch, or the delayed force of a contact has yet to act; or
- the probe still comes nearer: with a latch, its tip is short of the end of the ramp and moves towards it along the docking
  axis; without one, a feature is apart from its surface and approaches it.

What is left is then the way still to go over the speed at the end: the time at which a probe that goes on unhindered is at
the end of the ramp, or touches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def outcome_left(acting: Any, captured: Any, at_end: Mapping[str, Any], length: Any | None) -> dict[str, Any]:
    """Whether the outcome is open at the end, and the time (s) left until the probe is there; NaN where it does not approach.

    Args:
        acting: whether contacts last, or their delayed forces.
        captured: whether the latch caught the probe.
        at_end: what is observed at the end: with a latch its `latch_travel` (m) and `latch_rate` (m/s), else `depth` (m)
            and `depth_rate` (m/s), each (contacts,). Arrays of NumPy or of JAX.
        length: of the latch's ramp (m); None without a latch.
    """
    if length is None:
        way, speed = -at_end["depth"], at_end["depth_rate"]
    else:
        way, speed = length - at_end["latch_travel"].reshape(1), at_end["latch_rate"].reshape(1)
    xp = speed.__array_namespace__()
    nearer = (way > 0) & (speed > 0)
    approaching = xp.any(nearer) & ~captured
    left = xp.min(xp.where(nearer, way / xp.where(nearer, speed, 1.0), xp.inf), initial=xp.inf)
    return {
        "outcome_open": (acting | approaching) & ~captured,
        "approach_left_s": xp.where(approaching, left, xp.nan),
    }
