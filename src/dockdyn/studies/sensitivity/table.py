"""What a figure of a run depends on: its derivative with respect to every number of the scenario, in forward mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.report.notebook import Answer
from dockdyn.results.drive import Progress
from dockdyn.scenario.language.given import name_from, names_from
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.objectives.derivatives import evaluated
from dockdyn.studies.objectives.objective import chosen_places, objective
from dockdyn.studies.sensitivity.differentiable import NOT, judged, probes

CHECKED = 6  # keys, the largest first, whose derivatives are compared with differences
PER_CENT = 0.01


def sensitivity(
    scenario: Scenario | str | Path,
    of: str,
    to: Sequence[str] | str | None = None,
    progress: Progress | None = None,
    smoothing: float | None = None,
) -> Answer:
    """Derivatives of a figure, with respect to the numbers `to` (one or several dotted keys), or all of them.

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
    figure = objective(scenario, of, smoothing=smoothing)
    places = places_of(scenario)
    if to is not None:
        places = chosen_places(scenario, places, names_from("to", to), "--to")
    drawn = {key for one in scenario.dispersions for key in one.keys} if figure.figure.over else set()
    if to is None:
        places = [place for place in places if not drawn & set(place.keys)]
    share = None if progress is None else lambda done: progress(0.6 * done)
    found = figure.value_and_gradient({place.key: place.value for place in places}, share)
    if progress is not None:
        progress(0.6)
    rows = [
        row(place, slope, error)
        for place, slope, error in zip(places, found.slopes.values(), found.slope_errors.values(), strict=True)
    ]
    order = sorted(
        range(len(rows)), key=lambda i: (-abs(rows[i]["per_percent"] or 0), -abs(rows[i]["derivative"] or 0))
    )
    finite = [i for i in order if rows[i]["derivative"] is not None]
    compared = finite[:CHECKED] if any(found.slopes.values()) else finite
    if compared and found.runs == 1:
        compare(scenario, of, [places[i] for i in compared], [rows[i] for i in compared])
    if progress is not None:
        progress(1.0)
    ranked = [rows[i] for i in order]
    return Answer(
        title=scenario.title,
        kind=scenario.kind,
        of=of,
        unit=figure.unit,
        value=found.value,
        value_error=found.value_error if found.runs > 1 else None,
        runs=found.runs,
        smoothing=figure.smoothing,
        differentiable=all(one["differentiable"] is not False for one in ranked),
        to=ranked,
        warnings=_by_reason(ranked),
    )


def _by_reason(rows: list[dict[str, Any]]) -> list[str]:
    """What is said about rows, the keys of which it is said before it."""
    reasons = dict.fromkeys(one["reason"] for one in rows if one["reason"])
    keys = {reason: [one["key"] for one in rows if one["reason"] == reason] for reason in reasons}
    few = {reason: ", ".join(some) if len(some) < 5 else f"{len(some)} keys" for reason, some in keys.items()}
    return [f"{few[reason]}: {reason}" for reason in reasons]


def row(place: Place, slope: float, error: float) -> dict[str, Any]:
    finite = math.isfinite(slope)
    return {
        "key": place.key,
        "value": place.value,
        "unit": place.unit,
        "derivative": slope if finite else None,
        "per_percent": PER_CENT * slope * place.value if finite else None,
        "error": error if finite and error else None,
        "differences": None,
        "differentiable": None if finite else False,
        "reason": "" if finite else f"{NOT}: the derivative is not finite",
    }


def compare(scenario: Scenario, of: str, places: list[Place], rows: list[dict[str, Any]]) -> None:
    """Compares derivatives with one-sided differences: adds what was found to the rows."""
    keys = list(dict.fromkeys(key for place in places for key in place.keys))
    own = {key: place.value for place in places for key in place.keys}
    tried = [(place, step) for place in places for step in probes(place.value)]
    cases = [own | dict.fromkeys(place.keys, place.value + step) for place, step in tried]
    found = evaluated(scenario, of, keys, np.array([[case[key] for key in keys] for case in [own, *cases]]))
    count = len(cases) // len(places)
    for index, one in enumerate(rows):
        which = [0, *range(1 + index * count, 1 + (index + 1) * count)]
        figures = {name: values[which] for name, values in found.figures.items()}
        reasons = [found.reasons[i] for i in which]
        one |= judged(of, one["derivative"], probes(one["value"]), figures, reasons)
