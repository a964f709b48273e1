"""Damping by a gain that changes linearly with time.

Units: gain N s/m, its rate N s/m per s.
Source: SITS, eq. 46, before the switch.
"""

from __future__ import annotations

from typing import ClassVar

from dockdyn.deferred import PyTree
from dockdyn.hil.compensators.compensator import (
    Axes,
    Compensation,
    Compensator,
    CompensatorInput,
    Source,
    TuningProblem,
)
from dockdyn.hil.compensators.fixed_gain import gain_in_contact
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.compensators.tuned import growing_gain, matching_gain
from dockdyn.hil.velocity_sources import RobotVelocity, VelocitySource
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter
from dockdyn.trees import field


class LinearGain(Compensator):
    """F = −(g + g′ t) V (SITS, LGC): a fixed gain whose error is spread over the run.

    Its amplitude is right at one moment only: where the gains before have made up for those to come.
    """

    knows: ClassVar[str] = "the contact's stiffness and how long the run lasts; cannot mend the phase"
    steady_gain: ClassVar[bool] = True
    in_margins: ClassVar[bool] = True
    beside_small: ClassVar[str] = "the change of its gain after the start"
    gain: Scalar = parameter("N*s/m", "a gain", tuned=True)  # g, at t = 0
    slope: Scalar = parameter("N/m", "a gain per time", tuned=True)  # g′
    velocity: VelocitySource = RobotVelocity()
    gated: bool = field(static=True, default=True)

    def init(self, position: Axes, velocity: Axes) -> PyTree:
        return self.velocity.init(position, velocity)

    def small(self) -> LinearCompensator:
        return LinearCompensator.of(self.velocity, gain=self.gain)

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return growing_gain(matching_gain(self.velocity, problem), problem)

    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Compensation]:
        memory, velocity = self.velocity.step(memory, seen)
        gain = gain_in_contact(self.gain + self.slope * seen.time, seen, self.gated)
        return memory, Compensation.nothing(seen.force.size)._replace(gain=gain, velocity=velocity)

    @property
    def source(self) -> Source:
        return self.velocity.source
