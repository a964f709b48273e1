"""A run whose forces are smooth once what touches at t = 0 has been struck: adaptive integration, explicit or implicit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from dockdyn.contact.contact_modes import APART
from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, PyTree, jax, jnp
from dockdyn.integrate import adaptive
from dockdyn.integrate.model import Scalar, State, over_rows
from dockdyn.integrate.solution import AT_ONCE, Status
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.programs import Program
from dockdyn.records import record
from dockdyn.results.dataset import build_dataset, reason_of
from dockdyn.results.drive import Progress, drive_run, finite_rows
from dockdyn.results.episodes import contact_episodes
from dockdyn.results.linearised import Leaves, LinearisedRun, Numbers, content_of, tangent_of
from dockdyn.results.log_data import Log
from dockdyn.results.overlap import refuse_overlap
from dockdyn.results.plan import Simulated, jit_once, plan_run
from dockdyn.results.run import Described, Run
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.trees import Structure, leaves_of, map_leaves

METHODS: dict[str, adaptive.Method] = {"adaptive": "dopri8", "implicit": "kvaerno5"}
IMPLICIT = 10  # steps of an explicit method that one of an implicit one counts for: it takes longer still
PIECES = 20  # a run is integrated in, between which progress is told


class Begun(NamedTuple):
    """A run as it begins."""

    model: Mechanism
    before: State
    after: State  # what touches at t = 0 has been struck


def begun_of(content: Simulated) -> Begun:
    """Return the model, and its state before and after the events at t = 0."""
    model: Any = content.model()
    before = model.initial()
    after = before
    for _ in range(2):  # it touches, it is struck
        now = model.outputs(jnp.zeros(()), after)
        fired = tuple(guard > 0 for guard in now.guards)
        if fired:
            due = jnp.any(jnp.stack(fired))
            after = jax.lax.cond(due, lambda x, fired=fired: model.jump(jnp.zeros(()), x, fired), lambda x: x, after)
    return Begun(model, before, after)


begin = jit_once(begun_of)


def without_contacts(model: Mechanism, x: State) -> tuple[Mechanism, State]:
    """Return the model without contacts, none of which touches after t = 0, and a state of it."""
    memory = x.memory._replace(taken=x.memory.taken[:0], impacts=())
    return replace(model, groups=()), State(x.q, x.v, x.mode[len(model.groups) :], memory)


@partial(Program, static=("method", "most"))
def advance(
    model: Mechanism, state: State, times: Float[Array, "times"], tolerance: Scalar, method: adaptive.Method, most: int
) -> adaptive.Adapted:
    return adaptive.solve_adaptively(model, times, tolerance, state, method, most)


@record
class Pieces:
    """A run between two of its pieces."""

    status: Status
    state: State  # where the next piece begins
    asked: int  # samples so far, besides the first, whether there or not
    kept: tuple[Any, ...]  # states at the samples that are there, piece by piece
    steps: int = 0
    rejected: int = 0


def run_adaptive(scenario: Scenario, progress: Progress | None) -> Run:
    """Return a run. Raises ScenarioError for what cannot be run."""
    content = scenario.content
    refuse_overlap(scenario)
    begun = map_leaves(np.asarray, begin(content))
    _refuse_open(scenario, begun)
    model, state = without_contacts(begun.model, begun.after)
    times = _sample_times(content)
    if all(np.isfinite(leaf).all() for leaf in leaves_of(state)):
        run = integrate_pieces(content, model, state, times, progress)
    else:  # the law has no such impact
        run = Pieces(Status.NOT_FINITE, state, 0, (map_leaves(lambda leaf: np.asarray(leaf)[None], state),))
    states = map_leaves(lambda *parts: np.concatenate(parts)[: len(times)], *run.kept)
    found = map_leaves(np.asarray, _observe_run(begun, states, times[: len(leaves_of(states)[0])]))
    return _run_of(found, run.status, run.steps, run.rejected)


def _sample_times(content: Any) -> Float[np.ndarray, "samples"]:  # noqa: ANN401, of a scenario
    """Return the times (s) of samples as planned, the last of them that of the end, which may be sooner than planned."""
    interval = plan_run(content, 0.0).interval
    count = math.ceil(content.duration / interval * (1 - 1e-12))
    times = interval * np.arange(count + 1)
    times[-1] = content.duration
    return times


class Concluded(NamedTuple):
    """What is observed of a run: before and after the events at t = 0, and then at the samples."""

    times: Float[Array, "rows"]  # s
    rows: State
    seen: dict[str, Array]


@Program
def _observe_run(begun: Begun, states: State, samples: Float[Array, "samples"]) -> Concluded:
    """Return what is observed of a run with these states at its samples (s), the first of them after the events at t = 0."""
    rows = _with_contacts(begun.after, states, len(samples))
    rows = map_leaves(lambda first, own: jnp.concatenate([first[None], own]), begun.before, rows)
    times = jnp.concatenate([jnp.zeros(1), samples])
    seen = over_rows(lambda t, x: begun.model.observe(x, begun.model.signal(t, x)), times, rows)
    return Concluded(times, rows, seen)


def _run_of(found: Concluded, status: Status, steps: int, rejected: int) -> Run:
    """Return a run from what was observed, in NumPy arrays."""
    log = _log_of(found)
    return Run(
        time=found.times[1:],
        sampled=log.samples,
        log=log,
        watched=False,
        episodes=contact_episodes(log, 0.0),
        status=status,
        stopped_at=float(found.times[-1]),
        first_nonfinite="a state",
        steps=steps,
        iterations=steps + rejected,
        step=0.0,
        states=found.rows,
    )


def linearised_adaptive(scenario: Scenario, describe: Callable[[Scenario, Run], Described]) -> LinearisedRun:
    """Return a run and its derivatives: those of its steps, lengths that are chosen included. Raises ScenarioError as a run
    does."""
    content = scenario.content
    _refuse_open(scenario, map_leaves(np.asarray, begin(content)))
    own, method = Numbers.of(content), METHODS[content.integrator.method]
    steps = StepsToTake(method, _most_steps(content, method))
    given = _sample_times(content), np.float64(content.integrator.tolerance)

    def along(direction: Leaves) -> tuple[PyTree, PyTree]:
        parts, change = _run_with_derivatives(
            own.values, direction, own.arrays, *given, structure=own.structure, steps=steps
        )
        if not bool(parts[2].finished):
            status = Status.TOO_MANY_ITERATIONS if bool(parts[2].exhausted) else Status.NOT_FINITE
            raise ScenarioError(f"{scenario.name}: {reason_of(content, status, 0.0, 'a state')}; must run to its end")
        return parts, change

    def dataset(parts: PyTree) -> Dataset:
        values, found, adapted = parts
        case = replace(scenario, content=own.content(values))
        run = _run_of(found, Status.FINISHED, int(adapted.steps), int(adapted.rejected))
        return build_dataset(case, run, describe(case, run))

    return LinearisedRun(along, dataset)


class StepsToTake(NamedTuple):
    """By which method samples are reached, and in at most how many steps."""

    method: adaptive.Method
    most: int


@partial(jit_once, static=("structure", "steps"))
def _run_with_derivatives(
    numbers: Leaves,
    direction: Leaves,
    arrays: dict[int, Any],
    times: Float[Array, "samples"],
    tolerance: Scalar,
    structure: Structure,
    steps: StepsToTake,
) -> tuple[PyTree, PyTree]:
    """Return numbers of a scenario and its run, and their derivatives along a direction."""

    def found(numbers: Array) -> PyTree:
        begun = begun_of(content_of(structure, list(numbers), arrays))
        model, state = without_contacts(begun.model, begun.after)
        adapted = adaptive.solve_adaptively(model, times, tolerance, state, steps.method, steps.most)
        return numbers, _observe_run(begun, adapted.states, times), adapted

    return tangent_of(found, numbers, direction)


def integrate_pieces(
    content: Any,  # noqa: ANN401, of a scenario
    model: Mechanism,
    state: State,
    times: Float[np.ndarray, "samples"],
    progress: Progress | None,
) -> Pieces:
    """Integrate in pieces of as many samples, so that one compilation serves; what lies beyond the end is to be cut off."""
    method: Literal["dopri8", "kvaerno5"] = METHODS[content.integrator.method]
    count = len(times) - 1
    tolerance, rows = np.float64(content.integrator.tolerance), -(-count // PIECES)
    most = _most_steps(content, method)
    beyond = times[-1] + times[1] * np.arange(1, rows + 1)
    reached = np.concatenate([times, beyond])

    def advance_piece(run: Pieces, piece: int) -> Pieces:
        if run.steps + run.rejected >= most:
            return replace(run, status=Status.TOO_MANY_ITERATIONS)
        asked = reached[run.asked : run.asked + rows + 1]
        found = map_leaves(np.asarray, advance(model, run.state, asked, tolerance, method, most))
        part = map_leaves(lambda a: a[1:], found.states)
        good, _ = finite_rows({"state": part})
        status = Status.RUNNING if run.asked + rows < count else Status.FINISHED
        if good < rows:
            status = Status.TOO_MANY_ITERATIONS if bool(found.exhausted) else Status.NOT_FINITE
        return Pieces(
            status=status,
            state=map_leaves(lambda a: a[-1], found.states),
            asked=run.asked + rows,
            kept=(*run.kept, map_leaves(lambda a: a[:good], part)),
            steps=run.steps + int(found.steps),
            rejected=run.rejected + int(found.rejected),
        )

    first = map_leaves(lambda a: np.asarray(a)[None], state)
    begun = Pieces(Status.RUNNING, state, 0, (first,))
    return drive_run(begun, advance_piece, lambda run: min(1.0, run.asked / count), 1, progress)


def _most_steps(content: Any, method: adaptive.Method) -> int:  # noqa: ANN401, of a scenario
    return max(content.integrator.max_steps // (IMPLICIT if method == "kvaerno5" else 1), 1)


def _with_contacts(start: State, states: State, count: int) -> State:
    """Return states of a model without contacts as those of one with them, which are as they were after t = 0."""

    def every(leaf: Any) -> Any:  # noqa: ANN401, an array
        return jnp.broadcast_to(leaf, (count, *np.shape(leaf)))

    groups = len(start.mode) - len(states.mode)
    modes = (*map(every, start.mode[:groups]), *states.mode)
    taken, impacts = every(start.memory.taken), map_leaves(every, start.memory.impacts)
    return State(states.q, states.v, modes, states.memory._replace(taken=taken, impacts=impacts))


def _refuse_open(scenario: Scenario, begun: Begun) -> None:
    """Refuse what rests after t = 0, and a rigid latch that does not hold then: when it would, this method does not see."""
    groups = len(begun.model.groups)
    words = "integrator.method must be located"
    if any(int(mode) != APART for mode in begun.after.mode[:groups]):
        raise ScenarioError(f"{scenario.name}: what touches at t = 0 rests against each other then; {words}")
    for grip in begun.model.grips:
        held = begun.after.memory.elements[grip.element].held
        if held is None or not float(held) > 0:
            name = begun.model.elements[grip.element].name
            raise ScenarioError(f"{scenario.name}: {name!r} does not hold at t = 0; {words}")


def _log_of(found: Concluded) -> Log:
    """Return the log of a run: its samples, and the contacts that were struck at t = 0."""
    contacts, rows = found.seen["depth"].shape[1], len(found.times)
    touching, zero = np.zeros((rows, contacts), bool), np.zeros((rows, contacts))
    touching[0] = [int(mode[0]) != APART for mode in found.rows.mode[:contacts]]
    samples = {name: values[1:] for name, values in found.seen.items()}
    return Log(
        found.times, np.ones(rows, bool), rows - 1, touching, zero, zero, zero, dict(found.seen), samples, AT_ONCE
    )
