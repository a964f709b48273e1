"""Event-located integration: Runge–Kutta of fourth order whose order survives contact, delay included.

One iteration attempts one step. Inside a step the model's modes are frozen, so its right-hand side is smooth. At the
step's end the guards and their time derivatives give cubics; where one rises through zero the step is rejected and
tried again with its end at the root, until the root and the end agree. The delayed signal is kept as cubics over past
steps, and no step crosses the delayed image of a step's end, so onset, release and all their images are mesh points.
Where the delayed signal or the modes jump, a zero-length step refreshes the rates. With a finite tolerance the step
shrinks where the motion is faster than it (a stiff contact), judged by an embedded third-order formula; with an
infinite one every step has the length that was asked for, as a study of the order needs.

Forward derivatives go through: root searches are frozen; the step that lands on an event is taken once more with a
length whose Newton correction, zero in value, carries the derivative of the event time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.integrate import cubic
from dockdyn.integrate.delay_line import Interval, IntervalLine
from dockdyn.integrate.model import Model, Rate, Scalar, Sensed, State, advanced, chosen, pack, unpack
from dockdyn.integrate.runge_kutta import rk4, velocity_error
from dockdyn.integrate.solution import Moment, Sample, Solution, Status, stacked
from dockdyn.mechanics.vector import once

SHORTEST = 1e-11  # s per second of elapsed time (at least one): steps are not shortened below this
TIME_TOLERANCE = 1e-13  # s per second of elapsed time (at least one): how closely an event is located


def tolerance(time: Scalar) -> Scalar:
    """Times closer than this (s) are one instant."""
    return TIME_TOLERANCE * jnp.maximum(1.0, time)


class Node(NamedTuple):
    """Everything known at a mesh point, seen from the step that follows it (or, just reached, that precedes it)."""

    time: Scalar
    state: State
    rate: Rate
    sensed: Sensed
    slopes: Sensed  # time derivatives of `sensed`


class Watch(NamedTuple):
    """Peaks and integrals of the watched quantities since the last logged moment."""

    peaks: Float[Array, "watched"]
    peak_times: Float[Array, "watched"]
    integrals: Float[Array, "watched"]

    @staticmethod
    def fresh(size: int) -> Watch:
        return Watch(jnp.full(size, -jnp.inf), jnp.zeros(size), jnp.zeros(size))


class Lane(NamedTuple):
    """The state of one run between iterations."""

    node: Node
    refresh: Bool[Array, ""]  # the next attempt has zero length, to renew the rates after a jump
    landing: Bool[Array, "guards"]  # the guards that fire at the end of the next attempt, whose length is `limit`
    detached: Bool[Array, ""]  # the signal jumped at `node`
    limit: Scalar  # s, upper bound on the next step, from a rejected attempt
    pace: Scalar  # s, upper bound on steps that the tolerance asks for
    roughest: Scalar  # largest estimate of a step's relative velocity error so far
    line: IntervalLine | None
    watch: Watch
    status: Int[Array, ""]
    steps: Int[Array, ""]
    iterations: Int[Array, ""]
    log: Float[Array, "moments columns"]  # last row: scratch
    moments: Int[Array, ""]
    samples: Float[Array, "samples columns"] | None  # last row: scratch
    sampled: Int[Array, ""]
    culprit: Int[Array, ""]  # which number of `numbers(node)` was not finite; −1 for none


class Settings(eqx.Module):
    """Step (s), duration (s), sampling interval (s), limits; sizes are static."""

    duration: Scalar
    step: Scalar
    tolerance: Scalar  # relative velocity error of a step; inf: every step as long as `step`
    sampling: Scalar
    samples: int = eqx.field(static=True)  # 0: keep none
    max_moments: int = eqx.field(static=True)
    line_capacity: int = eqx.field(static=True)
    max_iterations: Scalar


def solve(model: Model, settings: Settings) -> Solution:
    """Integrate `model` from its initial state to the end."""
    return result(model, proceed(model, settings, begin(model, settings), settings.max_iterations))


def proceed(model: Model, settings: Settings, lane: Lane, until: Scalar) -> Lane:
    """Go on until the run ends or has made `until` iterations."""

    def going(lane: Lane) -> Bool[Array, ""]:
        return (lane.status == Status.RUNNING) & (lane.iterations < until)

    return jax.lax.while_loop(going, lambda lane: iterate(model, settings, lane), lane)


def begin(model: Model, settings: Settings) -> Lane:
    """The lane of a run that has not advanced yet."""
    start = model.initial()
    time = jnp.zeros(())
    line = None
    if model.delay is not None:
        line = IntervalLine.empty(settings.line_capacity, model.sense(time, start).signal)
    delayed = applied(model, line, time)
    node = look(model, time, start, delayed)
    quiet = quiet_signal(model, start)
    first_row = pack((start, quiet if line is not None else node.sensed.signal))
    samples = None
    if settings.samples:
        samples = jnp.zeros((settings.samples + 1, first_row.size)).at[0].set(first_row)
    watch = Watch.fresh(len(node.sensed.watched))
    row = pack(moment(node, jnp.zeros(len(node.sensed.guards), bool), watch))
    zero = jnp.zeros((), int)
    return Lane(
        node=node,
        refresh=jnp.asarray(True),
        landing=jnp.zeros(len(node.sensed.guards), bool),
        detached=jnp.asarray(True),
        limit=jnp.asarray(jnp.inf),
        pace=settings.step,
        roughest=jnp.zeros(()),
        line=line,
        watch=watch,
        status=zero,
        steps=zero,
        iterations=zero,
        log=jnp.zeros((settings.max_moments + 1, row.size)),
        moments=zero,
        samples=samples,
        sampled=zero + (1 if settings.samples else 0),
        culprit=zero - 1,
    )


def quiet_signal(model: Model, x: State) -> Any:
    """A signal of zeros."""
    return jax.tree.map(jnp.zeros_like, model.sense(jnp.zeros(()), x).signal)


def applied(model: Model, line: IntervalLine | None, now: Scalar):
    """The delayed signal as a function of time and state, valid up to the next delayed edge after `now`."""
    if line is None:
        return lambda t, x: model.sense(t, x).signal
    interval = line.first()
    alive = (line.count > 0) & (now >= interval.start + model.delay - tolerance(now))

    def delayed(t: Scalar, x: State) -> Any:
        like = quiet_signal(model, x)
        return chosen(alive, interval.signal(t - model.delay, like), like)

    return delayed


def look(model: Model, t: Scalar, x: State, delayed) -> Node:
    """The mesh point at (t, x)."""

    def sense(t, q, v, memory):
        return model.sense(t, State(q, v, x.mode, memory))

    sensed, tangent = jax.linearize(sense, t, x.q, x.v, x.memory)
    signal = sensed.signal if model.delay is None else delayed(t, x)
    rate = once(model.flow(t, x, signal))
    return once(Node(t, x, rate, sensed, tangent(jnp.ones(()), rate.q, rate.v, rate.memory)))


def iterate(model: Model, settings: Settings, lane: Lane) -> Lane:
    """Attempt one step and take what it brings."""
    node, line = lane.node, lane.line
    step, end, hits_edge, hits_end = once(next_step(model, settings, lane))
    delayed = applied(model, line, node.time)

    def flow(fraction, x):
        t = node.time + fraction * step
        return model.flow(t, x, delayed(t, x))

    state, last = once(rk4(flow, node.state, step, node.rate))
    tried = look(model, end, once(model.retract(state)), delayed)

    event = jnp.any(lane.landing)
    error = model.relative_size(tried.state, velocity_error(step, last, tried.rate))
    coarse, pace = once(keep_pace(settings, lane, step, jax.lax.stop_gradient(error)))
    landing, limit, moved = once(find_events(lane, node, tried, step, coarse))
    at = once(chosen(moved, tried, node))
    done = moved & hits_end & ~event
    finite = once(is_finite(tried) | ~moved)

    watch = once(chosen(moved, watched(lane.watch, node, at, step), lane.watch))
    samples, sampled = sample(model, settings, lane, at, step, delayed, moved)

    image = jnp.asarray(False)
    if line is not None:
        lasting = at.time - node.time > tolerance(node.time)  # shorter ones are rounding between coinciding edges
        alive = moved & lasting & model.emitting(node.state)
        line = line.push(alive, interval(node, at, lane.detached))
        line, image = pass_edge(model, line, at.time, moved & hits_edge)

    jumped = once(model.jump(at.time, at.state, tuple(lane.landing[i] for i in range(lane.landing.shape[0]))))
    at = at._replace(state=chosen(event, jumped, at.state))
    logged = event | image | done
    at, logged = once((at, logged))
    log, moments = write(lane.log, lane.moments, logged, pack(moment(at, lane.landing, watch)))
    following = Lane(
        node=at,
        refresh=event | image,
        landing=landing,
        detached=event | (lane.detached & (lane.refresh | ~moved)),
        limit=limit,
        pace=pace,
        roughest=jnp.where(moved, jnp.maximum(lane.roughest, error), lane.roughest),
        line=line,
        watch=chosen(logged, Watch.fresh(watch.peaks.size), watch),
        status=jnp.where(done, Status.FINISHED, lane.status),
        steps=lane.steps + (moved & ~lane.refresh).astype(int),
        iterations=lane.iterations + 1,
        log=log,
        moments=moments,
        samples=samples,
        sampled=sampled,
        culprit=lane.culprit,
    )
    return guard(settings, lane, following, tried, finite)


def next_step(model: Model, settings: Settings, lane: Lane) -> tuple[Scalar, Scalar, Bool[Array, ""], Bool[Array, ""]]:
    """Length and end time of the next attempt, and whether it ends on a delayed edge or at the end of the run."""
    now = lane.node.time
    bound = jnp.minimum(lane.pace, lane.limit)
    edge = jnp.asarray(jnp.inf)
    if lane.line is not None:
        bound = jnp.where(model.emitting(lane.node.state), jnp.minimum(bound, model.delay), bound)
        interval = lane.line.first()
        begin = interval.start + model.delay
        edge = jnp.where(now >= begin - tolerance(now), interval.end + model.delay, begin)
        edge = jnp.where(lane.line.count > 0, edge, jnp.inf)
    bound = jnp.where(lane.refresh, 0.0, bound)
    to_edge, to_end = edge - now, settings.duration - now
    hits_edge = (to_edge <= bound + tolerance(now)) & ~lane.refresh
    hits_end = (to_end <= bound) & (to_end <= to_edge)
    step = jnp.where(hits_edge, to_edge, bound)
    step = jnp.where(hits_end, to_end, step)
    end = jnp.where(hits_end, settings.duration, jnp.where(hits_edge, edge, now + step))
    return step, end, hits_edge, hits_end


def keep_pace(settings: Settings, lane: Lane, step: Scalar, error: Scalar) -> tuple[Bool[Array, ""], Scalar]:
    """Whether a step with relative velocity `error` is too coarse, and the bound on the next steps' length."""
    controlled = jnp.isfinite(settings.tolerance)
    ends_here = lane.refresh | jnp.any(lane.landing)  # zero length, or already judged
    shortest = SHORTEST * jnp.maximum(1.0, lane.node.time)
    coarse = controlled & ~(error <= settings.tolerance) & ~ends_here & (step > shortest)
    # the error goes with the fourth power of the step
    fit = 0.9 * (settings.tolerance / jnp.maximum(error, 1e-300)) ** 0.25
    wanted = step * jnp.clip(jnp.where(jnp.isnan(error), 0.0, fit), 0.1, 4.0)
    longer = jnp.maximum(lane.pace, wanted)
    pace = jnp.where(coarse | (step >= 0.99 * lane.pace), wanted, longer)
    pace = jnp.minimum(settings.step, jnp.where(ends_here | ~controlled, lane.pace, pace))
    return coarse, jax.lax.stop_gradient(pace)


