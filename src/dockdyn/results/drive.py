"""The one loop on the host: a compiled integrator goes on slice by slice until its run ends.

Between two slices progress is told, and, where a run takes long, how long it still takes. A request to end
(`dockdyn.interrupt`) needs nothing from here.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dockdyn import backend
from dockdyn.deferred import Array, Int, PyTree
from dockdyn.integrate.solution import Status
from dockdyn.scenario.language.printable import time_in_words
from dockdyn.trees import leaves_of

Progress = Callable[[float], None]
FIRST_SLICE = 50  # iterations at most, until it is known how long one takes; better code is written between slices
SHORT, LONG = 0.25, 1.0  # s: slices of less become four times as long, and of more half as long
FIRST_TOLD = 15.0  # s that a run has taken when it is first told how long it still takes; then again at each doubling
PATIENT = 60.0  # s still to go, of which is told


class Resumable(Protocol):
    """A run between two slices, all that the next slice needs."""

    @property
    def status(self) -> Int[Array, ""] | Status:
        """A `Status`, as a number."""


def drive_run[SolverState: Resumable](
    solver: SolverState,
    advance: Callable[[SolverState, int], SolverState],
    share: Callable[[SolverState], float],
    iterations: int,
    progress: Progress | None,
    most: int | None = None,
    stops_at: int | None = None,
) -> SolverState:
    """Return the run that began as `solver`, at its end, or still running after `most` iterations.

    `advance` takes a run to its end, or to so many iterations since it began; a slice has at most `iterations` of them, and
    fewer where they take long. `share` is how much of the duration is done (0 to 1), which `progress` is told after every
    slice. A run ends itself after `stops_at` iterations. How long it still takes is told where that is more than a minute.
    """
    until, count = 0, min(iterations, FIRST_SLICE)
    with _pace_told(stops_at if most is None else most) as pace:
        while int(solver.status) == Status.RUNNING and (most is None or until < most):
            until = until + count if most is None else min(until + count, most)
            before = time.perf_counter()
            solver = advance(solver, until)
            if progress is not None:
                progress(share(solver))
            count = _next_slice(count, time.perf_counter() - before, iterations)
            pace.note(until, lambda solver=solver: share(solver))  # type: ignore[misc]
    return solver


def _next_slice(count: int, seconds: float, most: int) -> int:
    """Return how many iterations the next slice has, after one of `count` that took so long (s)."""
    if seconds < SHORT:
        return min(4 * count, most)
    return max(count // 2, 1) if seconds > LONG else count


@dataclass
class Pace:
    """How far a run is that began some time ago."""

    stops_at: int | None  # iterations after which it ends itself
    began: float = field(default_factory=time.perf_counter)
    at: float = 0.0  # s since it began, when it was noted last
    iterations: int = 0
    share: Callable[[], float] = lambda: 0.0  # of the duration that was done

    def note(self, iterations: int, share: Callable[[], float]) -> None:
        """Note how far it is now."""
        self.at, self.iterations, self.share = time.perf_counter() - self.began, iterations, share

    def words(self) -> str:
        """Return how long it still takes, if it keeps its pace; empty where that is not long."""
        if not self.iterations:
            limit = "" if self.stops_at is None else f"; it takes at most integrator.max_steps = {self.stops_at}"
            since = time_in_words(time.perf_counter() - self.began)
            return f"nothing of the run is done yet after {since}: it is still compiled, or takes many steps{limit}"
        share = self.share()
        to_end = self.at * (1 / share - 1) if share > 0 else math.inf
        to_stop = math.inf if self.stops_at is None else self.at * max(0.0, self.stops_at / self.iterations - 1)
        if not PATIENT < min(to_end, to_stop) < math.inf:
            return ""
        done = f"{100 * share:.2g} % of the duration is done after {time_in_words(self.at)}"
        if to_end <= to_stop:
            return f"{done}: about {time_in_words(to_end)} more at this pace"
        reached = share * (1 + to_stop / self.at)
        return (
            f"{done}: at this pace it stops in about {time_in_words(to_stop)}, by integrator.max_steps = {self.stops_at}, "
            f"with {100 * reached:.2g} % done"
        )


@contextmanager
def _pace_told(stops_at: int | None) -> Iterator[Pace]:
    """Yield the pace of a run, of which is told while it goes on."""
    pace = Pace(stops_at)
    with _announce_repeatedly(pace.words):
        yield pace


@contextmanager
def report_while_running(work: str) -> Iterator[None]:
    """Tell while `work`, a run in one piece, goes on that it does."""
    began = time.perf_counter()
    with _announce_repeatedly(lambda: f"{work} goes on after {time_in_words(time.perf_counter() - began)}"):
        yield


@contextmanager
def _announce_repeatedly(words: Callable[[], str]) -> Iterator[None]:
    """Tell something, but an empty text and nothing twice, after `FIRST_TOLD` and each time that doubles."""
    ended, began = threading.Event(), time.perf_counter()

    def watch() -> None:
        wait, told = FIRST_TOLD, ""
        while not ended.wait(wait):
            if (now := words()) and now != told:  # no slice may have ended since
                backend.announce_wait(now)
                told = now
            wait = time.perf_counter() - began

    threading.Thread(target=watch, name="pace of a run", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def finite_rows(columns: dict[str, Any]) -> tuple[int, str]:
    """Return how many rows come before the first number that is not finite, and in which column that is, in words; "" for none.

    Each column is an array, or a tree of arrays, with the rows along the first axis.
    """
    found = {name: _finite_in_row(values) for name, values in columns.items()}
    count = min(len(finite) for finite in found.values())
    first, first_nonfinite = count, ""
    for name, finite in found.items():
        bad = np.flatnonzero(~finite[:first])
        if len(bad):
            first, first_nonfinite = int(bad[0]), name.replace("_", " ")
    return first, first_nonfinite


def _finite_in_row(values: PyTree) -> np.ndarray:
    """Return whether all numbers in a row are finite, row by row."""
    leaves = [np.isfinite(leaf) for leaf in leaves_of(values)]
    return np.all([leaf.all(axis=tuple(range(1, leaf.ndim))) for leaf in leaves], axis=0)


def name_of_nonfinite(first_nonfinite: int, names: Callable[[], list[str]]) -> str:
    """Return the name of the first number that was not finite, by its place among a model's `names`; for −1 that is not
    known."""
    if first_nonfinite < 0:
        return "the motion"
    known = names()
    return known[first_nonfinite] if first_nonfinite < len(known) else "a contact force or rate"
