"""Designs to try, generation by generation: an evolution strategy with restarts."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
from cmaes import CMA
from jaxtyping import Float

STEP = 0.3  # first standard deviation, as a share of each range
CLOSE = 1e-6  # of each range: a generation no wider has found its place

Shares = Float[np.ndarray, "designs variables"]
Order = tuple[float, float]  # of a design: by how much constraints are missed, then the goal, less is better


def generations(start: Float[np.ndarray, "variables"], seed: int) -> Generator[Shares, Sequence[Order], None]:
    """Designs as shares of their ranges; takes the order of those it gave, for ever.

    The design `start` first. Then the covariance matrix adaptation of Hansen and Ostermeier from there, which goes by the
    ranks of the designs alone: a design that misses less, or one that meets all constraints and has the better goal, is before
    another one. Where a generation has become narrow it begins again at random.

    Hansen, Ostermeier, Completely derandomized self-adaptation in evolution strategies, Evol. Comput. 9 (2001) 159–195.
    Deb, An efficient constraint handling method for genetic algorithms, Comput. Methods Appl. Mech. Eng. 186 (2000) 311–338.
    """
    random = np.random.default_rng(seed)
    bounds = np.array([[0.0, 1.0]] * start.size)
    yield start[None]
    while True:
        strategy = CMA(mean=start, sigma=STEP, bounds=bounds, seed=int(random.integers(2**31)))
        while True:
            asked = np.array([strategy.ask() for _ in range(strategy.population_size)])
            orders = yield asked
            strategy.tell(list(zip(asked, _ranks(orders), strict=True)))
            if np.ptp(asked, axis=0).max() < CLOSE:
                break
        start = random.random(start.size)


def _ranks(orders: Sequence[Order]) -> list[float]:
    """Places in order, equal ones of equal designs."""
    known = sorted(set(orders))
    return [float(known.index(one)) for one in orders]
