"""What a computer needs to drive the rig of a scenario, and what stands for that rig's devices, of whatever kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dockdyn.translate.c_step import CStep

if TYPE_CHECKING:
    from dockdyn.report.scene.live import LiveScene


class Laboratory(NamedTuple):
    """A laboratory as C.

    Its cycle takes `command` (m, rad), `send`, whether that is told, and random numbers; it answers `load` (N, N m) and
    `pose` (m, rad).
    """

    step: CStep
    first: dict[str, np.ndarray]  # what it answers before the first cycle
    chances: dict[str, np.ndarray] | None  # random numbers by input, a row a cycle of a run; None: it takes none


class Driver(Protocol):
    """A rig that is driven."""

    @property
    def axes(self) -> int:
        """How many axes the robot has."""

    @property
    def period(self) -> float:
        """The cycle (s)."""

    def cycle(self, running: bool = False) -> CStep:
        """Return the computer's cycle as C, idle at first or, for a run in lockstep, `running` at t = 0.

        Raises ScenarioError for a rig that cannot be driven.
        """

    def laboratory(self, following: bool = False) -> Laboratory:
        """Return the laboratory; its robot follows the approach at t = 0, or stands where that begins.

        Raises ScenarioError for one that is not stated.
        """

    def first_pose(self) -> np.ndarray:
        """Return where the robot goes when it is armed (m, rad), by axis. Raises ScenarioError for a rig without limits."""

    def live_scene(self) -> LiveScene:
        """Return what browsers are shown while it runs, as it is where a run begins.

        Raises ScenarioError for a rig without limits.
        """
