"""Event-located integration: Runge–Kutta of fifth order, with a delay fourth, whose order survives contact.

One iteration attempts one step. Inside a step the model's modes are frozen, so its right-hand side is smooth. At the
step's end the guards and their time derivatives give cubics; where one rises through zero the step is rejected and
tried again with its end at the root, until the root and the end agree. The delayed signal is kept as cubics over past
steps, and no step crosses the delayed image of a step's end, so onset, release and all their images are mesh points.
Where the delayed signal or the modes jump, a zero-length step refreshes the rates. With a finite tolerance the step
shrinks where the motion is faster than it (a stiff contact), judged by an embedded formula of the next lower order; with an
infinite one every step has the length that was asked for, as a study of the order needs.
Steps also end where the model's clock ticks, and just before and behind corners of the signal.

Forward derivatives go through: root searches are frozen; the step that lands on an event is taken once more with a
length whose Newton correction, zero in value, carries the derivative of the event time.

Units: times s, states in those of the model.
Source: Hairer, Nørsett and Wanner 1993, sections II.6 and II.17 (events, delays); own construction of the mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Bool, Int, PyTree, jax, jnp
from dockdyn.integrate.hybrid import fixed
from dockdyn.integrate.hybrid.delay_line import SMOOTH, Interval, IntervalLine, pass_edge
from dockdyn.integrate.hybrid.mesh_point import (
    Delayed,
    MeshPoint,
    evaluate_mesh_point,
    event_correction,
    foresee_where,
    interpolate_state,
    is_finite,
    time_tolerance,
    zeros_like,
)
from dockdyn.integrate.hybrid.runge_kutta import Flow, Step
from dockdyn.integrate.hybrid.running_extrema import RunningExtrema, step_beside_peak, update_extrema
from dockdyn.integrate.hybrid.solver_state import (
    SolverState,
    apply_jumps,
    conclude_step,
    event_record,
    guard_step,
    solution_of,
)
from dockdyn.integrate.hybrid.step_control import (
    STEEP,
    control_step,
    is_beside_corner,
    longest_step,
    order_of,
    steepens,
    step_beside_corner,
    step_error,
    take_step,
    time_foreseen,
)
from dockdyn.integrate.model import Flag, Model, Rate, Scalar, State, choose_tree, pack_tree
from dockdyn.integrate.solution import Solution, Status, iterate_until
from dockdyn.mechanics import cubic
from dockdyn.mechanics.vector import once
from dockdyn.parameters import TOLERANCE
from dockdyn.trees import Module, field, leaves_of

STEP = 5e-3  # s, the longest step where none is stated
BRIEF = 1e-2  # of the planned step: so short that a guard which falls at both ends falls all the way
SHORT_OF = 0.1  # of a step that was shortened to a root: so near behind its end the root is looked for once more
HIDDEN = 16  # times what rounding makes of a guard: so near to zero it is at its root
NEARER = 0.9  # times the step: less is left of it to a root than what ends half-way there would leave
RESOLVED = 100  # times the tolerance of times: shorter steps are not cut before a root
MANY_REJECTIONS = 8  # an event is usually found by the second or third attempt
STRETCHED = 1e-6  # of a step, by which it may be longer to end at an edge
MOST_REJECTIONS = 24  # of what comes to a corner, some of which are for steps that were too coarse


class Settings(Module):
    """How long and how finely to integrate; sizes are static."""

    duration: Scalar | float  # s
    step: Scalar | float = STEP  # s, the longest
    tolerance: Scalar | float = TOLERANCE  # relative error of a step; inf: every step as long as `step`
    sampling: Scalar | float = STEP  # s, between samples
    samples: int = field(static=True, default=0)  # at most; 0: keep none
    max_moments: int = field(static=True, default=256)  # rows of the log; when it is full the run stops
    line_capacity: int = field(static=True, default=4096)  # steps within a delay
    max_iterations: Scalar | float = 1e6
    fixed: bool = field(static=True, default=False)  # steps of one length, and nothing located (`hybrid.fixed`)


def solve_located(model: Model, settings: Settings) -> Solution:
    """Integrate `model` from its initial state to the end."""
    return solution_of(advance_located(model, settings, initial_solver(model, settings), settings.max_iterations))


def advance_located(model: Model, settings: Settings, solver: SolverState, until: Scalar | float) -> SolverState:
    """Go on until the run ends or has made `until` iterations."""
    return iterate_until(partial(_make_iteration(settings), model, settings), solver, until)


def _make_iteration(
    settings: Settings, pause: Scalar | None = None
) -> Callable[[Model, Settings, SolverState], SolverState]:
    """Return what attempts one step; of a located one none goes across a `pause` (s)."""
    return fixed.step_once if settings.fixed else partial(_iterate, pause=pause)


def advance_to(model: Model, settings: Settings, solver: SolverState, time: Scalar) -> SolverState:
    """Go on until the run ends or has reached `time` (s), where a step ends."""
    return advance_while(model, settings, solver, lambda solver: solver.point.time < time, time)


def advance_while(
    model: Model,
    settings: Settings,
    solver: SolverState,
    goes_on: Callable[[SolverState], Flag],
    pause: Scalar | None = None,
) -> SolverState:
    """Go on until the run ends, or for as long as `goes_on` says so; no step crosses a `pause` (s)."""

    def running(solver: SolverState) -> Flag:
        return (solver.status == Status.RUNNING) & goes_on(solver)

    return jax.lax.while_loop(running, partial(_make_iteration(settings, pause), model, settings), solver)


def pass_to(model: Model, settings: Settings, solver: SolverState, time: Scalar, changed: Flag) -> SolverState:
    """Go on until exactly `time` (s), and later from there, in steps that find an empty log.

    What acts on the model from outside may have `changed` since the last stretch.
    """
    begun = solver._replace(
        refresh=solver.refresh | changed,
        level=jnp.where(changed, jnp.minimum(solver.level, 1.0), solver.level),  # the acceleration jumps
    )
    stretch = replace(settings, duration=time)
    return jax.lax.while_loop(
        lambda solver: solver.status == Status.RUNNING,
        lambda solver: _make_iteration(settings)(
            model, stretch, solver._replace(moments=jnp.zeros_like(solver.moments))
        ),
        begun,
    )


def initial_solver(
    model: Model, settings: Settings, start: State | None = None, begun: Scalar | None = None
) -> SolverState:
    """Return the solver of a run that has not advanced yet, from the model's initial state or from `start`, the state at the
    time `begun` (s), which is zero if it is not stated."""
    start = model.initial() if start is None else start
    time = jnp.zeros(()) if begun is None else begun
    # the first iteration is one of zero length: it brings the rates
    rate, outputs = Rate(*zeros_like((start.q, start.v, start.memory))), model.outputs(time, start)
    line: IntervalLine | fixed.Past | None = None
    if model.delay is not None:
        kept = fixed.Past.begun if settings.fixed else IntervalLine.empty
        line = kept(settings.line_capacity, outputs.signal)
    point = MeshPoint(time, start, rate, outputs, zeros_like(outputs))
    quiet = zeros_like(outputs.signal)
    first_row = pack_tree((start, quiet if line is not None else point.outputs.signal))
    samples = None
    if settings.samples:
        samples = jnp.zeros((settings.samples, first_row.size)).at[0].set(first_row)
    extrema = RunningExtrema.fresh(len(point.outputs.monitored), time)
    row = pack_tree(event_record(point, jnp.zeros(len(point.outputs.guards), bool), extrema))
    zero = jnp.zeros((), int)
    return SolverState(
        point=point,
        refresh=jnp.asarray(True),
        landing=jnp.zeros(len(point.outputs.guards), bool),
        level=jnp.zeros(()),
        limit=jnp.asarray(jnp.inf),
        rejections=zero,
        step_limit=jnp.asarray(settings.step),
        largest_local_error=jnp.zeros(()),
        line=line,
        reading=jnp.asarray(False),
        extrema=extrema,
        status=zero,
        steps=zero,
        iterations=zero,
        log=jnp.zeros((settings.max_moments + 1, row.size)),
        moments=zero,
        samples=samples,
        sampled=zero + (1 if settings.samples else 0),
        first_nonfinite=zero - 1,
        hints=model.renew_hints(start, model.first_hints()),
    )


def sample_end(model: Model, settings: Settings, solver: SolverState) -> SolverState:
    """Return a run that has ended with a sample of its end, where the last one was before."""
    if solver.samples is None:
        return solver
    point, count = solver.point, solver.sampled
    before = (count - 1) * settings.sampling < point.time - time_tolerance(point.time)
    due = (solver.status == Status.FINISHED) & before & (count < settings.samples)
    place = jnp.minimum(count, settings.samples - 1)
    row = pack_tree((point.state, acting_signal(model, solver)))
    kept = jax.lax.dynamic_index_in_dim(solver.samples, place, keepdims=False)
    samples = jax.lax.dynamic_update_index_in_dim(solver.samples, jnp.where(due, row, kept), place, 0)
    return solver._replace(samples=samples, sampled=count + due.astype(int))


def acting_signal(model: Model, solver: SolverState) -> PyTree:
    """Return the delayed signal that acts where a run is now."""
    point = solver.point
    line = solver.line
    if isinstance(line, fixed.Past):
        return line.acting
    return _delayed_signal(model, line, solver.reading, point.outputs.signal)(point.time, point.state)


def _delayed_signal(model: Model, line: IntervalLine | None, reading: Flag, signal: PyTree) -> Delayed:
    """Return the delayed signal, a tree like `signal`, as a function of time and state, up to the next delayed edge."""
    if line is None:
        return model.signal
    interval, quiet = line.first(), zeros_like(signal)

    def delayed(t: Scalar, x: State) -> PyTree:
        return choose_tree(reading, interval.signal(t - model.delay, quiet), quiet)

    return delayed


class _Attempt(NamedTuple):
    """One step that was attempted, and whether it is taken."""

    step: Scalar  # s
    tried: MeshPoint  # at its end
    at: MeshPoint  # where the run is now: at the step's end, or still where it began
    moved: Flag  # the step is accepted
    event: Flag  # it lands on an event
    done: Flag  # it is the run's last
    landing: Bool[Array, "guards"]  # the guards on whose event the next attempt lands
    limit: Scalar  # s, of the next attempt
    step_limit: Scalar  # s, that the tolerance asks for
    fine: Scalar  # s, steps as fine as the delayed signal needs
    error: Scalar  # estimated, relative
    bend: Rate | None  # of the step
    foreseen: Flag | None  # parts of the motion in it are known in closed form
    delayed: Delayed
    hints: PyTree  # of the model, at the step's end


def _iterate(model: Model, settings: Settings, solver: SolverState, pause: Scalar | None = None) -> SolverState:
    """Attempt one step, not across a `pause` (s): accept it, or reject it and shorten the next."""
    tick = model.next_tick(solver.point.state)
    attempt = _attempt_step(model, settings, solver, _earlier_of(tick, pause))
    step, at, moved, event, done = attempt.step, attempt.at, attempt.moved, attempt.event, attempt.done
    finite = once(is_finite(attempt.tried) | ~moved)

    middle = once(_integrands_amid(model, solver.point, attempt))
    model = model.with_hints(attempt.hints)
    extrema = once(choose_tree(moved, update_extrema(solver.extrema, solver.point, at, step, middle), solver.extrema))
    samples, sampled = sample_step(model, settings, solver, attempt)
    line, reading, image, level = _advance_line(model, solver, attempt)
    renewed = event | image
    ticks = None
    if tick is not None:
        ticks = moved & (at.time >= tick) & (at.time < settings.duration)
        level = jnp.where(ticks, jnp.minimum(level, 1.0), level)  # the acceleration jumps
        renewed = renewed | ticks
    level = jnp.where(event, 0.0, jnp.where(solver.refresh | ~moved, solver.level, level))

    at = at._replace(state=apply_jumps(model, at, tuple(solver.landing), event, tick, ticks))
    largest = jnp.maximum(solver.largest_local_error, attempt.error)
    following = solver._replace(
        **conclude_step(model, solver, at, solver.landing, extrema, event, image, done),
        refresh=renewed,
        landing=attempt.landing,
        level=level,
        limit=attempt.limit,
        rejections=jnp.where(moved, 0, solver.rejections + 1),
        step_limit=attempt.step_limit,
        largest_local_error=jnp.where(moved, largest, solver.largest_local_error),
        line=line,
        reading=reading,
        steps=solver.steps + (moved & ~solver.refresh).astype(int),
        iterations=solver.iterations + 1,
        samples=samples,
        sampled=sampled,
        hints=attempt.hints,
    )
    return guard_step(settings, solver, following, attempt.tried, finite)


def _attempt_step(model: Model, settings: Settings, solver: SolverState, stop: Scalar | None) -> _Attempt:
    """Integrate over one step, not across a `stop` (s), and judge it by its error, its events and its peaks."""
    point, line = solver.point, solver.line
    assert not isinstance(line, fixed.Past)
    longest, ahead = _bound_step(model, settings, solver)
    step, end, hits_end = once(_next_step(model, settings, solver, longest, stop))
    foreseen = None if ahead is None else once((ahead > 0) & (step <= ahead * (1 + STRETCHED)))

    def delayed_by(model: Model) -> Delayed:
        return _delayed_signal(model, line, solver.reading, point.outputs.signal)

    def flow_of(model: Model) -> Flow:
        delayed = delayed_by(model)

        def flow(fraction, x):
            t = jnp.where(fraction < 1, point.time + fraction * step, end)
            x = foresee_where(model, foreseen, point.state, x, fraction * step)
            return model.flow(t, x, delayed(t, x))

        return flow

    before = model.with_hints(solver.hints)
    taken = once(take_step(before, flow_of(before), before.end_step, point, step))
    if foreseen is not None:
        taken = once(jax.lax.cond(foreseen, partial(_with_foreseen, model, point), lambda taken, _: taken, taken, step))
    hints = model.renew_hints(taken.state, solver.hints)
    model = model.with_hints(hints)
    tried = evaluate_mesh_point(model, end, taken.state, taken.rate)
    delayed, flow = delayed_by(model), flow_of(model)

    event = jnp.any(solver.landing)
    error = jax.lax.stop_gradient(step_error(model, settings.tolerance, point, tried, step, taken, flow))
    judged = solver.refresh | event
    too_coarse = (solver.rejections > 0) & jnp.isinf(solver.limit)
    coarse, step_limit, fine = once(
        control_step(
            settings.tolerance, longest, solver.step_limit, step, error, judged, point.time, order_of(model), too_coarse
        )
    )
    planned = jnp.maximum(step, jnp.minimum(solver.step_limit, longest))
    steep = steepens(point, tried, step) if model.parts_steeply and leaves_of(point.outputs.signal) else None
    landing, limit, moved = once(_find_events(solver, point, tried, step, planned, coarse, steep))
    at_will = (settings.tolerance < 1) & ~event & ~coarse
    peak = once(step_beside_peak(solver.extrema, point, tried, step, model.timed))
    beside = jnp.where(at_will & (solver.rejections < MANY_REJECTIONS), peak, jnp.inf)
    if tried.outputs.corners:
        corner = once(step_beside_corner(point, tried, step))
        beside = jnp.minimum(beside, jnp.where(at_will & (solver.rejections < MOST_REJECTIONS), corner, jnp.inf))
    landing = landing & (beside >= limit)
    moved = moved & jnp.isinf(beside)
    limit = jnp.minimum(limit, beside)
    at = once(choose_tree(moved, tried, point))
    done = moved & hits_end & ~event
    return _Attempt(
        *(step, tried, at, moved, event, done, landing, limit, step_limit, fine, error, taken.bend),
        *(foreseen, delayed, hints),
    )


def _with_foreseen(model: Model, point: MeshPoint, taken: Step, step: Scalar) -> Step:
    """Return where a step leads with what is known of it in closed form, which does not err."""
    bend = None if taken.bend is None else model.without_foreseen(taken.bend)
    state = model.foresee(point.state, taken.state, step)
    return Step(state, taken.rate, model.without_foreseen(taken.missed), bend)


def _advance_line(
    model: Model, solver: SolverState, attempt: _Attempt
) -> tuple[IntervalLine | None, Flag, Flag, Scalar]:
    """Return the delay line with the step that was taken, whether it is read, whether its end is the delayed image of an
    edge, and the order of the derivative that jumps there."""
    point, line = solver.point, solver.line
    assert not isinstance(line, fixed.Past)
    if line is None:
        return None, solver.reading, jnp.asarray(False), jnp.asarray(float(SMOOTH))
    at, moved = attempt.at, attempt.moved
    lasting = at.time - point.time > time_tolerance(point.time)  # shorter ones are rounding between coinciding edges
    alive = moved & (lasting | attempt.event) & model.emitting(point.state)
    line = line.push(alive, delay_interval(point, at, solver.level), jnp.minimum(attempt.fine, model.delay), lasting)
    line, reading, image, level = pass_edge(line, model.delay, solver.reading, at.time, moved)
    if at.outputs.corners:
        level = jnp.where(is_beside_corner(at), jnp.minimum(level, 1.0), level)  # the signal's slope jumps
    return line, reading, image, level


def _earlier_of(one: Scalar | None, other: Scalar | None) -> Scalar | None:
    """Return the earlier of two instants (s), where there are any."""
    if one is None or other is None:
        return other if one is None else one
    return jnp.minimum(one, other)


def _bound_step(model: Model, settings: Settings, solver: SolverState) -> tuple[Scalar, Scalar | None]:
    """Return how long (s) the next attempt may be, and for how long (s) parts of the motion are foreseen, zero where they are
    not; None of a model without such parts."""
    point, line = solver.point, solver.line
    assert not isinstance(line, fixed.Past)
    quiet = jnp.asarray(True) if line is None else (line.held == 0) & ~solver.reading
    longest = once(longest_step(model, settings.tolerance, settings.step, point, quiet))
    ahead = time_foreseen(model, settings.tolerance, point, quiet)
    return (
        (longest, ahead) if ahead is None else once((jnp.where(ahead > 0, jnp.minimum(longest, ahead), longest), ahead))
    )


def _next_step(
    model: Model, settings: Settings, solver: SolverState, longest: Scalar, stop: Scalar | None
) -> tuple[Scalar, Scalar, Flag]:
    """Return the length and end time of the next attempt, never across a delayed edge or a `stop`, and whether it is the run's
    last."""
    now = solver.point.time
    # the repetition that lands on an event is as long as the attempt that found it, whatever steps are to be from now on
    planned = jnp.where(jnp.any(solver.landing), jnp.inf, jnp.minimum(solver.step_limit, longest))
    # a minimum of equals would have the mean of their derivatives: that of an event's time is the limit's
    bound = jnp.where(solver.limit <= planned, solver.limit, planned)
    edge, line = jnp.asarray(jnp.inf), solver.line
    assert not isinstance(line, fixed.Past)
    if line is not None:
        # the past is known for one delay
        bound = jnp.where(model.emitting(solver.point.state) & (model.delay < bound), model.delay, bound)
        interval = line.first()
        edge = jnp.where(solver.reading, interval.end, interval.start) + model.delay
        edge = jnp.where(line.held > 0, edge, jnp.inf)
    if stop is not None:
        edge = jnp.minimum(edge, stop)
    bound = jnp.where(solver.refresh, 0.0, bound)
    to_edge, to_end = edge - now, settings.duration - now
    # a step is stretched to an edge that is all but reached, but not over the root that limits it
    stretch = jnp.where(jnp.isinf(solver.limit), time_tolerance(now), 0.0)
    hits_edge = (to_edge <= bound + stretch) & ~solver.refresh
    hits_end = (to_end <= bound) & (to_end <= to_edge)
    step = jnp.where(hits_edge, to_edge, bound)
    step = jnp.where(hits_end, to_end, step)
    end = jnp.where(hits_end, settings.duration, jnp.where(hits_edge, edge, now + step))
    return step, end, hits_end


def _find_rises(
    solver: SolverState, known: tuple[cubic.Values, ...], step: Scalar, planned: Scalar, close: Scalar
) -> tuple[Bool[Array, "guards"], cubic.Values, cubic.Values]:
    """Return which guards rise through zero in a step, where in it, and how long (s) behind its end those would that rise.

    `known` are their values at both ends and their rates there; times that are `close` (s) are one.
    """
    a, b, da, db = known
    rises, where = cubic.rising_root(a, b, da * step, db * step)
    # just after its event a guard falls, and only rounding shows it above zero: within the planned step it would be below
    falls = (da < 0) & (db < 0) & (a + da * planned <= 0) & (b + db * planned <= 0) & (step < BRIEF * planned)
    # and where it just rises from its event by rounding, as of a cable that is taut and at rest, it is below at once
    _, top = cubic.cubic_extremes(a, b, da * step, db * step)
    passing = (b <= 0) & (where * step <= close) & (top * step < BRIEF * planned)
    rises = rises & ~falls & ~passing
    # shortened to a root, the step is so short that rounding, by which a straight line misses its end, hides what is left: this
    # is the root
    missed = jnp.abs(b - a - (da + db) / 2 * step)
    straight = (da > 0) & (db > 0) & (jnp.abs(db - da) * step < missed) & (step < BRIEF * planned)
    hidden = jnp.isfinite(solver.limit) & straight & (jnp.abs(b) <= HIDDEN * missed)
    # or it ends a little short of the root: accepted, its end would not move with the root as numbers change, and
    # derivatives of what bends sharply there, such as the power of a depth that is all but zero, would be large
    ahead_of_end = jnp.where(db > 0, -b / jnp.where(db > 0, db, 1.0), jnp.inf)
    reach = jnp.where(solver.rejections < MANY_REJECTIONS, jnp.maximum(close, SHORT_OF * step), close)
    short = jnp.isfinite(solver.limit) & (b <= 0) & (ahead_of_end <= reach)
    where = jnp.where(short & ~rises, 1 + ahead_of_end / jnp.where(step > 0, step, 1.0), where)
    where = jnp.where(hidden, 1.0, where)
    return rises | hidden | short, where, ahead_of_end


def _find_events(
    solver: SolverState,
    point: MeshPoint,
    tried: MeshPoint,
    step: Scalar,
    planned: Scalar,
    coarse: Flag,
    steep: Flag | None,
) -> tuple[Bool[Array, "guards"], Scalar, Flag]:
    """Return the guards on whose event the next attempt lands, its limit, and whether time advances to `tried`.

    `planned` is how long (s) the step would have been without other events, `steep` whether a force bends steeply in it, None
    of a model in which none does before an event.
    """
    if not point.outputs.guards:
        return solver.landing, jnp.asarray(jnp.inf), ~coarse
    a, b, da, db = (
        jax.lax.stop_gradient(jnp.stack(values))
        for values in (point.outputs.guards, tried.outputs.guards, point.slopes.guards, tried.slopes.guards)
    )
    frozen, ahead, close = (jax.lax.stop_gradient(one) for one in (step, planned, time_tolerance(point.time)))
    rises, where, ahead_of_end = _find_rises(solver, (a, b, da, db), frozen, ahead, close)
    tip = cubic.tip_above(a, b, da * frozen, db * frozen)
    open_ = ~solver.refresh & ~jnp.any(solver.landing) & ~coarse
    rises = rises & open_
    where = jnp.where(rises, where, jnp.inf)
    first = jnp.min(where)
    some = jnp.any(rises)
    at_end = some & (jnp.abs(1 - first) * frozen <= close)
    at_start = some & ~at_end & (first * frozen <= close)
    landing = rises & ((where - first) * frozen <= close) & (at_end | at_start)
    length = jnp.where(at_end, step, 0.0) + event_correction(choose_tree(at_end, tried, point), landing)
    # where cubics follow the guards badly, halving does it
    few = solver.rejections < MANY_REJECTIONS
    shorter = jnp.where(few, first, 0.5) * frozen
    limit = jnp.where(some, jnp.where(at_end | at_start, length, shorter), jnp.inf)
    # what its ends leave open is looked at where it would be: a thin plate lies between two places outside it
    tip = jnp.where(open_ & few & (frozen > BRIEF * ahead), jnp.min(tip), jnp.inf)
    passed = tip < first
    landing, limit, some = landing & ~passed, jnp.where(passed, tip * frozen, limit), some | passed
    if steep is None:
        return landing, limit, ~some & ~coarse
    # a step in which a force bends steeply, to a root or near before it, ends half-way to that instead
    left = jnp.where(at_end, 0.0, jnp.min(jnp.where((db > 0) & (b <= 0), ahead_of_end, jnp.inf)))
    whole = frozen + left
    near = at_end | (~some & (left < NEARER * frozen))
    cut = steep & near & open_ & few & (whole > RESOLVED * close)
    return landing & ~cut, jnp.where(cut, (1 - 1 / STEEP**2) * whole, limit), ~some & ~coarse & ~cut


def delay_interval(point: MeshPoint, at: MeshPoint, level: Scalar) -> Interval:
    """Return what the delay line keeps of the step between two mesh points: the cubic of the signal."""
    ends = (point.outputs.signal, at.outputs.signal, point.slopes.signal, at.slopes.signal)
    return Interval(point.time, at.time, level, tuple(pack_tree(signal) for signal in ends))


def _integrands_amid(model: Model, point: MeshPoint, attempt: _Attempt) -> list[Scalar | None] | None:
    """Return the monitored quantities whose integrals are of use in the middle of a step, None for others and where the step's
    method does not tell the state there."""
    a, b = point.outputs.monitored, attempt.tried.outputs.monitored
    if attempt.bend is None or not a:
        return None

    def amid() -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        state = interpolate_state(model, point, attempt.tried, attempt.step, 0.5, attempt.bend, attempt.foreseen)
        return model.integrands(point.time + attempt.step / 2, state)

    shapes = jax.eval_shape(amid)
    begun, left = len(shapes[0]), len(a) - len(shapes[1])
    if begun == 0 and left == len(a):
        return None
    # what is zero at both ends, as forces of open contacts, is so between them
    acts = jnp.any(jnp.stack([*a[:begun], *a[left:], *b[:begun], *b[left:]]) != 0)
    first, last = jax.lax.cond(attempt.moved & acts, amid, lambda: zeros_like(shapes))
    return [*first, *[None] * (left - begun), *last]


def sample_step(model: Model, settings: Settings, solver: SolverState, attempt: _Attempt) -> tuple[Any, Int[Array, ""]]:
    """Return samples with those that a step passes."""
    if solver.samples is None:
        return None, solver.sampled
    point, at, step, moved = solver.point, attempt.at, attempt.step, attempt.moved

    def due(kept: tuple[Any, Int[Array, ""]]) -> Flag:
        _, count = kept
        return moved & (count * settings.sampling <= at.time + time_tolerance(at.time)) & (count < settings.samples)

    def take(kept: tuple[Any, Int[Array, ""]]) -> tuple[Any, Int[Array, ""]]:
        rows, count = kept
        time = count * settings.sampling
        u = jnp.clip((time - point.time) / jnp.where(step > 0, step, 1.0), 0.0, 1.0)
        state = interpolate_state(model, point, at, step, u, attempt.bend, attempt.foreseen)
        row = pack_tree((state, attempt.delayed(time, state)))
        return jax.lax.dynamic_update_index_in_dim(rows, row, count, 0), count + 1

    return jax.lax.while_loop(due, take, (solver.samples, solver.sampled))
