"""A figure of one run and its derivatives with respect to numbers of the scenario, whatever the scenario's setup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.api import simulate, summarise
from dockdyn.deferred import Array, Float, jax
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.solution import Status
from dockdyn.results.contact_run import check_runnable
from dockdyn.results.dataset import reason_of
from dockdyn.results.delay_cost import affordable_delay
from dockdyn.results.drive import Progress
from dockdyn.results.key_figures import KeyFigure, left_out, names_in_cases
from dockdyn.results.linearised import Numbers, content_of, named_numbers, slopes_along
from dockdyn.results.methods import Settings
from dockdyn.results.overlap import refuse_overlap
from dockdyn.results.plan import jit_once
from dockdyn.results.requirements import is_of_member, without_unit
from dockdyn.results.unit import run_through, tell
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.places import Place
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.cases.batch import Cases, figures_of_case, located_figures, run_cases, runs_in_batches
from dockdyn.studies.cases.lanes import own_settings, short_settings
from dockdyn.studies.margins.slopes import margin_of, margin_slopes
from dockdyn.studies.objectives.figure import MARGINS
from dockdyn.studies.objectives.verdict import NOT, Verdict, judge_derivatives
from dockdyn.trees import Structure, is_real_array, map_leaves

type Outcome = tuple[dict[str, Array], Array, Array]  # figures, status and end (s) of a run
Slopes = tuple[float, list[float]]  # a figure, and its derivative with respect to every place
COMPUTING = ("step_s", "step_error", "wall_time_s", "microseconds_per_step", "end_time_s", "newton_iterations_mean")
CONSERVED = ("linear_momentum_error", "angular_momentum_error", "energy_error", "work_energy_error")
COMPARED = 6  # derivatives of margins, the largest, that are held against differences: each takes margins of its own
FINER = 0.1  # of the tolerance: what the steps of a run are held to that is differentiated
PARTED = ("contacts", "impacts")  # of summaries: how many there are, and with which figures, a run tells
ROUNDED = (*COMPUTING, *CONSERVED)  # figures of the computation and of rounding, which do not vary smoothly


class Derivatives(NamedTuple):
    """A figure and its derivatives with respect to some places.

    Attributes:
        value: in the figure's unit.
        slopes: in the figure's unit by the number's; NaN where the figure comes or goes, or the run has none.
        verdicts: whether each was found to be right, and why not.
    """

    value: float
    slopes: list[float]
    verdicts: list[Verdict]


def derivatives_of(
    scenario: Scenario, names: Sequence[str], places: Sequence[Place], progress: Progress | None = None
) -> dict[str, Derivatives]:
    """Return figures of a run, or of the margins, and their derivatives with respect to every place, held against differences.

    What a log gives, or a summary, is from one run for all figures. Raises ScenarioError: no such figure, one that counts or
    did not happen, a setup or run that has no derivatives.
    """
    found, whys = slopes_of(scenario, names, places, progress)
    slopes = np.array([row for _, row in found.values()]).reshape(len(found), len(places))
    sizes = np.abs(slopes * [place.value for place in places]).max(axis=0, initial=0.0, where=np.isfinite(slopes))
    asked = np.argsort(-sizes)[: COMPARED if set(names) & set(MARGINS) else len(places)].tolist()
    judged = judge_derivatives(
        partial(evaluate_rows, scenario, list(names)),
        {of: row[asked].tolist() for of, row in zip(found, slopes, strict=True)},
        [places[i] for i in asked],
    )
    verdicts = {
        of: {i: Verdict(None) for i in range(len(places))}
        | dict(zip(asked, row, strict=True))
        | {i: Verdict(False, f"{NOT}: {why}") for i, why in whys.items()}
        for of, row in judged.items()
    }
    return {of: Derivatives(*found[of], list(verdicts[of].values())) for of in names}


def slopes_of(
    scenario: Scenario, names: Sequence[str], places: Sequence[Place], progress: Progress | None = None
) -> tuple[dict[str, Slopes], dict[int, str]]:
    """Return what `derivatives_of` does, not held against anything, and for which places there are none, and why."""
    margins = [of for of in names if of in MARGINS]
    logged = getattr(scenario.content.integrator, "method", "located") in ("located", "fixed")
    figures = [of for of in names if of not in margins] if logged else []
    known = {of: one for of in figures if (one := key_figure(scenario, of)) is not None}
    others = [of for of in names if of not in margins and of not in known]
    found: dict[str, Slopes] = {of: margin_slopes(scenario, of, places) for of in margins}
    whys: dict[int, str] = {}
    if known:
        found |= _of_log(scenario, known, places)
    if others:
        more, whys = _of_summary(scenario, others, places, progress)
        found |= more
    return found, whys


def value_of(scenario: Scenario, of: str) -> float:
    """Return the figure alone. Raises ScenarioError as `derivatives` does."""
    if of in MARGINS:
        return margin_of(scenario, of)
    found = evaluate_rows(scenario, [of], [], np.zeros((1, 0)))
    if found.reasons[0]:
        raise ScenarioError(f"{scenario.name}: {found.reasons[0]}; must run to its end")
    return _figure_of_case(scenario, of, found.figures)


def evaluate_rows(
    scenario: Scenario, names: Sequence[str], keys: Sequence[str], rows: Float[np.ndarray, "cases keys"]
) -> Cases:
    """Return figures, and what tells whether the same things happen, of a case a row: the numbers (SI) of its dotted `keys`."""
    if _in_batches(scenario, names):
        return run_cases(scenario, keys, rows, figures=names)
    found: list[dict[str, float]] = []
    reasons = []
    for row in rows.tolist():
        try:
            found.append(_figures_of(scenario.at(dict(zip(keys, row, strict=True))) if keys else scenario, names))
            reasons.append("")
        except ScenarioError as error:
            found.append({})
            reasons.append(str(error))
    every = list(dict.fromkeys(name for one in found for name in one))
    return Cases({name: np.array([one.get(name, np.nan) for one in found]) for name in every}, reasons)


def _in_batches(scenario: Scenario, names: Sequence[str]) -> bool:
    """Return whether compiled batches have the figures."""
    if set(names) & set(MARGINS) or setup_named(scenario.setup).key_figures() is None:
        return False
    return set(names) <= set(names_in_cases(located_figures(scenario).figures)) and runs_in_batches(scenario, names)


def _figures_of(scenario: Scenario, names: Sequence[str]) -> dict[str, float]:
    """Return the figures of one run, how many contacts it had and whether it captured; margins alone where only they are
    asked."""
    found = {of: margin_of(scenario, of) for of in names if of in MARGINS}
    if len(found) == len(names):
        return found
    dataset = simulate(scenario)
    if not dataset.attrs["finished"]:
        raise ScenarioError(str(dataset.attrs["status"]))
    summary = summarise(dataset, scenario.name)
    ends = {name: value for name, value in figures_of_case(summary).items() if name not in summary}  # of lists
    return found | ends | smooth_figures(summary)


def smooth_figures(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the real numbers of a summary; how many contacts and impacts there were, and whether anything was captured.

    What a requirement says is left out: the figure that it limits is there under its own name, which tells the unit.
    """
    found = {"captured": float(bool(summary.get("captured")))}
    found["contact.count"] = float(len(summary.get("contacts", [])) + len(summary.get("impacts", [])))
    own = {name: value for name, value in summary.items() if name != "requirements"}
    return found | {name: value for name, value in named_numbers(own).items() if name not in ROUNDED}


