"""The state of an event-located run between iterations: its log, and what it is when the run has ended.

Units: times s, states in those of the model.
Source: own construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.integrate.hybrid.delay_line import IntervalLine
from dockdyn.integrate.hybrid.mesh_point import MeshPoint, finite_numbers
from dockdyn.integrate.hybrid.running_extrema import RunningExtrema
from dockdyn.integrate.model import Flag, Model, Scalar, State, choose_tree, pack_tree, unpack_tree, write_row
from dockdyn.integrate.solution import AT_ONCE, EventRecord, Sample, Solution, Status
from dockdyn.mechanics.vector import once
from dockdyn.trees import leaves_of

if TYPE_CHECKING:
    from dockdyn.integrate.hybrid.fixed import Past
    from dockdyn.integrate.hybrid.located import Settings


class SolverState(NamedTuple):
    """The state of one run between iterations."""

    point: MeshPoint
    refresh: Flag  # the next attempt has zero length, to renew the rates after a jump
    landing: Bool[Array, "guards"]  # the guards that fire at the end of the next attempt, whose length is `limit`
    level: Scalar  # order of the signal's time derivative that jumps at `point`
    limit: Scalar  # s, upper bound on the next step, from a rejected attempt
    rejections: Int[Array, ""]  # in a row
    step_limit: Scalar  # s, upper bound on steps that the tolerance asks for
    largest_local_error: Scalar  # largest estimate of a step's relative error so far
    line: IntervalLine | Past | None
    reading: Flag  # whether the delayed signal is alive: the line's first interval is being read
    extrema: RunningExtrema
    status: Int[Array, ""]
    steps: Int[Array, ""]
    iterations: Int[Array, ""]
    log: Float[Array, "moments columns"]  # last row: scratch
    moments: Int[Array, ""]
    samples: Float[Array, "samples columns"] | None
    sampled: Int[Array, ""]
    first_nonfinite: Int[Array, ""]  # which number of `numbers(point)` was not finite; −1 for none
    hints: PyTree  # of the model, for it to answer sooner


def monitored_maxima(solver: SolverState) -> Float[Array, "monitored"]:
    """Return the largest of each monitored quantity since the log began or was emptied."""
    like = event_record(solver.point, solver.landing, solver.extrema)
    peaks = jax.vmap(lambda row: unpack_tree(row, like).peaks)(solver.log[:-1])
    used = jnp.arange(solver.log.shape[0] - 1) < solver.moments
    return jnp.maximum(solver.extrema.peaks, jnp.max(jnp.where(used[:, None], peaks, 0.0), axis=0))


def empty_log(solver: SolverState) -> SolverState:
    """Return the run with an empty log, as at its beginning."""
    fresh = solver.extrema.restarted(solver.extrema.since)
    return solver._replace(moments=jnp.zeros_like(solver.moments), extrema=fresh)


def event_record(point: MeshPoint, fired: Bool[Array, "guards"], extrema: RunningExtrema) -> EventRecord:
    """Return what is recorded of an event: which guards fired, and peaks and integrals until then."""
    peaks = extrema.peaks_until(point.time)
    return EventRecord(point.time, fired, point.state, peaks, extrema.peak_times, extrema.integrals)


def apply_jumps(
    model: Model, at: MeshPoint, fired: tuple[Flag, ...], event: Flag, tick: Scalar | None, ticks: Flag | None
) -> State:
    """Return the state after the event with these guards, if there is one, and after the model's clock, where it `ticks`."""
    after = jax.lax.cond(event, lambda x: model.jump(at.time, x, fired), lambda x: x, at.state)
    if tick is not None:
        after = jax.lax.cond(ticks, lambda x: model.tick(tick, x), lambda x: x, after)
    return after


def conclude_step(
    model: Model,
    solver: SolverState,
    at: MeshPoint,
    fired: Bool[Array, "guards"],
    extrema: RunningExtrema,
    event: Flag,
    image: Flag,
    done: Flag,
) -> dict[str, Any]:
    """Return the fields of the solver after a step that leads to `at`: with a row of the log for an event, a delayed `image`
    of one and the end, which has come where it is `done` or an event ends the run."""
    ended = model.ended(at.state)
    if ended is not None:
        done = done | ((event | (solver.iterations == 0)) & ended)  # as a run may begin
    at, logged = once((at, event | image | done))
    log, moments = write_row(solver.log, solver.moments, logged, pack_tree(event_record(at, fired, extrema)))
    return {
        "point": at,
        "extrema": choose_tree(logged, extrema.restarted(at.time), extrema),
        "status": jnp.where(done, Status.FINISHED, solver.status),
        "log": log,
        "moments": moments,
    }


def solution_of(solver: SolverState) -> Solution:
    """Return the solution of a run that has ended."""
    state = solver.point.state
    like = event_record(solver.point, jnp.zeros(len(solver.point.outputs.guards), bool), solver.extrema)
    samples = None
    if solver.samples is not None:
        shape = Sample(state, solver.point.outputs.signal)
        samples = jax.vmap(lambda row: unpack_tree(row, shape))(solver.samples)
    return Solution(
        status=solver.status,
        time=solver.point.time,
        state=state,
        steps=solver.steps,
        iterations=solver.iterations,
        moments=solver.moments,
        log=jax.vmap(lambda row: unpack_tree(row, like))(solver.log[:-1]),
        sampled=solver.sampled,
        samples=samples,
        first_nonfinite=solver.first_nonfinite,
        slack=AT_ONCE if solver.line is None else solver.line.slack(solver.step_limit),
        largest_local_error=solver.largest_local_error,
    )


def guard_step(
    settings: Settings, solver: SolverState, following: SolverState, tried: MeshPoint, finite: Flag
) -> SolverState:
    """Return `following`, unless it is not finite or has reached a limit: then the run stops, each lane for its own reason."""
    status = following.status
    running = status == Status.RUNNING
    status = jnp.where(running & (following.iterations >= settings.max_iterations), Status.TOO_MANY_ITERATIONS, status)
    status = jnp.where(running & (following.moments >= settings.max_moments), Status.TOO_MANY_EVENTS, status)
    if following.line is not None:
        status = jnp.where(running & following.line.full(), Status.DELAY_LINE_FULL, status)

    def first_one() -> Int[Array, ""]:
        return jnp.argmin(jnp.stack([jnp.all(jnp.isfinite(n)) for n in leaves_of(finite_numbers(tried))])).astype(int)

    first_nonfinite = jax.lax.cond(finite, lambda: solver.first_nonfinite, first_one)
    stopped = solver._replace(status=jnp.full_like(status, Status.NOT_FINITE), first_nonfinite=first_nonfinite)
    kept = following._replace(status=status)
    small = {
        name: choose_tree(finite, getattr(kept, name), getattr(stopped, name))
        for name in SolverState._fields
        if name not in BULK
    }
    return kept._replace(**small)


BULK = ("line", "log", "samples", "hints")  # written in place, so never selected between
