"""Damping by a gain on velocity, and an inertia on acceleration.

Units: gain N s/m, inertia kg, force N.
Source: own construction: the acceleration's gain takes the drift of the phase away that SITS's gains leave.
"""

from __future__ import annotations

from typing import ClassVar

from dockdyn.deferred import PyTree, jnp
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
from dockdyn.hil.velocity_sources import RobotVelocity, VelocitySource
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter
from dockdyn.trees import field


class VelocityAcceleration(Compensator):
    """F = −g V − j A: the gain mends the amplitude, the inertia j the frequency. Right for one stiffness."""

    knows: ClassVar[str] = "the contact's stiffness; cannot follow another one"
    steady_gain: ClassVar[bool] = True
    in_margins: ClassVar[bool] = True
    gain: Scalar = parameter("N*s/m", "a gain", tuned=True)  # g
    inertia: Scalar = parameter("kg", "an inertia", tuned=True)  # j
    velocity: VelocitySource = RobotVelocity()
    gated: bool = field(static=True, default=True)

    def init(self, position: Axes, velocity: Axes) -> PyTree:
        return self.velocity.init(position, velocity)

    def small(self) -> LinearCompensator:
        return LinearCompensator.of(self.velocity, gain=self.gain, inertia=self.inertia)

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        damping = problem.stiffness * problem.lag
        gain, inertia = problem.solve(
            lambda gain, inertia: LinearCompensator.of(self.velocity, gain=gain, inertia=inertia),
            (damping, damping * problem.lag),
            "numbers",
        )
        return {"gain": gain, "inertia": inertia}

    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Compensation]:
        memory, velocity = self.velocity.step(memory, seen)
        gain, inertia = (gain_in_contact(jnp.asarray(number), seen, self.gated) for number in (self.gain, self.inertia))
        return memory, Compensation.nothing(seen.force.size)._replace(gain=gain, inertia=inertia, velocity=velocity)

    @property
    def source(self) -> Source:
        return self.velocity.source
