"""One sampled loop and its answers.

Units: SI: s, N/m, N s/m, kg; multipliers dimensionless.
Source: as in `stability.sampled`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.deferred import Complex, Float
from dockdyn.stability.growth import batch_of_one, cycles_of, floquet_multipliers
from dockdyn.stability.loop import Loop, make_loop
from dockdyn.stability.multirate import hyperperiod_of
from dockdyn.stability.sampled import Cycle
from dockdyn.trees import map_leaves


class SampledLoop:
    """A loop with a hold, exactly: its map over one cycle."""

    def __init__(self, loop: Loop):
        """Raises ValueError for a loop that nothing samples, or whose periods never meet."""
        if not loop.sampled():
            raise ValueError("the loop has neither a hold nor digital dynamics; it is a delay equation")
        self.loop = loop
        self.hyperperiod = hyperperiod_of(loop)
        whole = cycles_of(batch_of_one(loop), hyperperiod=self.hyperperiod)
        self.cycle: Cycle = map_leaves(lambda values: np.asarray(values)[0], whole)

    @property
    def period(self) -> float:
        """Length of a cycle (s), after which all periods meet again."""
        return float(self.cycle.period)

    def multipliers(self) -> Complex[np.ndarray, "n"]:
        """Return factors by which the motions of the loop grow over a cycle, the largest modulus first."""
        return floquet_multipliers(np.asarray(self.cycle.monodromy))

    def spectral_radius(self) -> float:
        """Return the largest modulus of the multipliers; below one the loop is stable."""
        return float(np.abs(self.multipliers()[0]))

    def growth_rate(self) -> float:
        """Return the equivalent growth rate (1/s): ln(spectral radius) / cycle."""
        return float(np.log(self.spectral_radius()) / self.period)

    def roots(self) -> Complex[np.ndarray, "n"]:
        """Return equivalent roots (1/s): ln(multipliers) / cycle; motions that end within a cycle are left out."""
        found = self.multipliers()
        return np.log(found[np.abs(found) > 0]) / self.period

    def steady_state_error(self) -> float:
        """Return the force left on the model per unit of a force step, once all has settled (SITS, eqs. 41, 42).

        Zero for a stable loop: the contacts, that in software among them, then balance the step. NaN for a loop that does not
        settle.
        """
        if self.spectral_radius() >= 1:
            return float("nan")
        rest = np.linalg.solve(np.eye(len(self.cycle.monodromy)) - self.cycle.monodromy, self.cycle.response)
        return float(1 + self.cycle.contact @ rest - float(self.loop.virtual_stiffness) * (self.cycle.position @ rest))

    def response(self, cycles: int, position: float = 0.0, velocity: float = 0.0) -> Float[np.ndarray, "cycles+1"]:
        """Return the position of the model (m) at the start of each cycle, moving from a `position` (m) with a `velocity`
        (m/s).

        The robot stands still at the origin and no command is under way.
        """
        state: Any = np.zeros(len(self.cycle.monodromy))
        state[:2] = position, velocity
        found = []
        for _ in range(cycles + 1):
            found.append(self.cycle.position @ state)
            state = self.cycle.monodromy @ state
        return np.array(found)


def sampled_loop(
    effective_mass: float,
    stiffness: float,
    damping: float = 0.0,
    **others: Any,  # noqa: ANN401, keywords of `make_loop`
) -> SampledLoop:
    """Return a sampled loop from plain numbers; `others` are the keywords of `make_loop`: delay, hold, robot, gain ...

    Raises ValueError for numbers out of range, a robot that is not strictly proper, and a loop that nothing samples.
    """
    return SampledLoop(make_loop(effective_mass, stiffness, damping, **others))