def find_events(lane: Lane, node: Node, tried: Node, step: Scalar, coarse: Bool[Array, ""]):
    """The guards on whose event the next attempt lands, the next attempt's limit, and whether time advances to `tried`."""
    a, b, da, db = (
        jax.lax.stop_gradient(jnp.stack(values))
        for values in (node.sensed.guards, tried.sensed.guards, node.slopes.guards, tried.slopes.guards)
    )
    frozen = jax.lax.stop_gradient(step)
    rises, where = cubic.rising_root(a, b, da * frozen, db * frozen)
    rises = rises & ~lane.refresh & ~jnp.any(lane.landing) & ~coarse
    where = jnp.where(rises, where, jnp.inf)
    first = jnp.min(where)
    close = jax.lax.stop_gradient(tolerance(node.time))
    some = jnp.any(rises)
    at_end = some & ((1 - first) * frozen <= close)
    at_start = some & ~at_end & (first * frozen <= close)
    landing = rises & ((where - first) * frozen <= close) & (at_end | at_start)
    length = jnp.where(at_end, step, 0.0) + correction(chosen(at_end, tried, node), landing)
    limit = jnp.where(some, jnp.where(at_end | at_start, length, first * frozen), jnp.inf)
    return landing, limit, ~some & ~coarse


def correction(at: Node, fired: Bool[Array, "guards"]) -> Scalar:
    """Newton correction (s) of the time of the event at `at`: zero in value, the event time's derivative in tangents."""
    guard = slope = jnp.zeros(())
    for i in reversed(range(fired.shape[0])):
        guard = jnp.where(fired[i], at.sensed.guards[i], guard)
        slope = jnp.where(fired[i], at.slopes.guards[i], slope)
    usable = slope != 0
    return jnp.where(usable, -(guard - jax.lax.stop_gradient(guard)) / jnp.where(usable, slope, 1.0), 0.0)


