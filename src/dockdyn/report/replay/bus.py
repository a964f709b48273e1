"""A spacecraft's bus as a box of uniform density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockdyn.report.replay.scene import Mesh
from dockdyn.report.replay.shapes import box_mesh

CLEAR = 0.5  # share of the way from the centre of mass to docking gear that a bus may fill
FLAT = 0.2  # least thickness of a bus over its largest extent: flat ones are drawn so
PANEL = 0.01  # of what is no bus, such as a panel


@dataclass(frozen=True)
class Bus:
    """A box between two corners (m) along its own axes, columns in body axes."""

    low: np.ndarray
    high: np.ndarray
    axes: np.ndarray

    def mesh(self) -> Mesh:
        return self._in_body_axes(box_mesh(self.low, self.high))

    def _in_body_axes(self, mesh: Mesh) -> Mesh:
        return Mesh(mesh.vertices @ self.axes.T, mesh.faces)


def bus_of(mass: float, inertia: np.ndarray, gear: list[np.ndarray], thinnest: float = FLAT) -> Bus:
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
    return Bus(low, high, axes)


def _uniform_box(mass: float, inertia: np.ndarray, thinnest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return half lengths (m) along principal axes, and these (columns), of the box of uniform density with that inertia."""
    moments, axes = np.linalg.eigh(np.asarray(inertia, float))
    squares = np.maximum(6 / mass * (moments.sum() - 2 * moments), 0)
    size = np.sqrt(squares) / 2
    return np.maximum(size, thinnest * max(size.max(), 1e-6)), axes
