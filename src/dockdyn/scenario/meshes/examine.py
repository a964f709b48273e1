"""What a mesh file holds, what is wrong with it, and what its repair would be.

Units: those of the file.
Source: definition.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.deferred import Float
from dockdyn.files import read_file
from dockdyn.scenario.language.given_file import MESH
from dockdyn.scenario.meshes.contents import SUFFIXES, check_mesh_file
from dockdyn.scenario.meshes.joined import NEEDED, can_join
from dockdyn.scenario.meshes.repair import count_parts, repair_mesh
from dockdyn.scenario.meshes.solid import check_solid, faces_in
from dockdyn.scenario.tables.part import refuse

DIGITS = 17  # of a coordinate in a text, which keep all of it


class Examined(NamedTuple):
    """What is in a mesh file: lines that say it, or a fault, and the repair that would help."""

    lines: list[str]
    fault: str
    repair: str


def examine_mesh(file: Path) -> Examined:
    """Return what is in a mesh file. Refuses what is none, and raises OSError as `read_file` does."""
    vertices, faces = _faces_of(file)
    try:
        mesh = check_solid(_mesh(vertices, faces))
    except PydanticCustomError as fault:
        try:
            repaired = repair_mesh(vertices, faces)
            check_solid(_mesh(repaired.vertices, repaired.faces))
        except PydanticCustomError:
            return Examined([], str(fault), "")
        return Examined([], str(fault), ", ".join(repaired.repairs.lines()))
    extents = " by ".join(f"{extent:.6g}" for extent in np.ptp(mesh.vertices, axis=0))
    counts = f"{len(mesh.faces)} faces, {len(mesh.vertices)} vertices, parts: {count_parts(np.asarray(mesh.faces))}"
    centre, tensor = mesh.center_mass, mesh.moment_inertia / mesh.volume
    products = tensor[[0, 0, 1], [1, 2, 2]]
    filled = [
        f"centre of mass, evenly filled, {_in_a_row(centre)}",
        f"inertia about it per mass: xx, yy, zz {_in_a_row(np.diag(tensor))}, xy, xz, yz {_in_a_row(products)}",
    ]
    return Examined([counts, f"size {extents}", f"volume {mesh.volume:.6g}, area {mesh.area:.6g}", *filled], "", "")


def _in_a_row(numbers: Float[np.ndarray, "3"]) -> str:
    """Return three numbers as a user reads them: what rounding leaves of zero is zero."""
    least = 1e-12 * float(np.abs(numbers).max(initial=0.0))
    return ", ".join(f"{0.0 if abs(one) <= least else one:.6g}" for one in numbers)


def repaired_file(file: Path, written: Path, within: float | None) -> tuple[bytes, list[str]]:
    """Return the content of the file to be `written`, the mesh of another one repaired, and what was done, a line each.

    Refuses what cannot be repaired, and what its numbers, of single precision in STL and PLY, would spoil.
    """
    if written.suffix.lower() not in SUFFIXES:
        refuse(f"--out {written.name}: must end in {', '.join(SUFFIXES)}")
    vertices, faces = _faces_of(file)
    found = repair_mesh(vertices, faces, within)
    lines = found.repairs.lines()
    try:
        check_solid(_mesh(found.vertices, found.faces))
    except PydanticCustomError as fault:
        done = f"; after {', '.join(lines)}" if lines else ""
        refuse(f"cannot be repaired: {fault}{done}{'' if can_join() else f'; {NEEDED}'}")
    content = exported_mesh(found.vertices, found.faces, written.suffix.lower())
    try:
        check_solid(_mesh(*faces_in(content, written.suffix.lower())))
    except PydanticCustomError as fault:
        refuse(f"is repaired, but in single precision, as {written.suffix} files have, it {fault}; write .obj")
    return content, lines


def _faces_of(file: Path) -> tuple[np.ndarray, np.ndarray]:
    if file.suffix.lower() not in SUFFIXES:
        refuse(f"must be a mesh, a file that ends in {', '.join(SUFFIXES)}")
    check_mesh_file(file)
    return faces_in(read_file(file, MESH.most), file.suffix.lower())


def _mesh(vertices: np.ndarray, faces: np.ndarray) -> Any:  # noqa: ANN401, trimesh's
    import trimesh

    return trimesh.Trimesh(vertices, faces, process=False)


def exported_mesh(vertices: np.ndarray, faces: np.ndarray, suffix: str) -> bytes:
    """Return a mesh as a file."""
    options = {"digits": DIGITS} if suffix == ".obj" else {}
    content = _mesh(vertices, faces).export(file_type=suffix.lstrip("."), **options)
    return content.encode() if isinstance(content, str) else bytes(content)
