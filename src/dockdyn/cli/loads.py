"""`dockdyn loads`: loads of a run or a campaign for structural models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import Force, NoOwnCode, Refusal, refuse_occupied, say, tell_answer
from dockdyn.files import write_files


def loads(
    result: Annotated[Path, typer.Argument(help="The result.nc of a run, or the campaign.nc of a campaign.")],
    interface: Annotated[
        list[str] | None,
        typer.Option(
            "--interface",
            metavar="NAME[=GRID]",
            help="A port, joint, contact or element, and the grid point that takes its loads; again for others; all without.",
        ),
    ] = None,
    quality: Annotated[
        float,
        typer.Option("--q", metavar="Q", min=0.51, max=1000, help="Of the oscillators of shock response spectra."),
    ] = 10.0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the files; by default result-loads beside the result.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is largest as JSON.")] = False,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Write the loads of a run for structural models.

    Histories and worst instants as Nastran cards and CSV, shock response spectra; of a campaign its percentiles are told.
    """
    from dockdyn.results.store import as_written, open_result, result_in, study_of

    file = result_in(result)
    dataset = open_result(file)
    study = study_of(dataset)
    if study == "campaign":
        from dockdyn.studies.campaign.load_percentiles import load_percentiles, percentiles_report

        asked = {"--interface": interface, "--out": out}
        for flag in (flag for flag, given in asked.items() if given):
            raise Refusal(f"{flag}: {result} is a campaign, of which percentiles are told; must be left out")
        with _naming(file), as_written(file):
            found = load_percentiles(dataset)
        tell_answer(found, percentiles_report(dataset, found), as_json)
        return
    if study is not None or "load_force" not in dataset:
        what = f"of dockdyn {study}" if study is not None else "of a run that tells no loads, as that of a rig is"
        raise Refusal(f"{result}: is {what}; must be the result.nc of a mechanism's run, or a campaign.nc")
    from dockdyn.docking.loads.report import loads_of_run
    from dockdyn.scenario.load import parse

    folder = out if out is not None else file.with_name(f"{file.stem}-loads")
    refuse_occupied(folder, force)
    with _naming(file), as_written(file):
        content = parse(dataset.attrs["scenario"], str(file), folder=file.parent).content
        told = loads_of_run(dataset, content, interface or [], quality)
    write_files({folder / name: text for name, text in told.files().items()})
    if told.warning:
        say(f"warning: {told.warning}", err=True)
    tell_answer(told.answer(), told.report(), as_json)
    if not as_json:
        say(f"Files: {folder}")


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Put the result before what is refused of its loads."""
    from dockdyn.scenario.language.errors import ScenarioError

    try:
        yield
    except ScenarioError as error:
        words = str(error)
        raise Refusal(words if words.startswith(str(file)) else f"{file}: {words}") from None
