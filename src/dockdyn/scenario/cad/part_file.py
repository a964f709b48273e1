"""A solid of a CAD file as a file that scenarios include: its body, its mesh to be seen and touched, its exact surfaces.

Units: SI.
Source: mass, centre and inertia of a solid of one density within its triangles (Mirtich 1996, in trimesh); own construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.scenario.cad.exact_faces import DIGITS, MICROMETRES, ExactTable, exact_tables
from dockdyn.scenario.cad.solids import CadSolid, read_solids
from dockdyn.scenario.language.printable import printable
from dockdyn.scenario.meshes.examine import exported_mesh
from dockdyn.scenario.meshes.repair import repair_mesh
from dockdyn.scenario.meshes.solid import check_solid
from dockdyn.scenario.tables.part import refuse

MOST_TABLES = 24  # of a solid

NOISE = 1e-9  # of the largest moment of inertia: products below it are rounding
PRECISE = 7  # digits of what is integrated over triangles


class PartOfCad(NamedTuple):
    """What is written of a solid, by file names, and what is said of it."""

    name: str
    files: dict[str, str | bytes]
    line: str


def parts_of_cad(file: Path, tolerance: float, density: float) -> list[PartOfCad]:
    """Return what is written of every solid of a CAD file, its skin within a `tolerance` (m), of a `density` (kg/m³).

    Refuses and raises as `read_solids` does, and refuses a solid whose skin is not closed.
    """
    return [_part_of(solid, file, tolerance, density) for solid in read_solids(file, tolerance)]


def _part_of(solid: CadSolid, file: Path, tolerance: float, density: float) -> PartOfCad:
    mesh = _closed_mesh(solid, file)
    mesh.density = density
    centre = np.array([round(float(one), MICROMETRES) + 0.0 for one in mesh.center_mass])
    found = exact_tables(solid.exact, solid.place)
    shown, name = found[:MOST_TABLES], solid.name
    numbered = _name_tables(shown)
    size = " by ".join(f"{1e3 * extent:.4g}" for extent in np.ptp(mesh.vertices, axis=0))
    off = mesh.area * tolerance / mesh.volume
    head = [
        f"# Solid {name} of {printable(file.name)}: {size} mm. Its mesh is within {1e3 * tolerance:g} mm of it, its mass",
        f"# within {100 * off:.2g} %. Axes are those of the file; lengths from the centre of mass, in m.",
        f"[body.{name}]",
        f"# position = {_point(centre)}  # where the file has it, where no approach or joint says it",
        f"mass = {_digits(mesh.mass)}  # kg, of {density:g} kg/m³",
        f"inertia = {_rows(mesh.moment_inertia)}  # kg m²",
        f'look = {{ file = "{name}.obj", position = {_point(-centre)} }}',
        "",
        "# Its whole skin, to be touched: take the marks away.",
        f"# [body.{name}.surface.skin]",
        '# shape = "mesh"',
        f'# file = "{name}.obj"',
        f"# point = {_point(-centre)}",
        f'# tolerance = "{1e3 * tolerance:g} mm"',
    ]
    for key, table in numbered:
        head += ["", f"[body.{name}.{table.port}.{key}]  # {table.words}"]
        head += [f"{name_of} = {_value(value, centre)}" for name_of, value in table.keys.items()]
    if len(found) > len(shown):
        head += ["", f"# {len(found) - len(shown)} more surfaces, small ones, are in the mesh alone."]
    sorts = _count_faces(solid)
    line = f"{name}: {size} mm, {_digits(mesh.mass, 4)} kg; faces: {sorts}; {len(mesh.faces)} triangles"
    files: dict[str, str | bytes] = {
        f"{name}.toml": "\n".join(head) + "\n",
        f"{name}.obj": exported_mesh(mesh.vertices, mesh.faces, ".obj"),
    }
    return PartOfCad(name, files, line)


def _closed_mesh(solid: CadSolid, file: Path) -> Any:  # noqa: ANN401, trimesh's
    """Return the skin of a solid, whose faces come without common vertices."""
    import trimesh

    try:
        vertices, faces, _ = repair_mesh(solid.vertices, solid.faces)
        return check_solid(trimesh.Trimesh(vertices, faces, process=False))
    except PydanticCustomError as fault:
        refuse(f"solid {solid.name}: its skin {fault}; mend it where {file.name} was made")


def _name_tables(tables: Sequence[ExactTable]) -> list[tuple[str, ExactTable]]:
    """Return tables with the names that they get: their sort, with a number where there are several."""
    counts = {
        key: sum((one.port, one.sort) == key for one in tables) for key in {(one.port, one.sort) for one in tables}
    }
    seen, found = dict[tuple[str, str], int](), list[tuple[str, ExactTable]]()
    for one in tables:
        key = one.port, one.sort
        seen[key] = seen.get(key, 0) + 1
        found.append((one.sort if counts[key] == 1 else f"{one.sort}-{seen[key]}", one))
    return found


def _count_faces(solid: CadSolid) -> str:
    """Return how many faces of each sort a solid has."""
    sorts = [face.sort for face in solid.exact]
    words = [f"{sorts.count(sort)} {sort}" for sort in dict.fromkeys(sorts)]
    return ", ".join([*words, *([f"{solid.others} of other form"] if solid.others else [])]) or "none that is exact"


def _value(value: Any, centre: np.ndarray) -> str:  # noqa: ANN401, of any key
    """Return a value as TOML has it; a point from the centre of mass."""
    if isinstance(value, np.ndarray):
        return _point(value - centre)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _point(point: np.ndarray) -> str:
    return repr([round(float(one), DIGITS) + 0.0 for one in point])


def _rows(matrix: np.ndarray) -> str:
    symmetric = 0.5 * (matrix + matrix.T)
    symmetric[np.abs(symmetric) < NOISE * np.abs(symmetric).max()] = 0.0
    return f"[{', '.join(f'[{", ".join(_digits(float(one)) for one in row)}]' for row in symmetric)}]"


def _digits(value: float, count: int = PRECISE) -> str:
    return f"{value:.{count}g}"
