"""What a variational run keeps between iterations, and what an iteration comes to.

Units: times s, energies J, momenta N s and N m s.
Source: own construction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.integrate.variational.event_search import Search
from dockdyn.integrate.variational.mechanical import PhasePoint, Row
from dockdyn.integrate.variational.step import KeptJacobian, Newton
from dockdyn.trees import Module, field


class VariationalSettings(Module):
    """Step, duration and limits; sizes are static."""

    duration: Scalar | float  # s
    step: Scalar | float  # s; the longest one, where `error` is given
    newton: Newton
    error: Scalar | float | None  # of a step, relative to the largest velocity so far; None: fixed steps
    interval: Scalar | float  # s, between samples; of fixed steps a multiple of the step
    stride: int = field(static=True)  # fixed steps between samples; 1 where they vary
    samples: int = field(static=True)  # besides that at t = 0
    max_events: int = field(static=True)
    max_iterations: Scalar | float = math.inf


class History(NamedTuple):
    """Velocities of past steps and their divided differences, to guess the next."""

    v: Row
    slope: Row
    curve: Row
    time: Scalar  # s, that `v` belongs to
    before: Scalar
    known: Int[Array, ""]  # steps since the last jump

    @staticmethod
    def fresh(v: Row, time: Scalar) -> History:
        return History(v, jnp.zeros_like(v), jnp.zeros_like(v), time, time - 1.0, jnp.zeros((), int))

    def guess(self, time: Scalar) -> Row:
        ahead = time - self.time
        return self.v + ahead * (self.slope + (time - self.before) * self.curve)

    def push(self, v: Row, time: Scalar) -> tuple[History, Scalar]:
        """Return it with the velocities of one more step; and the size of their second derivative by time."""
        ahead = time - self.time
        apart = ahead > 0
        slope = jnp.where(apart, (v - self.v) / jnp.where(apart, ahead, 1.0), 0.0)
        bend = slope - self.slope
        bend = bend / (time - self.before)
        curve = jnp.where(self.known > 1, bend, 0.0)
        return History(v, slope, curve, time, self.time, self.known + 1), 2 * jnp.max(jnp.abs(bend))


class LoggedEvent(NamedTuple):
    """What the log keeps of an event."""

    time: Scalar  # s
    guard: Int[Array, ""]  # that fired; −1 − guard: a contact at rest that parted
    record: Float[Array, "records"]
    told: Row  # of the state after it


class KeptSample(NamedTuple):
    """What a sample keeps."""

    time: Scalar
    at: PhasePoint
    v: Row  # velocities there
    work: Scalar  # J, of forces without potential
    given: Row  # momenta that came from the potential
    iterations: Int[Array, ""]  # of Newton's method in the step that ended here


class VariationalState(NamedTuple):
    """A run between iterations."""

    time: Scalar
    at: PhasePoint
    history: History
    known: KeptJacobian  # of the Jacobian
    depths: Float[Array, "guards"]  # now
    earlier: Float[Array, "guards"]  # a step ago
    struck: Flag  # there was a jump at this instant
    search: Search  # for an event in the step at hand
    step_limit: Scalar  # s
    fastest: Scalar  # largest of the velocities so far
    mark: Int[Array, ""]  # marks passed
    work: Scalar
    given: Row
    corrections: Int[Array, ""]  # Newton's, of all steps
    most: Int[Array, ""]  # of a step
    last: Int[Array, ""]  # of the last step
    steps: Int[Array, ""]
    iterations: Int[Array, ""]
    status: Int[Array, ""]
    log: Float[Array, "events columns"]  # last row: scratch
    events: Int[Array, ""]
    samples: Float[Array, "samples columns"]  # last row: scratch
    sampled: Int[Array, ""]


class Move(NamedTuple):
    """What an iteration comes to."""

    time: Scalar
    at: PhasePoint
    depths: Float[Array, "guards"]
    moves: Flag  # time advances
    fired: Int[Array, ""]  # the guard that jumps now, or −1 − that which parts
    jumps: Flag
    after: Row  # velocities after the jump
    record: Float[Array, "records"]
    search: Search
