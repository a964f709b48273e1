"""Designs: generations of evaluations, each kept as it comes, until the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from dockdyn.report.notebook import Answer
from dockdyn.scenario.language.given import path_from
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.design.answer import answer_of, written_design
from dockdyn.studies.design.front import front_generations
from dockdyn.studies.design.plan import Evaluation, Plan, plan_design
from dockdyn.studies.design.search import Designs, Order, every_design, generations
from dockdyn.studies.design.trail import Trail

Told = Callable[[Evaluation], None]  # told the first design
Progress = Callable[[float], None]  # told the share of the evaluations that is done


def run_design(plan: Plan, trail: Trail, progress: Progress, told: Told = lambda first: None) -> list[Evaluation]:
    """All evaluations of a design, those that its trail has first; what it has not is run, and kept.

    The designs that the trail has are asked for again in the same order, so that the search goes on where it was; from where
    its numbers are others than those asked for, it is run again. The first design is `told` once it is known.
    """
    kept = trail.begun(plan)
    asking = _asked_designs(plan)
    asked = next(asking)
    done: list[Evaluation] = []
    while len(done) < plan.stated.evaluations:
        designs = plan.values(asked[: plan.stated.evaluations - len(done)])
        if kept and [one.values for one in kept[0]] == designs:
            found = kept.pop(0)
        else:
            if kept:
                kept = []
                trail.cut(len(done))
            found = plan.evaluate(designs)
            trail.append(plan, found)
        if not done:
            told(found[0])
        done += found
        progress(len(done) / plan.stated.evaluations)
        if len(found) == len(asked):
            try:
                asked = asking.send([plan.order(one) for one in found])
            except StopIteration:  # all that there are have been tried
                break
    progress(1.0)
    return done


def _asked_designs(plan: Plan) -> Generator[Designs, Sequence[Order], None]:
    """The designs of a search, as coordinates of the variables: all that there are, where they are few."""
    start, most = plan.start(), plan.stated.evaluations
    if (every := every_design(plan.variables, most)) is not None:
        yield start[None]
        yield every[(every != start).any(axis=1)]
    elif len(plan.goals) > 1:
        yield from front_generations(plan.variables, start, plan.stated.seed, most)
    else:
        yield from generations(plan.variables, start, plan.stated.seed)


def design(scenario: Scenario | str | Path, folder: str | Path) -> Answer:
    """Seek the numbers of a scenario that its table `[design]` names, and keep every evaluation in `folder`.

    Goes on where a design has begun there. Returns the answer, which is in `design.json` there, beside the scenario with the
    best design. Raises `ScenarioError`: no design is stated, or one that cannot be; another one is in the folder, or runs
    there.
    """
    plan, trail = plan_design(scenario_from(scenario)), Trail(path_from("folder", folder))
    with trail.claimed():
        answer = answer_of(plan, run_design(plan, trail, lambda share: None))
        written_design(plan, answer, trail.folder)
        return Answer(answer)
