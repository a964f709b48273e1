"""Variational integration in time: steps, and the events inside them, earliest first.

An iteration attempts the step to the next mark. Where a guard has risen through zero at its end, or may have done so
inside (a grazing contact), the step is attempted again as far as the event (`integrate.event_search`); the system jumps. What
touches at the same instant and approaches is struck one at a time, the fastest first, with no time in between, until nothing
approaches: that is the rule for simultaneous impacts. Contacts at rest part at the start of a step over which their impulse
would pull, and the step is done again; what they press for the first part of it changes velocities by the square of the step.

Marks are the multiples of the step. With an `error` the step follows the motion: the second difference of the velocities
bounds each step's error, and marks are the sampling instants; momenta are as exact as before, but energy may drift.

Units: times s, states in those of the model.
Source: Fetecau et al. 2003, SIAM J. Appl. Dyn. Syst. 2:381; Gibson and Murphey, section IV, corrected.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.integrate.model import Flag, Scalar, choose_tree, over_rows, pack_tree, unpack_tree, write_row
from dockdyn.integrate.solution import Status, iterate_until
from dockdyn.integrate.variational.discrete_energy import balancing_share
from dockdyn.integrate.variational.event_search import CLOSED, STILL, Ends, Search, guard_rates, judge_attempt
from dockdyn.integrate.variational.mechanical import (
    PLACES,
    Mechanical,
    PhasePoint,
    Row,
    generalised_momenta,
    project_velocities,
)
from dockdyn.integrate.variational.solver_state import (
    History,
    KeptSample,
    LoggedEvent,
    Move,
    VariationalSettings,
    VariationalState,
)
from dockdyn.integrate.variational.step import KeptJacobian, Newton, StepStart, VariationalStep, variational_step
from dockdyn.mechanics.dense import solve_definite
from dockdyn.mechanics.retraction import retract_configuration, to_stated_axes
from dockdyn.mechanics.vector import once

SCREEN = 4.0  # steps' worth of motion within which contacts are looked at closely
LEAST, SHORT = 1e-9, 1e-6  # of the step: what is no step any more; what says nothing about a contact's force
SHRINK, GROW = 0.2, 2.0  # of a variable step, at most
CAUTIOUS = 0.01  # of the longest step: the first one, where steps vary


def initial_variational(model: Mechanical, settings: VariationalSettings) -> VariationalState:
    """Return the solver of a run that has not advanced yet."""
    q, v, mode = model.initial()
    zero, t = jnp.zeros((), int), jnp.zeros(())
    at = PhasePoint(q, generalised_momenta(model, t, q, v, mode), mode)
    depths = model.guards(t, q, mode)
    first = pack_tree(KeptSample(t, at, v, t, jnp.zeros_like(v), zero))
    columns = 2 + model.records() + model.told(t, q, v, mode).shape[0]
    return VariationalState(
        time=t,
        at=at,
        history=History.fresh(v, t),
        known=KeptJacobian.nothing(model, at),
        depths=depths,
        earlier=jnp.full_like(depths, -jnp.inf),
        struck=jnp.asarray(True),
        search=Search.none(),
        # nothing judges the first step
        step_limit=jnp.asarray(settings.step if settings.error is None else CAUTIOUS * settings.step),
        fastest=jnp.max(jnp.abs(v)),
        mark=zero,
        work=t,
        given=jnp.zeros_like(v),
        corrections=zero,
        most=zero,
        last=zero,
        steps=zero,
        iterations=zero,
        status=zero,
        log=jnp.zeros((settings.max_events + 1, columns)),
        events=zero,
        samples=jnp.zeros((settings.samples + 2, first.size)).at[0].set(first),
        sampled=zero + 1,
    )


def solve_variational(model: Mechanical, settings: VariationalSettings) -> VariationalState:
    """Return a whole run."""
    return advance_variational(model, settings, initial_variational(model, settings), jnp.asarray(2**62))


def advance_variational(
    model: Mechanical, settings: VariationalSettings, solver: VariationalState, until: Int[Array, ""]
) -> VariationalState:
    """Go on until the run ends or has made `until` iterations."""
    return iterate_until(partial(_attempt_step, model, settings), solver, until)


def _attempt_step(model: Mechanical, settings: VariationalSettings, solver: VariationalState) -> VariationalState:
    """Attempt one step and take what it brings."""
    goal, length, whole = step_target(settings, solver)
    searching = jnp.isfinite(solver.search.length)
    goal, length = choose_tree(searching, (solver.time + solver.search.length, solver.search.length), (goal, length))
    nothing = ~searching & (length < LEAST * settings.step)  # an event was at the mark
    length = jnp.where(nothing, LEAST * settings.step, length)
    start = StepStart.of(model, solver.time, solver.at)
    guess = solver.history.guess(solver.time + 0.5 * length)
    tried = once(variational_step(model, start, length, guess, settings.newton, solver.known))
    halfway = retract_configuration(model.attitudes, solver.at.q, 0.5 * length * tried.v)
    mode = model.passed(solver.time + 0.5 * length, halfway, tried.v, solver.at.mode, length)
    end = choose_tree(nothing, solver.at, PhasePoint(tried.q, tried.p, mode))
    depths = once(model.guards(goal, end.q, end.mode))

    error = jnp.zeros(())
    if settings.error is not None:
        error = _step_error(settings, solver, tried, length)
    refused = (error > 1) | ((settings.error is not None) & ~tried.converged & (length > 1e-9 * settings.step))

    blank = jnp.zeros(model.records())
    none = jnp.asarray(-1)
    never = jnp.zeros((), bool)
    plain = Move(goal, end, depths, ~refused, none, never, tried.v, blank, Search.none())
    move = plain
    if depths.shape[0]:
        close = (_worth_a_look(model, settings, solver, depths, start, tried, length) | searching) & ~refused
        move = jax.lax.cond(
            close, lambda: _step_near_contact(model, settings, solver, start, length, tried, plain), lambda: plain
        )
        move = once(move)
    return _accept_move(model, settings, solver, move, tried, whole & ~searching, error)


def step_target(settings: VariationalSettings, solver: VariationalState) -> tuple[Scalar, Scalar, Flag]:
    """Return end and length of the next step, and whether it reaches a mark."""
    spacing = settings.step if settings.error is None else settings.interval
    mark = jnp.minimum((solver.mark + 1) * spacing, settings.duration)
    if settings.error is None:
        return mark, mark - solver.time, jnp.asarray(True)
    left = mark - solver.time
    # the last two steps before a mark are of one length, so that none is much shorter than the others
    step_limit = jnp.where(
        left < 2 * solver.step_limit, jnp.maximum(0.5 * left, solver.step_limit * 0.5), solver.step_limit
    )
    whole = left <= step_limit * (1 + 1e-9)
    return jnp.where(whole, mark, solver.time + step_limit), jnp.where(whole, left, step_limit), whole


def _step_error(
    settings: VariationalSettings, solver: VariationalState, tried: VariationalStep, length: Scalar
) -> Scalar:
    """Return estimated error of the step over what is allowed: a twelfth of h² v̈, which the midpoint leaves."""
    _, bend = solver.history.push(tried.v, solver.time + 0.5 * length)
    allowed = jnp.asarray(settings.error) * jnp.maximum(solver.fastest, jnp.max(jnp.abs(tried.v)))
    ratio = length**2 * bend / (12 * allowed)
    return jnp.where(solver.history.known > 0, ratio, 0.0)


def _worth_a_look(
    model: Mechanical,
    settings: VariationalSettings,
    solver: VariationalState,
    depths: Float[Array, "guards"],
    start: StepStart,
    tried: VariationalStep,
    length: Scalar,
) -> Flag:
    """Return whether the end of the step, or what it may have gone through, needs care."""
    room = SCREEN * (jnp.abs(depths - solver.depths) + jnp.abs(solver.depths - solver.earlier))
    near = jnp.maximum(depths, solver.depths) > -room
    if model.rests:
        resting, _ = model.acting(solver.at.mode)
        near = (near & ~resting) | _pulling_contacts(settings, start, tried, length, depths.shape[0])
    return jnp.any(near) | solver.struck


def _pulling_contacts(
    settings: VariationalSettings, start: StepStart, tried: VariationalStep, length: Scalar, guards: int
) -> Bool[Array, "guards"]:
    """Return contacts at rest that would have to pull; not judged in steps so short that rounding decides."""
    places = start.held.guards
    pulls = (places >= 0) & (tried.impulses[: places.shape[0]] < 0) & (length > SHORT * settings.step)
    return jnp.any((places[:, None] == jnp.arange(guards)) & pulls[:, None], axis=0)


def _step_near_contact(
    model: Mechanical,
    settings: VariationalSettings,
    solver: VariationalState,
    start: StepStart,
    length: Scalar,
    tried: VariationalStep,
    plain: Move,
) -> Move:
    """Return what happens in a step near a contact: a jump at once, contacts that part, an event at its end, or nothing."""
    v, mode = solver.history.guess(solver.time), solver.at.mode  # just after a jump exactly the velocities
    rates = guard_rates(model, solver.time, solver.at.q, v, mode)
    guards = solver.depths.shape[0]
    free, pulls = jnp.ones(guards, bool), jnp.zeros(guards, bool)
    if model.rests:
        free = ~model.acting(mode)[0]
        pulls = _pulling_contacts(settings, start, tried, length, guards)
    closed = solver.struck & free & (solver.depths >= -CLOSED) & (rates > STILL)
    at_once = jnp.any(closed)
    parts = jnp.any(pulls) & ~at_once
    # velocities at the end are twice those along the step less those at its start, to second order: enough here
    after = guard_rates(model, plain.time, tried.q, 2 * tried.v - v, mode)
    verdict = judge_attempt(solver.search, solver.time, length, Ends(solver.depths, plain.depths, rates, after), free)
    found = verdict.found & ~at_once & ~parts

    here = plain._replace(time=solver.time, at=solver.at, depths=solver.depths, moves=jnp.zeros((), bool))
    move = plain._replace(moves=verdict.goes | found, search=verdict.search)
    move = choose_tree(at_once | parts, here, move)
    # the fastest of those that touch now, or at the end
    there = free & (plain.depths >= -CLOSED) & (after > STILL)
    together = jnp.where(at_once, closed, there | (jnp.arange(guards) == verdict.guard))
    guard = jnp.argmax(jnp.where(together, jnp.where(at_once, rates, after), -jnp.inf))

    def event() -> Move:
        at, v, mass = project_velocities(model, move.time, move.at)
        here, before = move._replace(at=at, jumps=jnp.ones((), bool)), None
        if model.discrete:
            rest = step_target(settings, solver._replace(time=plain.time))[1]
            before = Before(start, tried.v, length, rest, settings.newton, found)
        strike = lambda: _jump_at_guard(model, here, v, mass, guard, before)  # noqa: E731
        after = (
            jax.lax.cond(parts, lambda: _release_contacts(model, here, v, pulls), strike) if model.rests else strike()
        )
        return after._replace(depths=model.guards(after.time, after.at.q, after.at.mode))

    return jax.lax.cond(at_once | found | parts, event, lambda: move)


def _release_contacts(model: Mechanical, here: Move, v: Row, pulls: Bool[Array, "guards"]) -> Move:
    """Return contacts at rest let go."""
    at = here.at._replace(mode=model.parted(here.at.mode, pulls))
    return here._replace(at=at, fired=-1 - jnp.argmax(pulls), after=v)


class Before(NamedTuple):
    """What the discrete law has to know of the step that ends with an impact, and of that after it."""

    start: StepStart
    v: Row
    length: Scalar
    rest: Scalar
    newton: Newton
    applies: Flag  # not to what is struck at the same instant


def _jump_at_guard(
    model: Mechanical, move: Move, v: Row, mass: Float[Array, "n n"], guard: Int[Array, ""], before: Before | None
) -> Move:
    """Return the jump of a guard where `move` ends, with these velocities before it."""
    q, t = move.at.q, move.time
    jump = model.jump(t, q, v, mass, move.at.mode, guard)
    impulse, record, mode = jump.impulse, jump.record, jump.mode
    after = v + solve_definite(mass, impulse)
    if before is not None:
        start, along, length, rest, newton, applies = before
        balanced = lambda: balancing_share(model, start, along, length, move.at, impulse, after, rest, newton)  # noqa: E731
        elastic = applies & jump.elastic
        factor = jax.lax.cond(elastic, balanced, lambda: jnp.ones(()))
        impulse, record = factor * impulse, jnp.where(elastic, model.scaled(record, factor), record)
        mode = model.balanced(mode, factor)
        after = v + factor * (after - v)
    p = move.at.p + to_stated_axes(model.attitudes, q, impulse)
    if model.tied:
        # where a jump moves masses, from the arm to the station say, velocities stay and momenta follow
        p = p + generalised_momenta(model, t, q, after, mode) - generalised_momenta(model, t, q, after, move.at.mode)
    return move._replace(
        at=PhasePoint(q, p, mode),
        fired=guard,
        after=after,
        record=record,
        search=Search.none(),
    )


def _accept_move(
    model: Mechanical,
    settings: VariationalSettings,
    solver: VariationalState,
    move: Move,
    tried: VariationalStep,
    whole: Flag,
    error: Scalar,
) -> VariationalState:
    """Return the lane after a move."""
    taken = move.moves
    length = move.time - solver.time
    ends = taken & ~move.jumps & whole
    history, _ = solver.history.push(tried.v, solver.time + 0.5 * length)
    history = choose_tree(taken, history, solver.history)
    history = choose_tree(move.jumps, History.fresh(move.after, move.time), history)
    work = solver.work + jnp.where(taken, length * (tried.force @ tried.v), 0.0)
    given = solver.given + jnp.where(taken, tried.given, 0.0)
    mark = solver.mark + ends
    done = ends & (move.time >= settings.duration)

    told = lambda: model.told(move.time, move.at.q, move.after, move.at.mode)  # noqa: E731
    size = solver.log.shape[1] - 2 - model.records()
    event = LoggedEvent(move.time, move.fired, move.record, jax.lax.cond(move.jumps, told, lambda: jnp.zeros(size)))
    log, events = write_row(solver.log, solver.events, move.jumps, pack_tree(event))
    last = jnp.where(taken, tried.iterations, solver.last)
    due = ends & ((mark % settings.stride == 0) | done) & (solver.sampled < solver.samples.shape[0] - 1)
    at, v = jax.lax.cond(due, lambda: project_velocities(model, move.time, move.at)[:2], lambda: (move.at, move.after))
    samples, sampled = write_row(
        solver.samples, solver.sampled, due, pack_tree(KeptSample(move.time, at, v, work, given, last))
    )

    over = model.ended(move.at.mode)
    status = jnp.where(done if over is None else done | (move.jumps & over), Status.FINISHED, solver.status)
    status = jnp.where(events >= settings.max_events, Status.TOO_MANY_EVENTS, status)
    if model.rests:
        crowded = jnp.sum(model.acting(move.at.mode)[0]) > PLACES
        status = jnp.where(crowded, Status.TOO_MANY_AT_REST, status)
    stuck = ~tried.converged & (taken | (settings.error is None))
    status = jnp.where(stuck, Status.NOT_CONVERGED, status)
    good = jnp.all(jnp.isfinite(move.at.q)) & jnp.all(jnp.isfinite(move.at.p))
    status = jnp.where(~good, Status.NOT_FINITE, status)
    comes = good & ~stuck & (taken | move.jumps)
    return VariationalState(
        time=jnp.where(comes, move.time, solver.time),
        at=choose_tree(comes, at, solver.at),
        history=history,
        known=tried.known.after(move.jumps),
        depths=jnp.where(comes, move.depths, solver.depths),
        earlier=jnp.where(move.jumps, -jnp.inf, jnp.where(taken, solver.depths, solver.earlier)),
        struck=move.jumps,
        search=move.search,
        step_limit=_next_limit(settings, solver, move, tried.converged, error),
        fastest=jnp.where(taken, jnp.maximum(solver.fastest, jnp.max(jnp.abs(tried.v))), solver.fastest),
        mark=mark,
        work=work,
        given=given,
        corrections=solver.corrections + jnp.where(taken, tried.iterations, 0),
        most=jnp.where(taken, jnp.maximum(solver.most, tried.iterations), solver.most),
        last=last,
        steps=solver.steps + taken,
        iterations=solver.iterations + 1,
        status=status,
        log=log,
        events=events,
        samples=samples,
        sampled=sampled,
    )


def _next_limit(
    settings: VariationalSettings, solver: VariationalState, move: Move, converged: Flag, error: Scalar
) -> Scalar:
    """Return how long (s) the next step may be, where steps follow an error; less after a jump."""
    limit = solver.step_limit
    if settings.error is None:
        return limit
    factor = jnp.clip(0.9 / jnp.sqrt(jnp.maximum(error, 1e-12)), SHRINK, GROW)
    factor = jnp.where(converged, factor, 0.5)
    judged = (solver.history.known > 0) | ~converged
    smooth = jnp.where(judged, jnp.minimum(limit * factor, settings.step), limit)
    return jnp.where(move.jumps, jnp.minimum(limit, CAUTIOUS * settings.step), smooth)


def kept_samples(solver: VariationalState) -> KeptSample:
    """Return the samples, each leaf with a leading axis; rows after `solver.sampled` are meaningless."""
    like = KeptSample(solver.time, solver.at, solver.history.v, solver.work, solver.given, solver.last)
    return over_rows(lambda row: unpack_tree(row, like), solver.samples[:-1])


def logged_events(solver: VariationalState, records: int) -> LoggedEvent:
    """Return the log of events, in the same way."""
    like = LoggedEvent(solver.time, solver.last, jnp.zeros(records), jnp.zeros(solver.log.shape[1] - 2 - records))
    return over_rows(lambda row: unpack_tree(row, like), solver.log[:-1])
