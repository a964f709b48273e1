"""The programs by which every use of a scenario runs it, compiled once for each structure.

Its numbers give the solver of t = 0, that is advanced to the end, and what it leaves is observed. A run advances slice by
slice; a lane of a batch, a derivative and a page go through in one piece.

Units: SI.
Source: definition.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Int, jax, jnp
from dockdyn.integrate.model import Flag, Scalar, State, over_rows
from dockdyn.integrate.solution import Sample, Solution, Status
from dockdyn.mechanism.loads import all_latches_hold
from dockdyn.programs import Program, trace_once
from dockdyn.results.key_figures import case_figures
from dockdyn.results.log_data import Log, log_of
from dockdyn.results.methods import Settings, method_of
from dockdyn.results.plan import Simulated, jit_once
from dockdyn.scenario.setups import setup_named
from dockdyn.trees import leaves_of, map_leaves


class Observed(NamedTuple):
    """What a run has left: zero in rows that nothing has written."""

    solution: Solution
    sampled: dict[str, Array]  # what is observed at its samples; of a run that keeps none at its start
    at_moments: dict[str, Array]  # and at the moments of its log


class Look(NamedTuple):
    """Where a run is, and what can be seen there."""

    time: Scalar  # s
    state: State
    seen: dict[str, Array]  # by the names of results, and `captured`: whether all latches hold


class RunFigures(NamedTuple):
    """What is to say of a run: its key figures, and what is told of its contacts in rows of its log, as by
    `dockdyn.results.log_data.log_data`."""

    figures: dict[str, Array]
    contacts: dict[str, Array]  # of shape (rows of the log with its start, contacts)


@jit_once
def begin(content: Simulated, settings: Settings) -> Any:  # noqa: ANN401, the solver of the method
    """Return the solver of a run at t = 0."""
    return method_of(settings).init(content.model(), settings)


@partial(Program, donate=("solver",))
def advance(content: Simulated, settings: Settings, until: Int[Array, ""], solver: Any) -> Any:  # noqa: ANN401, as `begin`
    """Return the solver at the end of the run, or after `until` iterations."""
    return method_of(settings).advance(content.model(), settings, solver, until)


@partial(Program, donate=("solver",))
def advance_to(content: Simulated, settings: Settings, time: Scalar, solver: Any) -> Any:  # noqa: ANN401, as `begin`
    """Return the solver at the end of the run, or at `time` (s), where a step ends."""
    return method_of(settings).advance_to(content.model(), settings, solver, time)


@partial(Program, donate=("solver",))
def pass_to(content: Simulated, settings: Settings, time: Scalar, changed: Flag, solver: Any) -> Any:  # noqa: ANN401, as `begin`
    """Return the solver at exactly `time` (s), whatever the duration, or where the run has ended before; its log is emptied.

    What acts from outside may have `changed` where it was. `max_iterations` are those of a stretch.
    """
    method, model, running = method_of(settings), content.model(), solver.status == Status.RUNNING
    there = running & (method.time(solver) >= time)
    begun = solver._replace(
        status=jnp.where(there, int(Status.FINISHED), solver.status), iterations=jnp.zeros_like(solver.iterations)
    )
    passed = method.pass_to(model, settings, begun, time, changed)
    over = model.ended(method.now(model, passed).state)
    waits = running & (passed.status == Status.FINISHED) & (True if over is None else ~over)
    return passed._replace(status=jnp.where(waits, int(Status.RUNNING), passed.status))


@Program
def look(content: Simulated, settings: Settings, solver: Any) -> Look:  # noqa: ANN401, as `begin`
    """Return what can be seen where a run is."""
    model: Any = content.model()
    time, x, acting = method_of(settings).now(model, solver)
    return Look(time, x, see(model, x, acting))


def see(model: Any, x: State, acting: Any) -> dict[str, Array]:  # noqa: ANN401, of the method
    """Return what can be seen of a state in which these forces of contacts act."""
    return model.observe(x, acting) | {"captured": all_latches_hold(model.elements, x.memory.elements)}


@jit_once
def observe(content: Simulated, settings: Settings, solver: Any) -> Observed:  # noqa: ANN401, as `begin`
    """Return what a run has left."""
    model = content.model()
    solution = method_of(settings).result(model, settings, solver)
    samples, moments = _samples_of(model, solution), solution.log
    count = leaves_of(samples.state)[0].shape[0]
    states = map_leaves(lambda a, b: jnp.concatenate([a, b]), samples.state, moments.state)
    rows = moments.time.shape[0]
    delayed = map_leaves(lambda a: jnp.concatenate([a, jnp.zeros((rows, *a.shape[1:]))]), samples.delayed)
    written = jnp.concatenate(
        [jnp.arange(count) < jnp.maximum(solution.sampled, 1), jnp.arange(rows) < solution.moments]
    )

    def observe_row(hints: Any, row: tuple[Flag, State, Any]) -> tuple[Any, dict[str, Array]]:  # noqa: ANN401, of the model
        written, state, delayed = row

        def observed(hints: Any) -> tuple[Any, dict[str, Array]]:  # noqa: ANN401, of the model
            hints = model.renew_hints(state, hints, exact=True)
            return hints, _observe_state(model.with_hints(hints), state, delayed)

        shapes = jax.eval_shape(observed, hints)[1]
        blank = map_leaves(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        return jax.lax.cond(written, lambda: observed(hints), lambda: (hints, blank))

    hints, rows_of = model.first_hints(), (written, states, delayed)
    if hints is None:
        observed = over_rows(lambda *row: observe_row(None, row)[1], *rows_of)
    else:  # from row to row
        _, observed = jax.lax.scan(observe_row, hints, rows_of)
    parts = (map_leaves(lambda a, part=part: a[part], observed) for part in (slice(count), slice(count, None)))
    return Observed(solution, *parts)


def _samples_of(model: Any, solution: Solution) -> Sample:  # noqa: ANN401, of the method
    """Return the samples of a run; of one that keeps none its start, before which nothing acts that is delayed."""
    if solution.samples is not None:
        return solution.samples
    start = model.initial()
    signal = model.signal(jnp.zeros(()), start)
    acting = signal if model.delay is None else map_leaves(jnp.zeros_like, signal)
    return map_leaves(lambda leaf: jnp.asarray(leaf)[None], Sample(start, acting))


@trace_once
def _observe_state(model: Any, state: State, delayed: Any) -> dict[str, Array]:  # noqa: ANN401, of the method
    return model.observe(state, delayed)


def run_through(content: Simulated, settings: Settings) -> Observed:
    """Return what a whole run has left."""
    solver = advance(content, settings, settings.max_iterations, begin(content, settings))
    return observe(content, settings, solver)


@partial(jit_once, static=("setup",))
def tell(setup: str, content: Simulated, settings: Settings, observed: Observed) -> RunFigures:
    """Return the key figures of a run of a `setup` that has been observed, and its contacts."""
    known = setup_named(setup).key_figures()
    assert known is not None, setup
    model, solution = content.model(), observed.solution
    log = _observed_log(model, observed)
    data = known.data(model, solution, log) | {"step_s": settings.step}
    sampled = solution.samples is not None
    figures = case_figures(known.figures, data, sampled) | known.of_members(content, data)
    parts = ("onset", "release", "approach_speed", "peak_force", "peak_time", "impulse", "energy", "energy_gain")
    contacts = {name: data[f"episode_{name}"] for name in parts} | {"ended": log.ended()}
    rubbed = log.friction_losses()
    return RunFigures(figures, contacts if rubbed is None else contacts | {"friction_loss": rubbed})


def _observed_log(model: Any, observed: Observed) -> Log:  # noqa: ANN401, of the method
    """Return the log of a run that has been observed."""
    solution, sampled = observed.solution, observed.sampled
    samples = _samples_of(model, solution)
    start = map_leaves(lambda rows: rows[0], samples.state)
    seen = {name: jnp.concatenate([sampled[name][:1], rows]) for name, rows in observed.at_moments.items()}
    if solution.samples is None:
        return log_of(solution, start, seen, {})
    filled = jnp.minimum(jnp.arange(leaves_of(samples.state)[0].shape[0]), solution.sampled - 1)
    return log_of(solution, start, seen, {name: rows[filled] for name, rows in sampled.items()})
