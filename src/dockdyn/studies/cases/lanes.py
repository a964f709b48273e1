"""Many runs in one compiled call, lane by lane, on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, lru_cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from dockdyn import backend
from dockdyn.deferred import Array, Int, PyTree, jax, jnp
from dockdyn.integrate.solution import Status
from dockdyn.programs import Program
from dockdyn.results.methods import Settings, settings_of
from dockdyn.results.overlap import begins_too_deep
from dockdyn.results.plan import Planned, delay_of
from dockdyn.results.unit import run_through, tell
from dockdyn.scenario.tables.run import IntegratorSection, OutputSection
from dockdyn.trees import Structure, flatten, flatten_all, map_leaves, structure_of, unflatten

LANES = 64  # in one call; fewer are filled up with runs of no duration, so that few sizes are compiled
SHORT_LOG, SHORT_LINE = 64, 256  # rows that nearly every run has enough of; what has not is run again with more
LONGER = 4  # times so many, before all that it may have

_begun: set[Structure] = set()  # structures of which rows have run in this process

# figures, status, end time (s) and first non-finite number of each run; whether it is none, as something begins too deep
Outcome = tuple[dict[str, Any], Any, Any, Any, Any]
Row = tuple[Any, Settings]  # a scenario's content and the settings of its run


@partial(Program, static=("setup", "at_once", "shared"))
def _run_lanes(
    setup: str,
    contents: PyTree,
    settings: Settings,
    count: Int[Array, ""],
    at_once: int | None,
    shared: tuple[bool, ...],
) -> Outcome:
    """Return a run of each of the first `count` lanes; `shared` says which leaves of contents and settings all lanes have in
    common."""
    leaves, structure = flatten((contents, settings))

    def lane(own: list[Any]) -> Outcome:
        rest = iter(own)
        row = [leaf if common else next(rest) for leaf, common in zip(leaves, shared, strict=True)]
        content, chosen = unflatten(structure, row)
        deep = begins_too_deep(content)
        chosen = replace(chosen, duration=jnp.where(deep, 0.0, chosen.duration))
        observed = run_through(content, chosen)
        figures, end = tell(setup, content, chosen, observed).figures, observed.solution
        return figures, end.status, end.time, end.first_nonfinite, deep

    def filled_lane(row: tuple[Array, list[Any]]) -> Outcome:
        number, own = row
        blank = map_leaves(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(lane, own))
        return jax.lax.cond(number < count, lambda: lane(own), lambda: blank)

    owned = [leaf for leaf, common in zip(leaves, shared, strict=True) if not common]
    return jax.lax.map(filled_lane, (jnp.arange(LANES), owned), batch_size=at_once)


def at_once() -> int | None:
    """Return lanes side by side: on a CPU one, so that each takes its own time; else all of a call."""
    return None if backend.is_on_cpu() else LANES


@cache
def thread_pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


def run_lanes(setup: str, contents: Sequence[Any], threads: int | None = None, sampled: bool = False) -> Outcome:
    """Return figures (NumPy arrays over the contents of one setup), status, end time (s) and first non-finite number of runs,
    and which of them are none, as something begins too deep in something else.

    Figures of the whole motion where it is `sampled`.
    """
    short = [(content, short_settings(content, sampled)) for content in contents]
    found = _run_grouped(setup, short, threads)
    rows = dict(enumerate(short))
    for settings in (partial(short_settings, longer=LONGER), own_settings):
        full = np.flatnonzero(np.isin(found[1], (Status.TOO_MANY_EVENTS, Status.DELAY_LINE_FULL)))
        long = {i: (contents[i], settings(contents[i], sampled)) for i in map(int, full)}
        again = [i for i, row in long.items() if _row_sizes(row) != _row_sizes(rows[i])]
        if again:
            rows |= {i: long[i] for i in again}
            _put_rows(found, _run_grouped(setup, [long[i] for i in again], threads), again)
    return found


def own_settings(content: Planned, sampled: bool = False) -> Settings:
    """Return settings of a run, by default one that keeps no samples: the steps are those of a run that does."""
    return settings_of(content, sampled)


def short_settings(content: Planned, sampled: bool = False, longer: int = 1) -> Settings:
    """Return the same with no more room than nearly every run needs, or so many times that."""
    return _short_settings_of(content.duration, delay_of(content), content.integrator, content.output, sampled, longer)


@lru_cache(maxsize=64)
def _short_settings_of(
    duration: float, delay: float, integrator: IntegratorSection, output: OutputSection, sampled: bool, longer: int
) -> Settings:
    """Return the same from what decides it, which most cases of a campaign share."""
    decides: Any = SimpleNamespace(duration=duration, integrator=integrator, output=output)
    return settings_of(decides, sampled, longer * SHORT_LOG, longer * SHORT_LINE, delay)


def _row_sizes(row: Row) -> Any:  # noqa: ANN401, what can be compared
    """Return how much room a row has."""
    return structure_of(row[1])


def _run_grouped(setup: str, rows: Sequence[Row], threads: int | None) -> Outcome:
    """Return the results of all rows, those of one structure and with the same arrays in calls together."""
    groups: dict[Any, list[int]] = {}
    leaves = []
    for i, (numbers, structure) in enumerate(flatten_all(rows)):
        leaves.append(numbers)
        groups.setdefault((structure, *(id(one) for one in numbers if _is_array(one))), []).append(i)
    workers = threads or os.cpu_count() or 1
    parts = [
        (structure, part)
        for (structure, *_), places in groups.items()
        for part in _split_rows(structure, places, workers)
    ]

    def work(part: tuple[Structure, list[int]]) -> Outcome:
        structure, places = part
        return _run_filled(setup, structure, [leaves[i] for i in places])

    outcomes = list(thread_pool(workers).map(work, parts)) if len(parts) > 1 and workers > 1 else list(map(work, parts))
    whole: Any = None
    for (_, places), outcome in zip(parts, outcomes, strict=True):
        if whole is None:
            whole = map_leaves(lambda a: np.full(len(rows), np.nan if a.dtype.kind == "f" else 0, a.dtype), outcome)
        _put_rows(whole, outcome, places)
    return whole


def _split_rows(structure: Structure, places: list[int], workers: int) -> list[list[int]]:
    """Return rows of a structure in parts of a call each; where lanes take turns, shared among all workers.

    The first ones in a process are short: code is written better once it has run for a while, between calls.
    """
    sizes = [] if structure in _begun else [2**power for power in range(LANES.bit_length() - 1) for _ in range(2)]
    _begun.add(structure)
    found, most = [], at_once() or min(LANES, -(-len(places) // workers))
    while places:
        size = min(sizes.pop(0) if sizes else LANES, most)
        found.append(places[:size])
        places = places[size:]
    return found


def _run_filled(setup: str, structure: Structure, leaves: list[list[Any]]) -> Outcome:
    """Return one call: rows of equal structure, filled up to its size."""
    count = len(leaves)
    shared = tuple(map(_is_array, leaves[0]))
    columns = [
        column[0] if common else np.array([*column, *[column[0]] * (LANES - count)], float)
        for column, common in zip(zip(*leaves, strict=True), shared, strict=True)
    ]
    contents, settings = unflatten(structure, columns)
    duration = np.where(np.arange(LANES) < count, settings.duration, 0.0)
    result = _run_lanes(setup, contents, replace(settings, duration=duration), np.int64(count), at_once(), shared)
    return map_leaves(lambda values: np.asarray(values)[:count], result)


def _is_array(leaf: Any) -> bool:  # noqa: ANN401, a number or many
    """Return whether a leaf holds many numbers, as the grid of a mesh: cases share it, it is too large for a copy each."""
    return isinstance(leaf, np.ndarray) and leaf.ndim > 0


def _put_rows(whole: Outcome, part: Outcome, places: Sequence[int]) -> None:
    """Put the rows of `part` at their `places`; a figure that only some rows have is added."""
    for name, values in part[0].items():
        whole[0].setdefault(name, np.full(len(whole[1]), np.nan))[list(places)] = values
    for target, values in zip(whole[1:], part[1:], strict=True):
        target[list(places)] = values
