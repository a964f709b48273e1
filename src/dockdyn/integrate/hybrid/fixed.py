"""Fixed-step integration: classical Runge–Kutta on a uniform mesh, nothing located.

A contact presses as its depth and force say at each instant; what else changes at an event does so at the end of the step into
which that falls. Where the force jumps (the dashpot at onset) all is of first order only. It is simple and fast, its cost is
known beforehand, and reverse derivatives go through `solve_fixed`.

Units: times s, states in those of the model.
Source: Kutta 1901; Hairer, Nørsett and Wanner 1993, Solving Ordinary Differential Equations I.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dockdyn.deferred import Array, Int, PyTree, jax, jnp
from dockdyn.integrate.hybrid.delay_line import SampledLine, lagrange_taps
from dockdyn.integrate.hybrid.mesh_point import MeshPoint, is_finite, zeros_like
from dockdyn.integrate.hybrid.runge_kutta import Flow, looped_rk4
from dockdyn.integrate.hybrid.running_extrema import by_trapezoids
from dockdyn.integrate.hybrid.solver_state import SolverState, apply_jumps, conclude_step, guard_step
from dockdyn.integrate.model import Flag, Model, Rate, Scalar, State, choose_tree, pack_tree
from dockdyn.integrate.solution import Sample, Status
from dockdyn.mechanics.vector import once
from dockdyn.trees import Module, field, leaves_of, map_leaves

if TYPE_CHECKING:
    from dockdyn.integrate.hybrid.located import Settings

TAPS = 4  # samples that a signal between two is read from
WHOLE = 1e-9  # of a step: so near is a whole number of them


class Past(NamedTuple):
    """The delayed signal, kept at the ends of steps of one length, and whether it may differ from zero."""

    line: SampledLine
    acting: Any  # the signal that acts where the run is now
    alive: Scalar  # zero once what emitted it has ended

    @staticmethod
    def begun(capacity: int, signal: PyTree) -> Past:
        """Return that of t = 0, before which every signal was zero."""
        zero = jnp.zeros(())
        return Past(SampledLine.empty(capacity, (signal, zero)), zeros_like(signal), zero)

    def full(self) -> Flag:
        """Return whether there is no more room: it has as much as a delay takes."""
        return jnp.asarray(False)

    def slack(self, step: Scalar) -> Scalar:
        """Return how long (s) after an instant it is known that its image is over: that is read from as many samples."""
        return TAPS * step

    def advance(
        self, index: Int[Array, ""], now: PyTree, emitting: Flag, delay: Scalar, step: Scalar
    ) -> tuple[Past, Any, Any]:
        """Return it at the end of the step of that number, which begins with the signal `now`; the delayed one amid it and
        there."""
        stored = now, emitting.astype(float)
        line = self.line.store(index, stored)
        (amid, _), (end, alive) = (
            line.read(index, lagrange_taps(part - delay / step, TAPS), stored) for part in (0.5, 1.0)
        )
        return Past(line, end, alive), amid, end


def _flow_in(model: Model, time: Scalar, step: Scalar, delayed: Sequence[Any] | None) -> Flow:
    """Return the rate at fractions of a step that begins at `time` (s); `delayed` is the signal amid it and at its end."""

    def flow(fraction: Scalar, x: State) -> Rate:
        t = time + fraction * step
        if delayed is None:
            return model.flow(t, x, once(model.signal(t, x)))
        return model.flow(t, x, choose_tree(fraction < 1, *delayed))

    return flow


def step_once(model: Model, settings: Settings, solver: SolverState) -> SolverState:
    """Take one step: as long as those before, or a little shorter, so that the next tick, or the end, is reached by whole ones.

    A step of no length renews the rates where something has jumped.
    """
    point, tick = solver.point, model.next_tick(solver.point.state)
    stop = jnp.asarray(settings.duration if tick is None else jnp.minimum(tick, settings.duration), float)
    left = stop - point.time
    count = jnp.maximum(jnp.ceil(left / settings.step - WHOLE), 1.0)
    step = jnp.where(solver.refresh, 0.0, left / count)
    arrives = jnp.where(solver.refresh, left <= 0, count <= 1)
    end = jnp.where(arrives, stop, point.time + step)

    past, delayed, acting = solver.line, None, None
    if isinstance(past, Past):
        assert model.delay is not None
        now = past, past.acting, past.acting
        emitting, length = model.emitting(point.state), jnp.asarray(settings.step)
        ahead = past.advance(solver.steps, point.outputs.signal, emitting, model.delay, length)
        past, *delayed = choose_tree(solver.refresh, now, ahead)
        acting = past.acting
    x, before = model.ungated(point.state), model.with_hints(solver.hints)
    state, rate, *_ = once(
        looped_rk4(_flow_in(before, point.time, step, delayed), before.end_step, x, step, point.rate)
    )
    hints = model.renew_hints(state, solver.hints)
    model = model.with_hints(hints)
    state = once(model.gated(State(state.q, state.v, point.state.mode, state.memory)))
    outputs = once(model.outputs(end, state))
    tried = MeshPoint(end, state, rate, outputs, point.slopes)
    extrema = by_trapezoids(solver.extrema, point, tried, step)

    fired = tuple((one > 0) & ~solver.refresh for one in outputs.guards)
    modes = zip(leaves_of(point.state.mode), leaves_of(state.mode), strict=True)
    changes = [*fired, *(jnp.any(before != after) for before, after in modes)]
    event = jnp.any(jnp.stack(changes)) if changes else jnp.asarray(False)
    ticks = None if tick is None else (end >= tick) & (end < settings.duration)
    renewed = event if ticks is None else event | ticks
    state = apply_jumps(model, tried, fired, event, tick, ticks)
    done = arrives & (stop >= settings.duration)
    image = jnp.asarray(False)
    if isinstance(solver.line, Past) and isinstance(past, Past):
        image = (solver.line.alive != 0) != (past.alive != 0)
    flags = jnp.stack(fired) if fired else jnp.zeros(0, bool)
    concluded = conclude_step(model, solver, tried._replace(state=state), flags, extrema, event, image, done)
    over = concluded["status"] == Status.FINISHED
    samples, sampled = _take_sample(
        settings, solver, concluded["point"], outputs.signal if acting is None else acting, over
    )
    following = solver._replace(
        **concluded,
        refresh=renewed,
        line=past,
        steps=solver.steps + (~solver.refresh).astype(int),
        iterations=solver.iterations + (~solver.refresh).astype(int),
        samples=samples,
        sampled=sampled,
        hints=hints,
    )
    return guard_step(settings, solver, following, tried, is_finite(tried))


def _take_sample(
    settings: Settings, solver: SolverState, at: MeshPoint, acting: PyTree, done: Flag
) -> tuple[Any, Int[Array, ""]]:
    """Return the samples with that of the end of a step, where one is due: at each interval, and at the end of the run."""
    if solver.samples is None:
        return None, solver.sampled
    reached = solver.sampled * settings.sampling <= at.time + WHOLE * settings.step
    due = (reached | done) & (at.time > solver.point.time) & (solver.sampled < settings.samples)
    place = jnp.where(due, solver.sampled, settings.samples - 1)
    kept = jax.lax.dynamic_index_in_dim(solver.samples, place, keepdims=False)
    row = jnp.where(due, pack_tree((at.state, acting)), kept)
    return jax.lax.dynamic_update_index_in_dim(solver.samples, row, place, 0), solver.sampled + due.astype(int)


class StepMesh(Module):
    """Step (s; no longer than a delay); number of steps and the delay line's capacity are static."""

    step: Scalar
    steps: int = field(static=True)
    stride: int = field(static=True)  # samples are kept every so many steps; `steps` is a multiple of it
    line_capacity: int = field(static=True)  # a power of two of at least delay / step + 4


