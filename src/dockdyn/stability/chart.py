"""Stability charts: where in a plane of two parameters a growth rate changes sign, to a stated tolerance.

A coarse grid is refined only where the sign changes or may change; on the edges of the finest cells the boundary is then
bracketed to the tolerance. So a chart as sharp as a fine grid costs a small part of it.

Units: growth 1/s; axes in those of the caller.
Source: own construction: adaptive refinement, then false position with a halving every fourth step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Bool, Float

COARSE = 24  # cells along an axis before refinement, at least
CLOSE = 0.5  # a cell is refined also where |growth| at a corner is less than this share of its spread over the corners,
NEAR = 1.0  # or, on the coarse grid, less than this share of its change to any next corner around the cell
Growth = Callable[[np.ndarray], np.ndarray]  # points (m, 2) in the unit square → growth rates (m,)


class StabilityChart(NamedTuple):
    """The unit square: growth rates on the coarse grid, and the located boundary."""

    axis: np.ndarray  # (k,) coordinates of the coarse grid along both directions
    growth: np.ndarray  # (k, k), second coordinate first
    boundary: list[np.ndarray]  # polylines (p, 2); a closed one ends where it began
    evaluations: int
    lattice: Lattice
    cells: list[tuple[int, int, int]]  # lattice point and side of the cells that fill the square


def chart_growth(
    growth: Growth, cells: int, tolerance: float, coarse: int = COARSE, gaps: bool = False
) -> StabilityChart:
    """Return the chart of `growth` over the unit square.

    Args:
        growth: growth rates (1/s) at many points at once; what is not a number counts as unstable.
        cells: sharpness: details of the boundary of 1/cells are resolved.
        tolerance: of the boundary's place, in either coordinate.
        coarse: cells along an axis before refinement, at least.
        gaps: what is not a number counts as neither instead, and the boundary is left open there.

    Raises:
        ValueError: fewer than one cell, or no positive tolerance.
    """
    if not (cells >= 1 and tolerance > 0):
        raise ValueError(f"cells is {cells}, tolerance {tolerance}; must be at least 1, and above 0")
    levels = max(0, int(np.log2(cells / coarse)))
    size = int(np.ceil(cells / 2**levels)) * 2**levels
    lattice = Lattice(growth, size, gaps)
    step = 2**levels
    axis = np.arange(0, size + 1, step)
    open_ = [(i, j) for i in range(0, size, step) for j in range(0, size, step)]
    lattice.evaluate_nodes(corner for i, j in open_ for corner in cell_corners(i, j, step))
    values = lattice.values[np.ix_(axis, axis)]
    suspects = {(int(i * step), int(j * step)) for i, j in np.argwhere(_near_zero(values))}
    settled: list[tuple[int, int, int]] = []
    while step > 1:
        finer = [cell for cell in open_ if cell in suspects or lattice.is_divided(*cell, step)]
        suspects = set()
        settled += [(*cell, step) for cell in set(open_) - set(finer)]
        half = step // 2
        open_ = [(i + a, j + b) for i, j in finer for a, b in product((0, half), repeat=2)]
        lattice.evaluate_nodes(corner for i, j in open_ for corner in cell_corners(i, j, half))
        step = half
        # a boundary that leaves the refined cells through a side reopens the neighbour
        while hidden := [cell for cell in settled if lattice.hides_crossing(*cell)]:
            settled = [cell for cell in settled if cell not in set(hidden)]
            for i, j, side in hidden:
                inner = [(i + a, j + b) for a, b in product(range(0, side, step), repeat=2)]
                lattice.evaluate_nodes(corner for a, b in inner for corner in cell_corners(a, b, step))
                open_ += inner
    boundary = lattice.trace_boundary(open_, tolerance)
    cells_ = settled + [(*cell, step) for cell in open_]
    return StabilityChart(axis / size, values.T, boundary, lattice.evaluations, lattice, cells_)


def _near_zero(values: Float[np.ndarray, "n+1 n+1"]) -> Bool[np.ndarray, "n n"]:
    """Return cells of a grid of values inside which a zero may hide, judged by the change around them."""

    def over_cell(corner: np.ndarray, reduce: np.ufunc) -> np.ndarray:
        return reduce.reduce([corner[:-1, :-1], corner[1:, :-1], corner[:-1, 1:], corner[1:, 1:]])

    change = np.zeros(values.shape)
    for axis in (0, 1):
        with np.errstate(invalid="ignore"):
            step = np.nan_to_num(np.abs(np.diff(values, axis=axis)), nan=0.0, posinf=np.inf)
        pad = [(0, 0), (0, 0)]
        for pad[axis] in ((0, 1), (1, 0)):
            change = np.maximum(change, np.pad(step, pad))
    return over_cell(np.abs(values), np.fmin) < NEAR * over_cell(change, np.fmax)


def cell_corners(i: int, j: int, step: int) -> list[tuple[int, int]]:
    """Return the four corners of a cell in the lattice of the finest one, anticlockwise."""
    return [(i, j), (i + step, j), (i + step, j + step), (i, j + step)]


Edge = tuple[int, int, bool]  # a lattice point and whether the edge runs along the first coordinate


class Lattice:
    """Growth rates at the points of a fine lattice that were asked for."""

    def __init__(self, growth: Growth, size: int, gaps: bool):
        self.growth, self.size, self.gaps, self.evaluations = growth, size, gaps, 0
        self.values = np.full((size + 1, size + 1), np.nan)
        self.known = np.zeros((size + 1, size + 1), bool)
        self.lines: dict[tuple[int, int], list[tuple[Edge, Edge]]] = {}  # of the boundary through a finest cell
        self.place: dict[Edge, np.ndarray] = {}  # of the crossings

    def at(self, points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "points"]:
        self.evaluations += len(points)
        found = self.growth(points)
        return found if self.gaps else np.where(np.isnan(found), np.inf, found)

    def evaluate_nodes(self, nodes: Iterable[tuple[int, int]]) -> None:
        """Evaluate all of `nodes` that are not known yet, at once."""
        new = [node for node in dict.fromkeys(nodes) if not self.known[node]]
        if new:
            rows, columns = np.array(new).T
            self.values[rows, columns] = self.at(np.array(new) / self.size)
            self.known[rows, columns] = True

    def is_divided(self, i: int, j: int, step: int) -> bool:
        """Return whether the boundary passes through a cell, or comes so near that it may."""
        found = np.array([self.values[corner] for corner in cell_corners(i, j, step)])
        found = found[~np.isnan(found)]
        if not found.size:
            return False
        if (found > 0).any() != (found > 0).all():
            return True
        with np.errstate(invalid="ignore"):  # infinite corners
            return bool(np.abs(found).min() < CLOSE * np.ptp(found))

    def hides_crossing(self, i: int, j: int, step: int) -> bool:
        """Return whether a cell of equal corners has a known point of the other sign on its sides."""
        block = np.s_[i : i + step + 1, j : j + step + 1]
        signs = self.values[block][~np.isnan(self.values[block])] > 0
        return bool(signs.any() and not signs.all())

    def trace_boundary(self, cells: list[tuple[int, int]], tolerance: float) -> list[np.ndarray]:
        """Return polylines through the located crossings of all edges of the finest cells."""
        positive, absent = self.values > 0, np.isnan(self.values)
        links: dict[Edge, list[Edge]] = defaultdict(list)
        for i, j in cells:
            sides: list[Edge] = [(i, j, True), (i + 1, j, False), (i, j + 1, True), (i, j, False)]
            around = cell_corners(i, j, 1)
            signs = [positive[corner] for corner in around]
            ends = zip(sides, around, [*around[1:], around[0]], strict=True)
            cut = [side for side, a, b in ends if positive[a] != positive[b] and not (absent[a] or absent[b])]
            if len(cut) % 2:  # the line ends in this cell
                continue
            # of a saddle, the corners that are not joined through its middle are cut off
            if len(cut) == 4 and bool(self.at(np.array([[i + 0.5, j + 0.5]]) / self.size)[0] > 0) != bool(signs[0]):
                cut = cut[1:] + cut[:1]
            self.lines[i, j] = list(zip(cut[::2], cut[1::2], strict=True))
            for a, b in self.lines[i, j]:
                links[a].append(b)
                links[b].append(a)
        edges = list(links)
        if not edges:
            return []
        low = np.array([(i, j) for i, j, _ in edges])
        high = low + np.array([(1, 0) if along else (0, 1) for _, _, along in edges])
        at_low, at_high = (self.values[tuple(ends.T)] for ends in (low, high))
        points = locate_sign_changes(self.at, low / self.size, high / self.size, at_low, at_high, tolerance)
        self.place = dict(zip(edges, points, strict=True))
        return [
            part for path in chain_links(links) for part in finite_parts(np.array([self.place[edge] for edge in path]))
        ]


def finite_parts(line: Float[np.ndarray, "p 2"]) -> list[Float[np.ndarray, "part 2"]]:
    """Return the parts of a line without points that are not numbers."""
    known = ~np.isnan(line).any(axis=1)
    parts = np.split(np.arange(len(line)), np.flatnonzero(np.diff(known)) + 1)
    return [line[part] for part in parts if known[part[0]]]


def locate_sign_changes(
    growth: Growth,
    low: Float[np.ndarray, "m d"],
    high: Float[np.ndarray, "m d"],
    at_low: Float[np.ndarray, "m"],
    at_high: Float[np.ndarray, "m"],
    tolerance: float,
) -> Float[np.ndarray, "m d"]:
    """Return points between `low` and `high` where `growth` changes sign, bracketed within `tolerance`.

    Not a number where `growth` is none on the way. False position, set off by less than the tolerance towards the farther
    end so that the bracket closes from both sides; every fourth step halves it.
    """
    start, end = np.zeros(len(low)), np.ones(len(low))
    at_start, at_end = np.array(at_low, float), np.array(at_high, float)
    narrow = tolerance / np.abs(high - low).max(axis=1)
    for attempt in range(1, 200):
        (open_,) = np.nonzero(end - start > narrow)
        if not len(open_):
            break
        a, b, fa, fb = start[open_], end[open_], at_start[open_], at_end[open_]
        middle, off = (a + b) / 2, 0.4 * narrow[open_]
        finite = np.isfinite(fa) & np.isfinite(fb) & (attempt % 4 != 0)
        with np.errstate(invalid="ignore"):
            guess = np.where(finite, a - fa * (b - a) / (fb - fa), middle)
        guess = np.clip(guess + off * np.sign(middle - guess), a + off / 4, b - off / 4)
        found = growth(low[open_] + guess[:, None] * (high - low)[open_])
        left = (found > 0) == (fa > 0)
        lost = np.isnan(found)
        guess = np.where(lost, np.nan, guess)
        left |= lost
        start[open_], at_start[open_] = np.where(left, guess, a), np.where(left, found, fa)
        end[open_], at_end[open_] = np.where(left, b, guess), np.where(left, fb, found)
    return low + ((start + end) / 2)[:, None] * (high - low)


def chain_links(links: dict[Edge, list[Edge]]) -> list[list[Edge]]:
    """Return paths through all links: from the ends first, then the closed ones."""
    left = {edge: list(others) for edge, others in links.items()}
    paths = []
    for start in sorted(left, key=lambda edge: len(links[edge])):
        while left[start]:
            path = [start]
            while left[path[-1]]:
                following = left[path[-1]].pop()
                left[following].remove(path[-1])
                path.append(following)
            paths.append(path)
    return paths


def join_polylines(lines: list[np.ndarray], columns: int = 2) -> Float[np.ndarray, "points columns"]:
    """Return all polylines, each of shape (points, columns), in one, parted by rows of NaN."""
    gap = np.full((1, columns), np.nan)
    return np.concatenate([part for line in lines for part in (line, gap)][:-1]) if lines else gap
