"""`dockdyn mesh`: mesh files that bodies touch by, looked at and repaired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import Force, Refusal, help_example, say, vacant_file
from dockdyn.cli.progress import show_activity

app = typer.Typer(
    help="Mesh files, looked at and repaired.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

MeshName = Annotated[Path, typer.Argument(metavar="FILE", help="A mesh, .stl, .obj or .ply.")]
Within = Annotated[
    float | None,
    typer.Option(
        "--within",
        metavar="LENGTH",
        min=0,
        help="Vertices so near to each other are merged, in the file's unit; by default 1e-6 of the mesh's size.",
    ),
]


@app.command(epilog=help_example("dockdyn mesh check ring.stl"))
def check(file: MeshName) -> None:
    """Say what is in a mesh file, or why it is not the skin of a solid.

    With the repair that would make it one, if there is one.
    """
    with _naming(file), show_activity(f"Looking at {file.name}"):
        from dockdyn.scenario.meshes.examine import examine_mesh

        found = examine_mesh(file)
    if found.fault:
        mended = f"; `dockdyn mesh repair {file}` makes it one: {found.repair}" if found.repair else ""
        raise Refusal(f"{file}: {found.fault}{mended}")
    say(f"{file}: the skin of a solid; lengths in the file's unit")
    for line in found.lines:
        say(f"  {line}")


@app.command(epilog=help_example("dockdyn mesh repair ring.stl --out sound.stl"))
def repair(
    file: MeshName,
    out: Annotated[
        Path | None, typer.Option("--out", help="The mesh to write; by default NAME-repaired in this folder.")
    ] = None,
    within: Within = None,
    force: Force = False,
) -> None:
    """Make a mesh file the skin of a solid, and say what was done.

    Vertices that are nearly the same are merged, faces without area and repeated ones taken away, small openings closed,
    faces turned out of the solid. What overlaps or has large openings is refused.
    """
    written = out or Path(f"{file.stem}-repaired{file.suffix}")
    vacant_file(written, force, file)
    with _naming(file), show_activity(f"Repairing {file.name}"):
        from dockdyn.files import write_file
        from dockdyn.scenario.meshes.examine import repaired_file

        content, done = repaired_file(file, written, within)
    write_file(written, content)
    for line in done or ["nothing to repair"]:
        say(line)
    say(f"Mesh: {written}")


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Name the file in what is refused of it."""
    from pydantic_core import PydanticCustomError

    from dockdyn.scenario.language.given_file import MESH, refusal

    try:
        yield
    except PydanticCustomError as problem:
        raise Refusal(f"{file}: {problem}") from None
    except OSError as error:
        raise refusal(error, str(file), MESH) from None
