"""`dockdyn envelope` and `dockdyn sensitivity`: where an outcome changes, and what a figure depends on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.options import Force, NoOwnCode, Overrides, Quiet, ScenarioName, progress, say, typed


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
) -> None:
    """Locate where capture begins or a requirement fails.

    Over one key or two; the boundary is located, not sampled on a grid.
    """
    from dockdyn.cli.main import overrides, vacant, write_files
    from dockdyn.scenario.load import load
    from dockdyn.studies.envelope.search import envelope as locate
    from dockdyn.studies.envelope.search import ranges

    chosen = load(scenario, overrides(set_ or []))
    folder = out
    if folder is None and not as_json:
        folder = Path(f"{Path(scenario).stem}-envelope")
    if folder is not None:
        vacant(folder, force)
    with progress(f"Envelope of {chosen.name}", quiet) as advance:
        dataset = locate(chosen, ranges(over), of, tolerance, advance)
    answer = json.loads(dataset.attrs["envelope"])
    if folder is not None:
        write_files(folder, dataset, "envelope.nc")
    if as_json:
        typer.echo(json.dumps(answer, indent=2, allow_nan=False))
        return
    from dockdyn.studies.envelope.report import envelope_verdict

    say(chosen.title)
    say(envelope_verdict(answer))
    say(f"Report: {folder / 'report.html'}" if folder else "")


def sensitivity(
    scenario: ScenarioName,
    of: Annotated[str, typer.Option("--of", metavar="FIGURE", help="A figure of the summary: peak_normal_force_N.")],
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="KEY", help="A number of the scenario; by default all of them.")
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

    By what a small change of each does to a figure of the summary.
    """
    from dockdyn.cli.main import overrides, vacant, write_text
    from dockdyn.scenario.load import load
    from dockdyn.studies.sensitivity.report import render_sensitivity_report, show_sensitivity
    from dockdyn.studies.sensitivity.table import sensitivity as differentiate

    chosen = load(scenario, overrides(set_ or []))
    if out is not None:
        vacant(out, force)
    with progress(f"Derivatives of {of}", quiet) as advance:
        answer = differentiate(chosen, of, to or None, advance)
    text = json.dumps(answer, indent=2, allow_nan=False)
    if out is not None:
        page = render_sensitivity_report(answer, chosen.text(), typed())
        for name, content in (("sensitivity.json", text), ("scenario.toml", chosen.text()), ("report.html", page)):
            write_text(out / name, content, force=True)
    if as_json:
        typer.echo(text)
        return
    show_sensitivity(answer)
    if out is not None:
        say(f"Report: {out / 'report.html'}")
