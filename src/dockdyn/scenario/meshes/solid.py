"""Mesh files of solids: read, and refused where they are the skin of none."""

from __future__ import annotations

import io
from codecs import BOM_UTF8
from typing import Any

import numpy as np
from pydantic_core import PydanticCustomError

from dockdyn.scenario.meshes.contents import MOST, check_content
from dockdyn.scenario.meshes.crossings import look_at_faces
from dockdyn.scenario.meshes.wedges import separate_wedges
from dockdyn.scenario.tables.part import refuse

NO_AREA = 1e-12  # of the square of the largest extent
NO_VOLUME = 1e-9  # of the cube of the largest extent


def solid_in(content: bytes, suffix: str, scale: float, repair: bool = False) -> Any:  # noqa: ANN401, trimesh's
    """Return the mesh in a file, `scale` m for each of its units; with `repair` it is repaired first.

    Refused where it is not the skin of a solid, seen from outside; of what was not repaired it is said what tells more.
    """
    import trimesh

    vertices, faces = faces_in(content, suffix)
    if repair:
        from dockdyn.scenario.meshes.repair import repair_mesh

        vertices, faces, _ = repair_mesh(vertices, faces)
    try:
        return check_solid(trimesh.Trimesh(scale * vertices, faces, process=False))
    except PydanticCustomError as problem:
        if repair:
            raise
        refuse(f"{problem}; dockdyn mesh check tells whether dockdyn mesh repair mends it")


def faces_in(content: bytes, suffix: str) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices, in the file's unit, and faces of a mesh file, as they are; refused where it is none."""
    import trimesh

    check_content(content, suffix)
    try:
        found = trimesh.load_mesh(
            io.BytesIO(content.removeprefix(BOM_UTF8)), file_type=suffix.lstrip("."), process=False
        )
        vertices, faces = np.asarray(found.vertices, float), np.asarray(found.faces, np.int64)
    except Exception:  # a damaged file can fail anywhere inside the readers
        refuse("cannot be read as a mesh: it is damaged, cut off or something else")
    if not 0 < len(faces) <= MOST:
        refuse(f"has {len(faces)} faces; must have 1 to {MOST}")
    if not 0 <= faces.min() <= faces.max() < len(vertices):
        refuse("has a face with a vertex that is not there")
    if not np.isfinite(vertices).all():
        refuse("has a vertex that is no number")
    return vertices, faces


def check_solid(mesh: Any) -> Any:  # noqa: ANN401, trimesh's
    """Return the mesh with its vertices merged; refused where it is not the skin of a solid, seen from outside."""
    with np.errstate(divide="ignore", invalid="ignore"):  # trimesh's mass properties of what has no volume
        return _checked_solid(mesh)


def _checked_solid(mesh: Any) -> Any:  # noqa: ANN401, trimesh's
    """Return the mesh with one vertex where faces of a part meet; refused where it is not the skin of a solid, seen from
    outside."""
    import trimesh

    if not len(mesh.faces):
        refuse("encloses no volume: all of its faces lie back to back")
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    size = float(np.ptp(mesh.vertices, axis=0).max())
    if flat := int(np.count_nonzero(~(mesh.area_faces > NO_AREA * size**2))):
        refuse(f"has {flat} {_faces(flat)} without area; must have none")
    vertices, faces = separate_wedges(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    _, sharing = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
    if single := int(np.count_nonzero(sharing == 1)):
        refuse(f"is open: {single} of its edges have a face on one side only; must be closed")
    if crowded := int(np.count_nonzero(sharing > 2)):
        refuse(
            f"is not the skin of one solid: {crowded} of its edges have more than two faces, which are not the sides of "
            "parts that touch there"
        )
    if not mesh.is_watertight or not mesh.is_winding_consistent:
        refuse("is not the skin of a solid: neighbouring faces do not agree on which side is outside")
    volume = float(mesh.volume)
    if volume < -NO_VOLUME * size**3:
        refuse("is inside out: its faces must be counterclockwise, seen from outside")
    if volume < NO_VOLUME * size**3:
        refuse("encloses no volume")
    found = look_at_faces(vertices, faces)
    if crossed := int(found.crossed.sum()):
        refuse(
            f"intersects itself: {crossed} of its faces {'is' if crossed == 1 else 'are'} crossed by edges of others; parts "
            "that overlap must be joined"
        )
    if wrong := int(found.wrong.sum()):
        refuse(
            f"is not the skin of one solid: before {wrong} of its faces, or behind, is not what should be: one of its parts is "
            "inside another, or inside out"
        )
    if covered := int(found.covered.sum()):
        refuse(
            f"has walls inside: {covered} of its {_faces(covered)} lie on others; parts that touch all over must be joined"
        )
    return mesh


def _faces(count: int) -> str:
    return "face" if count == 1 else "faces"
