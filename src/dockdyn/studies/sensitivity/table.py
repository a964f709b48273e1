"""What a figure of a run depends on: its derivative with respect to every number of the scenario, in forward mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dockdyn.report.notebook import ShownAnswer
from dockdyn.report.wording import count_of
from dockdyn.results.drive import Progress
from dockdyn.scenario.language.given import name_from, names_from
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.objectives.objective import Objective, chosen_places, named_objective
from dockdyn.studies.objectives.verdict import TOO_SMALL, Verdict

PER_CENT = 0.01


def sensitivity(
    scenario: Scenario | str | Path,
    of: str,
    to: Sequence[str] | str | None = None,
    progress: Progress | None = None,
    smoothing: float | None = None,
) -> ShownAnswer:
    """Return derivatives of a figure, with respect to the numbers `to` (one or several dotted keys), or all of them.

    The figure is one of a run, of the margins, or over the scenario's distributions, as `objective` takes it; so is
    `smoothing`.

    Returns `of`, `unit`, `value`, over cases its `value_error` and `runs`, and under `to` a row each, the largest `per_percent`
    first: `key`, `value`, `unit`, `derivative` (unit of the figure per unit of the key), its standard `error` over cases,
    `per_percent`, the change for 1 % more of the number, and where it was compared with differences `differences`
    (downwards and upwards), `differentiable` and `reason`. `differentiable` on top is whether all rows that were compared
    are; `warnings` say what is not.

    Raises ScenarioError: no such figure, one that counts or did not happen, a key that is
    no number or cannot change alone, a run that stops early.
    """
    scenario, of = scenario_from(scenario), name_from("of", of)
    figure, places = _figure_and_places(scenario, of, to, smoothing)
    share = None if progress is None else lambda done: progress(0.6 * done)
    found = figure.estimate({place.key: place.value for place in places}, share)
    rows = [
        sensitivity_row(place, slope, error, verdict)
        for place, slope, error, verdict in zip(places, found.slopes, found.slope_errors, found.verdicts, strict=True)
    ]
    order = sorted(
        range(len(rows)), key=lambda i: (-abs(rows[i]["per_percent"] or 0), -abs(rows[i]["derivative"] or 0))
    )
    if progress is not None:
        progress(1.0)
    ranked = [rows[i] for i in order]
    return ShownAnswer(
        title=scenario.title,
        setup=scenario.setup,
        of=of,
        unit=figure.unit,
        value=found.value,
        value_error=found.value_error if found.runs > 1 else None,
        runs=found.runs,
        smoothing=figure.smoothing,
        differentiable=all(one["differentiable"] is not False for one in ranked),
        to=ranked,
        warnings=_by_reason([one for one in ranked if not one["reason"].startswith(TOO_SMALL)]),
    )


def _figure_and_places(
    scenario: Scenario, of: str, to: Sequence[str] | str | None, smoothing: float | None
) -> tuple[Objective, list[Place]]:
    """Return the figure, and the numbers by which it is differentiated. Raises ScenarioError for such that there are not."""
    figure, places = named_objective(scenario, of, "--of", None, None, smoothing), places_of(scenario)
    if to is not None:
        return figure, chosen_places(scenario, places, names_from("to", to), "--to")
    drawn = {key for one in scenario.dispersions for key in one.keys} if figure.figure.over else set()
    return figure, [place for place in places if not drawn & set(place.keys)]


def cost_in_words(
    scenario: Scenario, of: str, to: Sequence[str] | str | None = None, smoothing: float | None = None
) -> str:
    """Return how many runs the derivatives of a figure over cases take, and how to take fewer; empty for one of a single run.

    Each case is run with its derivatives; then every number is moved down and up over all cases, to compare. Where those
    differences leave it open, there are four more of each case. Raises ScenarioError as `sensitivity` does.
    """
    figure, places = _figure_and_places(scenario, of, to, smoothing)
    if not figure.figure.over and not figure.smoothing:
        return ""
    runs = figure.runs
    if figure.smoothing:
        return f"takes {runs} runs"
    least, most = runs * (2 * len(places) + 2), runs * (6 * len(places) + 3)
    words = (
        f"takes {least} to {most} runs, {runs} cases with each of {count_of(len(places), 'number')} moved down and up"
    )
    return words if len(places) == 1 else f"{words}; --to KEY asks of one number alone"


def _by_reason(rows: list[dict[str, Any]]) -> list[str]:
    """Return what is said about rows, the keys of which it is said before it."""
    reasons = dict.fromkeys(one["reason"] for one in rows if one["reason"])
    keys = {reason: [one["key"] for one in rows if one["reason"] == reason] for reason in reasons}
    few = {reason: ", ".join(some) if len(some) < 5 else f"{len(some)} keys" for reason, some in keys.items()}
    return [f"{few[reason]}: {reason}" for reason in reasons]


def sensitivity_row(place: Place, slope: float, error: float, verdict: Verdict) -> dict[str, Any]:
    finite = math.isfinite(slope)
    return {
        "key": place.key,
        "value": place.value,
        "unit": place.unit,
        "derivative": slope if finite else None,
        "per_percent": PER_CENT * slope * place.value if finite else None,
        "error": error if finite and error else None,
        "differences": None if verdict.sides is None else list(verdict.sides),
        "differentiable": verdict.holds,
        "reason": verdict.reason,
    }
