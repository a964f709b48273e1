"""`dockdyn report` and `dockdyn export`: results again as pages, and as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from dockdyn.cli.common import (
    Force,
    NoOwnCode,
    Refusal,
    command_line,
    echo_json,
    quantity_option,
    refuse_occupied,
    say,
    vacant_file,
    with_ending,
    write_text,
)
from dockdyn.cli.log_options import (
    Actual,
    Command,
    MeasuredForce,
    Period,
    Position,
    Time,
    Units,
    Velocity,
    log_options,
    refuse_without_log,
)
from dockdyn.cli.progress import show_activity
from dockdyn.files import write_files as write_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dockdyn.dataset import Dataset
    from dockdyn.report.charts.print_chart import Style
    from dockdyn.report.figure_file import Format
    from dockdyn.report.report import Report
    from dockdyn.results.exchange.measured_log import MeasuredLog
    from dockdyn.scenario.load import Scenario


NoLive = Annotated[
    bool, typer.Option("--no-live", help="Leave out of the page what lets it run again with other numbers.")
]
Data = Literal["csv", "parquet", "mat", "mcap", "nc"]


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT.nc...", help="A file that dockdyn wrote; several runs or campaigns are compared."
        ),
    ],
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="LOG",
            help="A measured log to lay over a run, in CSV, MCAP or netCDF: columns time [s], depth.tip [mm], actual…",
        ),
    ] = None,
    shift: Annotated[float | None, quantity_option("--shift", "s", "a time", "Added to the times of the log.")] = None,
    time: Time = None,
    command: Command = None,
    actual: Actual = None,
    position: Position = None,
    measured_force: MeasuredForce = None,
    velocity: Velocity = None,
    unit: Units = None,
    period: Period = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="The page to write; by default report.html beside the result, of several overlay.html."
        ),
    ] = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
    no_live: NoLive = False,
) -> None:
    """Write the report of a result again.

    Several runs, all of mechanisms or all of rigs, or campaigns, are compared in one page; a measured log is laid over a run.
    """
    for file in results if log is None else [*results, log]:
        if not file.exists():
            raise Refusal(f"{file}: no such file")  # before anything heavy is imported
    from dockdyn.results.exchange.measured_log import read_measured
    from dockdyn.results.store import as_written, open_result, result_in, study_of
    from dockdyn.studies.overlay.report import names_of

    options = log_options(
        unit, period,
        time=time, command=command, actual=actual, position=position, measured_force=measured_force, velocity=velocity,
    )  # fmt: skip
    if log is None:
        refuse_without_log({"shift": shift, "unit": unit, "period": period, **options.columns})
    several = len(results) > 1
    names = names_of(results)
    beside = results[0] if results[0].is_dir() else results[0].parent
    page = with_ending(out, ".html") if out is not None else Path("overlay.html") if several else beside / "report.html"
    read = [*results, *([log] if log is not None else [])]
    vacant_file(page, force, *read)
    results = [result_in(path) for path in results]
    runs = {name: open_result(file) for name, file in zip(names, results, strict=True)}
    first = runs[names[0]]
    if log is not None and (study := study_of(first)):
        raise Refusal(f"--log {log}: {results[0]} is of dockdyn {study}; must be of dockdyn run")
    with as_written(*results):
        measured = read_measured(log, first, shift or 0.0, *options) if log is not None else None
        for note in measured.notes if measured is not None else []:
            say(f"warning: {log}: {note}", err=True)
        with show_activity(f"Making {page}"):
            text = (
                _page_of_several(runs, results, measured)
                if several
                else _page_beside_log(first, results[0], measured, no_live)
            )
    write_text(page, text, force)
    say(f"Report: {page}")


def _page_of_several(runs: dict[str, Dataset], files: Sequence[Path], measured: MeasuredLog | None) -> str:
    """Return the page that compares runs or campaigns in files, by the names that it calls them."""
    from dockdyn.report.page import render_page
    from dockdyn.results.store import study_of

    if all(study_of(dataset) == "campaign" for dataset in runs.values()):
        from dockdyn.studies.campaign.beside import campaigns_report

        return render_page(campaigns_report(runs, command_line()))
    from dockdyn.pages import replay_beside
    from dockdyn.studies.overlay.report import overlay_report

    report = overlay_report(runs, measured, command_line())
    return render_page(report, **replay_beside(runs, [file.parent for file in files]))


def _page_beside_log(dataset: Dataset, file: Path, measured: MeasuredLog | None, no_live: bool) -> str:
    """Return the page of the result in a file, where there is one beside a log."""
    from dockdyn.api import summarise
    from dockdyn.pages import report_of
    from dockdyn.results.store import study_of
    from dockdyn.studies.overlay.report import beside_log

    summary = None if study_of(dataset) else summarise(dataset)
    found = report_of(dataset, summary)
    beside_run = found if measured is None else beside_log(found, dataset, measured)
    known = KnownRun(summary=summary, live=not no_live and measured is None)
    return _page_of(dataset, file.parent, beside_run, known)


def export(
    result: Annotated[
        Path, typer.Argument(help="A file that dockdyn wrote: result.nc, stability.nc, campaign.nc; or a log.")
    ],
    to: Annotated[
        Literal["csv", "parquet", "mat", "mcap", "nc", "png", "svg", "pdf"],
        typer.Option(
            "--to",
            help="Tables in CSV or Parquet files, one MAT file for MATLAB, one MCAP file for Foxglove and ROS 2, a log as "
            "netCDF, or a figure.",
        ),
    ],
    figure: Annotated[
        str | None, typer.Option("--figure", metavar="NAME", help="Which figure; a wrong name lists them all.")
    ] = None,
    style: Annotated[
        Literal["report", "paper"] | None,
        typer.Option("--style", help="As in the report, or for a journal: 88 mm wide, letters of 8 pt."),
    ] = None,
    whole_run: Annotated[
        bool, typer.Option("--whole-run", help="All of the run, where the figure opens on a part of it.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the tables, or the file; by default named after the result or figure."),
    ] = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Write a result or log for other programs, or a figure of it."""
    from dockdyn.results.store import result_in

    result = result_in(result)
    if to == "csv" or to == "parquet" or to == "mat" or to == "mcap" or to == "nc":
        asked = {"--figure": figure, "--style": style, "--whole-run": whole_run or None}
        for flag in (flag for flag, value in asked.items() if value is not None):
            raise Refusal(f"{flag}: is for figures; give it with --to png, svg or pdf, or leave it out")
        _export_data(result, to, out, force)
    else:
        _export_figure(result, to, figure, style or "report", whole_run, out, force)


