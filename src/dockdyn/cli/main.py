"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli import campaign as cli_campaign
from dockdyn.cli import doctor as cli_doctor
from dockdyn.cli import identify as cli_identify
from dockdyn.cli import impact as cli_impact
from dockdyn.cli import results as cli_output
from dockdyn.cli import studies as cli_study
from dockdyn.cli import view as cli_view
from dockdyn.cli.options import (
    Force,
    NoOwnCode,
    Overrides,
    Quiet,
    Refusal,
    ScenarioName,
    example,
    preset_names,
    progress,
    say,
)
from dockdyn.files import FULL, as_bytes, failure, write_file
from dockdyn.files import write_files as write_together

if TYPE_CHECKING:
    import xarray as xr

app = typer.Typer(
    help="Mechanics of spacecraft docking, berthing and capture, and of the rigs that test them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

BAD_INPUT = 2
STOPPED_EARLY = 3
NOT_MET = 4
PAPERS = ["sazawal", "sits", "paraskevas", "cyril", "gibson"]


def version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        say(f"dockdyn {version('dockdyn')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(epilog=example('dockdyn run probe-cone --set loop.delay="20 ms" --out late'))
def run(
    scenario: ScenarioName,
    set_: Overrides = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the results; by default the scenario's name.")
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON and nothing else; files only with --out.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with code 4 when a requirement of the scenario is not met.")
    ] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Simulate a scenario.

    Writes result.nc, scenario.toml and report.html into a folder and prints a summary.
    """
    from dockdyn.scenario.load import load

    chosen = load(scenario, overrides(set_ or []))
    folder = None
    if out is not None or not as_json:
        folder = out if out is not None else Path(Path(scenario).stem)
        vacant(folder, force)
    from dockdyn.kinds.simulate import simulate
    from dockdyn.kinds.summarise import summarise

    with progress(f"Simulating {chosen.name}", quiet) as advance:
        dataset = simulate(chosen, advance)
    summary = summarise(dataset, chosen.name)
    if folder is not None:
        write_files(folder, dataset, "result.nc")
    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False))
    else:
        from dockdyn.kinds.console import show_summary

        show_summary(summary)
        say(f"Report: {folder / 'report.html'}" if folder else "")
    if not dataset.attrs["finished"]:
        fail(f"{chosen.name}: {dataset.attrs['status']}; what came before is kept", STOPPED_EARLY)
    if check and not summary["requirements"]:
        say(f"warning: {chosen.name} has no requirements to check", err=True)
    missed = [one["name"] for one in summary["requirements"] if one["met"] is False]
    undecided = [one["name"] for one in summary["requirements"] if one["met"] is None]
    if check and (missed or undecided):
        words = [
            f"{said}: {', '.join(names)}" for said, names in (("not met", missed), ("not decided", undecided)) if names
        ]
        fail(f"{chosen.name}: {'; '.join(words)}", NOT_MET)


@app.command(epilog=example("dockdyn stability probe-cone --sweep loop.delay=0:100ms:101"))
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
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Say whether a loop is stable.

    By which margin, and what decides it; with --sweep a chart over a key or two.
    """
    from dockdyn.scenario.load import load

    chosen = load(scenario, overrides(set_ or []))
    folder = out
    if folder is None and sweep and not as_json:
        folder = Path(f"{Path(scenario).stem}-stability")
    if folder is not None:
        vacant(folder, force)
    from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

    with progress(f"Margins of {chosen.name}", quiet) as advance:
        dataset = stability_dataset(chosen, [parse_sweep(text) for text in sweep or []], advance)
    margins = json.loads(dataset.attrs["margins"])
    if folder is not None:
        write_files(folder, dataset, "stability.nc")
    if as_json:
        typer.echo(json.dumps(margins, indent=2, allow_nan=False))
        return
    from dockdyn.kinds.console import show_margins

    show_margins(chosen.title, margins)
    if folder is not None:
        say(f"Report: {folder / 'report.html'}")


@app.command(epilog=example("dockdyn compare sits --compensators none,command-lead --out two"))
def compare(
    scenario: ScenarioName,
    compensators: Annotated[
        str, typer.Option("--compensators", metavar="all|NAME,NAME", help="Which ones; none is the rig without.")
    ] = "all",
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
    from dockdyn.kinds.rig import compare as study
    from dockdyn.scenario.load import load

    changes = overrides(set_ or [])
    laws = study.laws_of(compensators)
    given = changes.get(study.STIFFNESS)
    stiffnesses = study.stiffness_range(given)
    if stiffnesses is not None:
        del changes[study.STIFFNESS]
    elif given is not None:
        stiffnesses = [study.stiffness(given)]
    chosen = load(scenario, changes)
    folder = out
    if folder is None and not as_json:
        folder = Path(f"{Path(scenario).stem}-compare")
    if folder is not None:
        vacant(folder, force)
    with progress(f"Comparing on {chosen.name}", quiet) as advance:
        dataset = study.compare(chosen, laws, stiffnesses, advance)
    if folder is not None:
        write_files(folder, dataset, "compare.nc")
    if as_json:
        typer.echo(json.dumps(study.answer(dataset), indent=2, allow_nan=False))
        return
    from dockdyn.kinds.console import show_comparison

    show_comparison(dataset)
    say(f"Report: {folder / 'report.html'}" if folder else "")


@app.command(epilog=example("dockdyn presets"))
def presets() -> None:
    """List the scenarios that come with dockdyn, by kind."""
    from dockdyn.scenario.load import KINDS, preset_kinds
    from dockdyn.scenario.load import presets as known

    width = max(len(name) for name in known())
    of = preset_kinds()
    for kind in KINDS:
        say(f"{kind}:")
        for name in (name for name in known() if of[name] == kind):
            say(f"  {name:<{width}}  {known()[name]}")


@app.command(epilog=example("dockdyn init probe-cone mine.toml", "dockdyn run mine.toml"))
def init(
    preset: Annotated[str, typer.Argument(help="The preset to start from.", autocompletion=preset_names)],
    file: Annotated[Path, typer.Argument(help="The scenario file to write.")],
    force: Force = False,
) -> None:
    """Write a preset into a file of your own."""
    from dockdyn.scenario.load import preset_text

    text = preset_text(preset)
    write_text(file, text, force)
    say(f"Wrote {file}; run it with: dockdyn run {file}")


@app.command(epilog=example("dockdyn reproduce paraskevas --table 1"))
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(help="The paper: sazawal, sits, paraskevas, cyril or gibson.", autocompletion=lambda: PAPERS),
    ],
    figure: Annotated[str | None, typer.Option("--figure", help="One figure, or named part, only.")] = None,
    table: Annotated[str | None, typer.Option("--table", help="One table only, by its number in the paper.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for pictures and tables.")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compute a paper's figures and tables again.

    Prints the paper's values beside computed ones, and says where a printed equation or number is wrong.
    """
    from dockdyn.scenario.language.errors import nearest

    if paper not in PAPERS:
        raise Refusal(f"{paper}: no such paper; {nearest(paper, PAPERS)}")
    source = importlib.import_module(f"dockdyn.papers.{paper}")
    known = [str(name) for name in source.FIGURES]
    if figure is not None and figure not in known:
        raise Refusal(f"--figure {figure}: must be one of {', '.join(known)}")
    if table is not None:
        figure = table_of(paper, table, figure, known)
    folder = out if out is not None else Path(f"reproduce-{paper}")
    vacant(folder, force)
    with progress(f"Reproducing {paper}", quiet) as advance:
        tables = source.reproduce(figure, folder, advance)
    from dockdyn.kinds.console import show_table

    for table in tables:
        show_table(table)
    say(f"Pictures and tables: {folder}")


def table_of(paper: str, table: str, figure: str | None, known: list[str]) -> str:
    """The part of a paper that is its table with that number."""
    tables = [name.removeprefix("table-") for name in known if name.startswith("table-")]
    if not tables:
        raise Refusal(
            f"--table {table}: {paper} has no tables by number; must be --figure with one of {', '.join(known)}"
        )
    if table not in tables:
        raise Refusal(f"--table {table}: must be one of {', '.join(tables)}")
    if figure is not None:
        raise Refusal(f"--table {table}: must be given without --figure")
    return f"table-{table}"


def overrides(texts: list[str]) -> dict[str, Any]:
    """The `--set KEY=VALUE` options: a value in TOML's notation, or a plain text such as 20 ms."""
    import tomllib

    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise Refusal(f"--set {text}: must be KEY=VALUE, such as --set loop.delay=0.02")
        try:
            read = tomllib.loads(f"value = {value}")
        except (ValueError, RecursionError):
            read = {}
        found[key.strip()] = read["value"] if list(read) == ["value"] else value.strip()
    return found


def vacant(folder: Path, force: bool) -> None:
    """Refuses a folder that exists, unless asked to overwrite."""
    if folder.exists() and not folder.is_dir():
        raise Refusal(f"{folder}: is a file; must be a folder")
    if folder.exists() and not force:
        raise Refusal(f"{folder}: exists; give --force to overwrite the results in it, or another --out")


def write_text(file: Path, text: str, force: bool) -> None:
    if file.exists() and not force:
        raise Refusal(f"{file}: exists; give --force to overwrite it, or another name")
    write_file(file, text)


def write_files(folder: Path, dataset: xr.Dataset, name: str) -> None:
    """The three files of a result, all or none: its data under `name`, the scenario, the report.

    Where the report cannot be made the others are there.
    """
    files: dict[Path, str | bytes] = {
        folder / name: as_bytes(dataset),
        folder / "scenario.toml": dataset.attrs["scenario"],
    }
    try:
        files[folder / "report.html"] = cli_output.page_of(dataset, folder)
    finally:
        write_together(files)


app.command(epilog=example("dockdyn envelope probe-cone-latch \\", "    --over approach.closing_speed=30mm/s:60mm/s"))(
    cli_study.envelope
)
app.command(epilog=example("dockdyn sensitivity probe-cone --of peak_normal_force_N"))(cli_study.sensitivity)
app.command(
    epilog=example("dockdyn report cone/result.nc", "dockdyn report slow/result.nc fast/result.nc --out both.html")
)(cli_output.report)
app.command(epilog=example("dockdyn view cone/result.nc", "dockdyn view cone/result.nc --html cone.html"))(
    cli_view.view
)
app.command(epilog=example("dockdyn export cone/result.nc --to csv"))(cli_output.export)
app.command(epilog=example("dockdyn doctor"))(cli_doctor.doctor)
app.add_typer(cli_campaign.app, name="campaign")
app.add_typer(cli_impact.app, name="impact")
app.add_typer(cli_identify.app, name="identify")


def fail(message: str, code: int, advice: str = "") -> None:
    """End with a line, shortened where it is long; `advice`, a command to copy, is not."""
    from dockdyn.scenario.language.printable import one_line, printable

    say(f"error: {one_line(message)}{'; ' if advice else ''}{printable(advice)}", err=True)
    raise SystemExit(code)


def main() -> None:
    """Entry point: bad input is one line on the error stream and exit code 2."""
    try:
        code = app(prog_name="dockdyn", standalone_mode=False)
    except Refusal as refusal:
        fail(str(refusal), BAD_INPUT)
    except OSError as error:  # a file that cannot be written; what is read is checked where it is read
        fail(failure(error), STOPPED_EARLY if error.errno in FULL else BAD_INPUT)
    except Exception as error:
        fail(words_of(error), BAD_INPUT)
    if code:
        raise SystemExit(code)


def words_of(error: Exception) -> str:
    """One line for what was typed wrong, or for what a scenario or file has wrong; any other error is raised again."""
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(context.get_help())
        raise SystemExit(BAD_INPUT)
    if hasattr(error, "format_message"):  # typer's, which it keeps to itself
        hint = f"; see {context.command_path} --help" if context is not None else ""
        return f"{error.format_message().rstrip('.')}{hint}"
    if all(each.__name__ != "ScenarioError" for each in type(error).__mro__):
        raise error
    return str(error)
