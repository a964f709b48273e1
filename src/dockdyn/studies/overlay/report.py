"""The report of several runs laid over each other, and what a measured log adds to it or to that of a single run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dockdyn.api import summarise
from dockdyn.dataset import Dataset
from dockdyn.report.beside import (
    BesideFigure,
    BesideFigures,
    change_headline,
    describe_change,
    differ_in_words,
    difference_tiles,
    differing_inputs,
    differing_names,
    figures_table,
    format_value,
    join_names,
    values_differ,
)
from dockdyn.report.contact_tables import LISTED
from dockdyn.report.report import Report, ReportBlock, Table
from dockdyn.report.requirement_bar import RequirementBar, bars_of_run
from dockdyn.report.wording import NOTHING, capitalise_first, format_significant
from dockdyn.results.exchange.measured_log import MeasuredLog, Residual, log_residuals
from dockdyn.results.requirements import figures_of, is_of_member, unit_of_figure, without_unit
from dockdyn.results.store import study_of
from dockdyn.rig.measures import find_hardest_time
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.overlay.signals import Runs, figures_of_log, overlay_figures

MOST = 12  # runs
ABREAST = 3  # runs whose contacts stand in one table
OF_CONTACT = (("began at", "s", "onset_s"), ("peak force", "N", "peak_force_N"), ("impulse", "N s", "impulse_N_s"))
# figures of the computation, not of the motion
COMPUTING = {"integrator", "step_s", "step_error", "steps", "wall_time_s", "microseconds_per_step", "stiffness"} | {
    f"newton_iterations_{which}" for which in ("mean", "max")
}
CONSERVED = {"linear_momentum_error", "angular_momentum_error", "work_energy_error", "energy_error"}
# what a verdict tells of: the first of these that all runs have and that differs
TELLING = ("captured", "peak_force_N", "total_normal_impulse_N_s", "amplitude_ratio", "capture_time_s")


def overlay_report(runs: Runs, log: MeasuredLog | None = None, again: str = "") -> Report:
    """Return the report of runs of one setup, by what to call them; with a `log`, how far each is from it.

    `again` is what was typed for it. Raises `ScenarioError` for results that are no runs or not of one setup.
    """
    _refuse_unlike(runs)
    summaries = {name: summarise(dataset) for name, dataset in runs.items()}
    figures, different = _without_repeated(_key_figures(summaries)), differing_inputs(runs)
    names = differing_names(figures, COMPUTING | CONSERVED)
    beside = figures_table(figures, names)
    if log:
        beside = _with_residuals(beside, runs, log)
    others = sorted((name for name in names if name not in TELLING), key=lambda name: unit_of_figure(name) == "s")
    telling = [*(name for name in TELLING if name in names), *others]
    words = "Keys of the scenarios that differ:" if different.rows else "The scenarios are the same."
    return Report(
        title=f"{join_names(list(runs))} beside each other",
        headline=change_headline(figures, telling[0]) if telling else "All figures are the same",
        verdict=_overlay_verdict(summaries, different),
        neutral=True,
        tiles=difference_tiles(figures, telling),
        bars=_requirement_bars(summaries),
        blocks=[
            ReportBlock(table=beside, notes=[_describe_alike(figures, names)], where="key"),
            ReportBlock("Contacts", table=_contacts_beside(summaries)),
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
        moment=_hardest_moment(runs, summaries),
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


def _hardest_moment(runs: Runs, summaries: Mapping[str, dict[str, Any]]) -> float | None:
    """Return when (s) the force of the first run is largest, where that is known."""
    name, dataset = next(iter(runs.items()))
    moment: float | None = summaries[name].get("peak_time_s")
    return find_hardest_time(dataset) if moment is None and "measured_force" in dataset else moment


def _refuse_unlike(runs: Runs) -> None:
    if len(runs) > MOST:
        raise ScenarioError(f"{len(runs)} results: must be at most {MOST} in one report")
    setups = {name: str(dataset.attrs["setup"]) for name, dataset in runs.items()}
    for name, dataset in runs.items():
        if study := study_of(dataset):
            raise ScenarioError(f"{name}: is of dockdyn {study}; must be of dockdyn run to be laid over others")
        first = next(iter(setups))
        if setups[name] != setups[first]:
            raise ScenarioError(f"{name}: is of a {setups[name]}; must be of a {setups[first]}, as {first} is")


def names_of(files: Sequence[Path]) -> list[str]:
    """Return what to call files: as much of the end of each path as tells them apart, without a name that all of them have.

    Raises ScenarioError where one comes twice.
    """
    whole = [file.resolve().parts for file in files]
    for index, parts in enumerate(whole):
        if parts in whole[:index]:
            raise ScenarioError(f"{files[index]}: given twice; must be different results")
    if len(files) > 1 and len({parts[-1] for parts in whole}) == 1:
        whole = [parts[:-1] for parts in whole]  # one file of each folder, which has the name
    for length in range(1, max(map(len, whole)) + 1):
        found = ["/".join(parts[-length:]) for parts in whole]
        if len(set(found)) == len(found):
            break
    return found


def _key_figures(summaries: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, BesideFigure]]:
    """Return the single numbers of the summaries."""
    found: dict[str, dict[str, BesideFigure]] = {}
    for run, summary in summaries.items():
        found[run] = {}
        for name, value in figures_of(summary).items():
            if isinstance(value, list):
                continue
            words = without_unit(name)  # of a single contact, latch or port as it is asked for
            words = words if is_of_member(name) else capitalise_first(words.replace("_", " ").replace(".", " "))
            found[run][name] = BesideFigure(words, unit_of_figure(name), value)
    return found


def _without_repeated(figures: BesideFigures) -> dict[str, dict[str, BesideFigure]]:
    """Return figures without those of a single contact, latch or port that are in all runs those of the whole."""
    values = {
        name: [each[name].value if name in each else None for each in figures.values()] for name in _names(figures)
    }
    whole = {name.rpartition(".")[2]: value for name, value in values.items() if not is_of_member(name)}
    kept = [
        name for name, value in values.items() if not is_of_member(name) or whole.get(name.rpartition(".")[2]) != value
    ]
    return {run: {name: each[name] for name in kept if name in each} for run, each in figures.items()}


def _names(figures: BesideFigures) -> list[str]:
    return list(dict.fromkeys(name for each in figures.values() for name in each))


def _contacts_beside(summaries: Mapping[str, dict[str, Any]]) -> Table | None:
    """Return the contacts of a few runs by number: when each began, how hard it was, what it did to the energy."""
    runs = len(summaries)
    found: dict[str, list[dict[str, Any]]] = {run: summary.get("contacts", []) for run, summary in summaries.items()}
    count = max(map(len, found.values()))
    if not count or runs > ABREAST:
        return None
    told: dict[tuple[str, str], dict[str, list[str]]] = {}
    for words, unit, key in OF_CONTACT:
        if any(one.get(key) is not None for each in found.values() for one in each):
            told[words, unit] = {run: [format_significant(one.get(key)) for one in each] for run, each in found.items()}
    classes = {run: [word or NOTHING for word in summary["energy_class"]] for run, summary in summaries.items()}
    if any(word != NOTHING for each in classes.values() for word in each):
        told["class", ""] = classes
    rows = [
        [
            f"Q{number + 1}",
            *(each[number] if number < len(each) else NOTHING for by in told.values() for each in by.values()),
        ]
        for number in range(min(count, LISTED))
    ]
    columns = [("contact", ""), *((run, unit) for _, unit in told for run in summaries)]
    return Table(
        columns,
        rows,
        worded={0, *(range(len(columns) - runs, len(columns)) if ("class", "") in told else ())},
        groups=[("", 1), *((words, runs) for words, _ in told)],
        alarming={"active"},
    )


def _describe_alike(figures: BesideFigures, names: Sequence[str]) -> str:
    """Return how many figures are not in the table because they are the same."""
    alike = {name for each in figures.values() for name in each} - {*names, *COMPUTING, *CONSERVED}
    return f"Only what differs; {len(alike)} other figures are the same. A dash is what a run does not have."


def _requirement_bars(summaries: Mapping[str, dict[str, Any]]) -> list[RequirementBar]:
    """Return the requirements of all runs, those of one name after each other, as many as there are runs."""
    found = {name: {one["name"]: one for one in summary["requirements"]} for name, summary in summaries.items()}
    bars = []
    for required in dict.fromkeys(name for each in found.values() for name in each):
        for run, each in found.items():
            if required in each:
                (bar,) = bars_of_run([each[required]])
                bars.append(replace(bar, asked=f"{run}: {bar.asked}"))
            else:
                bars.append(RequirementBar(f"{run}: {required}", NOTHING, "open", "not required"))
    return bars


def _overlay_verdict(summaries: Mapping[str, dict[str, Any]], different: Table) -> str:
    """Return in what the runs differ, and what comes of it, in words."""
    setup = next(iter(summaries.values()))["setup"]
    words = f"{len(summaries)} runs of a {setup} {differ_in_words(different)}"
    gaining = [summary.get("energy_class", []).count("active") for summary in summaries.values()]
    fed = (
        f" Contacts that gain energy: {join_names([str(count) for count in gaining])}." if len(set(gaining)) > 1 else ""
    )
    for figure in TELLING:
        values = [summary.get(figure) for summary in summaries.values()]
        if None not in values and values_differ(values):
            unit = unit_of_figure(figure)
            listed = join_names([format_value(value) for value in values])
            return f"{words}: {without_unit(figure).replace('_', ' ')} {listed} {unit}".rstrip() + f".{fed}"
    return f"{words}.{fed}"


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
                describe_change(values) if values_differ(values) else "",
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
    return [f"{log.file}: {remark}" for remark in log.remarks()]
