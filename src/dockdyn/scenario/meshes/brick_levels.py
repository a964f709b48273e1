"""Bricks of one spacing of a hierarchical cubic B-spline: which there are, exact values at their nodes, their coefficients.

A finer level adds to the spline of the coarser one what this is off at the finer nodes, by B-splines that lie wholly within the
finer bricks: so value, slope and curvature have no jump where bricks of two sizes meet.

Units: values and coefficients m.
Source: Forsey and Bartels 1988, Computer Graphics 22(4):205; quasi-interpolation, de Boor 2001, A Practical Guide to Splines,
ch. XII; knot insertion of uniform cubics, Lane and Riesenfeld 1980, IEEE PAMI 2(1):35.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from dockdyn.contact.surfaces.distance_field import CELLS, NODES
from dockdyn.deferred import Bool, Float, Int

HALF = CELLS // 2
AROUND = np.array(list(product((-1, 0, 1), repeat=3)))  # a brick and those around it
OCTANTS = np.array(list(product((0, 1), repeat=3)))
ROOM = 1 << 20  # bricks along an axis, so that three numbers are one
MANY = 512  # bricks at once
WIDE = NODES + 2  # nodes from two before a brick to three behind


def _filters() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what takes the coefficients of a brick along an axis to values at its nodes and at the middles of its cells, and
    to coefficients of both of its halves; and what takes values at nodes around it to coefficients that give them up to
    fourth order."""
    at_nodes, at_middles, halves = np.zeros((CELLS, NODES)), np.zeros((CELLS, NODES)), np.zeros((2, NODES, NODES))
    for cell in range(CELLS):
        at_nodes[cell, cell : cell + 3] = np.array([1, 4, 1]) / 6
        at_middles[cell, cell : cell + 4] = np.array([1, 23, 23, 1]) / 48
    for half, number in product(range(2), range(NODES)):
        before, odd = divmod(number - 1, 2)
        start = half * HALF + before
        if odd:
            halves[half, number, start + 1 : start + 3] = 0.5
        else:
            halves[half, number, start : start + 3] = np.array([1, 6, 1]) / 8
    smoothing = np.zeros((NODES, WIDE))
    for number in range(NODES):
        smoothing[number, number : number + 3] = np.array([-1, 8, -1]) / 6
    return at_nodes, at_middles, halves, smoothing


AT_NODES, AT_MIDDLES, HALVES, QUASI = _filters()


def apply_along(values: Float[np.ndarray, "n x y z"], *matrices: np.ndarray) -> Float[np.ndarray, "n i j k"]:
    """Return values after a matrix along each of their axes."""
    for axis, matrix in enumerate(matrices, start=1):
        values = np.moveaxis(np.moveaxis(values, axis, 3) @ matrix.T, 3, axis)
    return values


def spread_over_cells(octants: np.ndarray) -> np.ndarray:
    """Return for each cell of bricks (n, 8, 8, 8) what is said of its octant (n, 8)."""
    found = octants.reshape(-1, 2, 2, 2)
    for axis in (1, 2, 3):
        found = np.repeat(found, HALF, axis)
    return found


def code_of(keys: Int[np.ndarray, "n 3"]) -> Int[np.ndarray, "n"]:
    """Return a number for each brick by its place, in their order."""
    one, two, three = (keys + 1).T
    return (one * ROOM + two) * ROOM + three


