"""What a figure of a run depends on: its derivative with respect to every number of the scenario, in forward mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, PyTreeDef

from dockdyn.integrate.hybrid import located
from dockdyn.integrate.solution import Status
from dockdyn.report.notebook import Answer
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.coupling import refuse_coupled
from dockdyn.results.dataset import reason_of
from dockdyn.results.delay_cost import affordable_delay
from dockdyn.results.drive import Progress
from dockdyn.results.key_figures import KeyFigure, left_out, names_in_cases
from dockdyn.results.plan import jit_once
from dockdyn.results.requirements import unit_of_figure
from dockdyn.scenario.kinds import kind_named, known_kinds
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.given import name_from, names_from
from dockdyn.scenario.language.keys import constrained, number_at, value_at
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.studies.cases.batch import located_figures, run_cases
from dockdyn.studies.cases.lanes import own_settings, run_case, short_settings
from dockdyn.studies.sensitivity.differentiable import NOT, judged, probes

Outcome = tuple[dict[str, Array], Array, Array]  # figures, status and end (s) of a run
CHECKED = 6  # keys, the largest first, whose derivatives are compared with differences
PER_CENT = 0.01


def sensitivity(
    scenario: Scenario | str | Path,
    of: str,
    to: Sequence[str] | str | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Derivatives of a figure of the summary, with respect to the numbers `to` (one or several dotted keys), or all of them.

    Returns `of`, `unit`, `value`, and under `to` a row each, the largest `per_percent` first: `key`, `value`, `unit`,
    `derivative` (unit of the figure per unit of the key), `per_percent`, the change for 1 % more of the number, and where it
    was compared with differences `differences` (downwards and upwards), `differentiable` and `reason`. `differentiable` on
    top is whether all rows that were compared are; `warnings` say what is not.

    Raises ScenarioError: a kind without located contacts, no such figure, one that counts or did not happen, a key that is
    no number or cannot change alone, a run that stops early.
    """
    scenario, of = scenario_from(scenario), name_from("of", of)
    _check_kind(scenario)
    places = places_of(scenario)
    if to is not None:
        places = _chosen(scenario, places, names_from("to", to))
    value, slopes = derivatives(scenario, of, places)
    if progress is not None:
        progress(0.6)
    rows = [row(place, slope) for place, slope in zip(places, slopes, strict=True)]
    order = sorted(
        range(len(rows)), key=lambda i: (-abs(rows[i]["per_percent"] or 0), -abs(rows[i]["derivative"] or 0))
    )
    finite = [i for i in order if rows[i]["derivative"] is not None]
    compared = finite[:CHECKED] if any(slopes) else finite
    if compared:
        compare(scenario, of, [places[i] for i in compared], [rows[i] for i in compared])
    if progress is not None:
        progress(1.0)
    ranked = [rows[i] for i in order]
    return Answer(
        title=scenario.title,
        kind=scenario.kind,
        of=of,
        unit=unit_of_figure(of),
        value=value,
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


def _check_kind(scenario: Scenario) -> None:
    if kind_named(scenario.kind).key_figures() is None:
        words = ", ".join(name for name in known_kinds() if kind_named(name).key_figures() is not None)
        raise ScenarioError(f"{scenario.name}: kind = {scenario.kind!r}: has no derivatives; must be one of {words}")
    check_runnable(scenario)
    refuse_coupled(scenario, "an FMU has no derivatives; must be a law of dockdyn or one in Python")
    kind_named(scenario.kind).check_start(scenario)
    method = scenario.content.integrator.method
    if method != "located":
        raise ScenarioError(f'{scenario.name}: integrator.method = {method!r}: must be "located" for derivatives')
    affordable_delay(scenario)


def _chosen(scenario: Scenario, places: list[Place], to: Sequence[str]) -> list[Place]:
    """The places that keys name; ScenarioError for one that names none, or one twice."""
    known = {place.key: place for place in places}
    known |= {value_at(scenario.content, twin, scenario.name).key: place for place in places for twin in place.keys[1:]}
    found: dict[str, Place] = {}
    for key in to:
        number = number_at(scenario, key)
        if number.key not in known:
            where = f"{scenario.name}: --to {key}"
            if constrained(number.key):
                raise ScenarioError(f"{where}: cannot change alone, as part of a unit quaternion; must be another key")
            raise ScenarioError(f"{where}: has no part in the motion; must be a number of the bodies, contacts or loop")
        place = known[number.key]
        if place.key in found:
            raise ScenarioError(f"{scenario.name}: --to {key}: given twice; must be different keys")
        found[place.key] = place
    return list(found.values())


def derivatives(scenario: Scenario, of: str, places: list[Place]) -> tuple[float, list[float]]:
    """The figure, and its derivative with respect to every place."""
    content = scenario.content
    leaves, structure = jax.tree.flatten(content)
    directions = np.zeros((len(places), len(leaves)))
    for index, place in enumerate(places):
        directions[index, list(place.leaves)] = 1.0
    sampled = _check_figure(scenario, of).source == "samples"
    settings = short_settings(content, sampled)
    numbers = np.array(leaves, float)
    names = jax.eval_shape(partial(outcome, structure=structure, kind=scenario.kind), numbers, settings)[0]
    if of not in names:
        raise ScenarioError(
            f"{scenario.name}: --of {of}: this scenario has no such figure; must be one that its run has"
        )
    at = partial(_slopes_at, structure=structure, kind=scenario.kind, of=of)
    (figures, status, time), slopes = at(numbers, settings, directions)
    if int(status) in (Status.TOO_MANY_EVENTS, Status.DELAY_LINE_FULL):
        (figures, status, time), slopes = at(numbers, own_settings(content, sampled), directions)
    if int(status) != Status.FINISHED:
        words = reason_of(content, Status(int(status)), float(time), "a number")
        raise ScenarioError(f"{scenario.name}: {words}; must run to its end")
    value = float(figures[of])
    if np.isnan(value):
        raise ScenarioError(f"{scenario.name}: --of {of}: did not happen in this run; must be a figure that it has")
    return value, np.asarray(slopes).tolist()


def _check_figure(scenario: Scenario, of: str) -> KeyFigure:
    """The key figure that `of` names, which must have derivatives; ScenarioError where it has none."""
    known = located_figures(scenario)
    named = names_in_cases(known.figures)
    smooth = [name for name, one in named.items() if one.smooth and one.source != "run"]
    where = f"{scenario.name}: --of {of}"
    if of not in named:
        raise ScenarioError(f"{where}: no such figure; {nearest(of, smooth)}")
    if of not in smooth:
        why = "does not vary smoothly" if not named[of].smooth else "is found by more than this run"
        raise ScenarioError(f"{where}: {why}; must be one of {', '.join(smooth)}")
    if named[of].name in left_out([named[of]], known.stated(scenario.content)):
        raise ScenarioError(f"{where}: means nothing in this scenario; must be another figure")
    return named[of]


def outcome(numbers: Float[Any, "leaves"], settings: located.Settings, structure: PyTreeDef, kind: str) -> Outcome:
    """Figures of a run, its status and end (s), of the scenario with `numbers` as its leaves."""
    figures, solution = run_case(kind, jax.tree.unflatten(structure, list(numbers)).model(), settings)
    return figures, solution.status, solution.time


@partial(jit_once, static=("structure", "kind", "of"))
def _slopes_at(
    numbers: Float[Any, "leaves"],
    settings: located.Settings,
    directions: Float[Any, "places leaves"],
    structure: PyTreeDef,
    kind: str,
    of: str,
) -> tuple[Outcome, Array]:
    """The outcome, and the derivative of the figure `of` along each direction: one after the other, which compiles sooner."""

    def figure(numbers: Float[Array, "leaves"]) -> tuple[Array, Outcome]:
        found = outcome(numbers, settings, structure, kind)
        return found[0][of], found

    def along(direction: Float[Array, "leaves"]) -> tuple[Outcome, Array]:
        _, slope, found = jax.jvp(figure, (numbers,), (direction,), has_aux=True)
        return found, slope

    found, slopes = jax.lax.map(along, directions)
    return jax.tree.map(lambda rows: rows[0], found), slopes


def row(place: Place, slope: float) -> dict[str, Any]:
    finite = math.isfinite(slope)
    return {
        "key": place.key,
        "value": place.value,
        "unit": place.unit,
        "derivative": slope if finite else None,
        "per_percent": PER_CENT * slope * place.value if finite else None,
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
    found = run_cases(scenario, keys, np.array([[case[key] for key in keys] for case in [own, *cases]]), figures=[of])
    count = len(cases) // len(places)
    for index, one in enumerate(rows):
        which = [0, *range(1 + index * count, 1 + (index + 1) * count)]
        figures = {name: values[which] for name, values in found.figures.items()}
        reasons = [found.reasons[i] for i in which]
        one |= judged(of, one["derivative"], probes(one["value"]), figures, reasons)
