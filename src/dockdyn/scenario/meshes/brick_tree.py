"""An octree of bricks that hold a spline of distances, refined where that is off.

Units: m.
Source: adaptively sampled distance fields, Frisken et al. 2000, SIGGRAPH, 249; own rule of refinement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dockdyn.contact.surfaces.distance_field import CELLS, DistanceField
from dockdyn.deferred import Float, Int
from dockdyn.scenario.meshes.brick_levels import (
    AROUND,
    AT_MIDDLES,
    HALF,
    MANY,
    OCTANTS,
    BrickLevel,
    apply_along,
    spread_over_cells,
)

FINER = 2**0.5  # between one limit of what bricks are off and the next
BAND = 1.0  # spacings on both sides of where it is met, in which a brick must be near enough
DOUBT = 0.5  # spacings by which a brick may be off where a distance is not known
MOST = 24_000  # bricks
ROOM = 1024  # bricks, or so many times a power of two, for which a program is made


class BrickTree:
    """Bricks of all spacings: those that fill a box, and finer ones where the distance is `radius` (m) and the spline is off.

    `exact` returns distances (m) of points (m); the coarsest bricks have a `spacing` (m).
    """

    def __init__(
        self,
        exact: Callable[[Float[np.ndarray, "n 3"]], Float[np.ndarray, "n"]],
        box: Float[np.ndarray, "2 3"],
        spacing: float,
        radius: float = 0.0,
    ):
        self.exact, self.radius, self.corner = exact, radius, box[0]
        self.counts = np.maximum(np.ceil((box[1] - box[0]) / (CELLS * spacing) - 1e-9).astype(int), 1)
        rows = np.stack(np.meshgrid(*map(np.arange, self.counts + 2), indexing="ij"), axis=-1).reshape(-1, 3) - 1
        outermost = BrickLevel.empty(spacing)  # with bricks around the box, so that each in it has all neighbours
        outermost.add(rows, self._values(rows, spacing))
        outermost.refit(None)
        inside = ((rows >= 0) & (rows < self.counts)).all(axis=1)
        self.levels = [outermost.only(inside)]
        self.limit = math.inf  # m, up to which bricks are off

    def refine(self) -> bool:
        """Refine all bricks that are farther off than the next smaller limit; False if none is, or there is no room."""
        worst = max(map(self._look, range(len(self.levels))))
        if worst <= 0:
            return False
        while self.limit >= worst:
            self.limit = min(self.limit, worst) / FINER
        while worst > self.limit:
            wanted = [self._find_wanted(number) for number in range(len(self.levels))]
            wanted = self._balance_wanted([np.zeros((0, 3), np.int64), *wanted])
            if self.bricks() + sum(map(len, wanted)) > MOST:
                return False
            self._add(wanted)
            worst = max(map(self._look, range(len(self.levels))))
        return True

    def bricks(self) -> int:
        """Return how many bricks there are."""
        return sum(len(level.keys) for level in self.levels)

    def spacings(self) -> Float[np.ndarray, "n"]:
        """Return the spacing (m) of each brick."""
        return np.repeat([level.spacing for level in self.levels], [len(level.keys) for level in self.levels])

    def arrays(self, room: int) -> tuple[Float[np.ndarray, "n 11 11 11"], Int[np.ndarray, "n 8"]]:
        """Return coefficients and children of all bricks, with `room` for so many."""
        firsts = np.cumsum([0, *(len(level.keys) for level in self.levels)])
        coefficients = np.zeros((room, *self.levels[0].coefficients.shape[1:]))
        children = np.zeros((room, 8), np.int32)
        for number, level in enumerate(self.levels):
            own = slice(firsts[number], firsts[number + 1])
            coefficients[own] = level.coefficients
            found = self._number_children(number)
            children[own] = np.where(found < 0, 0, found + firsts[number + 1])
        return coefficients, children

    def surface(self) -> DistanceField:
        """Return the field as a surface, with room for more bricks, so that its program serves finer ones, too."""
        room = ROOM * 2 ** max(0, math.ceil(math.log2(self.bricks() / ROOM)))
        spacings, steepest = [np.array(self.levels[number].spacing) for number in (0, -1)], np.array(1.0)
        frame = np.zeros(3), np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 0])
        numbers: list[Any] = [*self.arrays(room), self.counts.astype(float), self.corner, *spacings, steepest, *frame]
        return DistanceField(*numbers)

    def _values(self, keys: Int[np.ndarray, "n 3"], spacing: float) -> Float[np.ndarray, "n 8 8 8"]:
        """Return distances (m) of the nodes of bricks."""
        nodes = np.stack(np.meshgrid(*[np.arange(CELLS)] * 3, indexing="ij"), axis=-1)
        places = self.corner + spacing * (CELLS * keys[:, None, None, None] + nodes)
        return self.exact(places.reshape(-1, 3)).reshape(places.shape[:-1])

    def _look(self, number: int) -> float:
        """Return by how much (m) cells without a finer one are off at most, after a look at those that are new."""
        level = self.levels[number]
        new, middles = np.flatnonzero(~level.seen), np.arange(CELLS) + 0.5
        for part in (new[at : at + MANY] for at in range(0, len(new), MANY)):
            found = apply_along(level.coefficients[part], *[AT_MIDDLES] * 3)
            near = np.nonzero(np.abs(found - self.radius) < (BAND + DOUBT) * level.spacing)
            cells = np.stack([middles[one] for one in near[1:]], axis=-1)
            places = self.corner + level.spacing * (CELLS * level.keys[part[near[0]]] + cells)
            true = self.exact(places)
            met = np.abs(true - self.radius) < BAND * level.spacing
            off = np.where(met, np.abs(true - found[near]), -1)
            level.misses[(part[near[0]], *near[1:])] = off
        level.seen[new] = True
        return float(np.where(self._find_leaves(number), level.misses, -1).max())

    def _find_leaves(self, number: int) -> np.ndarray:
        """Return which cells of a level have no finer ones."""
        return spread_over_cells(self._number_children(number) < 0)

    def _number_children(self, number: int) -> Int[np.ndarray, "n 8"]:
        """Return the numbers, in the next level, of the bricks of the octants of a level; -1 where there is none."""
        keys = self.levels[number].keys
        if number + 1 == len(self.levels):
            return np.full((len(keys), 8), -1)
        return self.levels[number + 1].find((2 * keys[:, None] + OCTANTS).reshape(-1, 3)).reshape(-1, 8)

    def _find_wanted(self, number: int) -> Int[np.ndarray, "n 3"]:
        """Return the finer bricks that cells of a level need which are too far off, with all that their splines reach."""
        level = self.levels[number]
        brick, *cells = np.nonzero((level.misses > self.limit) & self._find_leaves(number))
        place = np.stack(cells, axis=-1)
        own = 2 * level.keys[brick] + place // HALF
        beside = np.where(place % HALF < HALF // 2, -1, 1)
        return np.unique((own[:, None] + OCTANTS * beside[:, None]).reshape(-1, 3), axis=0)

    def _balance_wanted(self, wanted: list[np.ndarray]) -> list[np.ndarray]:
        """Return the bricks of each level that must be added for those wanted: around each brick are only such of at most twice
        its size."""
        lasting = []
        needed = np.zeros((0, 3), np.int64)
        for number in reversed(range(len(wanted))):
            keys = np.unique(np.concatenate([wanted[number], needed]), axis=0)
            keys = keys[((keys >= 0) & (keys < self.counts * 2**number)).all(axis=1)]
            if number < len(self.levels):
                keys = keys[self.levels[number].find(keys) < 0]
            lasting.append(keys)
            needed = (keys[:, None] + AROUND).reshape(-1, 3) // 2
            needed = np.unique(needed, axis=0)
        return lasting[::-1]

    def _add(self, wanted: list[np.ndarray]) -> None:
        """Add bricks, and make the coefficients of their levels and of all finer ones again."""
        changed = False
        for number, keys in enumerate(wanted):
            if number == len(self.levels) and len(keys):
                self.levels.append(BrickLevel.empty(self.levels[-1].spacing / 2))
            if len(keys):
                level = self.levels[number]
                level.add(keys, self._values(keys, level.spacing))
                changed = True
            if changed and number < len(self.levels):
                self.levels[number].refit(self.levels[number - 1])
