"""The growth rate over two keys of a scenario, so that what is drawn meets at the boundary as it was located."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dockdyn.dataset import DataArray, Dataset
from dockdyn.records import record
from dockdyn.report.drawing import short_label

if TYPE_CHECKING:
    from matplotlib.tri import Triangulation


@record
class Key:
    """A swept key of the scenario as an axis."""

    values: np.ndarray
    name: str
    unit: str
    logarithmic: bool  # as its values are: with one ratio from each to the next

    @classmethod
    def of(cls, coordinate: DataArray) -> Key:
        """Return the key that a coordinate holds the values of."""
        values = coordinate.values.astype(float)
        steps = np.diff(np.log(values)) if values.size > 2 and values.min() > 0 else np.zeros(1)
        logarithmic = bool(np.ptp(steps) < 1e-6 and values[-1] > 4 * values[0] > 0)
        unit = str(coordinate.attrs.get("units", "")).replace("**", "^").replace("*", " ")
        return cls(values, str(coordinate.attrs.get("long_name", "")), "" if unit == "1" else unit, logarithmic)

    @property
    def scale(self) -> Literal["linear", "log"]:
        return "log" if self.logarithmic else "linear"

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.values[0]), float(self.values[-1])

    @property
    def label(self) -> str:
        return short_label(self.name) + (f", {self.unit}" if self.unit else "")

    def said(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:.6g} {self.unit}".rstrip()

    @property
    def range(self) -> str:
        return f"from {self.values[0]:g} to {self.said(self.values[-1])}"

    def share(self, values: np.ndarray) -> np.ndarray:
        """Return where along the axis, 0 … 1."""
        if not self.logarithmic:
            return (values - self.values[0]) / (self.values[-1] - self.values[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(values / self.values[0]) / np.log(self.values[-1] / self.values[0])

    def value(self, share: np.ndarray) -> np.ndarray:
        """Return what stands there."""
        if self.logarithmic:
            return self.values[0] * (self.values[-1] / self.values[0]) ** share
        return self.values[0] + (self.values[-1] - self.values[0]) * share

    def cell(self, values: np.ndarray) -> np.ndarray:
        """Return where on the grid, counted in its cells."""
        return np.interp(self.share(values), self.share(self.values), np.arange(self.values.size))


def boundary_lines(dataset: Dataset, member: int) -> list[np.ndarray]:
    """Return the lines of a stability boundary, each (vertices, 2)."""
    line = np.stack([dataset.boundary_x.values[member], dataset.boundary_y.values[member]], axis=1)
    whole = np.isfinite(line).all(axis=1)
    parts = np.split(np.arange(len(line)), np.flatnonzero(np.diff(whole)) + 1)
    return [line[part] for part in parts if part.size > 1 and whole[part[0]]]


def growth_field(dataset: Dataset, member: int, keys: list[Key]) -> tuple[Triangulation, np.ndarray]:
    """Return the growth rate on triangles between the points of the grid and those of the boundary, where it is zero.

    Their corners are in shares of the axes (`Key.share`). What is not a number counts as unstable, as it does where the
    boundary is located; cells with such a corner are masked, for contours there would mean nothing.
    """
    from matplotlib.tri import Triangulation

    growth = dataset.growth_rate.values[member]
    lacking = ~np.isfinite(growth)
    filled = np.where(lacking, max(growth.max(where=~lacking, initial=0.0), 1e-9), growth)
    columns, rows = (key.share(key.values) for key in keys)
    nodes = np.stack([part.ravel() for part in np.meshgrid(columns, rows)], axis=1)
    step = 0.4 * min(np.diff(columns).min(), np.diff(rows).min())
    lines = [_refine_line(line, step, keys) for line in boundary_lines(dataset, member)]
    zeros = np.concatenate([np.empty((0, 2)), *lines])
    zeros = np.unique(np.clip(zeros[(np.abs(zeros - 0.5) < 0.5 + 1e-9).all(axis=1)].round(9), 0, 1), axis=0)
    keep = np.ones(len(nodes), bool)
    if len(zeros):  # a point of the grid so close to the boundary only makes slivers; the rim must stay whole
        near = np.array([np.hypot(*(zeros - node).T).min() for node in nodes])
        keep = near > np.where(((nodes > 0) & (nodes < 1)).all(axis=1), 0.2 * step, 1e-9)
    places = np.concatenate([nodes[keep], zeros])
    triangles = Triangulation(*places.T).triangles
    values = np.concatenate([filled.ravel()[keep], np.zeros(len(zeros))])
    known = ~np.any(cell_corners(lacking), axis=0)

    def in_known(points: np.ndarray) -> np.ndarray:
        cells = [np.searchsorted(ticks, points[:, axis]) - 1 for axis, ticks in enumerate((columns, rows))]
        return known[np.clip(cells[1], 0, rows.size - 2), np.clip(cells[0], 0, columns.size - 2)]

    # a boundary beside what is not a number is no zero of the growth rate
    jump = np.concatenate([np.zeros(int(keep.sum()), bool), ~in_known(zeros)])
    mask = ~in_known(places[triangles].mean(axis=1)) | jump[triangles].any(axis=1)
    return Triangulation(places[:, 0], places[:, 1], triangles, mask), values


def cell_corners(grid: np.ndarray) -> np.ndarray:
    """Return the values (4, rows - 1, columns - 1) at the corners of the cells of a grid."""
    return np.stack([grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]])


def refine_field(triangles: Triangulation, values: np.ndarray) -> tuple[Triangulation, np.ndarray]:
    """Return a field on smaller triangles, cubic within the given ones, so that contours on a coarse grid are no polygons."""
    from matplotlib.tri import (
        CubicTriInterpolator,
        LinearTriInterpolator,
        TriAnalyzer,
        Triangulation,
        UniformTriRefiner,
    )

    flat = TriAnalyzer(triangles).get_flat_tri_mask(1e-4, rescale=False)
    solid = Triangulation(triangles.x, triangles.y, triangles.triangles, mask=flat | triangles.mask)
    halvings = 2 if len(triangles.triangles) < 5000 else 1
    refiner = UniformTriRefiner(solid)
    small, within = refiner.refine_triangulation(return_tri_index=True, subdiv=halvings)
    linear, cubic = (
        np.asarray(refiner.refine_field(values, found, halvings)[1])
        for found in (LinearTriInterpolator(solid, values), CubicTriInterpolator(solid, values, kind="geom"))
    )
    room = np.ptp(values[triangles.triangles[within]], axis=1)  # in slivers cubics overshoot
    return small, np.clip(cubic, linear - room, linear + room)


def on_axes(triangles: Triangulation, keys: list[Key], mask: np.ndarray | None = None) -> Triangulation:
    """Return triangles in shares of the axes as they are drawn, with another mask when given."""
    from matplotlib.tri import Triangulation

    mask = triangles.mask if mask is None else mask
    return Triangulation(keys[0].value(triangles.x), keys[1].value(triangles.y), triangles.triangles, mask)


def _refine_line(line: np.ndarray, step: float, keys: list[Key]) -> np.ndarray:
    """Return a line in shares of the axes, its points no further apart than `step`."""
    places = np.stack([key.share(line[:, axis]) for axis, key in enumerate(keys)], axis=1)
    along = np.r_[0.0, np.cumsum(np.hypot(*np.diff(places, axis=0).T))]
    if not along[-1] > 0:
        return places[:1]
    every = np.union1d(along, np.arange(0, along[-1], step))
    return np.stack([np.interp(every, along, part) for part in places.T], axis=1)


def unstable_on_left(dataset: Dataset, member: int, keys: list[Key], line: np.ndarray) -> float:
    """Return positive where the loop is unstable to the left of who walks along the line, negative where to the right."""
    growth = dataset.growth_rate.values[member]
    last = np.array(growth.shape[::-1]) - 1
    places = np.stack([key.cell(line[:, axis]) for axis, key in enumerate(keys)], axis=1)
    steps = np.diff(places, axis=0)
    steps = steps / np.maximum(np.hypot(*steps.T), 1e-12)[:, None]
    left = np.stack([-steps[:, 1], steps[:, 0]], axis=1)
    votes = []
    for side in (1.0, -1.0):  # the nearest point of the grid, a cell away from the line
        column, row = np.clip(np.rint(places[:-1] + side * left), 0, last).astype(int).T
        votes.append(np.sum(np.where(growth[row, column] <= 0, -1, 1)))
    return float(votes[0] - votes[1])


def stable_side(dataset: Dataset) -> str:
    """Return on which one side of every boundary the loop is stable, "" where that differs."""
    unstable = ~(dataset.growth_rate.transpose("family", "y", "x").values <= 0)
    for axis, words in ((2, ("left of", "right of")), (1, ("below", "above"))):
        change = np.diff(unstable.astype(int), axis=axis)
        for sign, word in zip((1, -1), words, strict=True):
            if np.any(change == sign) and not np.any(change == -sign):
                return word
    return ""
