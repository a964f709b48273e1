"""Meshes of the user's own, read when a scene is made and never by a simulation."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.files import read_file
from dockdyn.report.scene.rotation import rotate
from dockdyn.report.scene.scene import ShownMotion, ShownPart
from dockdyn.report.scene.solids import BoxSolid, MeshSolid
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import MESH, content_of
from dockdyn.scenario.meshes.contents import MOST, check_content
from dockdyn.scenario.tables.attitude import quaternion_of
from dockdyn.scenario.tables.mesh import MeshInFile, doubt_unit, read_mesh

if TYPE_CHECKING:
    from dockdyn.scenario.tables.look import LookSection

SHADES = 16  # colours in which a coloured mesh is drawn
COARSE = 32  # steps of a colour's channel, of 256, that are taken for the same


class NoMesh(Exception):
    """The mesh that a scenario names cannot be had; the message says why in one line."""


def look_parts(name: str, look: LookSection, motion: ShownMotion, box: BoxSolid) -> list[ShownPart]:
    """Return the mesh that a scenario names, a part for each of its colours; the `box`, and why, where it cannot be had."""
    try:
        found = _meshes_by_colour(look, _largest_extent(_corners(box)))
    except NoMesh as why:
        return [ShownPart(f"{name}/bus", [box], motion, "bus", name, missing=str(why))]
    return [ShownPart(f"{name}/look", [mesh], motion, "look", name, colour=colour) for mesh, colour in found]


def _corners(box: BoxSolid) -> np.ndarray:
    """Return the corners of a box (8, 3)."""
    ends = np.stack([box.low, box.high])
    return np.array([ends[list(which), range(3)] for which in product((0, 1), repeat=3)]) @ box.axes.T


def _meshes_by_colour(look: LookSection, extent: float) -> list[tuple[MeshSolid, str | None]]:
    """Return the mesh of a file, cut by its colours (None: it has none), in axes of the body, about as large as `extent` (m).

    Raises NoMesh.
    """
    vertices, faces, colours = _read_mesh_file(look)
    if not 0 < len(faces) <= MOST:
        raise NoMesh(f"{look.file}: has {len(faces)} faces; must have 1 to {MOST}")
    if not np.isfinite(vertices).all():
        raise NoMesh(f"{look.file}: has a vertex that is no number")
    if look.scale is not None:
        vertices = look.scale * vertices
    elif doubt := doubt_unit(_largest_extent(vertices), extent, "scale"):
        raise NoMesh(f"{look.file}: {doubt}")
    if look.attitude is not None:
        vertices = rotate(np.asarray(quaternion_of(look.attitude)), vertices)
    if look.position is not None:
        vertices = vertices + np.asarray(look.position, float)
    if colours is None:
        return [(MeshSolid(vertices, faces), None)]
    found: list[tuple[MeshSolid, str | None]] = []
    for colour, own in _by_colour(colours):
        used, index = np.unique(faces[own], return_inverse=True)
        found.append((MeshSolid(vertices[used], index.reshape(-1, 3)), colour))
    return found


def _read_mesh_file(look: LookSection) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return vertices, faces and the colours of these, or None, as a file has them. Raises NoMesh."""
    import trimesh

    file = Path(look.file)
    try:
        content = content_of(file, look.file, MESH)
        check_content(content, file.suffix)
    except ScenarioError as error:
        raise NoMesh(str(error)) from error
    except PydanticCustomError as error:
        raise NoMesh(f"{look.file}: {error}") from error
    try:
        found = trimesh.load_scene(
            io.BytesIO(content), file_type=file.suffix.lower().lstrip("."), resolver=_companion_resolver(file)
        ).to_mesh()
        return np.asarray(found.vertices, float), np.asarray(found.faces), _face_colours(found)
    except Exception as error:  # a damaged file can fail anywhere inside the readers
        raise NoMesh(f"{look.file}: cannot be read as a mesh") from error


def _companion_resolver(file: Path) -> Any:  # noqa: ANN401, trimesh's
    """Return what reads the files that a mesh names, colours and pictures: regular ones beside it, of a bounded size."""
    from trimesh.resolvers import FilePathResolver

    class Beside(FilePathResolver):
        """Files beside a mesh."""

        def get(self, name: str) -> bytes:
            """Return what a file holds. Raises OSError for what is none of those."""
            place = (file.parent / name).resolve()
            if not place.is_relative_to(file.parent.resolve()):
                raise FileNotFoundError(name)
            return read_file(place, MESH.most)

    return Beside(str(file))


class PlacedMesh(MeshInFile, Protocol):
    """What is asked of the section of a mesh that touches or is touched."""

    @property
    def point(self) -> Sequence[float]: ...

    @property
    def attitude(self) -> Any: ...  # noqa: ANN401, in whichever form it is stated


def touched_mesh(section: PlacedMesh) -> MeshSolid:
    """Return the mesh of a section, in its place (m, body axes)."""
    from dockdyn.scenario.meshes.kept import solid_of

    found = read_mesh(section, "solid", solid_of)
    attitude = np.asarray(quaternion_of(section.attitude))
    vertices = rotate(attitude / np.linalg.norm(attitude), found.vertices) + np.asarray(section.point, float)
    return MeshSolid(vertices, found.faces)


def _largest_extent(vertices: np.ndarray) -> float:
    """Return the largest extent of a mesh."""
    return float(np.ptp(vertices, axis=0).max())


def _face_colours(mesh: Any) -> np.ndarray | None:  # noqa: ANN401, its colours are of several classes
    """Return colours of faces (n, 3) of 0 to 255; None where the file gives none."""
    if getattr(mesh.visual, "kind", None) not in ("texture", "vertex", "face"):
        return None
    visual = mesh.visual.to_color() if mesh.visual.kind == "texture" else mesh.visual
    return np.asarray(visual.face_colors)[:, :3].astype(int)


def _by_colour(colours: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return the colours that most faces have, with the faces nearest to each."""
    groups, counts = np.unique(colours // COARSE, axis=0, return_counts=True)
    kept = groups[np.argsort(-counts)[:SHADES]]
    nearest = np.argmin(((colours[:, None] // COARSE - kept[None]) ** 2).sum(axis=2), axis=1)
    found = []
    for index in range(len(kept)):
        own = np.flatnonzero(nearest == index)
        red, green, blue = np.median(colours[own], axis=0).astype(int)
        found.append((f"#{red:02x}{green:02x}{blue:02x}", own))
    return found
