"""Designs to try, generation by generation: an evolution strategy with restarts, or all of a few."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from typing import Any, Protocol

import numpy as np
from cmaes import CMA, CatCMAwM

from dockdyn.deferred import Float

STEP = 0.3  # first standard deviation, as a share of each range
CLOSE = 1e-6  # of each range: a generation no wider has found its place
ENOUGH = 0.5  # of a choice: what its start is drawn with first, the others together with the rest

type Designs = Float[np.ndarray, "designs variables"]
Order = tuple[float, ...]  # of a design: by how much constraints are missed, then the goal, less is better


class SearchVariable(Protocol):
    """What the search must know of a variable: how many values it has, None for a real one in shares of its range."""

    @property
    def count(self) -> int | None: ...
    @property
    def ordered(self) -> bool: ...


def every_design(variables: Sequence[SearchVariable], most: int) -> Designs | None:
    """Return all designs, where there is no real variable and there are at most so many; None else."""
    counts = [one.count or 0 for one in variables]
    if 0 in counts or np.prod([float(count) for count in counts]) > most:
        return None
    return np.array(list(itertools.product(*map(range, counts))), float)


def design_generations(
    variables: Sequence[SearchVariable], start: Float[np.ndarray, "variables"], seed: int
) -> Generator[Designs, Sequence[Order], None]:
    """Yield designs as coordinates of their variables; takes the order of those it gave, for ever.

    The design `start` first. Then the covariance matrix adaptation of Hansen and Ostermeier from there, with whole numbers and
    choices that of Hamano et al. It goes by the ranks of the designs alone: a design that misses less, or one that meets all
    constraints and has the better goal, is before another one. Where a generation has become narrow it begins again at random.

    Hansen, Ostermeier, Completely derandomized self-adaptation in evolution strategies, Evol. Comput. 9 (2001) 159–195.
    Hamano, Saito, Nomura, Uchida, Shirakawa, CatCMA with Margin, Genetic and Evolutionary Computation Conference (2025).
    Deb, An efficient constraint handling method for genetic algorithms, Comput. Methods Appl. Mech. Eng. 186 (2000) 311–338.
    """
    random = np.random.default_rng(seed)
    yield start[None]
    while True:
        yield from evolution_strategy(variables, start, STEP, int(random.integers(2**31)))
        start = np.array(
            [random.random() if one.count is None else float(random.integers(one.count)) for one in variables]
        )


def evolution_strategy(
    variables: Sequence[SearchVariable], start: Float[np.ndarray, "variables"], step: float, seed: int
) -> Generator[Designs, Sequence[Order], None]:
    """Yield generations of one strategy from a design, first `step` wide, as shares of the ranges, until one is narrow."""
    real = all(one.count is None for one in variables)
    asking = _Real(start, step, seed) if real else _Mixed(variables, start, step, seed)
    while True:
        designs = asking.ask()
        orders = yield designs
        asking.tell(_rank_orders(orders))
        if np.ptp(designs, axis=0).max() < CLOSE:
            return


class _Real:
    """The strategy of real variables."""

    def __init__(self, start: np.ndarray, step: float, seed: int):
        self.inner = CMA(mean=start, sigma=step, bounds=np.array([[0.0, 1.0]] * start.size), seed=seed)
        self.asked: list[np.ndarray] = []

    def ask(self) -> Designs:
        self.asked = [self.inner.ask() for _ in range(self.inner.population_size)]
        return np.array(self.asked)

    def tell(self, ranks: list[float]) -> None:
        self.inner.tell(list(zip(self.asked, ranks, strict=True)))


class _Mixed:
    """The strategy of real variables, whole numbers and choices together; whole numbers are shares of their range to it."""

    def __init__(self, variables: Sequence[SearchVariable], start: np.ndarray, step: float, seed: int):
        counts = [one.count for one in variables]
        self.real = [place for place, count in enumerate(counts) if count is None]
        self.whole = [place for place, one in enumerate(variables) if one.count is not None and one.ordered]
        self.choices = [place for place, one in enumerate(variables) if not one.ordered]
        self.steps = np.array([(counts[place] or 2) - 1 for place in self.whole], float)
        sizes = [counts[place] or 0 for place in self.choices]
        mean = np.concatenate([start[self.real], start[self.whole] / self.steps])
        self.inner = CatCMAwM(
            x_space=[[0.0, 1.0]] * len(self.real) or None,
            z_space=[list(np.linspace(0, 1, int(count) + 1)) for count in self.steps] or None,
            c_space=sizes or None,
            mean=mean if mean.size else None,
            sigma=step,
            cov=np.eye(mean.size) if mean.size else None,
            cat_param=_first_chances(sizes, start[self.choices]) if sizes else None,
            seed=seed,
        )
        self.asked: list[Any] = []

    def ask(self) -> Designs:
        self.asked = [self.inner.ask() for _ in range(self.inner.population_size)]
        found = np.zeros((len(self.asked), len(self.real) + len(self.whole) + len(self.choices)))
        for row, one in zip(found, self.asked, strict=True):
            if self.real:
                row[self.real] = one.x
            if self.whole:
                row[self.whole] = np.round(one.z * self.steps)
            if self.choices:
                row[self.choices] = np.argmax(one.c, axis=1)
        return found

    def tell(self, ranks: list[float]) -> None:
        self.inner.tell(list(zip(self.asked, ranks, strict=True)))


def _first_chances(sizes: list[int], start: np.ndarray) -> np.ndarray:
    """Return the chances of the values of each choice at first, padded with zeros."""
    found = np.zeros((len(sizes), max(sizes)))
    for row, size, own in zip(found, sizes, start, strict=True):
        row[:size] = (1 - ENOUGH) / (size - 1)
        row[int(own)] = ENOUGH
    return found


def _rank_orders(orders: Sequence[Order]) -> list[float]:
    """Return places in order, equal ones of equal designs."""
    known = sorted(set(orders))
    return [float(known.index(one)) for one in orders]
