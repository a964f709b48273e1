"""Gains and leads of a rig's compensators that keep its error least over all that it may meet: a design of each."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.parameters import parameters_of
from dockdyn.records import record
from dockdyn.report.report import Table
from dockdyn.report.wording import NOTHING, format_significant
from dockdyn.results.drive import Progress
from dockdyn.rig.comparison.choice import NONE
from dockdyn.rig.comparison.compare import own_law, section_of
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.resting import loop_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, parse
from dockdyn.scenario.tables.design import DesignSection, DesignVariableSection
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.design.answer import answer_of
from dockdyn.studies.design.conduct import run_design
from dockdyn.studies.design.goals import SHARE, constraints_of, goals_of
from dockdyn.studies.design.plan import Plan
from dockdyn.studies.design.trail import Trail
from dockdyn.studies.design.variables import variables_of

CASES = 24  # at least, of every design, where more than the stiffness is distributed
EVALUATIONS = 50  # designs for each number that is sought
WIDER = 3.0  # times what tuning at one stiffness finds: how far numbers are sought
GROSS = {"restitution_error": "< 1", "amplitude_error": "< 1e3"}  # a case that shows more, or none, is never right


@record
class RobustGain:
    """What a design found for a compensator.

    Attributes:
        law: which.
        found: its numbers (SI) by name, and what they were before: tuned at one stiffness, or stated.
        before: of these.
        error: which they keep in the asked share of the cases that they were sought by, `error_before` that of the numbers
            before, `error_fresh` in cases that no design was judged by. None where no case has such an error.
        kept: whether every case bounces, or swings, within what is anything like the truth.
    """

    law: str
    found: dict[str, float]
    before: dict[str, float]
    error: float | None
    error_before: float | None
    error_fresh: float | None
    kept: bool


def share_from(text: str) -> float:
    """Return the share of the cases that a text such as "95 %" or "worst" names. Raises ScenarioError."""
    match = re.fullmatch(SHARE, text.strip())
    share = 100.0 if text.strip() == "worst" else float(match[1]) if match else math.nan
    if not 0 < share <= 100:
        raise ScenarioError(f'--tune {text!r}: must be worst, or a share of the cases such as "95 %"')
    return share


def robust_gains(
    scenario: Scenario, laws: Sequence[str], stiffnesses: Sequence[float], share: float, progress: Progress
) -> tuple[Scenario, list[RobustGain]]:
    """Return each of the `laws` with the numbers that keep its error least in a `share` (per cent) of the cases, in the
    scenario's `[compare.NAME]`; one without numbers that tuning finds is judged as it is, one that cannot be tuned on this rig
    left out.

    Cases are the stiffnesses (N/m), evenly, with all else that the scenario distributes. The error is that of a comparison:
    of the restitution, or of the amplitude of a contact that swings.
    """
    if not scenario.content.bilateral:
        _refuse_without_bounce(scenario, stiffnesses)
    found: list[RobustGain] = []
    tables: dict[str, dict[str, Any]] = {one.law: _as_table(one.unnamed()) for one in scenario.content.compare}
    for place, law in enumerate(laws):
        section = None if law == NONE else _with_tuned_numbers(scenario, law)
        if section is not None or law == NONE:
            found.append(_robust_gain(scenario, section, stiffnesses, share))
        if section is not None and found[-1].found:
            tables[law] = _as_table(section) | found[-1].found
        progress((place + 1) / len(laws))
    return parse(scenario.text(), scenario.name, _tuned_tables(scenario, tables), scenario.folder), found


def _refuse_without_bounce(scenario: Scenario, stiffnesses: Sequence[float]) -> None:
    """Refuse a run that is too short for a bounce on one of the stiffnesses (N/m): it would have no error."""
    name = "ideal_restitution"
    found = run_cases(
        replace(scenario, requirements=()),
        [scenario.content.stiffness_key],
        np.array(stiffnesses)[:, None],
        figures=[name],
    )
    for stiffness, shown, reason in zip(stiffnesses, found.figures[name], found.reasons, strict=True):
        if not reason and np.isnan(shown):
            duration = scenario.content.duration
            words = f"no bounce ends within it without rig at {stiffness:g} N/m; must be longer"
            raise ScenarioError(f"{scenario.name}: duration = {duration:g} s: {words}")


def _tuned_tables(scenario: Scenario, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the compensators of a scenario with the numbers that were found."""
    named = {one.law: one.name for one in scenario.content.compare}
    compared = {named.get(law, law.replace(":", "-").replace(".", "-")): table for law, table in tables.items()}
    changes: dict[str, Any] = {"compare": compared} if tables else {}
    own = own_law(scenario)
    return changes | ({"loop.compensator": tables[own]} if own in tables else {})


