"""Where cameras stand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.report.replay.scene import CameraFit, SceneMotion, ScenePart, SceneView, rotate_vectors

FIELD = 40.0  # degrees, of the camera, from top to bottom
ROOM = 1.05  # times as far off as it must be to see all
BACK = 1 / math.sin(math.radians(FIELD / 2))  # of a radius: how far off it sees a ball whole


def seen_from(
    name: str,
    direction: Sequence[float] | np.ndarray,
    centre: ArrayLike,
    radius: float,
    follow: SceneMotion | None = None,
    turns: bool = False,
) -> SceneView:
    """Return the view of a ball (m) from a direction."""
    out = np.asarray(direction, float) / np.linalg.norm(direction)
    middle = np.asarray(centre, float)
    return SceneView(name, middle + BACK * radius * out, middle, follow, turns)


def seen_whole(
    name: str, direction: Sequence[float] | np.ndarray, parts: Sequence[ScenePart], rows: Sequence[int] = (0,)
) -> SceneView:
    """Return the view in which all of some parts is seen as they are at some frames, by default the first."""
    points = np.concatenate([_at_frame(part, row) for part in parts for row in rows])
    out = np.asarray(direction, float) / np.linalg.norm(direction)
    across = np.cross([0.0, 0.0, 1.0], out)  # which the player keeps level
    across /= np.linalg.norm(across)
    axes = np.stack([across, np.cross(out, across), out])
    seen = points @ axes.T
    middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
    seen -= middle
    x, y = np.abs(seen[:, :2].T) / math.tan(math.radians(FIELD / 2))
    z = seen[:, 2]
    fit = CameraFit(*(ROOM * float(far.max()) for far in (y + z, x + z, x, z)))
    target = middle @ axes
    return SceneView(name, target + max(fit.high, fit.wide) * out, target, fit=fit)


def from_the_bus(
    name: str, parts: Sequence[ScenePart], motion: SceneMotion, place: np.ndarray, reach: float
) -> SceneView:
    """Return the view of a body's docking gear (at `place`, m, body axes) from its bus, beside the gear; the camera goes along.

    From outside, behind the bus and above it, where the gear does not stand out from it; `parts` are those of the bus.
    """
    gear = motion.points(place)[0]
    back = motion.position[0] - gear
    size = float(np.linalg.norm(back))
    back = back / size if size > 0 else np.array([1.0, 0.0, 0.0])
    across, up = side_and_up(back)
    points = np.concatenate([_at_frame(part, 0) for part in parts]) - gear
    free = float((points @ back).min())
    if free < reach:
        radius = float(np.linalg.norm(points, axis=1).max())
        return seen_from(name, back + 0.8 * up + 0.3 * across, gear, radius, motion, True)
    return SceneView(name, gear + free * (0.9 * back + 0.3 * up + 0.2 * across), gear, motion, True, near=True)


def _at_frame(part: ScenePart, row: int) -> np.ndarray:
    """Return vertices (n, 3) of a part at a frame."""
    return part.motion.position[row] + rotate_vectors(part.motion.attitude[row], part.mesh.vertices)


def side_and_up(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit vectors to the side of an axis and up from it; level where the axis is not upright itself."""
    across = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    return across, np.cross(across, axis)
