"""Shadow prices: by how much the best goal would change if a limit, or the end of a range, were moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.studies.design.plan import Evaluation, Plan
from dockdyn.studies.design.variables import RealVariable

STEP, STEP_OF_CASES = 1e-3, 1e-2  # of the ranges: percentiles of cases have corners that a short step would see
STATIONARY = 0.1  # of the goal's slope: more left over means that the search has not come to an optimum, or a corner


@record
class Prices:
    """Shadow prices at the best design.

    Attributes:
        constraints: by place in the plan: change of the goal for a limit that is relaxed by one (SI units).
        ends: likewise for the end of a variable's range that is moved out by one.
        left: what of the goal's slope active constraints and ends do not balance, as a share of it.
        evaluations: designs that were tried for them.
    """

    constraints: dict[int, float]
    ends: dict[int, float]
    left: float
    evaluations: int

    @property
    def known(self) -> bool:
        return self.left <= STATIONARY


def shadow_prices(plan: Plan, best: Evaluation, active: Sequence[int], at_ends: dict[int, str]) -> Prices | None:
    """Return the prices of `active` constraints and of variables that are at an end of their range, "low" or "high", by place.

    At an optimum the slope of the goal is balanced by those of what is spared of the active limits, with multipliers that
    are not negative (Karush, Kuhn and Tucker): these are the prices. Slopes are differences of second order, with the same
    cases. None where there is nothing that could be moved. Whole numbers and choices are held.

    Nocedal, Wright, Numerical Optimization (2006), sections 12.1 and 12.8.
    """
    free = [place for place, one in enumerate(plan.variables) if isinstance(one, RealVariable)]
    movable = [place for place in active if plan.constraints[place].of_a_number]
    ended = [place for place in free if place in at_ends]
    if len(plan.goals) > 1 or not free or not (movable or ended):
        return None
    goal, spared = _goal_slopes(plan, best, free, movable, at_ends)
    walls = np.zeros((len(free), len(ended)))
    for column, place in enumerate(ended):
        walls[free.index(place), column] = 1.0 if at_ends[place] == "low" else -1.0
    columns = np.concatenate([spared.T, walls], axis=1)
    if not np.isfinite(columns).all() or not np.isfinite(goal).all():
        return Prices({}, {}, np.inf, 2 * len(free))
    lengths = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    multipliers, left = nnls(columns / lengths, goal)
    sign = 1.0 if plan.goals[0].largest else -1.0
    found = (sign * multipliers / lengths).tolist()
    ends = dict(zip(ended, found[len(movable) :], strict=True))
    return Prices(
        dict(zip(movable, found[: len(movable)], strict=True)),
        {place: price / _coordinate_slope(plan, place, best) for place, price in ends.items()},
        float(left / max(np.linalg.norm(goal), 1e-300)),
        2 * len(free),
    )


def _coordinate_slope(plan: Plan, place: int, best: Evaluation) -> float:
    """Return by how much a real variable changes with its coordinate."""
    variable = plan.variables[place]
    assert isinstance(variable, RealVariable)
    return variable.slope(variable.coordinate(best.values[place]))


def _goal_slopes(
    plan: Plan, best: Evaluation, free: Sequence[int], movable: Sequence[int], at_ends: dict[int, str]
) -> tuple[Float[np.ndarray, "variables"], Float[np.ndarray, "constraints variables"]]:
    """Return the slopes of the goal, less being better, and of what is spared of limits, over the coordinates of real
    variables."""
    own = np.array([one.coordinate(value) for one, value in zip(plan.variables, best.values, strict=True)])
    step = STEP_OF_CASES if plan.of_cases else STEP
    designs, weights = [], []
    for place in free:
        low, high = (-2, -1) if own[place] + step > 1 else (1, 2) if own[place] - step < 0 else (-1, 1)
        for turns in (low, high):
            moved = own.copy()
            moved[place] = own[place] + turns * step
            designs.append(moved)
        # of the polynomial of second degree through the design itself and both others
        weights.append({(-1, 1): (0, -0.5, 0.5), (1, 2): (-1.5, 2, -0.5), (-2, -1): (1.5, 0.5, -2)}[low, high])
    tried = plan.evaluate(plan.values(np.array(designs)))

    def numbers(one: Evaluation) -> np.ndarray:
        spared = [one.slacks[place].spared for place in movable]
        return np.array([plan.goals[0].oriented(one.goals[0]), *spared])

    middle = numbers(best)
    found = [
        (at @ np.array([middle, numbers(tried[2 * row]), numbers(tried[2 * row + 1])])) / step
        for row, at in enumerate(np.array(weights))
    ]
    slopes = np.array(found).T
    return slopes[0], slopes[1:]