def _figure_of_case(scenario: Scenario, of: str, figures: Mapping[str, Any]) -> float:
    """Return the figure of the one case that there is."""
    if of not in figures:
        raise ScenarioError(f"{scenario.name}: --of {of}: no such figure; {nearest(of, sorted(figures))}")
    value = float(np.ravel(figures[of])[0])
    if np.isnan(value):
        raise ScenarioError(f"{scenario.name}: --of {of}: did not happen in this run; must be a figure that it has")
    return value


# --- figures that the log of a located run gives --------------------------------------------------------------------


def key_figure(scenario: Scenario, of: str) -> KeyFigure | None:
    """Return the key figure that `of` names, differentiated as it is computed in batches; None where the summary alone has it.

    Raises ScenarioError for one that is known and has no derivatives.
    """
    if setup_named(scenario.setup).key_figures() is None:
        return None
    known = located_figures(scenario)
    named = names_in_cases(known.figures)
    if of not in named:
        return None
    where, one = f"{scenario.name}: --of {of}", named[of]
    if not one.smooth or one.source == "run":
        why = "does not vary smoothly" if not one.smooth else "is found by more than this run"
        raise ScenarioError(f"{where}: {why}; must be one of {', '.join(_with_slopes(named))}")
    if one.name in left_out([one], known.stated(scenario.content)):
        raise ScenarioError(f"{where}: means nothing in this scenario; must be another figure")
    return one


def figure_in_full(scenario: Scenario, of: str, where: str) -> str:
    """Return a figure's name with its unit, as summaries have it, where `of` leaves it out.

    Raises ScenarioError, which begins with `where`, for a name that no run of such a scenario has. Where there are no key
    figures only a run tells, and the name is returned as it is; so are names of single contacts, impacts and ports.
    """
    if setup_named(scenario.setup).key_figures() is None:
        return of
    figures = located_figures(scenario).figures
    named = names_in_cases(figures)
    known = [*MARGINS, *named]
    fitting = [name for name in known if without_unit(name) == of]
    if of in known or len(fitting) == 1:
        return of if of in known else fitting[0]
    lists = (*PARTED, *(one.name for one in figures if one.each))
    if is_of_member(of) or any(of.startswith(f"{name}.") for name in lists):
        return of
    raise ScenarioError(f"{where} {of}: no such figure; {nearest(of, [*MARGINS, *_with_slopes(named)])}")


def _with_slopes(named: Mapping[str, KeyFigure]) -> list[str]:
    """Return the names of figures that have derivatives."""
    return [name for name, one in named.items() if one.smooth and one.source != "run"]


