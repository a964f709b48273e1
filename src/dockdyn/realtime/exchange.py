"""What goes between the computer of a rig and its laboratory: six numbers, however many axes the robot has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float

AXES = 6


class Heard(NamedTuple):
    """What a device says."""

    values: Float[np.ndarray, "6"]  # N, N m of a sensor; m, rad of a robot
    sequence: int
    status: int = 0  # 0: well


def pad_to_six_axes(values: Sequence[float] | np.ndarray) -> Float[np.ndarray, "6"]:
    """Return six numbers of a robot with fewer axes: those that it does not have are zero."""
    found = np.zeros(AXES)
    found[: len(values)] = values
    return found
