"""`dockdyn report` and `dockdyn export`: results again as pages, and as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dockdyn.cli_options import Force, Refusal


def report(
    result: Annotated[Path, typer.Argument(help="A result.nc, stability.nc, compare.nc or envelope.nc.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The page to write; by default report.html beside it.")
    ] = None,
    force: Force = False,
) -> None:
    """Write the report of a result again."""
    from dockdyn.cli import write_text
    from dockdyn.output.report_of import report_of
    from dockdyn.output.store import open_result

    page = out if out is not None else result.parent / "report.html"
    write_text(page, report_of(open_result(result)), force)
    typer.echo(f"Report: {page}")


def export(
    result: Annotated[Path, typer.Argument(help="A file that dockdyn wrote: result.nc, stability.nc, campaign.nc.")],
    to: Annotated[Literal["csv", "mat"], typer.Option("--to", help="CSV tables, or one MAT file for MATLAB.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the tables, or the MAT file; by default named after the result."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a result as CSV tables or as a MAT file."""
    from dockdyn.cli import vacant
    from dockdyn.output.export import export_csv, export_mat
    from dockdyn.output.store import open_result

    dataset = open_result(result)
    if to == "csv":
        folder = out if out is not None else result.with_name(f"{result.stem}-csv")
        vacant(folder, force)
        for path in export_csv(dataset, folder):
            typer.echo(f"Wrote {path}")
        return
    file = out if out is not None else result.with_suffix(".mat")
    if file.is_dir():
        raise Refusal(f"{file}: is a folder; must be a file such as {file / 'result.mat'}")
    if file.exists() and not force:
        raise Refusal(f"{file}: exists; give --force to overwrite it, or another --out")
    file.parent.mkdir(parents=True, exist_ok=True)
    export_mat(dataset, file)
    typer.echo(f"Wrote {file}")
