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


def _at_frame(part: ScenePart, row: int) -> np.ndarray:
    """Return vertices (n, 3) of a part at a frame."""
    return part.motion.position[row] + rotate_vectors(part.motion.attitude[row], part.mesh.vertices)