@dataclass
class BrickLevel:
    """Bricks of one spacing, in the order of their places."""

    spacing: float  # m
    keys: Int[np.ndarray, "n 3"]  # places, in bricks from the corner of the box
    values: Float[np.ndarray, "n 8 8 8"]  # m, exact, at the nodes that begin the cells
    coefficients: Float[np.ndarray, "n 11 11 11"]  # m, of the whole spline
    misses: Float[
        np.ndarray, "n 8 8 8"
    ]  # m, by which the spline is off in each cell; less than 0 where that is unknown
    seen: Bool[np.ndarray, "n"]  # whether that has been looked at

    @staticmethod
    def empty(spacing: float) -> BrickLevel:
        """Return a level without bricks."""
        cells = np.zeros((0, CELLS, CELLS, CELLS))
        nodes = np.zeros((0, NODES, NODES, NODES))
        return BrickLevel(
            spacing, np.zeros((0, 3), np.int64), cells, nodes, cells.astype(np.float32), np.zeros(0, bool)
        )

    def find(self, keys: Int[np.ndarray, "n 3"]) -> Int[np.ndarray, "n"]:
        """Return the numbers of bricks at places; -1 where there is none."""
        own, asked = code_of(self.keys), code_of(keys)
        if not len(own):
            return np.full(len(asked), -1)
        places = np.minimum(np.searchsorted(own, asked), len(own) - 1)
        return np.where(own[places] == asked, places, -1)

    def add(self, keys: Int[np.ndarray, "n 3"], values: Float[np.ndarray, "n 8 8 8"]) -> None:
        """Add bricks that are not there yet; all coefficients are then to be made again."""
        order = np.argsort(code_of(both := np.concatenate([self.keys, keys])))
        self.keys = both[order]
        self.values = np.concatenate([self.values, values])[order]
        self.misses = np.concatenate([self.misses, np.full(values.shape, -1, np.float32)])[order]
        self.seen = np.concatenate([self.seen, np.zeros(len(keys), bool)])[order]

    def only(self, those: Bool[np.ndarray, "n"]) -> BrickLevel:
        """Return some of the bricks."""
        arrays = self.keys, self.values, self.coefficients, self.misses, self.seen
        return BrickLevel(self.spacing, *(one[those] for one in arrays))

    def refit(self, coarser: BrickLevel | None) -> None:
        """Make the coefficients, those of the coarser level being made; of the coarsest level there is none."""
        self.coefficients = np.zeros((len(self.keys), NODES, NODES, NODES))
        residuals = np.empty_like(self.values)
        for part in self.parts():
            if coarser is not None:
                self.coefficients[part] = _inherit_coefficients(self.keys[part], coarser)
            residuals[part] = self.values[part] - apply_along(self.coefficients[part], *[AT_NODES] * 3)
        for part in self.parts():
            around = self.find((self.keys[part, None] + AROUND).reshape(-1, 3)).reshape(-1, len(AROUND))
            own = apply_along(_gather_values(residuals, around), *[QUASI] * 3)
            own[~_is_supported(around >= 0)] = 0
            self.coefficients[part] += own

    def parts(self) -> Iterator[slice]:
        """Yield stretches of the bricks."""
        for at in range(0, len(self.keys), MANY):
            yield slice(at, min(at + MANY, len(self.keys)))


def _inherit_coefficients(keys: Int[np.ndarray, "n 3"], coarser: BrickLevel) -> Float[np.ndarray, "n 11 11 11"]:
    """Return the coefficients of the coarser level's spline at the nodes of bricks."""
    parents, found = coarser.find(keys // 2), np.empty((len(keys), NODES, NODES, NODES))
    for octant in OCTANTS:
        those = (keys % 2 == octant).all(axis=1)
        found[those] = apply_along(coarser.coefficients[parents[those]], *HALVES[octant])
    return found


def _gather_values(
    own: Float[np.ndarray, "n 8 8 8"], around: Int[np.ndarray, "m 27"]
) -> Float[np.ndarray, "m 13 13 13"]:
    """Return values of bricks with those of the nodes around them; 0 where there is no brick."""
    into = [slice(0, 2), slice(2, 2 + CELLS), slice(2 + CELLS, WIDE)]
    source = [slice(CELLS - 2, CELLS), slice(0, CELLS), slice(0, WIDE - CELLS - 2)]
    found = np.zeros((len(around), WIDE, WIDE, WIDE))
    for number, (x, y, z) in enumerate(AROUND + 1):
        there = np.flatnonzero(around[:, number] >= 0)
        found[there, into[x], into[y], into[z]] = own[around[there, number], source[x], source[y], source[z]]
    return found


def _is_supported(there: Bool[np.ndarray, "m 27"]) -> Bool[np.ndarray, "m 11 11 11"]:
    """Return whether the B-spline of a node lies in bricks that are there."""
    numbers = np.arange(-1, CELLS + 2)
    reached = np.stack([numbers - 2 < 0, np.ones(NODES, bool), numbers + 2 > CELLS])
    found = np.ones((len(there), NODES, NODES, NODES), bool)
    for number, (x, y, z) in enumerate(AROUND + 1):
        lacking = np.flatnonzero(~there[:, number])
        found[lacking] &= ~(reached[x][:, None, None] & reached[y][:, None] & reached[z])
    return found
