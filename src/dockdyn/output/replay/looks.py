"""Meshes of the user's own, read when a replay is made and never by a simulation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.output.replay.scene import Mesh, Part, turned

MOST = 200_000  # faces of a mesh


def dressed(part: Part, look: Any) -> Part:
    """The part with the mesh that its scenario names (`look`, a section or None); as it was, and why, where that fails."""
    if look is None:
        return part
    import trimesh

    try:
        found = trimesh.load_scene(look.file).to_mesh()
        if not len(found.faces):
            return replace(part, missing=f"{look.file} holds no faces")
    except Exception:  # a damaged file can fail anywhere inside the readers
        words = "cannot be read as a mesh" if Path(look.file).is_file() else "no such file"
        return replace(part, missing=f"{look.file}: {words}")
    if len(found.faces) > MOST:
        return replace(part, missing=f"{look.file} has {len(found.faces)} faces; must have at most {MOST}")
    vertices = look.scale * np.asarray(found.vertices, float)
    if look.attitude is not None:
        vertices = turned(np.asarray(look.attitude, float), vertices)
    if look.position is not None:
        vertices = vertices + np.asarray(look.position, float)
    if getattr(found.visual, "kind", None) in ("texture", "vertex", "face"):
        coloured = found.copy()
        coloured.vertices = vertices
        return replace(part, look=coloured)
    return replace(part, mesh=Mesh(vertices, np.asarray(found.faces)), opacity=None)
