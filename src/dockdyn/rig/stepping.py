"""A rig step by step: from one instant at which its compensator is asked to the next, the caller answering for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput
from dockdyn.hil.sensor import Draws
from dockdyn.integrate.model import over_rows
from dockdyn.programs import Program
from dockdyn.results.side_by_side import NOTHING, SavedState, SideBySide, Values
from dockdyn.rig.compensator import join_rig
from dockdyn.rig.model.delayed_reads import Ages, ages_of
from dockdyn.rig.model.rig import IdealContact, Instant, Rig, RigState
from dockdyn.rig.model.run import draw_chances
from dockdyn.rig.run import Grid, without_rig
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.trees import map_leaves


class Answered(NamedTuple):
    """What is remembered of an instant."""

    seen: CompensatorInput
    law: PyTree  # memory of the rig's own law


class ToldCompensator(Compensator):
    """Answers what it is told or, told nothing, what the rig's own law does; remembers what it has seen."""

    law: Compensator | None
    action: Compensation | None

    def init(self, position: Axes, velocity: Axes) -> Answered:
        zero, axes = jnp.zeros(()), jnp.zeros(position.size)
        nothing = CompensatorInput(zero, zero, zero, axes, axes, axes, axes, axes, axes, jnp.asarray(False), axes, axes)
        return Answered(nothing, None if self.law is None else self.law.init(position, velocity))

    def step(self, memory: Answered, seen: CompensatorInput) -> tuple[Answered, Compensation]:
        after, own = (None, None) if self.law is None else self.law.step(memory.law, seen)
        if self.action is not None or own is None:
            nothing = Compensation.nothing(seen.force.size)
            return Answered(seen, memory.law), nothing if self.action is None else self.action
        return Answered(seen, after), own

    @property
    def source(self) -> Any:  # noqa: ANN401, a word
        return "estimate" if self.law is None or self.action is not None else self.law.source

    def report(self, memory: Answered) -> dict[str, Float[Array, ""]]:
        return {} if self.law is None else self.law.report(memory.law)


class KnownMotion(NamedTuple):
    """What of a run is known beforehand: the motion without rig where the law is asked, and random numbers."""

    position: Float[Array, "asks axes"]
    force: Float[Array, "asks axes"]
    drawn: Draws | None  # each leaf with a leading axis over all samples
    noise: Float[Array, "asks axes"] | None


class RigRow(NamedTuple):
    """One of the rigs that go on side by side."""

    rig: Rig
    known: KnownMotion
    moving: RigState


class RigStep(NamedTuple):
    """Where a rig is: what it has come to, what is observed of the instant before, what its law sees at this one."""

    moving: RigState
    observed: dict[str, Array]
    seen: CompensatorInput


def advance_tick(rig: Rig, ages: Ages, known: KnownMotion, moving: RigState) -> tuple[RigState, dict[str, Array]]:
    """Return a rig one tick later, and what is observed at the tick's start."""
    schedule = rig.schedule
    rows = [np.array(row) for row in (schedule.samples, schedule.asks, schedule.holds)]
    cycle, place = jnp.divmod(moving.tick, schedule.ticks)
    now = Instant(*(jnp.asarray(row)[place] for row in rows))

    def number(row: np.ndarray) -> Int[Array, ""]:
        """Return how many such instants there were before this one."""
        return cycle * int(row.sum()) + jnp.asarray(np.cumsum(row) - row)[place]

    def at(values: PyTree, index: Int[Array, ""]) -> PyTree:
        return map_leaves(lambda a: a[jnp.minimum(index, a.shape[0] - 1)], values)

    asked = number(rows[1])
    ideal = IdealContact(at(known.position, asked), at(known.force, asked), at(known.noise, asked))
    return rig.advance(ages, moving, now, ideal, at(known.drawn, number(rows[0])))


def _compensator_input(rig: Rig, ages: Ages, known: KnownMotion, moving: RigState) -> CompensatorInput:
    """Return what the law sees at an instant at which it is asked: it does not depend on what it answers."""
    return advance_tick(rig, ages, known, moving)[0].memory.seen


@Program
def _start_rigs(rigs: PyTree, known: PyTree) -> RigStep:
    """Return the rigs at t = 0, whose laws are asked there."""

    def one(rig: Rig, known: KnownMotion) -> RigStep:
        ages, moving = ages_of(rig), rig.begin()
        return RigStep(moving, advance_tick(rig, ages, known, moving)[1], _compensator_input(rig, ages, known, moving))

    return over_rows(one, rigs, known)


@partial(Program, donate=("rows",))
def _advance_rigs(rows: RigRow, action: PyTree) -> RigStep:
    """Return the rigs at the next instant at which their laws are asked, told what to do at this one."""

    def one(row: RigRow, action: Compensation | None) -> RigStep:
        rig, ages, known = _with_action(row.rig, action), ages_of(row.rig), row.known
        asks = jnp.asarray(np.array(rig.schedule.asks))

        def between(moving: RigState) -> Bool[Array, ""]:
            return ~asks[moving.tick % rig.schedule.ticks]

        moving, observed = advance_tick(rig, ages, known, row.moving)
        moving = jax.lax.while_loop(between, lambda now: advance_tick(rig, ages, known, now)[0], moving)
        return RigStep(moving, observed, _compensator_input(rig, ages, known, moving))

    return over_rows(one, rows, action)


