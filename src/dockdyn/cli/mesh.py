"""`dockdyn mesh`: mesh files that bodies touch by, looked at and repaired; parts from CAD files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import Force, Refusal, help_example, quantity_option, say, vacant_file
from dockdyn.cli.progress import show_activity

app = typer.Typer(
    help="Mesh files, looked at and repaired; parts from CAD files.",
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


@app.command("import", epilog=help_example("dockdyn mesh import docking.step --density '2700 kg/m**3' --out docking"))
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CAD file, .step, .stp, .iges or .igs.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the parts.")],
    density: Annotated[
        float, quantity_option("--density", "kg/m**3", "a density", "Of every solid.", above=0, most=1e5)
    ],
    tolerance: Annotated[
        float,
        quantity_option("--tolerance", "m", "a length", "Of triangles from the surfaces.", least=1e-6, most=0.1),
    ] = 1e-4,
    force: Force = False,
) -> None:
    """Write the solids of a CAD file as parts of scenarios.

    Of each NAME.toml, to be included, and its mesh NAME.obj, with mass and inertia of its density; planes, cylinders,
    cones, spheres and tori among its faces become the exact surfaces.
    """
    with _naming(file), show_activity(f"Reading {file.name}"):
        from dockdyn.files import write_files
        from dockdyn.scenario.cad.part_file import parts_of_cad

        parts = parts_of_cad(file, tolerance, density)
    contents = {out / name: content for part in parts for name, content in part.files.items()}
    for written in contents:
        vacant_file(written, force, file)
    out.mkdir(parents=True, exist_ok=True)
    write_files(contents)
    for part in parts:
        say(part.line)
    say(f'Parts: {out}; a scenario takes one by include = "{out / parts[0].name}.toml"')


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
