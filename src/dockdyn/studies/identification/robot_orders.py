"""How many coefficients a robot's difference equation has, and its dead time: chosen by how well each choice fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.identification.output_error import Orders, fit

EXACT = 1e-9  # of the motion's size: residuals that are as good as none
LARGEST = 4  # order that is tried
LONGEST = 10  # samples of dead time that are tried
BEFORE = 3  # samples by which missing poles lengthen a dead time
FAINT = 1e-7  # of the command's size: what tells nothing
Row = Float[np.ndarray, "n"]


@dataclass(frozen=True)
class Records:
    """Commanded and actual positions (m), equally sampled."""

    name: str
    period: float  # s
    command: Row
    actual: Row
    notes: Sequence[str] = ()  # of what was read, to be told


@dataclass(frozen=True)
class Candidate:
    """A choice of orders and its Bayesian information criterion, the lowest the best."""

    orders: Orders
    criterion: float


def candidates(records: Records, orders: tuple[int, int] | None, delay: int | None) -> list[Candidate]:
    """Orders to try, the best first; the one that is given, if it is."""
    if orders is not None and delay is not None:
        only = Orders(*orders, delay)
        _enough(records, only)
        if sum(orders) > _tellable(records.command):
            raise ScenarioError(
                f"{records.name}: the command excites too little for orders {only.words()}; must be such as a sweep"
            )
        return [Candidate(only, math.nan)]
    u, y = records.command, records.actual
    sizes = [(a, b) for a in range(1, LARGEST + 1) for b in (a - 1, a) if b] if orders is None else [orders]
    _enough(records, Orders(*min(sizes), delay or 0))
    known = _tellable(u)
    sizes = [size for size in sizes if sum(size) <= known]
    if not sizes:
        raise ScenarioError(
            f"{records.name}: the command excites too little to tell coefficients apart; must be such as a sweep"
        )
    last = LONGEST if delay is None and len(u) >= least(Orders(LARGEST, LARGEST, LONGEST)) else delay or 0
    criterion = partial(_criterion_of, u, y, last)
    delays = [last] if delay is not None else list(range(last + 1))
    if len(sizes) * len(delays) > LONGEST + 1:  # a middling size tells the dead time, with that of missing poles
        usual = (2, 2) if (2, 2) in sizes else sizes[0]
        likely = min(delays, key=lambda late: criterion(Orders(*usual, late)))
        delays = [late for late in delays if -BEFORE <= late - likely <= 1]
    trials = [Orders(*size, late) for size in sizes for late in delays]
    tried = [Candidate(trial, criterion(trial)) for trial in trials if len(u) >= least(trial)]
    return sorted((each for each in tried if math.isfinite(each.criterion)), key=lambda each: each.criterion)


def _criterion_of(command: Row, actual: Row, last: int, orders: Orders) -> float:
    """Bayesian information criterion, on the positions from sample `last` on whatever the delay; infinite without a fit."""
    late, y = orders.delay, actual[last:]
    try:
        fitted = fit(command[last - late : len(command) - late], y, Orders(orders.a, orders.b), "iv")
    except (ValueError, np.linalg.LinAlgError):
        return math.inf
    if not np.isfinite(fitted.variance):
        return math.inf
    floor = max(EXACT * float(np.std(actual)), rounding(actual)) ** 2
    return len(y) * math.log(max(fitted.variance, floor)) + (orders.a + orders.b) * math.log(len(y))


def rounding(values: Row) -> float:
    """Standard deviation of what rounding to the log's digits or the encoder's steps takes away: residuals below tell
    nothing."""
    apart = np.diff(np.unique(values))
    apart = apart[apart > EXACT * float(np.ptp(values))]
    return float(apart.min(initial=np.inf if len(apart) else 0.0)) / math.sqrt(12)


def _tellable(command: Row) -> int:
    """How many coefficients the command tells apart: its order of persistent excitation, up to what is tried."""
    most = 2 * LARGEST
    moved = command - command.mean()
    delayed = np.stack([moved[most - i : len(moved) - i] for i in range(most)], axis=1)
    for count in range(most, 0, -1):
        sizes = np.linalg.svd(delayed[:, :count], compute_uv=False)
        if sizes[-1] > FAINT * sizes[0]:
            return count
    return 0


def least(orders: Orders) -> int:
    """Samples that orders need."""
    return 5 * (orders.a + orders.b) + orders.a + orders.delay


def _enough(records: Records, orders: Orders) -> None:
    if orders.b > orders.a:
        raise ScenarioError(
            f"--orders {orders.a},{orders.b}: NB must be at most NA: with more, poles at z = 0 have no continuous robot"
        )
    if len(records.command) < least(orders):
        raise ScenarioError(
            f"{records.name}: {len(records.command)} samples are too short for orders {orders.words()}; "
            f"must be at least {least(orders)}"
        )
