"""Damping by a gain that first changes linearly with time and then with observed energy.

Units: gain N s/m, energies J.
Source: SITS, eqs. 45–48 corrected; `as-printed` keeps the printed form.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from dockdyn.deferred import jnp
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
from dockdyn.hil.energy_observer import Oracle
from dockdyn.hil.velocity_sources import RobotVelocity, VelocitySource
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter
from dockdyn.trees import field

SWITCH = 0.6  # of the duration: when the gain switches, if the scenario does not say


class Summed(NamedTuple):
    """What the gain remembers."""

    velocity: Any
    energy: Scalar  # J, sum over instants


class VariableGain(Compensator):
    """The switching compensator with variable gain (SITS, eqs. 44–48).

    Until `switch_time` g + g′ t; from then on, "bumpless", that gain held plus the `energy_gain` times the sum of ε since.
    "as-printed" the later gain is g plus the `energy_gain` times the sum since t = 0: it jumps at the switch.
    ε is an oracle's: the sum needs the motion that the rig is to find, so this one works in simulation only.
    """

    knows: ClassVar[str] = (
        "the contact's stiffness and the ideal motion itself (simulation only); cannot mend the phase"
    )
    oracle: ClassVar[bool] = True
    steady_gain: ClassVar[bool] = True
    in_margins: ClassVar[bool] = True
    beside_small: ClassVar[str] = "the change of its gain after the start"
    gain: Scalar = parameter("N*s/m", "a gain", tuned=True)  # g = K_ε0
    slope: Scalar = parameter("N/m", "a gain per time", tuned=True)  # g′ = K_ε1
    switch_time: Scalar = parameter("s", "a time", least=0, tuned=True)  # t_ε
    energy_gain: Scalar = parameter("N*s/m/J", "a gain per energy", default=0.3)  # K_ε2, of a sum over instants
    velocity: VelocitySource = RobotVelocity()
    form: Literal["bumpless", "as-printed"] = field(static=True, default="bumpless")
    gated: bool = field(static=True, default=True)

    def init(self, position: Axes, velocity: Axes) -> Summed:
        return Summed(self.velocity.init(position, velocity), jnp.zeros(()))

    def small(self) -> LinearCompensator:
        return LinearCompensator.of(self.velocity, gain=self.gain)

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        found = growing_gain(matching_gain(self.velocity, problem), problem)
        return found | {"switch_time": SWITCH * problem.duration}

    def step(self, memory: Summed, seen: CompensatorInput) -> tuple[Summed, Compensation]:
        kept, velocity = self.velocity.step(memory.velocity, seen)
        _, epsilon = Oracle().step((), seen)
        later = seen.time > self.switch_time
        bumpless = self.form == "bumpless"
        energy = memory.energy + (jnp.where(later, epsilon, 0.0) if bumpless else epsilon)
        ramp = self.slope * jnp.where(later, self.switch_time if bumpless else 0.0, seen.time)
        gain = self.gain + ramp + jnp.where(later, self.energy_gain * energy, 0.0)
        action = Compensation.nothing(seen.force.size)
        return Summed(kept, energy), action._replace(gain=gain_in_contact(gain, seen, self.gated), velocity=velocity)

    @property
    def source(self) -> Source:
        return self.velocity.source

    def report(self, memory: Summed) -> dict[str, Scalar]:
        return {"observed_energy": memory.energy}
