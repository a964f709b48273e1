"""The run that margins need: to its first contact, and what closes after it.

Units: s.
Source: definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.contact_modes import APART
from dockdyn.deferred import Bool, Float
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution, Status
from dockdyn.results.plan import jit_once, settings_for
from dockdyn.results.unit import advance, begin
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.loop import LoopSection
from dockdyn.trees import map_leaves

SLICE = 5_000  # iterations between looks at what has happened
LOOKED_AT = 64  # moments of the run from the first onset on
LONGEST_LOOK = 200_000  # steps of it


class FollowedMoments(NamedTuple):
    """A run at its start and at the moments of its log, as far as it was followed."""

    time: Float[np.ndarray, "moments"]  # s
    state: State  # each leaf with a leading axis
    touching: Bool[np.ndarray, "moments groups"]

    def at(self, row: int) -> State:
        """Return the state at a moment."""
        found: State = map_leaves(lambda rows: rows[row], self.state)
        return found


def without_rest[Content: Section](content: Content) -> Content:
    """Return the same without `[stability]` and what a loop has beside its delay, of which no run knows."""
    asked: Any = content
    loop = LoopSection(delay=asked.loop.delay)
    return content.model_copy(update={"stability": type(asked.stability)(), "loop": loop})


def first_touching(scenario: Scenario, measured: Sequence[int]) -> tuple[float, State]:
    """Return when (s) the first of the contacts `measured` begins in the run, and the state then.

    Raises ScenarioError without one.
    """
    content = scenario.content
    moments = follow_run(scenario, lambda found: _first_row(found, measured) is not None)
    row = _first_row(moments, measured)
    if row is None:
        which = "no contact"
        if len(measured) < len(content.contact):
            which += " of " + " with ".join(name for name, _ in content.sides(content.contact[measured[0]]))
        raise ScenarioError(
            f"{scenario.name}: duration = {content.duration:g} s: {which} within it, along whose normal the loop is judged; "
            "must be longer, or state stability.closed and stability.time, or stability.distance along a cone's wall"
        )
    return float(moments.time[row]), moments.at(row)


def after_first(scenario: Scenario, contacts: Sequence[int]) -> FollowedMoments:
    """Return the run from the first of these contacts on, until they have ended, for a limited number of moments."""
    own = list(contacts)

    def over(found: FollowedMoments) -> bool:
        first = _first_row(found, own)
        if first is None:
            return False
        later = found.touching[first:]
        return len(later) > LOOKED_AT or not later[-1, own].any()

    found = follow_run(scenario, over, LONGEST_LOOK)
    first = _first_row(found, own) or 0
    rows = slice(first, first + LOOKED_AT + 1)
    return FollowedMoments(found.time[rows], map_leaves(lambda leaf: leaf[rows], found.state), found.touching[rows])


def _first_row(found: FollowedMoments, contacts: Sequence[int]) -> int | None:
    """Return the first row in which one of these contacts touches; None without."""
    touching = found.touching[:, list(contacts)].any(axis=1)
    return int(np.argmax(touching)) if touching.any() else None


def follow_run(
    scenario: Scenario, enough: Callable[[FollowedMoments], bool], longest: int | None = None
) -> FollowedMoments:
    """Return the run until `enough` of it is known or it ends, at most so many iterations."""
    content = without_rest(scenario.content)
    settings = settings_for(content)
    solver, until = begin(content, settings), 0
    start = map_leaves(np.asarray, solver.point.state)
    while True:
        solution: Solution = map_leaves(np.asarray, solution_so_far(solver))
        found = _moments_of(start, solution, len(content.contact))
        if enough(found) or solution.status != Status.RUNNING or (longest is not None and until >= longest):
            return found
        until += SLICE
        solver = advance(content, settings, until, solver)


@jit_once
def solution_so_far(solver: located.SolverState) -> Solution:
    """Return the solution so far, without samples."""
    return located.solution_of(solver._replace(samples=None))


def _moments_of(start: State, solution: Solution, count: int) -> FollowedMoments:
    """Return the moments of a run that began as `start`, with so many groups."""
    rows = int(solution.moments)
    state = map_leaves(lambda own, log: np.concatenate([own[None], log[:rows]]), start, solution.log.state)
    touching = np.stack(state.mode[:count], axis=-1) != APART
    return FollowedMoments(np.concatenate([[0.0], solution.log.time[:rows]]), state, touching)
