"""Damping by a constant gain on a velocity.

Units: gain N s/m, force N.
Source: SITS, eqs. 20 and 41 with the sign turned.
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
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.compensators.tuned import matching_gain
from dockdyn.hil.velocity_sources import RobotVelocity, VelocitySource
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter
from dockdyn.trees import field


class FixedGain(Compensator):
    """F = −g V (SITS, section 4): takes out, on average over a cycle, the energy that delays put in.

    The right gain is about K (delay of the loop) − B' with B' what aliasing takes from the contact's damping: it is right for
    one stiffness. It leaves the phase as it is. Not `gated` by contact, it slows a free-flying body.
    """

    knows: ClassVar[str] = "the contact's stiffness; cannot follow another one, nor mend the phase"
    steady_gain: ClassVar[bool] = True
    in_margins: ClassVar[bool] = True
    gain: Scalar = parameter("N*s/m", "a gain", tuned=True)  # g, positive damps
    velocity: VelocitySource = RobotVelocity()
    gated: bool = field(static=True, default=True)

    def init(self, position: Axes, velocity: Axes) -> PyTree:
        return self.velocity.init(position, velocity)

    def small(self) -> LinearCompensator:
        return LinearCompensator.of(self.velocity, gain=self.gain)

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return {"gain": matching_gain(self.velocity, problem)}

    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Compensation]:
        memory, velocity = self.velocity.step(memory, seen)
        nothing = Compensation.nothing(seen.force.size)
        return memory, nothing._replace(gain=gain_in_contact(self.gain, seen, self.gated), velocity=velocity)

    @property
    def source(self) -> Source:
        return self.velocity.source


def gain_in_contact(gain: Scalar, seen: CompensatorInput, gated: bool) -> Scalar:
    """Return the gain, zero without contact if `gated`."""
    return jnp.where(seen.touching, gain, 0.0) if gated else jnp.asarray(gain, float)
