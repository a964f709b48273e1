"""A run whose forces are smooth once what touches at t = 0 has been struck: adaptive integration, explicit or implicit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART
from dockdyn.integrate import adaptive
from dockdyn.integrate.model import Scalar, State, over_rows
from dockdyn.integrate.solution import Status
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.programs import Program
from dockdyn.results.drive import Progress, drive, finite_rows
from dockdyn.results.episodes import SLACK, Moments, episodes
from dockdyn.results.overlap import refuse_overlap
from dockdyn.results.plan import Simulated, jit_once, plan
from dockdyn.results.run import Run
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

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


def smooth(model: Mechanism, x: State) -> tuple[Mechanism, State]:
    """Return the model without contacts, none of which touches after t = 0, and a state of it."""
    memory = x.memory._replace(impacts=())
    return replace(model, groups=()), State(x.q, x.v, x.mode[len(model.groups) :], memory)


@partial(Program, static=("method", "most"))
def advance(
    model: Mechanism, state: State, times: Float[Array, "times"], tolerance: Scalar, method: adaptive.Method, most: int
) -> adaptive.Adapted:
    return adaptive.solve(model, times, tolerance, state, method, most)


@Program
def _observed(model: Mechanism, times: Float[Array, "rows"], states: State) -> dict[str, Array]:
    return over_rows(lambda t, x: model.observe(x, model.signal(t, x)), times, states)


@dataclass(frozen=True)
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
    begun = jax.tree.map(np.asarray, begin(content))
    _refuse_open(scenario, begun)
    model, state = smooth(begun.model, begun.after)
    planned = plan(content, 0.0)
    if all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state)):
        run = integrate(content, model, state, planned.interval, planned.samples, progress)
    else:  # the law has no such impact
        run = Pieces(Status.NOT_FINITE, state, 0, (jax.tree.map(lambda leaf: np.asarray(leaf)[None], state),))
    states = jax.tree.map(lambda *parts: np.concatenate(parts)[: planned.samples + 1], *run.kept)
    count = len(jax.tree.leaves(states)[0])
    rows = _with_contacts(begun.after, states, count)
    rows = jax.tree.map(lambda first, own: np.concatenate([first[None], own]), begun.before, rows)
    times = planned.interval * np.arange(count)
    moments = np.concatenate([[0.0], times])
    seen = jax.tree.map(np.asarray, _observed(begun.model, moments, rows))
    return Run(
        time=times,
        sampled={name: values[1:] for name, values in seen.items()},
        moment_times=moments,
        at_moments=seen,
        episodes=_struck(begun, moments, seen),
        status=run.status,
        stopped_at=float(times[-1]),
        first_nonfinite="a state",
        steps=run.steps,
        iterations=run.steps + run.rejected,
        step=0.0,
        states=rows,
    )


def integrate(
    content: Any,  # noqa: ANN401, of a scenario
    model: Mechanism,
    state: State,
    interval: float,
    count: int,
    progress: Progress | None,
) -> Pieces:
    """Integrate in pieces of one length, so that one compilation serves; what lies beyond the end is to be cut off."""
    method: Literal["dopri8", "kvaerno5"] = METHODS[content.integrator.method]
    tolerance, rows = np.float64(content.integrator.tolerance), -(-count // PIECES)
    most = max(content.integrator.max_steps // (IMPLICIT if method == "kvaerno5" else 1), 1)

    def advance_piece(run: Pieces, piece: int) -> Pieces:
        if run.steps + run.rejected >= most:
            return replace(run, status=Status.TOO_MANY_ITERATIONS)
        times = interval * (run.asked + np.arange(rows + 1, dtype=float))
        found = jax.tree.map(np.asarray, advance(model, run.state, times, tolerance, method, most))
        part = jax.tree.map(lambda a: a[1:], found.states)
        good, _ = finite_rows({"state": part})
        status = Status.RUNNING if run.asked + rows < count else Status.FINISHED
        if good < rows:
            status = Status.TOO_MANY_ITERATIONS if bool(found.exhausted) else Status.NOT_FINITE
        return Pieces(
            status=status,
            state=jax.tree.map(lambda a: a[-1], found.states),
            asked=run.asked + rows,
            kept=(*run.kept, jax.tree.map(lambda a: a[:good], part)),
            steps=run.steps + int(found.steps),
            rejected=run.rejected + int(found.rejected),
        )

    first = jax.tree.map(lambda a: np.asarray(a)[None], state)
    begun = Pieces(Status.RUNNING, state, 0, (first,))
    return drive(begun, advance_piece, lambda run: min(1.0, run.asked / count), 1, progress)


def _with_contacts(start: State, states: State, count: int) -> State:
    """Return states of a model without contacts as those of one with them, which are as they were after t = 0."""

    def every(leaf: Any) -> Any:  # noqa: ANN401, an array
        return np.broadcast_to(leaf, (count, *np.shape(leaf)))

    groups = len(start.mode) - len(states.mode)
    modes = (*map(every, start.mode[:groups]), *states.mode)
    return State(states.q, states.v, modes, states.memory._replace(impacts=jax.tree.map(every, start.memory.impacts)))


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


def _struck(begun: Begun, moments: Any, seen: dict[str, Any]) -> list[Any]:  # noqa: ANN401, arrays
    """Return the contacts that were struck at t = 0."""
    contacts = seen["depth"].shape[1]
    if not contacts:
        return []
    touching = np.zeros((len(moments), contacts), bool)
    touching[0] = [int(mode) != APART for mode in begun.before.mode[:contacts]]
    zero = np.zeros((len(moments), contacts))
    jumps = np.diff(seen["impact_impulse"], axis=0, prepend=0.0)
    return episodes(Moments(moments, touching, zero, zero, jumps, SLACK), 0.0)
