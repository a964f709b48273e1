"""`dockdyn stability`, `compare`, `envelope` and `sensitivity`: margins, compensators, where an outcome changes, and why."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli.common import (
    Force,
    NoOwnCode,
    Overrides,
    Quiet,
    Refusal,
    ScenarioName,
    Trust,
    command_line,
    explained_by_numbers,
    parse_overrides,
    read_scenario,
    say,
    show_progress,
    study_folder,
    tell_answer,
    tell_unusual_numbers,
    tell_unusual_ranges,
    write_text,
)
from dockdyn.cli.log_options import Actual, Command, LogOptions, Period, Time, Units, log_options, refuse_without_log
from dockdyn.cli.results import KnownRun, NoLive, deliver_result

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario


def stability(
    scenario: ScenarioName,
    set_: Overrides = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            metavar="KEY=LOW:HIGH:COUNT",
            help="Chart stability over a key; give two for a plane, a third for a family of curves.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for report and data; with --sweep by default NAME-stability.")
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the margins as JSON and nothing else; files only with --out.")
    ] = False,
    no_live: NoLive = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Say whether a loop is stable.

    By which margin, and what decides it; with --sweep a chart over a key or two.
    """
    chosen = read_scenario(scenario, set_)
    from dockdyn.studies.margins.sweep import axes_of, parse_sweep, stability_dataset

    sweeps = [parse_sweep(text) for text in sweep or []]
    folder = study_folder(out, scenario, "stability", bool(sweep) and not as_json, force)
    axes_of(chosen, sweeps)  # refuses what cannot be swept
    tell_unusual_ranges(chosen, {one.key: (one.low, one.high) for one in sweeps})
    with explained_by_numbers(chosen), show_progress(f"Margins of {chosen.name}", quiet) as advance:
        dataset = stability_dataset(chosen, sweeps, advance)
    margins = json.loads(dataset.attrs["margins"])
    deliver_result(dataset, folder, "stability.nc", margins if as_json else None, KnownRun(live=not no_live))


