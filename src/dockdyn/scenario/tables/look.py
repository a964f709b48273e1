"""A mesh that a body is drawn with in replays, for looks only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, field_validator, model_validator

from dockdyn.scenario.finite_elements.matrix_file import SUFFIXES as MATRIX_SUFFIXES
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given_file import FMU, MATRICES, MESH, check_given
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables import force_table, mesh, profile
from dockdyn.scenario.tables.attitude import Attitude
from dockdyn.scenario.tables.fmu_control import SCHEME
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import Point

SUFFIXES = (".stl", ".obj", ".glb")
KEY = "look"
FILES = (*SUFFIXES, *mesh.SUFFIXES, *MATRIX_SUFFIXES, ".fmu")
SORTS = {".fmu": FMU} | dict.fromkeys(MATRIX_SUFFIXES, MATRICES)


class LookSection(Section):
    """A mesh file and where it sits on the body: `scale` m per unit of the file, then `attitude` and `position` (m).

    Without a scale the file is taken to be in metres, unless it is far too large for that.
    """

    model_config = ConfigDict(json_schema_extra={"type": ["object", "string"]})  # a text is the file

    file: str
    scale: quantity("m", "a length", above=0) | None = None
    position: Point | None = None
    attitude: Attitude | None = None

    @model_validator(mode="before")
    @classmethod
    def by_name(cls, value: object) -> object:
        """Take a text as the file."""
        return {"file": value} if isinstance(value, str) else value

    @field_validator("file")
    @classmethod
    def check_mesh_suffix(cls, value: str) -> str:
        if Path(value).suffix.lower() not in SUFFIXES:
            refuse(f"must be a mesh, a file that ends in {', '.join(SUFFIXES)}")
        return value


def with_looks(data: Any, name: str, folder: Path | None, path: str = "") -> Any:  # noqa: ANN401, what a file holds
    """Return `data` with meshes, matrices and FMUs found beside the scenario as absolute paths; ScenarioError where one is
    not there.

    An absolute path is taken as it is: a result can be computed again where its mesh no longer is.
    """
    if isinstance(data, list):
        return [with_looks(item, name, folder, f"{path}.{index}") for index, item in enumerate(data)]
    if not isinstance(data, dict):
        return data
    if data.get("law") == force_table.LAW and isinstance(data.get(force_table.KEY), str):
        return force_table.with_columns(data, folder or Path(), f"{name}: {path}".rstrip(": "))
    found: dict[str, Any] = {}
    for key, value in data.items():
        where = f"{path}.{key}".lstrip(".")
        mesh_file = data.get("shape") in ("mesh", "cloud")
        if key == "file" and isinstance(value, str) and (mesh_file or Path(value).suffix.lower() in MATRIX_SUFFIXES):
            found[key] = locate_file(value, name, folder, where)
        elif key == "law" and isinstance(value, str) and value.startswith(SCHEME):
            found[key] = SCHEME + locate_file(value.removeprefix(SCHEME), name, folder, where)
        elif key == profile.KEY and data.get("shape") == "revolved" and isinstance(value, str):
            found[key] = profile.corners_in((folder or Path()) / value, f"{name}: {where} = {shown(value)}")
        elif key != KEY:
            found[key] = with_looks(value, name, folder, where)
        elif isinstance(value, str):
            found[key] = locate_file(value, name, folder, where)
        elif isinstance(value, dict) and isinstance(value.get("file"), str):
            found[key] = value | {"file": locate_file(value["file"], name, folder, f"{where}.file")}
        else:
            found[key] = value
    return found


def locate_file(file: str, name: str, folder: Path | None, where: str) -> str:
    """Return the absolute path of a file given relative to the scenario's folder."""
    if Path(file).is_absolute() or Path(file).suffix.lower() not in FILES:
        return file  # what is no mesh is refused with the rest of the scenario
    label = f"{name}: {where} = {shown(file)}"
    place = Path(os.path.realpath((folder or Path()) / file))  # of a link to itself, unlike `resolve`, that link
    if folder is not None:  # a text that comes from no file is taken as it is
        if not os.path.lexists(place):  # nor is one whose name is too long
            raise ScenarioError(f"{label}: no such file; must be one, relative to the scenario")
        check_given(place, label, SORTS.get(Path(file).suffix.lower(), MESH))
    return str(place)
