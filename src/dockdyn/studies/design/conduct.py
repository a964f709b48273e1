"""Designs: generations of evaluations, each kept as it comes, until the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path

from dockdyn.report.notebook import ShownAnswer
from dockdyn.scenario.language.given import path_from
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.design.answer import answer_of, written_design
from dockdyn.studies.design.front import front_generations
from dockdyn.studies.design.plan import Design, Evaluation, Plan, plan_design
from dockdyn.studies.design.polish import Smooth, polish_best, smooth_design
from dockdyn.studies.design.search import Designs, Order, design_generations, every_design
from dockdyn.studies.design.trail import Trail

Told = Callable[[Evaluation], None]  # told the first design
Progress = Callable[[float], None]  # told the share of the evaluations that is done


def run_design(plan: Plan, trail: Trail, progress: Progress, told: Told = lambda first: None) -> list[Evaluation]:
    """Return all evaluations of a design, those that its trail has first; what it has not is run, and kept.

    The designs that the trail has are asked for again in the same order, so that the search goes on where it was; from where
    its numbers are others than those asked for, it is run again. The first design is `told` once it is known. Where there are
    derivatives the best design is made better by them after half of the evaluations, and after half of the rest, again and
    again, if the search has come to a better one.
    """
    tried, smooth = _Tried(plan, trail, progress, told), smooth_design(plan)
    asking = _asked_designs(plan)
    asked = next(asking)
    while tried.left:
        found = tried.evaluate(plan.values(asked[: tried.left]))
        if len(found) < len(asked):
            break
        if smooth is not None and tried.left <= tried.next_polish:
            best = min(tried.done, key=plan.order)
            if not best.slopes and None not in best.goals:
                polish_best(plan, best, partial(tried.evaluate_with_slopes, smooth))
            tried.next_polish = tried.left // 2
        try:
            asked = asking.send([plan.order(one) for one in found])
        except StopIteration:  # all that there are have been tried
            break
    progress(1.0)
    return tried.done


class _Tried:
    """The evaluations of a design so far, and what its trail still has of those that follow."""

    def __init__(self, plan: Plan, trail: Trail, progress: Progress, told: Told) -> None:
        self.plan, self.trail, self.progress, self.told = plan, trail, progress, told
        self.kept = trail.begun(plan)
        self.done: list[Evaluation] = []
        self.left = plan.stated.evaluations
        self.next_polish = self.left // 2

    def evaluate(self, designs: list[Design]) -> list[Evaluation]:
        """Return a generation, from the trail or run and kept."""
        return self._next(designs, self.plan.evaluate)

    def evaluate_with_slopes(self, smooth: Smooth, design: Design) -> Evaluation | None:
        """Return a design with its derivatives; None where they would take more than is left."""
        if 1 + len(design) > self.left:
            return None
        (found,) = self._next(
            [design], lambda designs: [smooth.with_slopes(one) for one in self.plan.evaluate(designs)]
        )
        return found

    def _next(self, designs: list[Design], run: Callable[[list[Design]], list[Evaluation]]) -> list[Evaluation]:
        if self.kept and [one.values for one in self.kept[0]] == designs:
            found = self.kept.pop(0)
        else:
            if self.kept:
                self.kept = []
                self.trail.cut(len(self.done))
            found = run(designs)
            self.trail.append(self.plan, found)
        if not self.done:
            self.told(found[0])
        self.done += found
        self.left -= sum(one.cost for one in found)
        self.progress(1 - self.left / self.plan.stated.evaluations)
        return found


def _asked_designs(plan: Plan) -> Generator[Designs, Sequence[Order], None]:
    """Yield the designs of a search, as coordinates of the variables: all that there are, where they are few."""
    start, most = plan.start(), plan.stated.evaluations
    if (every := every_design(plan.variables, most)) is not None:
        yield start[None]
        yield every[(every != start).any(axis=1)]
    elif len(plan.goals) > 1:
        yield from front_generations(plan.variables, start, plan.stated.seed, most)
    else:
        yield from design_generations(plan.variables, start, plan.stated.seed)


def design(scenario: Scenario | str | Path, folder: str | Path) -> ShownAnswer:
    """Seek the numbers of a scenario that its table `[design]` names, and keep every evaluation in `folder`.

    Goes on where a design has begun there. Returns the answer, which is in `design.json` there, beside the scenario with the
    best design. Raises `ScenarioError`: no design is stated, or one that cannot be; another one is in the folder, or runs
    there.
    """
    plan, trail = plan_design(scenario_from(scenario)), Trail(path_from("folder", folder))
    with trail.claimed():
        answer = answer_of(plan, run_design(plan, trail, lambda share: None))
        written_design(plan, answer, trail.folder)
        return ShownAnswer(answer)
