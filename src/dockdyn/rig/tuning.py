"""Gains and leads of compensators from what is known of a rig: robot, hold, delay, digital dynamics.

Nothing here knows a formula of a compensator or of a delay: the rig itself is linearised, at rest in a contact as stiff as is
believed, and numbers are sought with which its slowest motion is that of the contact alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dockdyn.hil.compensators.compensator import Compensator
from dockdyn.hil.tuning import match_root
from dockdyn.records import record
from dockdyn.rig.build import rig_at_rest, rig_of
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.numbers import number
from dockdyn.rig.run import cycle_map
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import ideal_root

Make = Callable[..., Compensator]


@record
class Tuning:
    """A rig at rest in a contact that is as stiff as is believed."""

    still: Rig
    loop: Loop
    duration: float  # s, of the run

    @property
    def stiffness(self) -> float:
        """Stiffness (N/m) that is believed."""
        return float(self.loop.stiffness)

    @property
    def cycle(self) -> float:
        """Length of a cycle (s)."""
        return float(self.still.hold) * self.still.schedule.hyperperiod.holds

    @property
    def ideal(self) -> complex:
        """Root (1/s) of the contact alone. ValueError where it does not oscillate."""
        root = ideal_root(self.loop)
        if root is None:
            raise ValueError("the contact is overdamped: it has no oscillation to tune for")
        return root

    def undamped(self) -> Tuning:
        """Return the same in a contact without damping: leads are of robot, hold and delay, not of the contact."""
        bare = replace(self.loop, damping=number(0.0))
        return Tuning(rig_at_rest(self.still, bare), bare, self.duration)

    def roots(self, compensator: Compensator) -> np.ndarray:
        """Return roots (1/s) of the rig with a compensator; motions that end within a cycle are NaN."""
        found = np.linalg.eigvals(cycle_map(replace(self.still, compensator=compensator))).astype(complex)
        with np.errstate(divide="ignore", invalid="ignore"):
            roots = np.log(found) / self.cycle
        return np.where(np.isfinite(roots), roots, np.nan)

    def solve(self, make: Make, scales: tuple[float, ...], what: str) -> list[float]:
        """Return numbers with which the rig's root is that of the contact alone: one number its growth, two growth and
        frequency.

        `make` takes them; `scales` say how large they are. ValueError where there are none.
        """

        def roots(rows: np.ndarray) -> np.ndarray:
            return np.stack([self.roots(make(*(row * np.array(scales)))) for row in rows])

        return [
            float(number) for number in match_root(roots, self.ideal, np.zeros(len(scales)), what) * np.array(scales)
        ]

    @property
    def lag(self) -> float:
        """A rough size of the loop's delay (s)."""
        return float(self.loop.delay) + 1.5 * float(self.still.hold)


def tuning_of(scenario: Scenario, loop: Loop, asked: float | None) -> Tuning:
    """Return the tuning of a scenario, at the stiffness that `loop.tuning` states or its contact has; `asked` as in `rig_of`.

    A tool is left out: what its compensation leaves is inertia, which no delay gives and no lead should undo.
    """
    stated = scenario.content.loop.tuning.stiffness
    believed = replace(loop, tool_mass=None, compensated_mass=None)
    if stated is not None:
        believed = replace(believed, stiffness=number(stated))
    still = rig_at_rest(rig_of(scenario, believed, None, asked), believed)
    return Tuning(still, believed, scenario.content.duration)