def watched(watch: Watch, node: Node, at: Node, step: Scalar) -> Watch:
    """Peaks and integrals with the step from `node` to `at` added."""
    if not node.sensed.watched:
        return watch
    a, b = jnp.stack(node.sensed.watched), jnp.stack(at.sensed.watched)
    da, db = jnp.stack(node.slopes.watched) * step, jnp.stack(at.slopes.watched) * step
    _, high = once(cubic.extremes(a, b, da, db))
    inside = (high > 0) & (high < 1)
    peaks, times = watch.peaks, watch.peak_times
    for value, when in (
        (a, node.time),
        (jnp.where(inside, cubic.value(high, a, b, da, db), -jnp.inf), node.time + high * step),
        (b, at.time),
    ):
        times = jnp.where(value > peaks, when, times)
        peaks = jnp.maximum(value, peaks)
    return Watch(peaks, times, watch.integrals + step * cubic.integral(a, b, da, db))


def interval(node: Node, at: Node, detached: Bool[Array, ""]) -> Interval:
    ends = (node.sensed.signal, at.sensed.signal, node.slopes.signal, at.slopes.signal)
    return Interval(node.time, at.time, detached, tuple(pack(signal) for signal in ends))


def pass_edge(model: Model, line: IntervalLine, now: Scalar, passed: Bool[Array, ""]) -> tuple[IntervalLine, Any]:
    """The line after reaching a delayed edge, and whether the delayed signal jumps there."""
    before = line.first()
    reached = now - model.delay + tolerance(now)
    ends = passed & (reached >= before.end)
    line = line.pop(ends)
    after = line.first()
    joined = (line.count > 0) & (reached >= after.start) & ~after.detached
    return line, passed & ~(ends & joined)


