"""Units of mesh files, which the files do not say: how large they make a mesh, beside its body and what else reads the file.

Units: SI. Source: the radius of gyration √(I/m), of which the extent of a body of even density is 2 to 6 times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import NamedTuple, get_args

from dockdyn.scenario.meshes.mesh_file import MeshUnit, length_of
from dockdyn.scenario.sanity.likely import rough
from dockdyn.scenario.sanity.stated import StatedNumber

LEAST, MOST = 2e-3, 150.0  # m, of a mesh that touches in a docking
FAR = 12.0  # radii of gyration: no body of which the mesh is the shape, or a part of it, is larger
USUAL = 3.0  # radii of gyration
ALONE = 1.0  # m, where a body has none of a size that docks


class SizedMesh(NamedTuple):
    """A mesh that a body of a scenario carries."""

    key: str  # of its table
    file: str
    unit: str | None  # m where none is stated
    size: float  # m, the largest extent
    gyration: float  # m, of its body; 0 where none is stated

    def is_usual(self, unit: str | None) -> bool:
        """Tell whether the mesh may be as large as it is in a unit."""
        size = self.size_in(unit)
        return LEAST <= size <= MOST and (not self.gyration or size <= FAR * self.gyration)

    def size_in(self, unit: str | None) -> float:
        """Return how large (m) the mesh is in a unit."""
        return self.size * length_of(unit) / length_of(self.unit)

    def likely_unit(self) -> str:
        """Return the unit in which the mesh is nearest to the size that is usual; empty where it is so in none."""
        reach = USUAL * self.gyration
        if not LEAST <= reach <= MOST:
            reach = ALONE
        usual = [unit for unit in get_args(MeshUnit) if self.is_usual(unit)]
        return min(usual, key=lambda unit: abs(log(self.size_in(unit) / reach)), default="")


def placed_meshes(numbers: Sequence[StatedNumber]) -> Iterator[SizedMesh]:
    """Yield the meshes among the tables that the numbers of a scenario stand in."""
    masses = {id(one.table): one.largest for one in numbers if one.field == "mass" and one.unit == "kg"}
    gyrations = {
        one.key.removesuffix("inertia"): (one.largest / masses[id(one.table)]) ** 0.5
        for one in numbers
        if one.field == "inertia" and masses.get(id(one.table))
    }
    for one in numbers:
        made = getattr(one.table, "field", None) or getattr(one.table, "sample", None)
        size = getattr(made, "size", None)
        if one.field == "point" and size is not None:
            key, table = one.key.removesuffix(".point"), one.table
            gyration = next((arm for body, arm in gyrations.items() if key.startswith(body)), 0.0)
            yield SizedMesh(key, str(getattr(table, "file")), getattr(table, "unit"), float(size), gyration)  # noqa: B009


def unusual_units(numbers: Sequence[StatedNumber]) -> Iterator[str]:
    """Yield what is unusual about the sizes that units make of mesh files, and of which file they differ."""
    files: dict[str, dict[str | None, list[SizedMesh]]] = {}
    for mesh in placed_meshes(numbers):
        files.setdefault(mesh.file, {}).setdefault(mesh.unit, []).append(mesh)
    for units in files.values():
        for meshes in units.values():
            if odd := [mesh for mesh in meshes if not mesh.is_usual(mesh.unit)]:
                yield _unusual_size(odd)
    for file, units in files.items():
        if len({length_of(unit) for unit in units}) > 1:
            each = [f"{unit or 'm'} by {_listed(meshes)}" for unit, meshes in units.items()]
            yield f"{Path(file).name} is read in {', in '.join(each)}: a file has one unit"


def _unusual_size(meshes: Sequence[SizedMesh]) -> str:
    """Return what is unusual about how large meshes of one file are in one unit."""
    first = meshes[0]
    if first.size > MOST:
        beside = "nothing that docks is so large"
    elif first.size < LEAST:
        beside = "nothing that docks is so small"
    else:
        beside = f"{rough(first.size / first.gyration)} times the radius of gyration of its body"
    likely = first.likely_unit()
    return (
        f"{Path(first.file).name}, read in {first.unit or 'm'} by {_listed(meshes)}, is {rough(first.size)} m large: {beside}"
        + (f"; is it in {likely}?" if likely else "")
    )


def _listed(meshes: Sequence[SizedMesh]) -> str:
    """Return the key of the first of some meshes, and how many more there are."""
    more = len(meshes) - 1
    return f"{meshes[0].key}{f' and {more} more' if more else ''}"
