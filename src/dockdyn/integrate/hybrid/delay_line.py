"""Delay lines: what a signal was one delay ago. Before t = 0 every signal is zero.

Units: times s, signals in those of the model.
Source: continuous extensions of delay equations, Bellen and Zennaro 2003, Numerical Methods for Delay Differential
Equations.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.integrate.hybrid.mesh_point import time_tolerance
from dockdyn.integrate.model import Flag, Scalar, pack_tree, unpack_tree
from dockdyn.integrate.solution import AT_ONCE
from dockdyn.mechanics import cubic
from dockdyn.mechanics.vector import once

BEND = 1e-7  # well above what smooth signals differ from cubics over steps that are fine enough, well below any kink
SMOOTH = 4  # an interval's start with this level or more is no mesh point for what follows


def _changing_as(number: Array, other: Array) -> Array:
    """Return the number, with the derivatives of the other one."""
    return jax.lax.stop_gradient(number) + (other - jax.lax.stop_gradient(other))


class Interval(NamedTuple):
    """A stretch of the past during which the signal was alive, as a cubic."""

    start: Scalar  # s
    end: Scalar  # s
    level: Scalar  # order of the signal's time derivative that jumps at the start (an event: 0, its images: 1, 2 …)
    values: tuple[Float[Array, "n"], ...]  # at start and end, then slopes per second at start and end

    def signal(self, time: Scalar, like: PyTree) -> PyTree:
        length = self.end - self.start
        a, b, da, db = self.values
        return unpack_tree(once(cubic.cubic_value((time - self.start) / length, a, b, da * length, db * length)), like)

    def row(self) -> Float[Array, "columns"]:
        return jnp.concatenate([jnp.stack([self.start, self.end, self.level]), *self.values])

    @staticmethod
    def of(row: Float[Array, "columns"]) -> Interval:
        size = (row.size - 3) // 4
        return Interval(row[0], row[1], row[2], tuple(row[3 + i * size : 3 + (i + 1) * size] for i in range(4)))

    def joined(self, later: Interval) -> Interval:
        """Return this interval and the `later` one that follows it, as one cubic."""
        (a, _, da, _), (_, b, _, db) = self.values, later.values
        return Interval(self.start, later.end, self.level, (a, b, da, db))

    def landing_at(self, later: Interval) -> Interval:
        """Return this interval, with its end changing with parameters as that of the `later` one, of no length, does."""
        (a, b, da, db), (_, ends, _, slopes) = self.values, later.values
        values = (a, _changing_as(b, ends), da, _changing_as(db, slopes))
        return Interval(self.start, _changing_as(self.end, later.end), self.level, values)

    def continues_in(self, later: Interval) -> Bool[Array, ""]:
        """Return whether one cubic over both intervals passes through where they meet, but for `BEND` of the largest number
        there."""
        both = self.joined(later)
        length = both.end - both.start
        a, b, da, db = both.values
        met = cubic.cubic_value((self.end - self.start) / length, a, b, da * length, db * length)
        return jnp.max(jnp.abs(met - later.values[0])) <= BEND * jnp.max(jnp.abs(a) + jnp.abs(b))


class IntervalLine(NamedTuple):
    """A ring of past active intervals, oldest first; where none lies, the signal was zero.

    Kept by an integrator that never steps across an interval's delayed edge: so every image of an event, one delay
    later and two and three, becomes a mesh point, whatever the delay.
    """

    rows: Float[Array, "capacity columns"]
    oldest: Int[Array, ""]
    held: Int[Array, ""]  # how many rows are in use

    @staticmethod
    def empty(capacity: int, like: PyTree) -> IntervalLine:
        zero = jnp.zeros_like(pack_tree(like))
        blank = Interval(jnp.zeros(()), jnp.ones(()), jnp.zeros(()), (zero,) * 4).row()
        return IntervalLine(jnp.tile(blank, (capacity, 1)), jnp.zeros((), int), jnp.zeros((), int))

    def at(self, index: Int[Array, ""]) -> Interval:
        """Return the interval `index` places after the oldest."""
        place = (self.oldest + index) % self.rows.shape[0]
        return Interval.of(once(jax.lax.dynamic_index_in_dim(self.rows, place, keepdims=False)))

    def first(self) -> Interval:
        return self.at(jnp.zeros((), int))

    def push(self, when: Bool[Array, ""], interval: Interval, longest: Scalar, lasting: Flag) -> IntervalLine:
        """Append `interval` where `when` holds. The caller checks `full` first.

        One that is not `lasting` is the landing on an event where the interval before ends: of it that one takes nothing but
        how its end changes with parameters.

        Where nothing up to the third derivative jumps between them, it is joined to the interval before, up to the
        length `longest`: short steps, once taken, would else come back one delay later for ever. Kinks that no event tells
        of, as of the members of a group, stay where they are.
        """
        before = self.at(self.held - 1)
        smooth = (self.held > 1) & (interval.level >= SMOOTH) & (before.end == interval.start)
        join = smooth & (interval.end - before.start <= longest) & before.continues_in(interval)
        lands = (self.held > 0) & ~jnp.asarray(lasting)
        into = join | lands
        place = (self.oldest + self.held - into.astype(int)) % self.rows.shape[0]
        kept = jax.lax.dynamic_index_in_dim(self.rows, place, keepdims=False)
        grown = jnp.where(lands, before.landing_at(interval).row(), before.joined(interval).row())
        row = jnp.where(when, jnp.where(into, grown, interval.row()), kept)
        rows = jax.lax.dynamic_update_index_in_dim(self.rows, row, place, 0)
        return IntervalLine(rows, self.oldest, self.held + (when & ~into & lasting).astype(int))

    def pop(self, when: Bool[Array, ""]) -> IntervalLine:
        return IntervalLine(self.rows, self.oldest + when.astype(int), self.held - when.astype(int))

    def full(self) -> Bool[Array, ""]:
        return self.held >= self.rows.shape[0]

    def slack(self, step: Scalar) -> float:
        """Return how long (s) after an instant it is known that its image is over: every image is a mesh point."""
        return AT_ONCE


def pass_edge(
    line: IntervalLine, delay: Scalar, reading: Flag, now: Scalar, moved: Flag
) -> tuple[IntervalLine, Flag, Flag, Scalar]:
    """Return what reaching the time `now` (s) does to the signal of one `delay` (s) ago.

    Returns the line, whether its first interval is being read from now on, whether the delayed signal jumps here, and the
    level of the kink that is left (`SMOOTH`: none).
    """
    reached = now - delay + time_tolerance(now)
    before = line.first()
    begins = moved & ~reading & (line.held > 0) & (reached >= before.start)
    ends = moved & reading & (reached >= before.end)
    line = line.pop(ends)
    after = line.first()
    follows = (line.held > 0) & (reached >= after.start)
    jumps = begins | (ends & (~follows | (after.level == 0)))
    level = jnp.where(jumps, 1.0, jnp.where(ends, jnp.minimum(after.level + 1, SMOOTH), SMOOTH))
    return line, jnp.where(ends, follows, reading | begins), jumps, level


class SampledLine(NamedTuple):
    """A ring of equally spaced samples, read by the cubic through the four nearest known ones."""

    rows: Float[Array, "capacity size"]

    @staticmethod
    def empty(capacity: int, like: PyTree) -> SampledLine:
        return SampledLine(jnp.zeros((capacity, pack_tree(like).size)))

    def store(self, index: Int[Array, ""], signal: PyTree) -> SampledLine:
        at = index % self.rows.shape[0]
        return SampledLine(jax.lax.dynamic_update_index_in_dim(self.rows, pack_tree(signal), at, 0))

    def read(self, index: Int[Array, ""], taps: tuple[Int[Array, ""], Float[Array, "taps"]], like: PyTree) -> PyTree:
        """Return the sum of the samples from `index + taps[0]` on, weighted by `taps[1]`."""
        first, weights = taps
        capacity = self.rows.shape[0]
        total = jnp.zeros(self.rows.shape[1])
        for i in range(weights.shape[0]):
            row = jax.lax.dynamic_index_in_dim(self.rows, (index + first + i) % capacity, keepdims=False)
            total += weights[i] * row
        return unpack_tree(once(total), like)


def lagrange_taps(position: Scalar, width: int = 4) -> tuple[Int[Array, ""], Float[Array, "width"]]:
    """Return the first index and Lagrange weights to read at `position` (in samples, now = 0), the newest known sample being
    0."""
    first = jnp.minimum(jnp.floor(position) - (width // 2 - 1), -(width - 1.0))
    nodes = first + jnp.arange(width)
    weights = []
    for i in range(width):
        others = [(position - nodes[j]) / (nodes[i] - nodes[j]) for j in range(width) if j != i]
        weights.append(jnp.prod(jnp.stack(others)))
    return first.astype(int), jnp.stack(weights)