def sample(model: Model, settings: Settings, lane: Lane, at: Node, step: Scalar, delayed, moved):
    """Samples with the one, if any, that the step from `lane.node` to `at` passes."""
    if lane.samples is None:
        return None, lane.sampled
    node = lane.node
    time = lane.sampled * settings.sampling
    due = moved & (time <= at.time + tolerance(time)) & (lane.sampled < settings.samples)
    u = jnp.clip((time - node.time) / jnp.where(step > 0, step, 1.0), 0.0, 1.0)

    def between(a, b, da, db):
        return cubic.value(u, a, b, da * step, db * step)

    ends = ((n.state.q, n.state.v, n.state.memory) for n in (node, at))
    q, v, memory = jax.tree.map(between, *ends, tuple(node.rate), tuple(at.rate))
    state = model.retract(State(q, v, node.state.mode, memory))
    samples, sampled = write(lane.samples, lane.sampled, due, pack((state, delayed(time, state))))
    return samples, sampled


def write(
    rows: Float[Array, "rows columns"], count: Int[Array, ""], when: Bool[Array, ""], row: Float[Array, "columns"]
):
    """`rows` with `row` at `count` where `when` holds (else in the scratch row), and the new count."""
    at = jnp.where(when, count, rows.shape[0] - 1)
    return jax.lax.dynamic_update_index_in_dim(rows, row, at, 0), count + when.astype(int)


