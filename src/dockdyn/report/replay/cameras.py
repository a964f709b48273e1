"""Where cameras stand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.report.replay.scene import Motion, View

FIELD = 40.0  # degrees, of the camera, from top to bottom
BACK = 1 / math.sin(math.radians(FIELD / 2))  # of a radius: how far off it sees a ball whole


def seen_from(
    name: str,
    direction: Sequence[float] | np.ndarray,
    centre: ArrayLike,
    radius: float,
    follow: Motion | None = None,
    turns: bool = False,
) -> View:
    """The view of a ball (m) from a direction."""
    out = np.asarray(direction, float) / np.linalg.norm(direction)
    middle = np.asarray(centre, float)
    return View(name, middle + BACK * radius * out, middle, follow, turns)


def beside(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors to the side of an axis and up from it; level where the axis is not upright itself."""
    across = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    return across, np.cross(across, axis)
