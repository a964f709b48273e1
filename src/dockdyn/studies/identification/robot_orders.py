"""How many coefficients a robot's difference equation has, and its dead time: chosen by how well each choice fits."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.identification.output_error import Orders, least_residual
from dockdyn.studies.identification.residuals import residual_tests

EXACT = 1e-9  # of the motion's size: residuals that are as good as none
LARGEST = 4  # order that is tried
LONGEST = 10  # samples of dead time that are tried with all orders
FARTHEST = 60  # samples of dead time that are tried where none of these explains the log
BEFORE = 6  # samples by which missing poles lengthen a dead time
LEFT = 0.2  # of the motion's squares: with less behind its dead time a robot need not explain the motion
FAINT = 1e-7  # of the command's size: what tells nothing
type Row = Float[np.ndarray, "n"]


@record
class Records:
    """Commanded and actual positions (m), equally sampled."""

    name: str
    period: float  # s
    command: Row
    actual: Row
    notes: Sequence[str] = ()  # of what was read, to be told


@record
class Candidate:
    """A choice of orders and its Bayesian information criterion, the lowest the best."""

    orders: Orders
    criterion: float


def candidate_orders(records: Records, orders: tuple[int, int] | None, delay: int | None) -> list[Candidate]:
    """Return orders to try, the best first; the one that is given, if it is.

    Raises:
        ScenarioError: where the log is too short for them, or its command tells too few coefficients apart.
    """
    if orders is not None and delay is not None:
        only = Orders(*orders, delay)
        _refuse_too_few_samples(records, only)
        if sum(orders) > _distinguishable_coefficients(records.command):
            raise ScenarioError(
                f"{records.name}: the command excites too little for orders {only.words()}; must be such as a sweep"
            )
        return [Candidate(only, math.nan)]
    sizes = [(a, b) for a in range(1, LARGEST + 1) for b in (a - 1, a) if b] if orders is None else [orders]
    _refuse_too_few_samples(records, Orders(*min(sizes), delay or 0))
    known = _distinguishable_coefficients(records.command)
    sizes = [size for size in sizes if sum(size) <= known]
    if not sizes:
        raise ScenarioError(
            f"{records.name}: the command excites too little to tell coefficients apart; must be such as a sweep"
        )
    race = _Race(records)
    if delay is not None:
        return race.ranked([Orders(*size, delay) for size in sizes])
    far = _longest_delay(records.actual)
    race.ranked([Orders(*size, late) for size in sizes for late in range(min(far, LONGEST) + 1)])
    if race.leaves_dynamics():
        usual = (2, 2) if (2, 2) in sizes else sizes[0]
        likely = race.ranked([Orders(*usual, late) for late in range(LONGEST + 1, far + 1)])
        late = next((each.orders.delay for each in likely if each.orders[:2] == usual), 0)
        if late > LONGEST:  # poles that the usual orders lack lengthen the dead time
            race.ranked([Orders(*size, at) for size in sizes for at in range(late - BEFORE, min(late + 1, far) + 1)])
    return race.ranked([])


class _Race:
    """Orders that are compared by how well each fits one log."""

    def __init__(self, records: Records):
        self.records = records
        self.residuals: dict[Orders, Row] = {}  # m, from the sample on by which each is late
        self.floor = max(EXACT * float(np.std(records.actual)), rounding_deviation(records.actual)) ** 2

    def ranked(self, trials: Sequence[Orders]) -> list[Candidate]:
        """Return all that were tried, these among them, the best first.

        A dead time counts as a coefficient: where the robot is before it, at rest. A position that is farther from there than
        noise would bring it is explained by nothing, which costs no more than a coefficient of its own.
        """
        command, actual = self.records.command, self.records.actual
        for trial in trials:
            if trial not in self.residuals and len(command) >= least_samples(trial):
                with contextlib.suppress(ValueError, np.linalg.LinAlgError):  # it is no candidate
                    self.residuals[trial] = least_residual(command, actual, trial)
        price, found = math.log(len(actual)), []
        for trial, residual in self.residuals.items():
            squares = max(float(np.mean(residual**2)), self.floor)
            before = actual[: trial.delay]
            still = before.mean() if len(before) else 0.0
            moved = np.minimum((before - still) ** 2 / squares - 1, price).sum()  # beyond what noise brings
            coefficients = trial.a + trial.b + (trial.delay > 0)
            found.append(Candidate(trial, len(actual) * math.log(squares) + float(moved) + price * coefficients))
        return sorted((each for each in found if math.isfinite(each.criterion)), key=lambda each: each.criterion)

    def leaves_dynamics(self) -> bool:
        """Return whether the residuals of the best are more than noise without memory."""
        best = self.ranked([])
        if not best:
            return True
        residual = self.residuals[best[0].orders]
        if np.mean(residual**2) <= self.floor:
            return False
        tests = residual_tests(residual, self.records.command[: len(residual)])
        return not (tests.white and tests.independent)


def _longest_delay(actual: Row) -> int:
    """Return the most samples of dead time that leave enough of the motion to be explained, up to what is tried."""
    moving = [float(np.var(actual[late:])) * (len(actual) - late) for late in range(min(FARTHEST, len(actual) - 1) + 1)]
    return int(np.flatnonzero(np.array(moving) >= LEFT * moving[0])[-1])


def rounding_deviation(values: Row) -> float:
    """Return the standard deviation of what rounding to the log's digits or the encoder's steps takes away: residuals below
    tell nothing."""
    apart = np.diff(np.unique(values))
    apart = apart[apart > EXACT * float(np.ptp(values))]
    return float(apart.min(initial=np.inf if len(apart) else 0.0)) / math.sqrt(12)


def _distinguishable_coefficients(command: Row) -> int:
    """Return how many coefficients the command tells apart: its order of persistent excitation, up to what is tried."""
    moved = command - command.mean()
    for count in range(2 * LARGEST, 0, -1):
        delayed = np.stack([moved[count - 1 - i : len(moved) - i] for i in range(count)], axis=1)
        sizes = np.linalg.svd(delayed, compute_uv=False)
        if sizes[-1] > FAINT * sizes[0]:
            return count
    return 0


def least_samples(orders: Orders) -> int:
    """Return samples that orders need."""
    return 5 * (orders.a + orders.b) + orders.a + orders.delay


def _refuse_too_few_samples(records: Records, orders: Orders) -> None:
    if orders.b > orders.a:
        raise ScenarioError(
            f"--orders {orders.a},{orders.b}: NB must be at most NA: with more, poles at z = 0 have no continuous robot"
        )
    if len(records.command) < least_samples(orders):
        raise ScenarioError(
            f"{records.name}: {len(records.command)} samples are too short for orders {orders.words()}; "
            f"must be at least {least_samples(orders)}"
        )