def moment(node: Node, fired: Bool[Array, "guards"], watch: Watch) -> Moment:
    return Moment(node.time, fired, node.state, watch.peaks, watch.peak_times, watch.integrals)


def numbers(node: Node) -> Any:
    """The numbers of a node that must be finite: continuous states, signal, then rates."""
    return (node.state.q, node.state.v, node.state.memory), node.sensed.signal, node.rate


def is_finite(node: Node) -> Bool[Array, ""]:
    return jnp.isfinite(sum(jnp.sum(number) for number in jax.tree.leaves(numbers(node))))


def guard(settings: Settings, lane: Lane, following: Lane, tried: Node, finite: Bool[Array, ""]) -> Lane:
    """`following`, unless it is not finite or has reached a limit: then the run stops, each lane for its own reason."""
    status = following.status
    running = status == Status.RUNNING
    status = jnp.where(running & (following.iterations >= settings.max_iterations), Status.TOO_MANY_ITERATIONS, status)
    status = jnp.where(running & (following.moments >= settings.max_moments), Status.TOO_MANY_EVENTS, status)
    if following.line is not None:
        status = jnp.where(running & following.line.full(), Status.DELAY_LINE_FULL, status)

    def first_culprit() -> Int[Array, ""]:
        return jnp.argmin(jnp.stack([jnp.all(jnp.isfinite(n)) for n in jax.tree.leaves(numbers(tried))])).astype(int)

    culprit = jax.lax.cond(finite, lambda: lane.culprit, first_culprit)
    stopped = lane._replace(status=jnp.full_like(status, Status.NOT_FINITE), culprit=culprit)
    kept = following._replace(status=status)
    small = {
        name: chosen(finite, getattr(kept, name), getattr(stopped, name)) for name in Lane._fields if name not in BULK
    }
    return kept._replace(**small)


BULK = ("line", "log", "samples")  # written in place, so never selected between


def result(model: Model, lane: Lane) -> Solution:
    """The solution of a finished lane."""
    state = lane.node.state
    like = moment(lane.node, jnp.zeros(len(lane.node.sensed.guards), bool), lane.watch)
    samples = None
    if lane.samples is not None:
        shape = Sample(state, quiet_signal(model, state))
        samples = stacked(lane.samples[:-1], lambda row: unpack(row, shape))
    return Solution(
        status=lane.status,
        time=lane.node.time,
        state=state,
        steps=lane.steps,
        iterations=lane.iterations,
        moments=lane.moments,
        log=stacked(lane.log[:-1], lambda row: unpack(row, like)),
        sampled=lane.sampled,
        samples=samples,
        culprit=lane.culprit,
        roughest=lane.roughest,
    )
