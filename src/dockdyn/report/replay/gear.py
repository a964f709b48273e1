"""Contact surfaces as a replay draws them, and how long the axes of a body are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.report.replay.colours import SURFACE
from dockdyn.report.replay.looks import touched_mesh
from dockdyn.report.replay.scene import Mesh, SceneMotion, ScenePart
from dockdyn.report.replay.shapes import surface_around_axis
from dockdyn.scenario.made import made
from dockdyn.scenario.tables.mesh import MeshSection

if TYPE_CHECKING:
    from dockdyn.scenario.tables.part import Shape


def surface_part(name: str, section: Shape, reach: float, motion: SceneMotion) -> ScenePart:
    """Return the contact surface of a section: a mesh as it is in its file, any other as `sampled_part` shows it."""
    if isinstance(section, MeshSection):
        return ScenePart(name, touched_mesh(section), SURFACE, motion)
    return sampled_part(name, made(section), reach, motion)


def sampled_part(name: str, surface: Any, reach: float, motion: SceneMotion) -> ScenePart:  # noqa: ANN401, its extent is of numbers
    """Return a contact surface, as far as it says that it matters where it is met within `reach` (m) of its reference point."""
    extent = surface.extent(reach)
    mesh = surface_around_axis(surface, float(extent.radius), float(extent.low), float(extent.high))
    return ScenePart(name, mesh, SURFACE, motion, opacity=0.3 if extent.hollow else None, flat=False)


def axes_length(mesh: Mesh, gear: list[np.ndarray]) -> float:
    """Return how long (m) the axes of a body are drawn: out of its hull, but not into its docking gear, of a plate by its
    width."""
    reach = 0.75 * float(np.median(np.ptp(mesh.vertices, axis=0)))
    return min([reach, *(0.6 * float(np.linalg.norm(place)) for place in gear if np.any(place))])
