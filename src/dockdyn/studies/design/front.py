"""Designs to try for two goals at once: searches that are led into the widest gap of the front."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence

import numpy as np

from dockdyn.deferred import Float
from dockdyn.studies.design.search import STEP, Designs, Order, SearchVariable, evolution_strategy

ENDS = 0.08  # of the designs: what each of the two searches for one goal alone gets
TURNS = 2  # generations of a search into a gap
HALFWAY, LEAST_STEP = 0.5, 0.02  # width of such a search: of the way across the gap, and at least, of the ranges
BESIDES = 0.01  # weight of the sum of both goals beside the one that is worse
LEAST_WEIGHT = 1e-3
WIDE = 100.0  # a goal that spans more comes near to zero, where no ratio counts

Rank = Callable[[Order], Order]


def front_generations(
    variables: Sequence[SearchVariable], start: Float[np.ndarray, "variables"], seed: int, most: int
) -> Generator[Designs, Sequence[Order], None]:
    """Yield designs as coordinates of their variables, of which `most` will be tried; takes their orders, which have two goals.

    The design `start` first, then a search for each goal alone. From then on the widest gap of the front that was found is
    closed: by a short search from one of its ends for what has the larger of both goals least, as they are weighted in the
    gap's middle (the weighted Tchebycheff norm, which comes to every part of a front). Goals above zero count by
    their logarithms, unless they come near to it.

    Miettinen, Nonlinear Multiobjective Optimization (1998), section 3.4.
    """
    random = np.random.default_rng(seed)
    found = _Tried(variables)
    found.add(start[None], (yield start[None]))
    for rank in (_by_first, _by_second):
        inner = evolution_strategy(variables, start, STEP, int(random.integers(2**31)))
        yield from found.searched(inner, rank, designs=math.ceil(ENDS * most))
    while True:
        begin, step, towards = found.next_search(start, random)
        inner = evolution_strategy(variables, begin, step, int(random.integers(2**31)))
        yield from found.searched(inner, towards, generations=TURNS)


def _by_first(order: Order) -> Order:
    return order


def _by_second(order: Order) -> Order:
    missed, first, second = order
    return missed, second, first


def front_of(orders: Sequence[Order]) -> list[int]:
    """Return the places of what misses nothing and is not beaten in both goals, the first goal rising."""
    found: list[int] = []
    least = math.inf
    for place in sorted(range(len(orders)), key=lambda place: orders[place]):
        missed, _, second = orders[place]
        if not missed and second < least and math.isfinite(orders[place][1]):
            found.append(place)
            least = second
    return found


def balanced_design(orders: Sequence[Order], front: Sequence[int]) -> int:
    """Return the place in the middle of a front: the one that gives away least of the way from its best to its worst in both
    goals."""
    goals = np.array([orders[place][1:] for place in front])
    scaled = scale_of(goals)(goals)
    size = np.maximum(np.ptp(scaled, axis=0), 1e-300)
    return front[int(((scaled - scaled.min(axis=0)) / size).max(axis=1).argmin())]


def scale_of(goals: Float[np.ndarray, "designs 2"]) -> Callable[[np.ndarray], np.ndarray]:
    """Return by what goals count: by their logarithms, where all are above zero and none is beyond `WIDE` times another."""
    if (goals > 0).all() and (goals.max(axis=0) < WIDE * goals.min(axis=0)).all():
        return lambda values: np.log(np.maximum(values, 1e-300))
    return lambda values: values


class _Tried:
    """All designs so far, with their orders."""

    def __init__(self, variables: Sequence[SearchVariable]) -> None:
        self.sizes = np.array([1.0 if one.count is None else max(one.count - 1, 1) for one in variables])
        self.designs: list[np.ndarray] = []
        self.orders: list[Order] = []

    def add(self, designs: Designs, orders: Sequence[Order]) -> None:
        self.designs += list(designs)
        self.orders += orders

    def searched(
        self,
        inner: Generator[Designs, Sequence[Order], None],
        rank: Rank,
        designs: float = math.inf,
        generations: float = math.inf,
    ) -> Generator[Designs, Sequence[Order], None]:
        """Yield the generations of a search that goes by `rank`, until it has tried so many designs or generations, or is
        narrow."""
        count, asked, ahead = 0, next(inner), len(self.orders) + designs
        while True:
            orders = yield asked
            self.add(asked, orders)
            count += 1
            if len(self.orders) >= ahead or count >= generations:
                return
            try:
                asked = inner.send([rank(order) for order in orders])
            except StopIteration:
                return

    def next_search(self, otherwise: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, float, Rank]:
        """Return where the next search begins, how wide it is, and by what it ranks; a wide one where there is no front yet."""
        front = front_of(self.orders)
        if len(front) < 2:
            begin = min(range(len(self.orders)), key=lambda place: self.orders[place]) if front else None
            start = otherwise if begin is None else self.designs[begin]
            return start, STEP, lambda order: (order[0], order[1] + order[2])
        values = np.array([self.orders[place][1:] for place in front])
        scale = scale_of(values)
        goals = scale(values)
        low, size = goals.min(axis=0), np.ptp(goals, axis=0)
        along = (goals - low) / size
        gaps = np.hypot(*np.diff(along, axis=0).T)
        at = int(random.choice(np.flatnonzero(gaps >= gaps.max() * (1 - 1e-9))))
        weights = 1 / np.maximum((along[at] + along[at + 1]) / 2, LEAST_WEIGHT)
        weights = weights / weights.max()

        def rank(order: Order) -> Order:
            weighted = (scale(np.array(order[1:])) - low) / size * weights
            return order[0], float(weighted.max() + BESIDES * weighted.sum())

        ends = [front[at], front[at + 1]]
        across = float((np.abs(self.designs[ends[0]] - self.designs[ends[1]]) / self.sizes).max())
        begin = min(ends, key=lambda place: rank(self.orders[place]))
        return self.designs[begin], float(np.clip(HALFWAY * across, LEAST_STEP, STEP)), rank
