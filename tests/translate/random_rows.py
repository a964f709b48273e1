"""Functions over many random rows: in machine code of dockdyn's own, beside what XLA makes of them.

A row is near one of some trees of numbers that occur in runs: their numbers, parameters of the scenario and states, are
changed by up to a tenth, in every row by another size. In each eighth row one number is none, infinite, zero, huge or tiny.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from dockdyn.integrate.variational.step import APART
from dockdyn.translate.code import Code
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.machine import machine_code
from dockdyn.translate.native import BETTER, Native, code_of

EXTREME = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e100, -1e100, 1e-100, 1e-300)
EVERY = 8  # rows, of which one is extreme
MOST, LEAST = -1.0, -6.0  # powers of ten of the change
CLOSE = 1e-12  # of the size of a variable, or of all arguments
TOGETHER = 50  # rows, by one program
MOVES, MOST_MOVES, SLACK = 4, 100, 10.0  # of all arguments by so much, to see what depends on it
EVENT = ".point.outputs.guards"  # where a step ends as near to zero as these are known, rounding says if it is an event
SLOPE, SIZE = ".slopes.monitored", ".outputs.monitored"  # of what is watched, and what it is
HUGE = 1e99  # beyond it, squares of squares overflow
LEAST_SIZE = {  # by the end of a name; what is far below is rounding
    ".largest_local_error": 1.0,  # of the motion
    ".velocity": 1.0,  # m/s, after an impact, which may end what was as fast
    ".newton": 1.0,
    ".poisson": 1.0,
    ".energetic": 1.0,  # coefficients of restitution
}
DIVIDED = {  # by the end of a name; what is a difference of numbers so near to each other has lost as many digits
    ".known.inverse": APART,  # of a Jacobian that is taken by differences
    ".known.masses": APART,
}


@dataclass
class Rows:
    """Arguments of a function, each with a leading axis, which rows hold nothing extreme, and what the others hold."""

    leaves: list[np.ndarray]
    ordinary: np.ndarray
    extreme: dict[int, tuple[int, float]]  # by row: which argument, and what


def random_rows(trees: Sequence[PyTree], count: int, seed: int = 0) -> Rows:
    """Rows near trees of one structure; whole numbers and what is true stay as they are there."""
    rng = np.random.default_rng(seed)
    leaves = [
        np.stack(parts) for parts in zip(*[list(map(np.asarray, jax.tree.leaves(one))) for one in trees], strict=True)
    ]
    which, change = rng.integers(len(trees), size=count), 10 ** rng.uniform(LEAST, MOST, count)
    rows = []
    for leaf in leaves:
        row = leaf[which]
        if leaf.dtype.kind == "f":
            finite = np.where(np.isfinite(leaf), leaf, 0.0)
            size = np.maximum(np.abs(row), np.abs(finite).max(initial=0.0) * (finite.std(0) > 0))
            size = np.where(np.isfinite(row), size, 0.0)
            row = row + size * change.reshape(-1, *[1] * (row.ndim - 1)) * rng.uniform(-1, 1, row.shape)
        rows.append(np.ascontiguousarray(row))
    ordinary = np.arange(count) % EVERY != 0
    floats = [at for at, row in enumerate(rows) if row.dtype.kind == "f" and row[0].size]
    extreme = {}
    for place in map(int, np.flatnonzero(~ordinary)):
        at, value = int(rng.choice(floats)), float(rng.choice(EXTREME))
        one = rows[at][place : place + 1].reshape(-1)
        one[rng.integers(one.size)] = value
        extreme[place] = at, value
    return Rows(rows, ordinary, extreme)


def moved_rows(leaves: Sequence[np.ndarray], seed: int) -> list[np.ndarray]:
    """Rows, each number changed by up to `CLOSE` of its size, or of a thousandth of its unit, which is more for zero."""
    rng = np.random.default_rng([seed, 7])
    floats = [leaf.dtype.kind == "f" for leaf in leaves]
    return [
        leaf + CLOSE * rng.uniform(-1, 1, leaf.shape) * np.where(np.isfinite(leaf), np.maximum(np.abs(leaf), 1e-3), 0.0)
        if real
        else leaf
        for leaf, real in zip(leaves, floats, strict=True)
    ]


class Differences(NamedTuple):
    """How two ways to compute the same rows differ."""

    apart: np.ndarray  # rows decided otherwise: whole numbers differ, or the places of what is no number
    wavers: (
        np.ndarray
    )  # rows at an event, or that one of both ways decides otherwise where its arguments move by `CLOSE` of their sizes
    loose: float  # share of the variables of ordinary rows that differ by more than `CLOSE`, or what is left of it (`DIVIDED`)
    wrong: dict[str, Any]  # variables that differ by more than both that and what moved arguments change


class Compared:
    """What machine code of dockdyn's own and XLA make of rows."""

    def __init__(self, function: Callable[..., PyTree], trees: Sequence[PyTree], rows: Rows, better: bool = False):
        """`better`: the optimised machine code, too, which must give the same bits."""
        structure = jax.tree.structure(trees[0])
        self.rows = rows

        def one(leaves: Sequence[Any]) -> PyTree:
            return function(*jax.tree.unflatten(structure, leaves))

        traced = jax.jit(lambda *leaves: jax.lax.map(one, leaves)).trace(*rows.leaves)
        self.eliminates = "= lu " in str(traced.jaxpr)
        code = code_of(translate_function(traced.jaxpr))
        found = Native(code)(*rows.leaves)
        if better:
            machine = machine_code(code.written.unpacked(), BETTER)
            again = Native(Code(**(vars(code) | {"machine": machine, "level": BETTER})))(*rows.leaves)
            for first, second in zip(found, again, strict=True):
                np.testing.assert_array_equal(first, second)
        self.compiled = jax.jit(lambda *leaves: jax.lax.map(one, leaves))
        self.names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(traced.out_info)]
        self.native, self.xla = found, self.by_xla(rows.leaves)

    def by_xla(self, leaves: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What XLA makes of any number of rows: by one program, which takes `TOGETHER` of them."""
        return _in_parts(lambda *some: jax.tree.leaves(self.compiled(*some)), leaves)

    @cached_property
    def small(self) -> Native:
        """Machine code of dockdyn's own for `TOGETHER` rows."""
        return Native(code_of(translate_function(self.compiled.trace(*_rows_of(self.rows.leaves, TOGETHER)).jaxpr)))

    def wavers_itself(self, place: int) -> bool:
        """Whether machine code of dockdyn's own decides a row otherwise where its arguments move: what XLA is asked, too."""
        row = [leaf[[place]] for leaf in self.rows.leaves]
        moved = [moved_rows(row, seed) for seed in range(MOST_MOVES)]
        found = _in_parts(self.small, [np.concatenate(some) for some in zip(*moved, strict=True)])
        unmoved = [np.repeat(leaf[[place]], MOST_MOVES, axis=0) for leaf in self.native]
        return bool(_apart(found, unmoved).any())

    def differences(self) -> Differences:
        """Rows in doubt are moved more often: so few moves seldom find the most that they change."""
        count = len(self.rows.ordinary)
        apart, scales = _apart(self.native, self.xla), self.scales()
        wavers, moves = self.at_events(scales), [np.zeros(count) for _ in self.xla]
        doubt = np.arange(count)
        for seed in range(MOST_MOVES):
            moved = self.by_xla(moved_rows([leaf[doubt] for leaf in self.rows.leaves], seed))
            unmoved = [leaf[doubt] for leaf in self.xla]
            wavers[doubt] |= _apart(moved, unmoved)
            for most, one, other in zip(moves, moved, unmoved, strict=True):
                most[doubt] = np.maximum(most[doubt], _error(one, other))
            if seed + 1 >= MOVES:
                loose, wrong = self.beyond(scales, moves, apart, wavers)
                doubt = np.flatnonzero(np.any([apart & ~wavers, *(rows for rows, *_ in wrong.values())], axis=0))
                if not doubt.size:
                    break
        for place in np.flatnonzero(apart & ~wavers & self.rows.ordinary):
            wavers[place] = self.wavers_itself(int(place))
        counted = {name: (int(rows.sum()), *worst) for name, (rows, *worst) in wrong.items()}
        return Differences(apart, wavers, loose / max(1, self.rows.ordinary.sum() * len(self.names)), counted)

    def at_events(self, scales: Sequence[np.ndarray]) -> np.ndarray:
        """Rows in which a step ends where a guard is zero to rounding."""
        found = np.zeros(len(self.rows.ordinary), bool)
        for name, one, scale in zip(self.names, self.native, scales, strict=True):
            if EVENT in name:
                found |= (np.abs(_flattened(one)) <= CLOSE * scale[:, None]).any(1) & (scale > 0)
        return found

    def beyond(
        self, scales: Sequence[np.ndarray], moves: Sequence[np.ndarray], apart: np.ndarray, wavers: np.ndarray
    ) -> tuple[int, dict[str, Any]]:
        """How many numbers of ordinary rows differ by more than `CLOSE`, and in which rows moved arguments do not explain it.

        Where a watched size is zero to rounding, so is the direction of what it is the size of, and its slope is not known.
        """
        loose, wrong, places = 0, {}, {name: place for place, name in enumerate(self.names)}
        for name, one, other, scale, move in zip(self.names, self.native, self.xla, scales, moves, strict=True):
            error = _error(one, other)
            if SLOPE in name and (size := places.get(name.replace(SLOPE, SIZE))) is not None:
                error = np.where(_size(self.xla[size]) <= CLOSE * scales[size], 0.0, error)
            differs = (error > CLOSE * scale) & ~apart
            left = min([apart_by for word, apart_by in DIVIDED.items() if name.endswith(word)], default=1.0)
            loose += int((differs & (error * left > CLOSE * scale) & self.rows.ordinary).sum())
            if (bad := differs & ~wavers & (error > SLACK * move)).any():
                worst = int(np.argmax(np.where(bad, error / np.maximum(scale, 1e-300), 0)))
                wrong[name] = (bad, worst, float(error[worst]), float(scale[worst]), float(move[worst]))
        return loose, wrong

    def overflows(self, place: int) -> bool:
        """Whether both hold what is no number or infinite in a row."""
        return all(
            any(not np.isfinite(leaf[place]).all() for leaf in way if leaf.dtype.kind == "f")
            for way in (self.native, self.xla)
        )

    def less_is_known(self, place: int) -> bool:
        """Whether in a row what is no number or infinite for XLA is so for machine code of dockdyn's own, too."""
        pairs = [(a[place], b[place]) for a, b in zip(self.native, self.xla, strict=True) if a.dtype.kind == "f"]
        return all((~np.isfinite(a) | np.isfinite(b)).all() for a, b in pairs)

    def scales(self) -> list[np.ndarray]:
        """Sizes that numbers are compared by: a variable's largest of ordinary rows; of an extreme row the row's largest, and
        the square of a huge number, which what is left of a difference does not show."""
        ordinary = self.rows.ordinary
        squares = np.zeros(len(ordinary))
        for place, (_, value) in self.rows.extreme.items():
            squares[place] = value**2 if HUGE <= abs(value) < np.inf else 0.0
        floats = [leaf for leaf in (*self.rows.leaves, *self.xla, *self.native) if leaf.dtype.kind == "f"]
        largest = np.max([squares, *(_size(leaf) for leaf in floats)], axis=0)
        found = []
        for name, leaf in zip(self.names, self.xla, strict=True):
            least = max([size for word, size in LEAST_SIZE.items() if name.endswith(word)], default=0.0)
            size = max(_size(leaf)[ordinary].max(), least)
            found.append(np.where(ordinary, size, np.maximum(size, largest)))
        return found


def _rows_of(leaves: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """So many rows, the last one again where there are not as many."""
    return [leaf[np.minimum(np.arange(count), len(leaf) - 1)] for leaf in leaves]


def _in_parts(program: Callable[..., list], leaves: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What a program that takes `TOGETHER` rows makes of any number of them."""
    count = len(leaves[0])
    all_of_them = _rows_of(leaves, -(-count // TOGETHER) * TOGETHER)
    starts = range(0, len(all_of_them[0]), TOGETHER)
    parts = [program(*[leaf[start : start + TOGETHER] for leaf in all_of_them]) for start in starts]
    return [np.concatenate([np.asarray(leaf) for leaf in some])[:count] for some in zip(*parts, strict=True)]


def _flattened(leaf: np.ndarray) -> np.ndarray:
    return leaf.reshape(len(leaf), -1)


def _size(leaf: np.ndarray) -> np.ndarray:
    """The largest finite number of each row."""
    whole = _flattened(leaf)
    return np.abs(np.where(np.isfinite(whole), whole, 0.0)).max(1, initial=0.0)


def _apart(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> np.ndarray:
    """Rows in which whole numbers, what is true, or the places of what is none or infinite differ."""
    found = np.zeros(len(some[0]), bool)
    for one, other in zip(some, others, strict=True):
        a, b = _flattened(one), _flattened(other)
        if a.dtype.kind == "f":
            a, b = (np.where(np.isfinite(each), 0.0, each) for each in (a, b))
        found |= ~((a == b) | ((a != a) & (b != b))).all(1)
    return found


def _error(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The largest difference of finite numbers in each row."""
    if one.dtype.kind != "f":
        return np.zeros(len(one))
    a, b = _flattened(one), _flattened(other)
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(over="ignore"):
        return np.abs(np.where(finite, a, 0.0) - np.where(finite, b, 0.0)).max(1, initial=0.0)