def compare(
    scenario: ScenarioName,
    compensators: Annotated[
        str, typer.Option("--compensators", metavar="all|NAME,NAME", help="Which ones; none is the rig without.")
    ] = "all",
    log: Annotated[
        Path | None,
        typer.Option(
            "--log", metavar="LOG", help="A log of the robot, of which it is identified: it takes the scenario's place."
        ),
    ] = None,
    time: Time = None,
    command: Command = None,
    actual: Actual = None,
    unit: Units = None,
    period: Period = None,
    tune: Annotated[
        str | None,
        typer.Option(
            "--tune",
            metavar="worst|SHARE",
            help='Seek the numbers of each that keep its error least at worst, or in a share such as "95 %", over the '
            "stiffnesses and all that the scenario distributes.",
        ),
    ] = None,
    set_: Overrides = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for report and data; by default NAME-compare.")
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the comparison as JSON and nothing else; files only with --out.")
    ] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Compare a rig's compensators.

    Runs the rig with each over a range of stiffness and prints how far each is from the truth.
    """
    from dockdyn.rig.comparison.stiffnesses import KEY, stiffness_of, stiffness_range
    from dockdyn.scenario.language.errors import ScenarioError
    from dockdyn.scenario.load import load

    changes = parse_overrides(set_ or [])
    key = next((key for key in changes if KEY.fullmatch(key)), "")
    given = changes.get(key)
    stiffnesses = stiffness_range(given, key)
    if stiffnesses is not None:
        del changes[key]
    elif given is not None:
        stiffnesses = [stiffness_of(given, key)]
    chosen = load(scenario, changes)  # first: refused in less time than the rest takes to import
    if stiffnesses is not None and key != (own := getattr(chosen.content, "stiffness_key", key)):
        raise ScenarioError(f"--set {key}: the contact that is compared over is another one; must be --set {own}")
    from dockdyn.rig.comparison import compare as study

    laws = study.laws_of(compensators, chosen)
    options = log_options(unit, period, time=time, command=command, actual=actual)
    if log is not None:
        chosen = load(scenario, changes | _robot_of_log(chosen, log, options))
    else:
        refuse_without_log({**options.columns, "unit": unit, "period": period})
    folder = study_folder(out, scenario, "compare", not as_json, force)
    tell_unusual_numbers(chosen)
    answer: dict[str, Any] = {}
    if tune is not None:
        chosen, answer = _tune_compensators(chosen, laws, stiffnesses, tune, quiet, as_json)
    with show_progress(f"Comparing on {chosen.name}", quiet) as advance:
        dataset = study.compare(chosen, laws, stiffnesses, advance)
    deliver_result(dataset, folder, "compare.nc", study.comparison_answer(dataset) | answer if as_json else None)


def _tune_compensators(
    chosen: Scenario, laws: list[str], stiffnesses: list[float] | None, tune: str, quiet: bool, as_json: bool
) -> tuple[Scenario, dict[str, Any]]:
    """Return the scenario with compensators whose numbers keep their error least, and what was found, which is said."""
    from dockdyn.report.report import ReportBlock
    from dockdyn.report.terminal import show_parts
    from dockdyn.rig.comparison import compare as study
    from dockdyn.studies.design.robust import robust_gains, robust_table, share_from

    share = share_from(tune)
    tried = study.stiffnesses_of(chosen, stiffnesses)
    with show_progress(f"Tuning on {chosen.name}", quiet) as advance:
        tuned, found = robust_gains(chosen, laws, tried, share, advance)
    if not as_json:
        show_parts([ReportBlock(table=robust_table(found, share))])
    return tuned, {"tuned": [asdict(one) for one in found]}


def _robot_of_log(chosen: Scenario, log: Path, options: LogOptions) -> dict[str, Any]:
    """Return the keys of a rig's robot as a log tells it, its limits as they are; says how well, and what was taken for
    granted."""
    from dockdyn.studies.identification.robot import identify_robot, read_robot_log, robot_table

    found = identify_robot(read_robot_log(log, *options))
    for note in found.warnings:
        say(f"warning: {log}: {note}", err=True)
    words = f"explains {found.percent:.4g} % of the motion, dead time {found.dead_time:g} s; in the scenario's place"
    say(f"Robot of {log}: {words}", err=True)
    loop = chosen.content.loop
    keys: dict[str, Any] = {"loop.robot": robot_table(found)}
    if loop.hold is not None and loop.hold.applies_after:
        keys["loop.hold.applies_after"] = _periods_of(log, found.dead_time, loop.hold.period)
    elif loop.delay < found.dead_time:
        words = f"is less than the robot's dead time in {log}, {found.dead_time:g} s; see --set loop.delay"
        say(f"warning: loop.delay of {loop.delay:g} s {words}", err=True)
    limits = {} if loop.robot is None else {key: getattr(loop.robot, key) for key in ("rate_limit", "position_limit")}
    keys["loop.robot"] |= {key: value for key, value in limits.items() if value is not None}
    return keys


def _periods_of(log: Path, dead_time: float, period: float) -> int:
    """Return a dead time (s) in whole periods (s) of the hold."""
    whole = round(dead_time / period)
    if abs(dead_time - whole * period) > 1e-6 * period:
        raise Refusal(
            f"{log}: the dead time of {dead_time:g} s is no whole number of periods of {period:g} s of the hold"
        )
    return whole


def envelope(
    scenario: ScenarioName,
    over: Annotated[
        list[str],
        typer.Option("--over", metavar="KEY=LOW:HIGH", help="A key and its range; give two for a plane."),
    ],
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="captured, or the name of a requirement of the scenario.")
    ] = "captured",
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="Of the boundary's place, as a share of each range.")
    ] = 1e-3,
    set_: Overrides = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for report and data; by default NAME-envelope.")
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the envelope as JSON and nothing else; files only with --out.")
    ] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
    trust: Trust = False,
) -> None:
    """Locate where capture begins or a requirement fails.

    Over one key or two; the boundary is located, not sampled on a grid.
    """
    chosen = read_scenario(scenario, set_)
    from dockdyn.studies.envelope.search import envelope as locate
    from dockdyn.studies.envelope.search import parse_ranges, read_envelope

    ends = parse_ranges(over)
    with explained_by_numbers(chosen):
        read_envelope(chosen, ends, of, tolerance)
    folder = study_folder(out, scenario, "envelope", not as_json, force)
    tell_unusual_numbers(chosen, ends)
    with show_progress(f"Envelope of {chosen.name}", quiet) as advance:
        dataset = locate(chosen, ends, of, tolerance, advance)
    answer = json.loads(dataset.attrs["envelope"])
    deliver_result(dataset, folder, "envelope.nc", answer if as_json else None)


def sensitivity(
    scenario: ScenarioName,
    of: Annotated[
        str, typer.Option("--of", metavar="FIGURE", help="A figure of the summary or margins, 95 % of one,…")
    ],
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="KEY", help="A number of the scenario; by default all of them.")
    ] = None,
    smooth: Annotated[
        float | None,
        typer.Option(
            "--smooth", metavar="SHARE", help="Spread the numbers by this share of each, where the figure jumps."
        ),
    ] = None,
    set_: Overrides = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for a report; by default no files.")] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the derivatives as JSON and nothing else; files only with --out.")
    ] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Rank the numbers that a figure depends on.

    By what a small change of each does to a figure of the summary, or over the scenario's distributions to "95 % of" one.
    """
    chosen = read_scenario(scenario, set_)
    from dockdyn.report.page import render_page
    from dockdyn.studies.sensitivity.report import sensitivity_report
    from dockdyn.studies.sensitivity.table import cost_in_words
    from dockdyn.studies.sensitivity.table import sensitivity as differentiate

    study_folder(out, scenario, "sensitivity", False, force)
    tell_unusual_numbers(chosen)
    if not quiet and (words := cost_in_words(chosen, of, to or None, smooth)):
        say(f"note: {of} {words}; nothing is kept before the end", err=True)
    with show_progress(f"Derivatives of {of}", quiet) as advance:
        answer = differentiate(chosen, of, to or None, advance, smooth)
    text = json.dumps(answer, indent=2, allow_nan=False)
    report = sensitivity_report(answer, chosen.text(), command_line())
    if out is not None:
        page = render_page(report)
        for name, content in (("sensitivity.json", text), ("scenario.toml", chosen.text()), ("report.html", page)):
            write_text(out / name, content, force=True)
    tell_answer(answer, report, as_json, *([] if out is None else [f"Report: {out / 'report.html'}"]))
