"""The region of a chart in which its growth is not positive, as closed outlines.

Units: axes of the chart scaled to 0 … 1, areas as fractions of it.
Source: marching squares; own construction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float
from dockdyn.stability.chart import Edge, Lattice, StabilityChart, cell_corners

Vertex = tuple[int, int] | Edge  # a lattice point, or the crossing on an edge between two


class Region(NamedTuple):
    """Where the growth is zero or below, in the unit square."""

    outlines: list[np.ndarray]  # (p, 2), closed; the region lies to the left of who walks along one
    area: float
    known: float  # area of the cells whose corners all have a growth


def union_of_cells(chart: StabilityChart) -> Region:
    """Return the union of the cells' parts: their common sides cancel, what is left is the outline."""
    lattice = chart.lattice
    sides: set[tuple[Vertex, Vertex]] = set()
    known = 0
    for i, j, step in chart.cells:
        if np.isnan([lattice.values[corner] for corner in cell_corners(i, j, step)]).any():
            continue
        parts = list(_parts_of(lattice, i, j, step))
        if any(np.isnan(vertex_coordinates(lattice, vertex)).any() for part in parts for vertex in part):
            continue
        known += step * step
        for part in parts:
            for side in pairwise([*part, part[0]]):
                if side[::-1] in sides:
                    sides.remove(side[::-1])
                else:
                    sides.add(side)
    outlines = [np.array([vertex_coordinates(lattice, vertex) for vertex in ring]) for ring in _closed_paths(sides)]
    return Region(
        [_without_collinear(line) for line in outlines], sum(map(signed_area, outlines)), known / lattice.size**2
    )


def _parts_of(lattice: Lattice, i: int, j: int, step: int) -> Iterator[list[Vertex]]:
    """Yield outlines of a cell's parts in the region, their vertices at all lattice points on the sides."""
    lines = lattice.lines.get((i, j), []) if step == 1 else []
    if not lines:
        if lattice.values[i, j] <= 0:
            along = range(step)
            whole: list[Vertex] = [(i + k, j) for k in along]
            whole += [(i + step, j + k) for k in along]
            whole += [(i + step - k, j + step) for k in along]
            whole += [(i, j + step - k) for k in along]
            yield whole
        return
    around = cell_corners(i, j, 1)
    cut: list[Edge] = [(i, j, True), (i + 1, j, False), (i, j + 1, True), (i, j, False)]
    across = dict(lines) | {b: a for a, b in lines}
    left = [corner for corner in around if lattice.values[corner] <= 0]
    while left:
        at = around.index(left[0])
        part: list[Vertex] = []
        while around[at] in left:
            left.remove(around[at])
            part.append(around[at])
            if cut[at] in across:  # out of the region here, along the boundary, and into it again there
                part += [cut[at], across[cut[at]]]
                at = cut.index(across[cut[at]])
            at = (at + 1) % 4
        yield part


def vertex_coordinates(lattice: Lattice, vertex: Vertex) -> Float[np.ndarray, "2"]:
    """Return coordinates of a vertex."""
    return lattice.place[vertex] if len(vertex) == 3 else np.array(vertex) / lattice.size


def _closed_paths(sides: set[tuple[Vertex, Vertex]]) -> Iterator[list[Vertex]]:
    """Yield closed paths through directed sides, each ending where it began."""
    following: dict[Vertex, list[Vertex]] = defaultdict(list)
    for start, end in sorted(sides):
        following[start].append(end)
    for start in list(following):
        while following[start]:
            ring = [start]
            while len(ring) == 1 or ring[-1] != start:
                ring.append(following[ring[-1]].pop())
            yield ring


def signed_area(line: Float[np.ndarray, "p 2"]) -> float:
    """Return the area inside a closed line, negative where it runs clockwise."""
    (x, y), (u, v) = line[:-1].T, line[1:].T
    return float(np.sum(x * v - u * y) / 2)


def _without_collinear(line: Float[np.ndarray, "p 2"]) -> Float[np.ndarray, "fewer 2"]:
    """Return a closed line without the vertices inside its straight parts."""
    before, after = np.diff(line[:-1], axis=0), np.diff(line[1:], axis=0)
    bends = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) > 1e-15
    return line[np.r_[True, bends, True]]
