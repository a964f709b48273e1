"""The report of several runs laid over each other, and what a measured log adds to it or to that of a single run."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dockdyn.api import summarise
from dockdyn.dataset import Dataset
from dockdyn.report.report import Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING, capitalise_first, format_significant, requirement_row
from dockdyn.results.exchange.measured_log import MeasuredLog, Residual, log_residuals
from dockdyn.results.requirements import figures_of, is_of_member, unit_of_figure, without_unit
from dockdyn.results.store import study_of
from dockdyn.scenario.language.errors import ScenarioError, listed
from dockdyn.scenario.language.keys import leaves
from dockdyn.studies.overlay.signals import Runs, figures_of_log, overlay_figures

MOST = 12  # runs
ALIKE = 1e-12  # relative difference of figures that are the same but for rounding
DIFFERENT = "≠"
# figures of the computation, not of the motion
COMPUTING = {"integrator", "step_s", "step_error", "steps", "wall_time_s", "microseconds_per_step", "stiffness"} | {
    f"newton_iterations_{which}" for which in ("mean", "max")
}
# what a verdict tells of: the first of these that all runs have and that differs
TELLING = ("captured", "peak_force_N", "total_normal_impulse_N_s", "amplitude_ratio", "capture_time_s")


def overlay_report(runs: Runs, log: MeasuredLog | None = None, again: str = "") -> Report:
    """Return the report of runs of one kind, by what to call them; with a `log`, how far each is from it.

    `again` is what was typed for it. Raises `ScenarioError` for results that are no runs or not of one kind.
    """
    _refuse_unlike(runs)
    summaries = {name: summarise(dataset) for name, dataset in runs.items()}
    beside, different = key_figures(summaries), differing_inputs(runs)
    if log:
        beside = _with_residuals(beside, runs, log)
    words = "Keys of the scenarios that differ:" if different.rows else "The scenarios are the same."
    return Report(
        title=f"{_join_names(list(runs))} beside each other",
        verdict=_overlay_verdict(summaries, different),
        blocks=[
            ReportBlock(table=beside, notes=["≠ marks what differs; a dash is what a run does not have."], where="key"),
            ReportBlock(table=requirement_table(summaries), where="requirements"),
            ReportBlock(words=words, table=different, where="inputs"),
            *(
                ReportBlock(folded=f"Scenario of {name}, as it ran", text=dataset.attrs["scenario"], where="inputs")
                for name, dataset in runs.items()
            ),
        ],
        plots=[*(figures_of_log(runs, log) if log else []), *overlay_figures(runs)],
        made=[(name, how_computed(dataset)) for name, dataset in runs.items()],
        warnings=[
            *(f"{name}: {warning}" for name, summary in summaries.items() for warning in summary["warnings"]),
            *(_log_warnings(log) if log else []),
        ],
        again=again,
    )


def beside_log(report: Report, dataset: Dataset, log: MeasuredLog) -> Report:
    """Return the report of a single run with a log: residuals as key figures, the log over the run as figures."""
    rows = [(f"{one.name} less {log.file}, r.m.s.", _residual_words(one)) for one in log_residuals(dataset, log)]
    return replace(
        report,
        key=[*report.key, *rows],
        plots=[*figures_of_log({"simulated": dataset}, log), *report.plots],
        warnings=[*report.warnings, *_log_warnings(log)],
    )


def _refuse_unlike(runs: Runs) -> None:
    if len(runs) > MOST:
        raise ScenarioError(f"{len(runs)} results: must be at most {MOST} in one report")
    kinds = {name: str(dataset.attrs["kind"]) for name, dataset in runs.items()}
    for name, dataset in runs.items():
        if study := study_of(dataset):
            raise ScenarioError(f"{name}: is of dockdyn {study}; must be of dockdyn run to be laid over others")
        first = next(iter(kinds))
        if kinds[name] != kinds[first]:
            raise ScenarioError(f"{name}: is of kind {kinds[name]}; must be {kinds[first]}, as {first} is")


def names_of(files: Sequence[Path]) -> list[str]:
    """Return what to call files: as much of the end of each path as tells them apart. ScenarioError where one comes twice."""
    whole = [file.resolve().parts for file in files]
    for index, parts in enumerate(whole):
        if parts in whole[:index]:
            raise ScenarioError(f"{files[index]}: given twice; must be different results")
    for length in range(1, max(map(len, whole)) + 1):
        found = ["/".join(parts[-length:]) for parts in whole]
        if len(set(found)) == len(found):
            break
    return found


def _join_names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def key_figures(summaries: Mapping[str, dict[str, Any]]) -> Table:
    """Return the single numbers of the summaries, a column a run; those that differ are marked."""
    figures = {name: figures_of(summary) for name, summary in summaries.items()}
    keys = list(dict.fromkeys(key for each in figures.values() for key in each))
    keys.sort(key=COMPUTING.__contains__)  # at the end, the others as they are
    rows = []
    for key in keys:
        values = [each.get(key) for each in figures.values()]
        if any(isinstance(value, list) for value in values) or all(value is None for value in values):
            continue
        words = without_unit(key)  # of a single contact, latch or port as it is asked for
        words = words if is_of_member(key) else capitalise_first(words.replace("_", " ").replace(".", " "))
        told = [format_value(value) for value in values]
        rows.append([words, unit_of_figure(key), *told, DIFFERENT if values_differ(values) else ""])
    columns = [("figure", ""), ("unit", ""), *((name, "") for name in summaries), ("", "")]
    return Table(columns, rows, worded={0, 1}, look="wrapped")


def format_value(value: float | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    return NOTHING if value is None or math.isnan(value) else f"{value:.5g}"


def values_differ(values: Sequence[Any]) -> bool:
    """Return whether some values are not as the first, but for rounding."""
    first = values[0]
    for value in values[1:]:
        if value is None or first is None or isinstance(value, bool):
            if value is not first:
                return True
        elif not math.isclose(value, first, rel_tol=ALIKE, abs_tol=0.0) and not (
            math.isnan(value) and math.isnan(first)
        ):
            return True
    return False


def differing_inputs(runs: Runs) -> Table:
    """Return the keys of the scenarios that differ, a column a run."""
    stated = [dict(leaves(tomllib.loads(dataset.attrs["scenario"]), whole_lists=True)) for dataset in runs.values()]
    keys = list(dict.fromkeys(key for each in stated for key in each))
    rows = []
    for key in keys:
        values = [each.get(key) for each in stated]
        if any(value != values[0] for value in values[1:]):
            rows.append([key, *(NOTHING if value is None else str(value) for value in values)])
    return Table([("key", ""), *((name, "") for name in runs)], rows, worded=range(len(runs) + 1), look="values")


def _overlay_verdict(summaries: Mapping[str, dict[str, Any]], different: Table) -> str:
    """Return in what the runs differ, and what comes of it, in words."""
    kind = next(iter(summaries.values()))["kind"]
    changed = [row[0] for row in different.rows if row[0] != "title"]
    what = _join_names(changed) if len(changed) <= 3 else f"{len(changed)} keys of the scenario"
    words = f"{len(summaries)} runs of kind {kind} " + (f"that differ in {what}" if changed else "of the same scenario")
    for figure in TELLING:
        values = [summary.get(figure) for summary in summaries.values()]
        if None not in values and values_differ(values):
            unit = unit_of_figure(figure)
            listed = _join_names([format_value(value) for value in values])
            return f"{words}: {without_unit(figure).replace('_', ' ')} {listed} {unit}".rstrip() + "."
    return f"{words}."


def requirement_table(summaries: Mapping[str, dict[str, Any]]) -> Table:
    """Return the requirements as judged, a column a run; one that a run does not have is a dash."""
    found = {name: {one["name"]: one for one in summary["requirements"]} for name, summary in summaries.items()}
    rows = []
    for required in dict.fromkeys(name for each in found.values() for name in each):
        judged = [each.get(required) for each in found.values()]
        told = [NOTHING if one is None else _in_words(one) for one in judged]
        rows.append([required, *told])
    columns = [("required", ""), *((name, "") for name in summaries)]
    return Table(columns, rows, worded=range(len(columns)))


def _in_words(judged: dict[str, Any]) -> str:
    """Return a requirement of one run: met or not, the value, the limit."""
    asked, value, _, met = requirement_row(judged)
    return f"{met}: {value} ({asked.removeprefix(judged['name']).strip()})"


def how_computed(dataset: Dataset) -> str:
    """Return how one run was computed."""
    attributes = dataset.attrs
    return f"dockdyn {attributes['dockdyn_version']}, {attributes['integrator']}, {dataset.sizes['time']} samples"


def _with_residuals(beside: Table, runs: Runs, log: MeasuredLog) -> Table:
    """Return the key figures with how far each run is from a log before them."""
    found = [{one.name: one for one in log_residuals(dataset, log)} for dataset in runs.values()]
    rows = []
    for name in log.columns:
        each = [one.get(name) for one in found]
        unit = next((one.unit for one in each if one is not None), "")
        values = [None if one is None else one.rms for one in each]
        rows.append(
            [
                f"{name} less {log.file}, r.m.s.",
                unit,
                *map(format_value, values),
                DIFFERENT if values_differ(values) else "",
            ]
        )
    return replace(beside, rows=[*rows, *beside.rows])


def _residual_words(one: Residual) -> str:
    share = f", {format_significant(100 * one.rms / one.span, 3)} % of what was measured" if one.span > 0 else ""
    largest = f"at most {format_significant(one.largest)} {one.unit}".rstrip()
    return (
        f"{format_significant(one.rms)} {one.unit}".rstrip()
        + f"{share}; {largest}, at {format_significant(one.time, 5)} s"
    )


def _log_warnings(log: MeasuredLog) -> list[str]:
    told = [f"{log.file}: {note}" for note in log.notes]
    if not log.unused:
        return told
    return [*told, f"{log.file}: not used, for the run has no such variable: {listed('', log.unused)}"]