def _export_data(result: Path, to: Data, out: Path | None, force: bool) -> None:
    """Write a result or a log as tables, or as one file."""
    from dockdyn.results.exchange.export import export_csv, export_mat, export_parquet
    from dockdyn.results.exchange.export_mcap import export_mcap
    from dockdyn.results.store import as_written, write_result

    dataset = _data_of(result, to)
    if to == "csv" or to == "parquet":
        folder = out if out is not None else result.with_name(f"{result.stem}-{to}")
        refuse_occupied(folder, force)
        with as_written(result):
            for path in (export_csv if to == "csv" else export_parquet)(dataset, folder):
                say(f"Wrote {path}")
        return
    file = with_ending(out, f".{to}") if out is not None else result.with_suffix(f".{to}")
    vacant_file(file, force, result)
    counted = ""
    with as_written(result):
        if to == "mat":
            export_mat(dataset, file)
        elif to == "nc":
            write_result(dataset, file)
        else:
            written = export_mcap(dataset, file)
            counted = f": {written.messages} messages on {written.channels} channels"
    say(f"Wrote {file}{counted}")


def _data_of(path: Path, to: Data) -> Dataset:
    """Return a result, or a log, of which is told what it lacks; refuses what cannot be written of them."""
    from dockdyn.results.exchange.log_file import is_log
    from dockdyn.results.store import open_result

    if not is_log(path):
        if to == "nc":
            raise Refusal(f"{path}: is in netCDF already; --to nc is for logs in CSV or MCAP")
        return open_result(path)
    if to == "mcap":
        raise Refusal(f"{path}: is a log; --to mcap is for the result.nc of a run")
    from dockdyn.results.exchange.log_dataset import log_dataset

    dataset, notes = log_dataset(path)
    for note in notes:
        say(f"warning: {path}: {note}", err=True)
    return dataset


