"""Meshes of the user's own as parts of a scene."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from dockdyn.report.replay.looks import apply_look
from dockdyn.report.replay.scene import Mesh, SceneMotion, ScenePart
from dockdyn.report.scene.scene import ShownMotion, ShownPart
from dockdyn.report.scene.solids import BoxSolid, MeshSolid

if TYPE_CHECKING:
    from dockdyn.scenario.tables.look import LookSection

PLAIN = "#8a9099"


def look_parts(name: str, look: LookSection, motion: ShownMotion, box: BoxSolid) -> list[ShownPart]:
    """Return the mesh that a scenario names, a part for each of its colours; the `box`, and why, where it cannot be had."""
    corners = np.array([[ends[i] for ends, i in zip(zip(box.low, box.high, strict=True), which, strict=True)]
                        for which in product((0, 1), repeat=3)])  # fmt: skip
    plain = Mesh(corners @ box.axes.T, np.zeros((0, 3), int))
    found = apply_look(ScenePart(name, plain, PLAIN, SceneMotion(motion.position, motion.attitude)), look)
    if found[0].missing:
        return [ShownPart(f"{name}/bus", [box], motion, "bus", name, missing=found[0].missing)]
    return [
        ShownPart(
            f"{name}/look",
            [MeshSolid(part.mesh.vertices, part.mesh.faces)],
            motion,
            "look",
            name,
            colour=None if part.colour == PLAIN else part.colour,
        )
        for part in found
    ]
