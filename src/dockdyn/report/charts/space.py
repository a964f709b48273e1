"""A view in space on paper: points as an eye far away sees them, and the axes of a box."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.report.charts.chart import Limits, Line, Note, Side, line_through
from dockdyn.report.charts.round_numbers import round_numbers
from dockdyn.report.charts.section import join_curves

AXES = ("x", "y", "z")
TICK = 0.03  # of the box, length of a tick
STEPS = 4  # at most, between the numbers of an axis
# The edge along each axis that stands free: from which side of the box of the other axes it starts, into which of
# them its ticks point, where its numbers stand (pt), and where along it, and how far from it (pt), its name.
EDGES = (
    ((0, 0, 0), (0, -1, 0), (-3.0, -3.0), 0.5, (-16.0, -16.0)),
    ((1, 0, 0), (1, 0, 0), (3.0, -3.0), 0.5, (16.0, -16.0)),
    ((1, 1, 0), (1, 0, 0), (4.0, 0.0), 1.0, (-8.0, 6.0)),
)
SMALL = 1e-9  # of the box, what is nothing but round-off


@record
class View:
    """Where the eye is: `turn` about z from the axis x, and `rise` above the plane x–y (deg)."""

    turn: float = -52.0
    rise: float = 24.0

    def flat(self, points: Float[np.ndarray, "... 3"]) -> Float[np.ndarray, "... 2"]:
        """Return points as they are seen, across and up, in the unit of the points."""
        a, e = np.radians(self.turn), np.radians(self.rise)
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        up = np.array([-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)])
        return np.stack([points @ right, points @ up], axis=-1)

    def line(self, points: Float[np.ndarray, "n 3"], colour: str, **look: Any) -> Line:  # noqa: ANN401, fields of it
        """Return a line in space."""
        return line_through(self.flat(points), colour, **look)

    def note(
        self, point: Float[np.ndarray, "3"], words: str, away: tuple[float, float], side: Side, *, small: bool = False
    ) -> Note:
        """Return words beside a point in space."""
        x, y = self.flat(point)
        return Note(float(x), float(y), words, away, side, small)

    def axes(self, box: Float[np.ndarray, "3 2"], unit: str) -> tuple[list[Line], list[Note]]:
        """Return the axes of a box (its limits), with numbers and names."""
        parts, notes = [], []
        size = np.ptp(box, axis=1)
        for axis, (corner, out, away, share, further) in enumerate(EDGES):
            start = np.choose(corner, box.T)
            along = np.eye(3)[axis]
            parts.append(np.stack([start, start + size[axis] * along]))
            tick = TICK * size * np.array(out)
            for number in round_numbers(box[axis, 0], box[axis, 1], STEPS):
                place = start + (number - start[axis]) * along
                parts.append(np.stack([place, place + tick]))
                words = f"{number if abs(number) > SMALL * size[axis] else 0:.4g}".replace("-", "−")
                notes.append(self.note(place + tick, words, away, _note_side(away), small=True))
            named = start + share * size[axis] * along
            notes.append(self.note(named, f"{AXES[axis]}, {unit}", further, _note_side(further)))
        return [self.line(join_curves(parts, 3), "muted", width=0.6)], notes

    def limits(self, box: Float[np.ndarray, "3 2"], room: float) -> tuple[Limits, Limits]:
        """Return limits, across and up, of a square around a box, and `room`, a share of it, on either side."""
        corners = self.flat(np.stack(np.meshgrid(*box, indexing="ij"), axis=-1).reshape(-1, 3))
        low, high = corners.min(axis=0), corners.max(axis=0)
        middle, half = (low + high) / 2, (0.5 + room) * float((high - low).max())
        across, up = np.stack([middle - half, middle + half], axis=1)
        return (float(across[0]), float(across[1])), (float(up[0]), float(up[1]))


def _note_side(away: tuple[float, float]) -> Side:
    """Return the side of words that is at a point from which they stand so far away."""
    return "right" if away[0] < 0 else "left"
