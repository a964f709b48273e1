"""A spacecraft's bus as a box of uniform density, whose face its docking gear stands on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.report.replay.bus import FLAT, PANEL, bus_of
from dockdyn.report.scene.solids import BoxSolid


def bus_box(
    mass: float, inertia: np.ndarray, stems: Sequence[np.ndarray], seats: Sequence[np.ndarray], flat: bool = False
) -> BoxSolid:
    """Return a body's box, cut back from balls that stand out on stems; it ends where `seats` (each (n, 3), m, body axes) are,
    which is what stands on its faces: rings, petals, cones, mounts of struts."""
    bus = bus_of(mass, inertia, list(stems), PANEL if flat else FLAT)
    low, high = bus.low.copy(), bus.high.copy()
    half = np.maximum((high - low) / 2, 1e-9)
    faces: dict[tuple[int, bool], list[float]] = {}
    for points in seats:
        seen = points @ bus.axes
        middle = seen.mean(axis=0)
        axis = int(np.argmax(np.abs(middle) / half))
        if not middle[axis]:
            continue
        up = bool(middle[axis] > 0)
        faces.setdefault((axis, up), []).append(float(seen[:, axis].min() if up else seen[:, axis].max()))
    for (axis, up), places in faces.items():
        if up and min(places) > 0:
            high[axis] = min(places)
        elif not up and max(places) < 0:
            low[axis] = max(places)
    return BoxSolid(low, high, bus.axes)


def way_out(box: BoxSolid, place: np.ndarray) -> np.ndarray:
    """Return where the way from a body's origin to a place (m) leaves its box; the origin where it does not."""
    seen = place @ box.axes
    shares = [(high if one > 0 else low) / one for low, high, one in zip(box.low, box.high, seen, strict=True) if one]
    return place * min([share for share in shares if 0 < share < 1], default=0.0)