def _as_table(section: CompensatorLaw) -> dict[str, Any]:
    """Return a compensator as a file holds it."""
    return section.model_dump(by_alias=True, exclude_none=True)


def _with_tuned_numbers(scenario: Scenario, law: str) -> CompensatorLaw | None:
    """Return a compensator with its numbers as they are tuned today; None of one that cannot be."""
    try:
        return CompensatorMaker(scenario, loop_of(scenario)).complete(section_of(scenario, law))
    except ScenarioError:
        return None


def _robust_gain(
    scenario: Scenario, section: CompensatorLaw | None, stiffnesses: Sequence[float], share: float
) -> RobustGain:
    """Return the design of one compensator, None being the rig without; one that has no number to tune is judged as it is."""
    made = {} if section is None else parameters_of(section.made)
    before = {name: float(getattr(section, name)) for name, about in made.items() if about.tuned}
    sought = {name: value for name, value in before.items() if value}
    plan = _plan_of(_with_law(scenario, section, stiffnesses), sought, len(stiffnesses), share)
    with tempfile.TemporaryDirectory() as folder:
        trail = Trail(Path(folder))
        evaluations = run_design(plan, trail, lambda done: None) if sought else plan.evaluate([()])
        answer = answer_of(plan, evaluations)
    return RobustGain(
        NONE if section is None else section.law,
        before | {name: one["value"] for name, one in zip(sought, answer["variables"], strict=True)},
        before,
        answer["goal"]["value"],
        answer["goal"]["first"],
        answer["evidence"]["goal"]["value"],
        answer["feasible"],
    )


def _with_law(scenario: Scenario, section: CompensatorLaw | None, stiffnesses: Sequence[float]) -> Scenario:
    """Return the scenario with one compensator, or none, and its stiffnesses (N/m) distributed evenly."""
    content = scenario.content
    loop = content.loop.model_copy(update={"compensator": section})
    changes = {
        content.stiffness_key: {"distribution": "choice", "values": list(stiffnesses)},
        "campaign": {"sampling": "latin-hypercube", "runs": 2 * _count_cases(scenario, len(stiffnesses))},
    }
    own = replace(scenario, content=content.model_copy(update={"loop": loop}), requirements=(), design=None)
    return parse(own.text(), scenario.name, changes, scenario.folder)


def _count_cases(scenario: Scenario, stiffnesses: int) -> int:
    """Return how many cases a design has: each stiffness as often as others, once where nothing else is distributed."""
    others = any(scenario.content.stiffness_key not in one.keys for one in scenario.dispersions)
    return stiffnesses * (math.ceil(CASES / stiffnesses) if others else 1)


def _plan_of(scenario: Scenario, sought: dict[str, float], stiffnesses: int, share: float) -> Plan:
    """Return the design of what is sought of a compensator, its numbers as they are tuned today by name; there may be none."""
    figure = "amplitude_error" if scenario.content.bilateral else "restitution_error"
    variables = [
        DesignVariableSection(
            name=name, key=f"loop.compensator.{name}", low=min(0.0, WIDER * value), high=max(0.0, WIDER * value)
        )
        for name, value in sought.items()
    ]
    stated = DesignSection.model_construct(
        minimise=f"{share:g} % of {figure}",
        evaluations=EVALUATIONS * len(variables),
        cases=_count_cases(scenario, stiffnesses),
        constraints={figure: f"{GROSS[figure]} in 100 %"},
        variable=variables,
    )
    goals, constraints = goals_of(scenario, stated, {}), constraints_of(scenario, stated)
    return Plan(scenario, stated, variables_of(scenario, variables), goals, constraints)


def robust_table(found: Sequence[RobustGain], share: float) -> Table:
    """Return what was found, a row each."""
    rows = [
        [
            one.law,
            _numbers_words(one.before),
            _numbers_words(one.found),
            format_significant(one.error_before, 3),
            format_significant(one.error, 3),
            format_significant(one.error_fresh, 3) if one.kept else "not in all cases",
        ]
        for one in found
    ]
    within = "at worst" if share == 100 else f"in {share:g} %"
    columns = [("compensator", ""), ("tuned at one stiffness", ""), ("found", "")]
    columns += [(f"error {within}", "before"), ("", "found"), ("", "fresh cases")]
    return Table(columns, rows, worded={0, 1, 2}, look="dense")


def _numbers_words(numbers: dict[str, float]) -> str:
    """Return a compensator's numbers (SI)."""
    return (
        ", ".join(f"{name.replace('_', ' ')} {format_significant(value, 5)}" for name, value in numbers.items())
        or NOTHING
    )