def _with_action(rig: Rig, action: Compensation | None) -> Rig:
    """Return the rig told what to do."""
    assert isinstance(rig.compensator, ToldCompensator)
    return replace(rig, compensator=ToldCompensator(rig.compensator.law, action))


class RigStepper:
    """Runs of a rig that go on from one instant of its digital dynamics to the next, told an `Action` at each.

    Robot, sensor, delays and noise are those of `dockdyn.simulate`. Every array has a leading axis over the runs where
    there is a `batch`.
    """

    observation: dict[str, np.ndarray]  # what was observed last
    period: float  # s, between instants

    def __init__(self, scenario: Scenario, period: float | None, batch: int | None):
        self.scenario, self.runs, self._asked = scenario, SideBySide(scenario, batch), period
        self.reset()

    def reset(self, values: Values | Sequence[Values] = NOTHING) -> dict[str, np.ndarray]:
        """Begin again, keys of the scenario set to `values`, in a batch perhaps those of each run; what is observed then.

        Raises ScenarioError for a value that is not allowed, a rig without contact or hold, and where runs of a batch
        differ in more than numbers.
        """
        several = self.runs.values_of_each(values)
        cases = self.runs.cases(several)
        built = [self._build_rig(case) for case in cases]
        self._rigs, self._known = (self.runs.stacked([pair[index] for pair in built]) for index in (0, 1))
        self._instants = len(Grid.of(built[0][0], cases[0].content.duration).within(cases[0].content.duration))
        self._axes, self._steps, self._values = built[0][0].plant.port_axes, 0, several
        return self._take(_start_rigs(self._rigs, self._known))

    def _build_rig(self, case: Scenario) -> tuple[Rig, KnownMotion]:
        """Return the rig of a case and what is known of its run."""
        rig = join_rig(case, self._asked, lambda law: ToldCompensator(law, None)).rig
        grid = Grid.of(rig, case.content.duration)
        self.period = grid.period
        _, oracle = without_rig(case, rig, grid)
        random = draw_chances(rig, case.content.seed, grid.rows, grid.stride)
        drawn, noise = map_leaves(lambda a: a.reshape(-1, *a.shape[3:]), random)
        return rig, KnownMotion(oracle.position, oracle.force, drawn, noise)

    def step(self, action: Compensation | None = None) -> dict[str, np.ndarray]:
        """Give the answer of this instant, and go on to the next; what is observed of this one, by the names of results.

        None leaves it to the compensator of the scenario, if it has one. A step after the end changes nothing. Raises
        ScenarioError for what is no action.
        """
        if self._steps >= self._instants:
            return self.observation
        rows = RigRow(self._rigs, self._known, self._found.moving)
        self._steps += 1
        return self._take(_advance_rigs(rows, None if action is None else self._answer_per_run(action)))

    def _answer_per_run(self, action: Compensation) -> Compensation:
        """Return an answer for every run of the batch."""
        if not isinstance(action, Compensation):
            raise ScenarioError(f"{self.scenario.name}: a step of a rig takes a dockdyn.hil.Compensation")
        shapes = [(self._axes,), (), (self._axes,), (), (), ()]
        parts = zip(Compensation._fields, action, shapes, strict=True)
        return Compensation(*(self.runs.for_each(*part) for part in parts))  # type: ignore[arg-type]

    def _take(self, found: RigStep) -> dict[str, np.ndarray]:
        """Return what is observed, once a step is done."""
        self._found = found
        self.observation = self.runs.plain(found.observed)
        return self.observation

    @property
    def state(self) -> SavedState:
        """Where the rigs are, as plain data: can be pickled, and set as the `state` of a stepper of the same scenario.

        Set, it raises ScenarioError for what is no state, or that of another scenario, period or number of runs.
        """
        return self.runs.saved(self._asked, self._values, self._steps, self._found)

    @state.setter
    def state(self, state: SavedState) -> None:
        self.runs.refuse_foreign(state, self._asked)
        if state.values is not self._values:
            self.reset(state.values)
            self._values = state.values
        self._take(self.runs.restored(state, self._found))
        self._steps = state.steps

    @property
    def seen(self) -> CompensatorInput:
        """Return what a compensator sees at this instant, as in `Compensator.step`."""
        return self.runs.plain(self._found.seen)

    @property
    def time(self) -> np.ndarray:
        """Time (s) of this instant."""
        return self.runs.plain(self._found.seen.time)

    @property
    def done(self) -> np.ndarray:
        """Whether the duration has passed, or the motion is not finite any more."""
        finite = np.isfinite(np.asarray(self._found.seen.position)).all(axis=1)
        return self.runs.plain(~finite | (self._steps >= self._instants))
