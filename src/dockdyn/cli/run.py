"""`dockdyn run`, `presets` and `reproduce`: one scenario, those that come with dockdyn, and the papers."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli.common import (
    NOT_MET,
    STOPPED_EARLY,
    Force,
    NoOwnCode,
    Overrides,
    Quiet,
    Refusal,
    ScenarioName,
    Trust,
    explained_by_numbers,
    fail,
    read_scenario,
    refuse_occupied,
    say,
    show_progress,
)
from dockdyn.cli.results import KnownRun, NoLive, deliver_result

if TYPE_CHECKING:
    from dockdyn.dataset import Dataset
    from dockdyn.scenario.load import Scenario

MET = {"not met": False, "not decided": None}  # of a requirement, in words
PAPERS = ["sazawal", "sits", "paraskevas", "cyril", "gibson"]


def run(
    scenario: ScenarioName,
    set_: Overrides = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the results; by default named as the file or preset.")
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON and nothing else; files only with --out.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with code 4 when a requirement of the scenario is not met.")
    ] = False,
    check_convergence: Annotated[
        bool,
        typer.Option(
            "--check-convergence",
            help="Run it again with a tenfold tighter tolerance, finer meshes and one more mode, and tell what moves.",
        ),
    ] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
    trust: Trust = False,
    no_live: NoLive = False,
) -> None:
    """Simulate a scenario.

    Writes result.nc, scenario.toml and report.html into a folder and prints a summary.
    """
    chosen = read_scenario(scenario, set_)
    folder = out
    if folder is None and not as_json:
        folder = Path(Path(scenario).stem)
    if folder is not None:
        refuse_occupied(folder, force)
    if check_convergence:
        from dockdyn.studies.convergence.refine import refine_scenario

        refine_scenario(chosen)  # refuses before anything is computed
    from dockdyn.api import simulate, summarise
    from dockdyn.scenario.language.errors import ScenarioError

    with explained_by_numbers(chosen), show_progress(f"Simulating {chosen.name}", quiet) as advance:
        dataset = simulate(chosen, advance)
    try:
        summary = summarise(dataset, chosen.name)
    except ScenarioError:
        if folder is not None:
            _keep_without_requirements(chosen, dataset, folder)
        raise
    convergence = _convergence_figures(chosen, dataset, quiet) if check_convergence else {}
    dataset = dataset.assign_attrs({name: json.dumps(found) for name, found in convergence.items()})
    known = KnownRun(chosen, summary, live=not no_live)
    deliver_result(dataset, folder, "result.nc", summary | convergence if as_json else None, known)
    if convergence and not as_json:
        _show_convergence(**convergence)
    if not dataset.attrs["finished"]:
        fail(f"{chosen.name}: {dataset.attrs['status']}; what came before is kept", STOPPED_EARLY)
    if check:
        _check_requirements(chosen.name, summary["requirements"])


def _keep_without_requirements(scenario: Scenario, dataset: Dataset, folder: Path) -> None:
    """Write a run of which a requirement cannot be judged, as it can be known only now, without requirements."""
    from dockdyn.api import summarise

    kept = replace(scenario, requirements=())
    dataset = dataset.assign_attrs(scenario=kept.text())
    deliver_result(dataset, folder, "result.nc", known=KnownRun(kept, summarise(dataset, kept.name), live=False))
    say(f"The run is in {folder} without its requirements, of which one cannot be judged.")


def _convergence_figures(scenario: Scenario, dataset: Dataset, quiet: bool) -> dict[str, dict[str, Any]]:
    """Return by how much the figures of a run move with finer numbers, by what a summary and a result call that."""
    from dockdyn.studies.convergence.console import KEPT
    from dockdyn.studies.convergence.converged import check_convergence

    with show_progress(f"Convergence of {scenario.name}", quiet) as advance:
        return {KEPT: check_convergence(scenario, dataset, advance)}


def _show_convergence(convergence: dict[str, Any]) -> None:
    """Print by how much the figures of a run move."""
    from dockdyn.report.terminal import show_parts
    from dockdyn.studies.convergence.console import convergence_lines

    show_parts(list(convergence_lines(convergence)), convergence["warnings"])


def _check_requirements(name: str, requirements: list[dict[str, Any]]) -> None:
    """End with a code of its own where a requirement of a scenario is not met, or not decided."""
    if not requirements:
        say(f"warning: {name} has no requirements to check", err=True)
    found = {words: [one["name"] for one in requirements if one["met"] is met] for words, met in MET.items()}
    if missed := [f"{words}: {', '.join(names)}" for words, names in found.items() if names]:
        fail(f"{name}: {'; '.join(missed)}", NOT_MET)


def presets() -> None:
    """List the scenarios that come with dockdyn."""
    from dockdyn.scenario.preset_files import preset_setups
    from dockdyn.scenario.preset_files import presets as known
    from dockdyn.scenario.setups import SETUPS

    width = max(len(name) for name in known())
    of = preset_setups()
    for setup in SETUPS:
        say(f"{setup}:")
        for name in (name for name in known() if of[name] == setup):
            say(f"  {name:<{width}}  {known()[name]}")


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
    source = importlib.import_module(f"dockdyn.papers.{paper}.reproduce")
    known = [str(name) for name in source.FIGURES]
    if figure is not None and figure not in known:
        raise Refusal(f"--figure {figure}: must be one of {', '.join(known)}")
    if table is not None:
        figure = _table_of(paper, table, figure, known)
    folder = out if out is not None else Path(f"reproduce-{paper}")
    refuse_occupied(folder, force)
    with show_progress(f"Reproducing {paper}", quiet, left=f"its pictures so far are in {folder}") as advance:
        tables = source.reproduce(figure, folder, advance)
    from dockdyn.cli.console import show_table

    for shown in tables:
        show_table(shown)
    say(f"Pictures and tables: {folder}")
    say(f"Report: {folder / 'report.html'}")


def _table_of(paper: str, table: str, figure: str | None, known: list[str]) -> str:
    """Return the name of the part that is the table of a paper with that number.

    Raises `Refusal` where the paper has no such table, or where a figure is asked for, too.
    """
    tables = [name.removeprefix("table-") for name in known if name.startswith("table-")]
    if not tables:
        raise Refusal(f"--table {table}: the paper {paper} has no tables; choose --figure from {', '.join(known)}")
    if table not in tables:
        raise Refusal(f"--table {table}: must be one of {', '.join(tables)}, the tables of {paper}")
    if figure is not None:
        raise Refusal(f"--table {table}: must be given without --figure")
    return f"table-{table}"
