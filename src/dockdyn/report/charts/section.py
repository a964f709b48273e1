"""Sections of a solid, as areas and outlines of charts, from its signed distance at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.report.charts.chart import Area, Line, line_through

FLAT = 1e-9  # m, by which distances differ where they are all the same but for round-off

Grid = Sequence[np.ndarray]  # across and up, of the same shape


def is_inside(grid: Grid, distance: np.ndarray) -> Area:
    """Return where the distance (m) is negative."""
    from contourpy import FillType, contour_generator

    filled = contour_generator(grid[0], grid[1], distance, fill_type=FillType.OuterOffset).filled(-np.inf, 0.0)
    rings = [
        ring
        for points, ends in zip(filled[0], filled[1], strict=True)
        if points is not None and ends is not None
        for ring in np.split(points, ends[1:-1])
    ]
    x, y = join_curves(rings).T
    return Area(x, y)


def contour_line(grid: Grid, distance: np.ndarray, level: float = 0.0, *, dash: int = 0, width: float = 1.0) -> Line:
    """Return where the distance (m) is that of the `level`."""
    return line_through(join_curves(level_curves(grid, distance, level)), "wall", dash=dash, width=width)


def level_curves(grid: Grid, values: np.ndarray, level: float = 0.0) -> list[np.ndarray]:
    """Return curves (n, 2) on which sampled values are those of the `level`; none where all are the same but for round-off."""
    from contourpy import contour_generator

    if np.ptp(values) < FLAT:
        return []
    return [np.asarray(line) for line in contour_generator(grid[0], grid[1], values).lines(level)]


def join_curves(parts: Sequence[np.ndarray], columns: int = 2) -> np.ndarray:
    """Return curves one after the other, gaps (NaN) between them."""
    gap = np.full((1, columns), np.nan)
    return np.concatenate([np.zeros((0, columns)), *(row for part in parts for row in (part, gap))])
