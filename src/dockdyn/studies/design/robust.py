"""Gains and leads of a rig's compensators that keep its error least over all that it may meet: a design of each."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.kinds.rig.comparison.choice import NONE
from dockdyn.kinds.rig.comparison.compare import own_law, section_of
from dockdyn.kinds.rig.compensator import Maker
from dockdyn.kinds.rig.run import loop_of
from dockdyn.parameters import parameters_of
from dockdyn.report.report import Table
from dockdyn.report.wording import significant
from dockdyn.results.drive import Progress
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, parse
from dockdyn.scenario.tables.compensators import STIFFNESS, CompensatorLaw
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.design.answer import answer_of
from dockdyn.studies.design.conduct import run_design
from dockdyn.studies.design.goals import SHARE
from dockdyn.studies.design.plan import plan_design
from dockdyn.studies.design.trail import Trail

CASES = 24  # at least, of every design, where more than the stiffness is distributed
EVALUATIONS = 50  # designs for each number that is sought
WIDER = 3.0  # times what tuning at one stiffness finds: how far numbers are sought
GROSS = {"restitution_error": "< 1", "amplitude_error": "< 1e3"}  # a case that shows more, or none, is never right


@dataclass(frozen=True)
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
    """The share of the cases that a text such as "95 %" or "worst" names. Raises ScenarioError."""
    match = re.fullmatch(SHARE, text.strip())
    share = 100.0 if text.strip() == "worst" else float(match[1]) if match else math.nan
    if not 0 < share <= 100:
        raise ScenarioError(f'--tune {text!r}: must be worst, or a share of the cases such as "95 %"')
    return share


def robust_gains(
    scenario: Scenario, laws: Sequence[str], stiffnesses: Sequence[float], share: float, progress: Progress
) -> tuple[Scenario, list[RobustGain]]:
    """Each of the `laws` with the numbers that keep its error least in a `share` (per cent) of the cases, in the scenario's
    `[[compare]]`; a law that leaves nothing to tuning, or that cannot be tuned on this rig, is left as it is.

    Cases are the stiffnesses (N/m), evenly, with all else that the scenario distributes. The error is that of a comparison:
    of the restitution, or of the amplitude of a contact that swings.
    """
    if not scenario.content.bilateral:
        _refuse_without_bounce(scenario, stiffnesses)
    found: list[RobustGain] = []
    tables: dict[str, dict[str, Any]] = {one.law: _as_table(one) for one in scenario.content.compare}
    for place, law in enumerate(laws):
        section = None if law == NONE else _completed(scenario, law)
        if section is not None and (one := _robust_gain(scenario, section, stiffnesses, share)) is not None:
            found.append(one)
            tables[law] = _as_table(section) | one.found
        progress((place + 1) / len(laws))
    return parse(scenario.text(), scenario.name, _tuned_tables(scenario, tables), scenario.folder), found


def _refuse_without_bounce(scenario: Scenario, stiffnesses: Sequence[float]) -> None:
    """Refuses a run that is too short for a bounce on one of the stiffnesses (N/m): it would have no error."""
    name = "ideal_restitution"
    found = run_cases(replace(scenario, requirements=()), [STIFFNESS], np.array(stiffnesses)[:, None], figures=[name])
    for stiffness, shown, reason in zip(stiffnesses, found.figures[name], found.reasons, strict=True):
        if not reason and np.isnan(shown):
            duration = scenario.content.duration
            words = f"no bounce ends within it without rig at {stiffness:g} N/m; must be longer"
            raise ScenarioError(f"{scenario.name}: duration = {duration:g} s: {words}")


def _tuned_tables(scenario: Scenario, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The compensators of a scenario with the numbers that were found."""
    changes: dict[str, Any] = {"compare": list(tables.values())} if tables else {}
    own = own_law(scenario)
    return changes | ({"loop.compensator": tables[own]} if own in tables else {})


def _as_table(section: CompensatorLaw) -> dict[str, Any]:
    """A compensator as a file holds it."""
    return section.model_dump(by_alias=True, exclude_none=True)


def _completed(scenario: Scenario, law: str) -> CompensatorLaw | None:
    """A compensator with its numbers as they are tuned today; None of one that cannot be."""
    try:
        return Maker(scenario, loop_of(scenario)).complete(section_of(scenario, law))
    except ScenarioError:
        return None


def _robust_gain(
    scenario: Scenario, section: CompensatorLaw, stiffnesses: Sequence[float], share: float
) -> RobustGain | None:
    """The design of one compensator; None where it has no number that tuning finds."""
    names = [name for name, about in parameters_of(section.made).items() if about.tuned and getattr(section, name)]
    if not names:
        return None
    figure = "amplitude_error" if scenario.content.bilateral else "restitution_error"
    others = any(STIFFNESS not in one.keys for one in scenario.dispersions)
    count = len(stiffnesses) * (math.ceil(CASES / len(stiffnesses)) if others else 1)
    variables = [
        {"key": f"loop.compensator.{name}", "low": min(0.0, WIDER * value), "high": max(0.0, WIDER * value)}
        for name in names
        for value in [getattr(section, name)]
    ]
    design = {
        "minimise": f"{share:g} % of {figure}",
        "evaluations": EVALUATIONS * len(names),
        "cases": count,
        "constraints": {figure: f"{GROSS[figure]} in 100 %"},
        "variables": variables,
    }
    changes = {
        "loop.compensator": _as_table(section),
        STIFFNESS: {"distribution": "choice", "values": list(stiffnesses)},
        "campaign": {"sampling": "latin-hypercube", "runs": 2 * count},
        "requirements": {},
        "design": design,
    }
    plan = plan_design(parse(scenario.text(), scenario.name, changes, scenario.folder))
    with tempfile.TemporaryDirectory() as folder:
        answer = answer_of(plan, run_design(plan, Trail(Path(folder)), lambda done: None))
    goal, fresh = answer["goal"], answer["evidence"]["goal"]["value"]
    return RobustGain(
        section.law,
        {name: one["value"] for name, one in zip(names, answer["variables"], strict=True)},
        {name: float(getattr(section, name)) for name in names},
        goal["value"],
        goal["first"],
        fresh,
        answer["feasible"],
    )


def robust_table(found: Sequence[RobustGain], share: float) -> Table:
    """What was found, a row each."""
    rows = [
        [
            one.law,
            ", ".join(f"{name.replace('_', ' ')} {significant(value, 5)}" for name, value in one.before.items()),
            ", ".join(f"{name.replace('_', ' ')} {significant(value, 5)}" for name, value in one.found.items()),
            significant(one.error_before, 3),
            significant(one.error, 3),
            significant(one.error_fresh, 3) if one.kept else "not in all cases",
        ]
        for one in found
    ]
    within = "at worst" if share == 100 else f"in {share:g} %"
    columns = [("compensator", ""), ("tuned at one stiffness", ""), ("found", "")]
    columns += [(f"error {within}", "before"), ("", "found"), ("", "fresh cases")]
    return Table(columns, rows, worded={0, 1, 2}, look="dense")