class Carry(NamedTuple):
    """What one step hands to the next."""

    state: State
    past: Past | None
    rate: Rate  # at the state


def solve_fixed(model: Model, mesh: StepMesh) -> tuple[State, Sample]:
    """Return the final state, and samples at 0, stride · step, 2 stride · step … (each leaf with a leading axis).

    It is a run without events and log, through which reverse derivatives go.
    """
    start = model.ungated(model.initial())
    signal = model.signal(jnp.zeros(()), start)
    past = None if model.delay is None else Past.begun(mesh.line_capacity, signal)

    def advance(carry: Carry, index: Int[Array, ""]) -> tuple[Carry, None]:
        t, x, past, delayed = index * mesh.step, carry.state, carry.past, None
        if past is not None:
            assert model.delay is not None
            signal, emitting = once(model.signal(t, x)), jnp.asarray(True)
            past, *delayed = past.advance(index, signal, emitting, model.delay, mesh.step)
        state, rate, *_ = once(
            looped_rk4(_flow_in(model, t, mesh.step, delayed), model.end_step, x, mesh.step, carry.rate)
        )
        return Carry(state, past, rate), None

    def stretch(carry: Carry, index: Int[Array, ""]) -> tuple[Carry, Sample]:
        carry, _ = jax.lax.scan(advance, carry, index * mesh.stride + jnp.arange(mesh.stride))
        time = (index + 1) * mesh.stride * mesh.step
        acting = carry.past.acting if carry.past is not None else model.signal(time, carry.state)
        return carry, Sample(carry.state, acting)

    acting = signal if past is None else past.acting
    carry = Carry(start, past, model.flow(jnp.zeros(()), start, acting))
    last, samples = jax.lax.scan(stretch, carry, jnp.arange(mesh.steps // mesh.stride))
    first = Sample(start, acting)
    return last.state, map_leaves(lambda a, b: jnp.concatenate([a[None], b]), first, samples)
