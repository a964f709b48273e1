"""What an integrator returns, and how it goes on until it has it.

Units: times s, states in those of the model.
Source: definition.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax
from dockdyn.integrate.model import Scalar, State
from dockdyn.trees import Module

AT_ONCE = 2e-9  # s; in a log with located events images of them are rows themselves


class Status(enum.IntEnum):
    """How a run ended; every lane of a batch has its own."""

    RUNNING = 0
    FINISHED = 1
    NOT_FINITE = 2  # a state or rate stopped being finite; the run holds what came before
    TOO_MANY_EVENTS = 3  # the log is full: contacts chatter, or a delayed loop bounces ever faster
    DELAY_LINE_FULL = 4
    TOO_MANY_ITERATIONS = 5
    NOT_CONVERGED = 6  # an implicit step whose equations were not solved
    TOO_MANY_AT_REST = 7  # more contacts rest at once than there are places for


class EventRecord(NamedTuple):
    """An instant the log keeps: an event, the delayed image of one, or the end of the run."""

    time: Scalar  # s
    fired: Bool[Array, "guards"]  # which guards fired; none for a delayed image and for the end
    state: State  # just after
    peaks: Float[Array, "monitored"]  # largest value since the previous moment, and when
    peak_times: Float[Array, "monitored"]  # s
    integrals: Float[Array, "monitored"]  # over time since the previous moment


class Sample(NamedTuple):
    """State and delayed signal at a sampling instant."""

    state: State
    delayed: Any


class Solution(Module):
    """A run: where it ended and why, its log, and its samples."""

    status: Int[Array, ""]
    time: Scalar  # s, of `state`
    state: State
    steps: Int[Array, ""]  # accepted steps that advanced time
    iterations: Int[Array, ""]  # attempts, rejected and zero-length ones included
    moments: Int[Array, ""]  # number of rows of the log in use
    log: EventRecord  # each leaf with a leading axis, rows after `moments` meaningless
    sampled: Int[Array, ""]  # number of samples in use
    samples: Sample | None  # leaves with a leading axis; sample i at i times the interval, the last at the end
    first_nonfinite: Int[
        Array, ""
    ]  # with NOT_FINITE: index of the first number that was not finite, among states, signal, rates
    slack: Scalar | float  # s; a row of the log so little after an instant is of that instant
    largest_local_error: Scalar  # largest estimate of a step's error, relative to the motion


def iterate_until[SolverState](
    iterate: Callable[[SolverState], SolverState], solver: SolverState, until: Scalar | float
) -> SolverState:
    """Return the run `solver` at its end, or where it has made `until` iterations; it counts them, and has a `status`."""

    def is_running(solver: PyTree) -> Bool[Array, ""]:
        return (solver.status == Status.RUNNING) & (solver.iterations < until)

    return jax.lax.while_loop(is_running, iterate, solver)