def _export_figure(
    result: Path, to: Format, name: str | None, style: Style, whole: bool, out: Path | None, force: bool
) -> None:
    """Write one figure of the report of a result."""
    from dockdyn.files import write_file
    from dockdyn.pages import report_of
    from dockdyn.report.figure_file import figure_file
    from dockdyn.report.report import named_apart
    from dockdyn.results.store import as_written, open_result

    dataset = open_result(result)
    with as_written(result):
        plots = {plot.name: plot for plot in named_apart(report_of(dataset).plots)}
    if name not in plots:
        asked = "--figure: is missing" if name is None else f"--figure {name}: no such figure"
        raise Refusal(f"{asked}; must be one of {', '.join(plots)}")
    file = with_ending(out, f".{to}") if out is not None else result.with_name(f"{name}.{to}")
    vacant_file(file, force, result)
    with as_written(result):
        content = figure_file(plots[name], to, style, whole=whole)
    write_file(file, content)
    say(f"Wrote {file}")


class KnownRun(NamedTuple):
    """What a command that has made a run knows of it: its scenario and its summary, and whether its page shall compute."""

    scenario: Scenario | None = None
    summary: dict[str, Any] | None = None
    live: bool = True


UNKNOWN = KnownRun()  # a result that is read, or of a study


def _page_of(dataset: Dataset, folder: Path, report: Report, known: KnownRun = UNKNOWN) -> str:
    """Return the page of a result that lies in `folder`; says where a run's replay, or something of it, had to be left out."""
    from dockdyn.pages import live_campaign_of, live_margins_of, live_of, replay_of
    from dockdyn.report.page import render_page
    from dockdyn.results.store import study_of

    inside: dict[str, Any] = {}
    if study_of(dataset) is None:
        content = None if known.scenario is None else known.scenario.content
        inside = replay_of(dataset, folder, content)
        inside |= live_of(dataset, folder, known.scenario, known.summary) if known.live else {}
    elif study_of(dataset) == "campaign" and known.live:
        inside = live_campaign_of(dataset)
    elif study_of(dataset) == "stability" and known.live:
        inside = live_margins_of(dataset)
    for words in (inside[key] for key in ("no_replay", "replay_lacks") if key in inside):
        say(f"warning: {words}", err=True)
    return render_page(report, **inside)


def deliver_result(
    dataset: Dataset,
    folder: Path | None,
    name: str,
    answer: dict[str, Any] | None = None,
    known: KnownRun = UNKNOWN,
) -> None:
    """Print the `answer` as JSON or, without one, what the report shows; write the files into the folder, if there is one."""
    from dockdyn.pages import report_of
    from dockdyn.report.terminal import show_report

    if folder is not None:
        with show_activity(f"Writing {folder}"):
            write_files(folder, dataset, name, show=answer is None, known=known)
    elif answer is None:
        show_report(report_of(dataset, known.summary))
    if answer is not None:
        echo_json(answer)
    elif folder is not None:
        say(f"Report: {folder / 'report.html'}")


def write_files(folder: Path, dataset: Dataset, name: str, show: bool = False, known: KnownRun = UNKNOWN) -> None:
    """Write the three files of a result, all or none: its data under `name`, the scenario, the report.

    Where the report cannot be made the others are there. With `show` the terminal has it before the files are made.
    """
    from dockdyn.netcdf import as_bytes
    from dockdyn.pages import report_of
    from dockdyn.report.terminal import show_report
    from dockdyn.scenario.json_schema import line_for

    files: dict[Path, str | bytes] = {}
    try:
        report = report_of(dataset, known.summary)
        if show:
            show_report(report)
        files[folder / "report.html"] = _page_of(dataset, folder, report, known)
    finally:
        scenario = line_for(folder) + dataset.attrs["scenario"]
        data = {folder / name: as_bytes(dataset), folder / "scenario.toml": scenario}
        write_together(data | files)
