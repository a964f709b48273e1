"""Delay lines: what a signal was one delay ago. Before t = 0 every signal is zero."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.integrate import cubic
from dockdyn.integrate.model import Scalar, pack, unpack
from dockdyn.mechanics.vector import once


class Interval(NamedTuple):
    """One past step during which the signal was alive, as a cubic."""

    start: Scalar  # s
    end: Scalar  # s
    detached: Bool[Array, ""]  # whether the signal jumped at the start
    values: tuple[Float[Array, "n"], ...]  # at start and end, then slopes per second at start and end

    def signal(self, time: Scalar, like: Any) -> Any:
        length = self.end - self.start
        a, b, da, db = self.values
        return unpack(once(cubic.value((time - self.start) / length, a, b, da * length, db * length)), like)


class IntervalLine(NamedTuple):
    """A ring of past active intervals, oldest first; where none lies, the signal was zero.

    Kept by an integrator that never steps across an interval's delayed edge: so every image of an event, one delay
    later and two and three, becomes a mesh point, whatever the delay.
    """

    rows: Float[Array, "capacity columns"]
    oldest: Int[Array, ""]
    count: Int[Array, ""]

    @staticmethod
    def empty(capacity: int, like: Any) -> IntervalLine:
        size = pack(like).size
        blank = jnp.concatenate([jnp.array([0.0, 1.0, 0.0]), jnp.zeros(4 * size)])
        return IntervalLine(jnp.tile(blank, (capacity, 1)), jnp.zeros((), int), jnp.zeros((), int))

    def push(self, when: Bool[Array, ""], interval: Interval) -> IntervalLine:
        """Append `interval` where `when` holds. The caller checks `full` first."""
        row = jnp.concatenate(
            [jnp.stack([interval.start, interval.end, interval.detached.astype(float)]), *interval.values]
        )
        at = (self.oldest + self.count) % self.rows.shape[0]
        kept = jax.lax.dynamic_index_in_dim(self.rows, at, keepdims=False)
        rows = jax.lax.dynamic_update_index_in_dim(self.rows, jnp.where(when, row, kept), at, 0)
        return IntervalLine(rows, self.oldest, self.count + when.astype(int))

    def pop(self, when: Bool[Array, ""]) -> IntervalLine:
        return IntervalLine(self.rows, self.oldest + when.astype(int), self.count - when.astype(int))

    def full(self) -> Bool[Array, ""]:
        return self.count >= self.rows.shape[0]

    def first(self) -> Interval:
        row = once(jax.lax.dynamic_index_in_dim(self.rows, self.oldest % self.rows.shape[0], keepdims=False))
        size = (self.rows.shape[1] - 3) // 4
        values = tuple(row[3 + i * size : 3 + (i + 1) * size] for i in range(4))
        return Interval(row[0], row[1], row[2] > 0, values)


class SampledLine(NamedTuple):
    """A ring of equally spaced samples, read by the cubic through the four nearest known ones."""

    rows: Float[Array, "capacity size"]

    @staticmethod
    def empty(capacity: int, like: Any) -> SampledLine:
        return SampledLine(jnp.zeros((capacity, pack(like).size)))

    def store(self, index: Int[Array, ""], signal: Any) -> SampledLine:
        at = index % self.rows.shape[0]
        return SampledLine(jax.lax.dynamic_update_index_in_dim(self.rows, pack(signal), at, 0))

    def read(self, index: Int[Array, ""], taps: tuple[Int[Array, ""], Float[Array, "taps"]], like: Any) -> Any:
        """Sum of the samples from `index + taps[0]` on, weighted by `taps[1]`."""
        first, weights = taps
        capacity = self.rows.shape[0]
        total = jnp.zeros(self.rows.shape[1])
        for i in range(weights.shape[0]):
            row = jax.lax.dynamic_index_in_dim(self.rows, (index + first + i) % capacity, keepdims=False)
            total += weights[i] * row
        return unpack(once(total), like)


def taps(position: Scalar, width: int = 4) -> tuple[Int[Array, ""], Float[Array, "width"]]:
    """First index and Lagrange weights to read at `position` (in samples, now = 0), the newest known sample being 0."""
    first = jnp.minimum(jnp.floor(position) - (width // 2 - 1), -(width - 1.0))
    nodes = first + jnp.arange(width)
    weights = []
    for i in range(width):
        others = [(position - nodes[j]) / (nodes[i] - nodes[j]) for j in range(width) if j != i]
        weights.append(jnp.prod(jnp.stack(others)))
    return first.astype(int), jnp.stack(weights)
