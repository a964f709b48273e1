"""The best design of a search, made better by derivatives, where goal and constraints are smooth figures of one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.results.key_figures import left_out, names_in_cases
from dockdyn.results.requirements import resolve_figure
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.cases.batch import located_figures
from dockdyn.studies.design.plan import Design, Evaluation, Plan
from dockdyn.studies.design.variables import RealVariable
from dockdyn.studies.objectives.derivatives import derivatives_of
from dockdyn.studies.objectives.objective import chosen_places

ITERATIONS = 30  # at most
SPARED = 1e-6  # of a limit: what a design keeps away from it, lest rounding put it on the other side
ACCURACY = 1e-12  # of the goal: a step that gains less is the last

type Point = Float[np.ndarray, "variables"]
Try = Callable[[Design], Evaluation | None]  # a design with its derivatives; None where there is no room for it


class _Ended(Exception):
    """There is no design to try any more, or one that has no derivatives."""


@record
class Smooth:
    """The figures of a design that has derivatives, by their whole names: the goal's, None of a variable, and constraints'."""

    plan: Plan
    goal: str | None
    constraints: tuple[str, ...]

    def with_slopes(self, one: Evaluation) -> Evaluation:
        """Return an evaluation with the slopes of the goal, less being better, and of what is spared of each limit, by the
        coordinates of the variables; as it is where it has none."""
        plan = self.plan
        names = list(dict.fromkeys(name for name in (self.goal, *self.constraints) if name is not None))
        keys = [variable.key for variable in plan.variables]
        if one.failed or None in one.goals or any(slack.limit is None for slack in one.slacks):
            return one
        try:
            case = plan.scenario.at(dict(zip(keys, one.values, strict=True)))
            found = derivatives_of(case, names, chosen_places(case, places_of(case), keys, "design:"))
        except ScenarioError:
            return one
        per = np.array(
            [variable.slope(variable.coordinate(value)) for variable, value in self._reals(one)]  # of a coordinate
        )
        goal = plan.goals[0]
        own = np.array([float(key == goal.figure) for key in keys]) if self.goal is None else found[self.goal].slopes
        rows = [np.asarray(own) * per * (-1 if goal.largest else 1)]
        for name, constraint, slack in zip(self.constraints, plan.constraints, one.slacks, strict=True):
            sign = -1 if constraint.requirement.relation.startswith("<") else 1
            rows.append(sign * np.asarray(found[name].slopes) * per / (abs(slack.limit or 0.0) or 1.0))
        slopes = tuple(tuple(map(float, row)) for row in rows)
        known = all(verdict.holds is not False for figure in found.values() for verdict in figure.verdicts)
        return replace(one, slopes=slopes) if known and np.isfinite(slopes).all() else one

    def _reals(self, one: Evaluation) -> list[tuple[RealVariable, float]]:
        return [
            (variable, value)
            for variable, value in zip(self.plan.variables, one.values, strict=True)
            if isinstance(variable, RealVariable)
        ]


def smooth_design(plan: Plan) -> Smooth | None:
    """Return a design of which derivatives are known: of real numbers, with one goal, all of it key figures of the run alone
    that vary smoothly with limits that may be approached; None of another one."""
    setup = setup_named(plan.scenario.setup)
    real = all(isinstance(one, RealVariable) for one in plan.variables)
    if len(plan.goals) > 1 or plan.of_cases or not real or setup.key_figures() is None:
        return None
    known = located_figures(plan.scenario)
    meaningless = left_out(known.figures, known.stated(plan.scenario.content))
    smooth = {
        name: one
        for name, one in names_in_cases(known.figures).items()
        if one.smooth and one.source != "run" and one.name not in meaningless
    }
    goal, asked = plan.goals[0].asked, [one.requirement for one in plan.constraints]
    if any(one.relation == "==" for one in asked):
        return None
    try:
        names = [
            resolve_figure(figure, smooth, plan.scenario.name)
            for figure in ([] if goal is None else [goal]) + [one.figure for one in asked]
        ]
    except ScenarioError:
        return None
    return Smooth(plan, None if goal is None else names[0], tuple(names[len(names) - len(asked) :]))


def polish_best(plan: Plan, best: Evaluation, attempt: Try) -> None:
    """Try designs from the best one on that are better by sequential quadratic programming, until they are no more.

    `attempt` evaluates a design with its slopes; what it gives back is all that is known.

    Kraft, A software package for sequential quadratic programming, DFVLR-FB 88-28 (1988). Nocedal, Wright, Numerical
    Optimization (2006), chapter 18.
    """
    known: dict[bytes, tuple[float, np.ndarray, np.ndarray, np.ndarray]] = {}
    size = abs(plan.goals[0].oriented(best.goals[0])) or 1.0

    def at(place: Point) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Return the goal and its slopes, what is spared of every limit and its slopes."""
        inside = np.clip(place, 0.0, 1.0)
        key = inside.tobytes()
        if key not in known:
            (design,) = plan.values(inside[None])
            found = attempt(design)
            if found is None or not found.slopes:
                raise _Ended
            slopes = np.array(found.slopes)
            spared = np.array([one.slack for one in found.slacks]) - SPARED
            known[key] = plan.goals[0].oriented(found.goals[0]) / size, slopes[0] / size, spared, slopes[1:]
        return known[key]

    start = np.array([one.coordinate(value) for one, value in zip(plan.variables, best.values, strict=True)])
    limits = {"type": "ineq", "fun": lambda place: at(place)[2], "jac": lambda place: at(place)[3]}
    try:
        minimize(
            lambda place: at(place)[0],
            start,
            jac=lambda place: at(place)[1],
            method="SLSQP",
            bounds=[(0.0, 1.0)] * len(start),
            constraints=[limits] if plan.constraints else [],
            options={"maxiter": ITERATIONS, "ftol": ACCURACY},
        )
    except _Ended:
        return
