"""A spacecraft's bus as a box of uniform density, and what decorates it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockdyn.report.replay.scene import Mesh
from dockdyn.report.replay.shapes import box, joined, placed, rod

CLEAR = 0.5  # share of the way from the centre of mass to docking gear that a bus may fill
FLAT = 0.2  # least thickness of a bus over its largest extent: flat ones are drawn so
PANEL = 0.01  # of what is no bus, such as a panel
YOKE = 0.25  # of the bus's half width: from the bus to a panel
SPAN = 1.2  # of it: a panel's length
CHORD = 0.6  # of the bus's length: a panel's width
SHEET = 0.04  # of its half width: a panel's thickness
RING = 0.25  # of the bus's smaller half width: the radius of the ring where docking gear leaves it
HEIGHT = 0.08  # of the way to the gear: that ring's height


@dataclass(frozen=True)
class Bus:
    """A box between two corners (m) along its own axes, columns in body axes."""

    low: np.ndarray
    high: np.ndarray
    axes: np.ndarray

    def mesh(self) -> Mesh:
        return self._in_body_axes(box(self.low, self.high))

    def _in_body_axes(self, mesh: Mesh) -> Mesh:
        return Mesh(mesh.vertices @ self.axes.T, mesh.faces)

    def leaves(self, place: np.ndarray) -> np.ndarray:
        """Where the way from the centre of mass to a place (m, body axes) leaves the box."""
        seen = self.axes.T @ place
        edge = np.where(seen > 0, self.high, self.low)
        return float(min(1.0, np.min(np.where(seen != 0, edge / np.where(seen != 0, seen, 1), np.inf)))) * place

    def ring(self, place: np.ndarray) -> Mesh:
        """A ring on the box where what carries the docking gear at a place (m, body axes) leaves it."""
        length = float(np.linalg.norm(place))
        others = np.abs(self.axes.T @ place) < 0.7 * length
        radius = RING * float(np.minimum(self.high, -self.low)[others].min(initial=length))
        ring = rod(HEIGHT * length, radius, 0.8 * radius)
        return placed(ring, self.leaves(place), place / length)

    def panels(self, front: np.ndarray, up: np.ndarray) -> Mesh:
        """Two panels on yokes across the `front` of the bus, as upright as its axes allow (both in body axes)."""
        ahead = int(np.abs(self.axes.T @ front).argmax())
        upright = np.abs(self.axes.T @ up)
        upright[ahead] = -1.0
        along = int(upright.argmax())
        flat = 3 - ahead - along
        wide = 0.5 * float(self.high[along] - self.low[along])
        middle = 0.5 * float(self.low[ahead] + self.high[ahead])
        chord = 0.5 * CHORD * float(self.high[ahead] - self.low[ahead])
        pieces = []
        for side in (-1.0, 1.0):
            face = self.high[along] if side > 0 else self.low[along]
            for start, end, half in ((0.0, YOKE, 0.1 * chord), (YOKE, YOKE + SPAN, chord)):
                corners = np.zeros((2, 3))
                corners[:, along] = face + side * wide * np.array([start, end])
                corners[:, ahead] = middle - half, middle + half
                corners[:, flat] = -0.5 * SHEET * wide, 0.5 * SHEET * wide
                pieces.append(box(corners.min(axis=0), corners.max(axis=0)))
        return self._in_body_axes(joined(*pieces))


def bus_of(mass: float, inertia: np.ndarray, gear: list[np.ndarray], thinnest: float = FLAT) -> Bus:
    """A body's box, no thinner than a share of its largest extent; cut back where it would swallow, or hide, the places of
    its docking gear (m, body axes)."""
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
    """Half lengths (m) along principal axes, and these (columns), of the box of uniform density with that inertia."""
    moments, axes = np.linalg.eigh(np.asarray(inertia, float))
    squares = np.maximum(6 / mass * (moments.sum() - 2 * moments), 0)
    size = np.sqrt(squares) / 2
    return np.maximum(size, thinnest * max(size.max(), 1e-6)), axes
