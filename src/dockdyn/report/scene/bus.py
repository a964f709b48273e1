"""A spacecraft's bus as a box of uniform density, whose face its docking gear stands on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.report.scene.solids import BoxSolid

CLEAR = 0.5  # share of the way from the centre of mass to docking gear that a bus may fill
FLAT = 0.2  # least thickness of a bus over its largest extent: flat ones are drawn so
PANEL = 0.01  # of what is no bus, such as a panel


def bus_box(
    mass: float, inertia: np.ndarray, stems: Sequence[np.ndarray], seats: Sequence[np.ndarray], flat: bool = False
) -> BoxSolid:
    """Return a body's box, cut back from balls that stand out on stems; it ends where `seats` (each (n, 3), m, body axes) are,
    which is what stands on its faces: rings, petals, cones, mounts of struts."""
    bus = bus_of(mass, inertia, stems, PANEL if flat else FLAT)
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


def bus_of(mass: float, inertia: np.ndarray, gear: Sequence[np.ndarray], thinnest: float = FLAT) -> BoxSolid:
    """Return a body's box, no thinner than a share of its largest extent; cut back where it would swallow, or hide, the places
    of its docking gear (m, body axes)."""
    half, axes = _uniform_box(mass, inertia, thinnest)
    order = np.abs(axes).argmax(axis=0)
    if sorted(order) == [0, 1, 2] and np.abs(axes).max(axis=0).min() > 0.95:  # near enough to the body's own axes
        half, axes = half[np.argsort(order)], np.eye(3)
    low, high = -half, half.copy()
    for place in gear:
        seen = axes.T @ place
        axis = int(np.argmax(np.abs(seen) / half))
        if not abs(seen[axis]) * CLEAR < half[axis] or not seen[axis]:
            continue
        if seen[axis] > 0:
            high[axis] = min(high[axis], CLEAR * seen[axis])
        else:
            low[axis] = max(low[axis], CLEAR * seen[axis])
    return BoxSolid(low, high, axes)


def _uniform_box(mass: float, inertia: np.ndarray, thinnest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return half lengths (m) along principal axes, and these (columns), of the box of uniform density with that inertia."""
    moments, axes = np.linalg.eigh(np.asarray(inertia, float))
    squares = np.maximum(6 / mass * (moments.sum() - 2 * moments), 0)
    size = np.sqrt(squares) / 2
    return np.maximum(size, thinnest * max(size.max(), 1e-6)), axes