def _check_located(scenario: Scenario) -> None:
    """Refuse a located setup's run that has no derivatives."""
    check_runnable(scenario)
    refuse_overlap(scenario)
    method = scenario.content.integrator.method
    if method != "located":
        raise ScenarioError(f'{scenario.name}: integrator.method = {method!r}: must be "located" for derivatives')
    affordable_delay(scenario)


def _of_log(scenario: Scenario, known: Mapping[str, KeyFigure], places: Sequence[Place]) -> dict[str, Slopes]:
    """Return the key figures by the names that cases have them under, and their derivatives with respect to every place."""
    _check_located(scenario)
    content, own = scenario.content, Numbers.of(scenario.content)
    directions = np.array([place.direction(len(own.values)) for place in places]).reshape(len(places), len(own.values))
    sampled = any(one.source == "samples" for one in known.values())
    settings = _with_finer_steps(short_settings(content, sampled))
    if not places:
        return {of: (value_of(scenario, of), []) for of in known}
    at = partial(_slopes_at, own.values, own.arrays, directions=directions)
    static = {"structure": own.structure, "setup": scenario.setup}
    (figures, status, time), slopes = at(settings=settings, **static)
    if int(status) in (Status.TOO_MANY_EVENTS, Status.DELAY_LINE_FULL):
        (figures, status, time), slopes = at(settings=_with_finer_steps(own_settings(content, sampled)), **static)
    if missing := [of for of in known if of not in figures]:
        raise ScenarioError(
            f"{scenario.name}: --of {missing[0]}: this scenario has no such figure; must be one that its run has"
        )
    if int(status) != Status.FINISHED:
        words = reason_of(content, Status(int(status)), float(time), "a number")
        raise ScenarioError(f"{scenario.name}: {words}; must run to its end")
    return {of: (_figure_of_case(scenario, of, figures), np.asarray(slopes[of]).tolist()) for of in known}


def _with_finer_steps(settings: Settings) -> located.Settings:
    """Return settings under which a derivative, which errs by the error of a step over its length, is as good as a figure."""
    assert isinstance(settings, located.Settings)
    return replace(settings, tolerance=FINER * settings.tolerance)


def figures_of_outcome(
    numbers: Float[Any, "leaves"],
    arrays: dict[int, Any],
    settings: located.Settings,
    structure: Structure,
    setup: str,
) -> Outcome:
    """Return figures of a run, its status and end (s), of the scenario with `numbers` and `arrays` as its leaves."""
    content = content_of(structure, list(numbers), arrays)
    observed = run_through(content, settings)
    return tell(setup, content, settings, observed).figures, observed.solution.status, observed.solution.time


@partial(jit_once, static=("structure", "setup"))
def _slopes_at(
    numbers: Float[Any, "leaves"],
    arrays: dict[int, Any],
    settings: located.Settings,
    directions: Float[Any, "places leaves"],
    structure: Structure,
    setup: str,
) -> tuple[Outcome, dict[str, Array]]:
    """Return the outcome, and along each direction the derivatives of all figures but counts: one after the other, which
    compiles sooner."""

    def figures(numbers: Float[Array, "leaves"]) -> tuple[dict[str, Array], Outcome]:
        found = figures_of_outcome(numbers, arrays, settings, structure, setup)
        return {of: value for of, value in found[0].items() if is_real_array(value)}, found

    def along(direction: Float[Array, "leaves"]) -> tuple[Outcome, dict[str, Array]]:
        _, slopes, found = jax.jvp(figures, (numbers,), (direction,), has_aux=True)
        return found, slopes

    found, slopes = jax.lax.map(along, directions)
    return map_leaves(lambda rows: rows[0], found), slopes


# --- figures that the summary of a run gives ------------------------------------------------------------------------


def _of_summary(
    scenario: Scenario, names: Sequence[str], places: Sequence[Place], progress: Progress | None
) -> tuple[dict[str, Slopes], dict[int, str]]:
    """Return numbers of the summary, their derivatives with respect to every place, and for which places there are none, and
    why.

    Raises ScenarioError where there are none at all.
    """
    for of in names:
        if of in ROUNDED:
            raise ScenarioError(f"{scenario.name}: --of {of}: does not vary smoothly; must be a figure of the motion")
    values = [value_of(scenario, of) for of in names]
    if not places:
        return {of: (value, []) for of, value in zip(names, values, strict=True)}, {}
    run, own = setup_named(scenario.setup).linearised(scenario), Numbers.of(scenario.content)
    slopes = []
    whys: dict[int, str] = {}
    for index, place in enumerate(places):
        try:
            direction = place.direction(len(own.values))
            _, found = slopes_along(
                run, own.values, direction, lambda one: smooth_figures(summarise(one, scenario.name))
            )
        except ScenarioError as error:
            if len(places) == 1:
                raise
            found, whys[index] = {}, str(error).removeprefix(f"{scenario.name}: ").removeprefix("no derivative: ")
        slopes.append([found.get(of, float("nan")) for of in names])
        if progress is not None:
            progress((index + 1) / len(places))
    columns = zip(names, values, zip(*slopes, strict=True), strict=True)
    return {of: (value, list(column)) for of, value, column in columns}, whys
