"""Gains and leads of compensators from what is known of a rig: robot, hold, delay, digital dynamics.

Nothing here knows a formula of a compensator or of a delay: the rig itself is linearised, at rest in a contact as stiff as is
believed, and numbers are sought with which its slowest motion is that of the contact alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from dockdyn.loop.compensator import Compensator
from dockdyn.models.rig import Rig
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import ideal_root
from dockdyn.study.rig_build import resting, rig_of
from dockdyn.study.rig_run import cycle_map

CLOSE = 1e-12  # of the root: where the search ends
ROUNDS = 30  # of the search at most
NUDGE = 1e-4  # of a number's own scale: the difference that a slope is taken over

Make = Callable[..., Compensator]


@dataclass(frozen=True)
class Tuning:
    """A rig at rest in a contact that is as stiff as is believed."""

    still: Rig
    loop: Loop

    @property
    def cycle(self) -> float:
        """Length of a cycle (s)."""
        return float(self.still.hold) * self.still.clock.beats.holds

    @property
    def ideal(self) -> complex:
        """Root (1/s) of the contact alone. ValueError where it does not oscillate."""
        root = ideal_root(self.loop)
        if root is None:
            raise ValueError("the contact is overdamped: it has no oscillation to tune for")
        return root

    def undamped(self) -> Tuning:
        """The same in a contact without damping: leads are of robot, hold and delay, not of the contact."""
        bare = replace(self.loop, damping=jnp.zeros(()))
        return Tuning(resting(self.still, bare), bare)

    def root(self, make: Make, numbers: tuple[float, ...]) -> complex:
        """Root (1/s) of the rig with the compensator `make(*numbers)` that is nearest to that of the contact alone."""
        matrix = cycle_map(replace(self.still, compensator=make(*map(jnp.asarray, numbers))))
        found = np.linalg.eigvals(matrix)
        roots = np.log(found[np.abs(found) > 0].astype(complex)) / self.cycle
        return complex(roots[np.argmin(np.abs(roots - self.ideal))])

    def solve(self, make: Make, scales: tuple[float, ...]) -> tuple[float, ...]:
        """Numbers with which the rig's root is that of the contact alone: one number its growth, two growth and frequency.

        Newton's method from zero; `scales` say how large the numbers are. ValueError where it does not converge.
        """
        numbers = np.zeros(len(scales))

        def miss(at: np.ndarray) -> np.ndarray:
            error = self.root(make, tuple(at)) - self.ideal
            return np.array([error.real, error.imag][: len(scales)])

        error = miss(numbers)
        for _ in range(ROUNDS):
            if np.abs(error).max() < CLOSE * abs(self.ideal):
                return tuple(map(float, numbers))
            steps = NUDGE * np.diag(scales)
            slopes = np.array([(miss(numbers + step) - miss(numbers - step)) / 2 for step in steps]).T / NUDGE
            change = np.linalg.lstsq(slopes, -error, rcond=None)[0]
            numbers = numbers + change * np.array(scales)
            error = miss(numbers)
            if not np.isfinite(error).all() or np.abs(change).max() > 1e6:
                break
        if np.abs(error).max() < 1e-8 * abs(self.ideal):
            return tuple(map(float, numbers))
        raise ValueError("no numbers make the rig's motion that of the contact alone")

    @property
    def lag(self) -> float:
        """A rough size of the loop's delay (s)."""
        return float(self.loop.delay) + 1.5 * float(self.still.hold)


def tuning_of(scenario: Scenario, loop: Loop, asked: float | None) -> Tuning:
    """The tuning of a scenario, at the stiffness that `loop.tuning` states or its contact has; `asked` as in `rig_of`."""
    stated = scenario.content.loop.tuning.stiffness
    believed = loop if stated is None else replace(loop, stiffness=jnp.asarray(stated, float))
    return Tuning(resting(rig_of(scenario, believed, None, asked), believed), believed)
