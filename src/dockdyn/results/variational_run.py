"""A run of a mechanism by the variational integrator: its steps, how it goes on to given instants, and what it leaves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.integrate.model import Flag, Scalar, State, over_rows, unpack_tree
from dockdyn.integrate.solution import AT_ONCE, EventRecord, Sample, Solution, Status
from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.mechanical import project_velocities
from dockdyn.integrate.variational.solver_state import VariationalSettings, VariationalState
from dockdyn.integrate.variational.step import Newton
from dockdyn.mechanism.state import Memory
from dockdyn.mechanism.variational import Moment, MonitoredQuantities, VariationalMechanism
from dockdyn.results.plan import NO_LIMIT, Planned, plan_run, power_of_two, refuse_too_many_steps
from dockdyn.trees import map_leaves

SOLVED = Newton(1e-12, 30)  # when the equations of a step are
WHOLE = 1e-9  # of a step: so near is a whole number of them
FAR = 2**40  # marks: so many steps away that the end of a stretch comes first
NONE_KEPT = 2  # rows of samples where none are asked for


def variational_settings(content: Planned, sampled: bool = True, most_moments: int = NO_LIMIT) -> VariationalSettings:
    """Return steps and sizes of a run, the log at most so long. Raises ScenarioError for too many steps or samples.

    Samples are a whole number of steps apart: where their interval is stated, steps are as much shorter. Where an `error` is
    stated, steps follow the motion, and end at samples.
    """
    steps, error = plan_run(content, 0.0), getattr(content.integrator, "error", None)
    stride, step, interval = 1, steps.step, steps.interval
    if error is None:
        stride = max(1, math.ceil(interval / step * (1 - 1e-9)))
        step = step if content.output.interval is None else interval / stride
        interval = stride * step
        refuse_too_many_steps(step, content.integrator.max_steps, content.duration)
    return VariationalSettings(
        duration=np.float64(content.duration),
        step=np.float64(step),
        newton=Newton(np.float64(SOLVED.tolerance), SOLVED.most),
        error=None if error is None else np.float64(error),
        interval=np.float64(interval),
        stride=stride,
        samples=power_of_two(math.ceil(content.duration / interval * (1 - 1e-12)) + 1) if sampled else 0,
        max_events=min(content.integrator.max_events, most_moments),
        max_iterations=np.float64(content.integrator.max_steps),
    )


def pass_to(
    model: VariationalMechanism, settings: VariationalSettings, solver: VariationalState, time: Scalar
) -> VariationalState:
    """Go on until exactly `time` (s), and later from there, in steps that find an empty log."""
    return advance_to(model, replace(settings, duration=time), empty_log(solver), time, after=empty_log)


def advance_to(
    model: VariationalMechanism,
    settings: VariationalSettings,
    solver: VariationalState,
    time: Scalar,
    after: Callable[[VariationalState], VariationalState] = lambda solver: solver,
) -> VariationalState:
    """Go on until exactly `time` (s), in steps of one length that are as long as stated, or as little shorter as can be.

    What an attempt leaves is passed on as `after` makes it.
    """
    varying, begun = settings.error is not None, solver.time
    left = time - begun
    count = jnp.asarray(1.0) if varying else jnp.maximum(jnp.ceil(left / settings.step - WHOLE), 1.0)
    length = settings.step if varying else left / count

    def running(now: tuple[Scalar, VariationalState]) -> Flag:
        taken, solver = now
        return (solver.status == Status.RUNNING) & (taken < count)

    def attempt(now: tuple[Scalar, VariationalState]) -> tuple[Scalar, VariationalState]:
        taken, solver = now
        end = jnp.where(taken + 1 >= count, time, begun + (taken + 1) * length)
        stretch = replace(settings, step=length, duration=end)
        unmarked = solver._replace(mark=jnp.full_like(solver.mark, FAR))
        found = after(colliding.advance_variational(model, stretch, unmarked, solver.iterations + 1))
        there = (found.status == Status.FINISHED) & ~_is_over(model, found)
        status = jnp.where(there & (end < settings.duration), int(Status.RUNNING), found.status)
        endless = (status == Status.RUNNING) & (found.iterations >= settings.max_iterations)
        status = jnp.where(endless, int(Status.TOO_MANY_ITERATIONS), status)
        return taken + there.astype(float), found._replace(status=status)

    return jax.lax.while_loop(running, attempt, (jnp.zeros(()), solver))[1]


def _is_over(model: VariationalMechanism, solver: VariationalState) -> Flag:
    """Return whether an event has ended a run."""
    over = model.ended(solver.at.mode)
    return jnp.asarray(False) if over is None else over


def state_of(model: VariationalMechanism, solver: VariationalState) -> State:
    """Return the state of the mechanism where a run is."""
    _, v, _ = project_velocities(model, solver.time, solver.at)
    return model.state(solver.time, solver.at.q, v, solver.at.mode)


def with_memory(solver: VariationalState, memory: Memory) -> VariationalState:
    """Return the run with another memory of the mechanism, such as of a command."""
    return solver._replace(at=solver.at._replace(mode=solver.at.mode._replace(memory=memory, since=solver.time)))


def monitored_maxima(model: VariationalMechanism, solver: VariationalState) -> Float[Array, "monitored"]:
    """Return the largest of each monitored quantity since the log began or was emptied."""
    now = solver.at.mode.watched.peaks
    peaks = _moments_of_log(model, solver).watched.peaks
    used = jnp.arange(peaks.shape[0]) < solver.events
    return jnp.maximum(jnp.maximum(now, 0.0), jnp.max(jnp.where(used[:, None], peaks, 0.0), axis=0, initial=0.0))


def empty_log(solver: VariationalState) -> VariationalState:
    """Return the run with an empty log, as at its beginning."""
    mode = solver.at.mode
    watched = MonitoredQuantities.nothing(mode.watched.peaks.size)
    return solver._replace(
        at=solver.at._replace(mode=mode._replace(watched=watched)), events=jnp.zeros_like(solver.events)
    )


def solution_of(model: VariationalMechanism, solver: VariationalState) -> Solution:
    """Return the run so far as one of located events: their moments before anything is struck and after, the last now.

    What has been watched since the event before counts for the moment at which something touches.
    """
    mechanism = model.mechanism

    log, after = colliding.logged_events(solver, model.records()), _moments_of_log(model, solver)
    like = map_leaves(lambda rows: rows[0], after.state)
    touching = over_rows(lambda row: unpack_tree(row, like), log.record)
    struck = log.guard >= 0  # of what parts from rest both moments are one
    before = map_leaves(lambda a, b: jnp.where(_align_flags(struck, a), a, b), touching, after.state)
    end, watched = state_of(model, solver), solver.at.mode.watched
    nothing = jnp.zeros_like(after.watched.peaks)
    last = 2 * solver.events

    def rows(first: Array, second: Array, at_end: Array) -> Array:
        """Return the two moments of each event in turn, and the end behind those that there are."""
        every = jnp.stack([first, second], axis=1).reshape(2 * first.shape[0], *first.shape[1:])
        every = jnp.concatenate([every, jnp.zeros_like(every[:1])])
        return jax.lax.dynamic_update_index_in_dim(every, jnp.asarray(at_end, every.dtype), last, 0)

    peaks, times, integrals = (rows(part, nothing, now) for part, now in zip(after.watched, watched, strict=True))
    guards = solver.depths.shape[0]
    flags = jnp.where(struck[:, None], log.guard[:, None] == jnp.arange(guards), jnp.zeros((), bool))
    moments = EventRecord(
        rows(log.time, log.time, solver.time),
        rows(flags, jnp.zeros_like(flags), jnp.zeros(guards, bool)),
        map_leaves(rows, before, after.state, end),
        jnp.where(jnp.isfinite(peaks), peaks, 0.0),
        times,
        integrals,
    )
    samples = None
    if solver.samples.shape[0] > NONE_KEPT:
        kept = colliding.kept_samples(solver)
        written = jnp.arange(kept.time.shape[0]) < solver.sampled

        def state(kept: colliding.KeptSample) -> State:
            return model.state(kept.time, kept.at.q, kept.v, kept.at.mode)

        def sample(written: Flag, kept: colliding.KeptSample) -> State:
            return jax.lax.cond(written, lambda: state(kept), lambda: end)

        states = over_rows(sample, written, kept)
        samples = Sample(states, over_rows(mechanism.signal, kept.time, states))
    return Solution(
        status=jnp.where(solver.status == Status.RUNNING, Status.TOO_MANY_ITERATIONS, solver.status),
        time=solver.time,
        state=end,
        steps=solver.steps,
        iterations=solver.iterations,
        moments=last + 1,
        log=moments,
        sampled=solver.sampled,
        samples=samples,
        first_nonfinite=jnp.asarray(-1),
        slack=AT_ONCE,
        largest_local_error=jnp.zeros(()),
    )


def _moments_of_log(model: VariationalMechanism, solver: VariationalState) -> Moment:
    """Return what the log keeps of states after events, with all the rows that there may be."""
    q, v, mode = model.initial()
    like = model.moment(jnp.zeros(()), q, v, mode)
    return over_rows(lambda row: unpack_tree(row, like), colliding.logged_events(solver, model.records()).told)


def _align_flags(flags: Array, rows: Array) -> Array:
    """Return flags of rows in the shape of those."""
    return jnp.reshape(flags, (rows.shape[0],) + (1,) * (rows.ndim - 1))
