"""Command lead, and the energy layer for what it leaves.

Units: as in `command_lead` and `energy_layer`.
Source: the two together; own construction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput, TuningProblem
from dockdyn.hil.compensators.energy_layer import EnergyLayer, HalfCycle
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.compensators.tuned import command_leads
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter


class LeadEnergy(Compensator):
    """X_c = X + l₁ V + l₂ A and F = −c V: the lead mends the phase, the layer what amplitude a wrong lead would cost."""

    knows: ClassVar[str] = (
        "robot, hold, delay and period, to some 30 %; none of the contact; a wrong lead costs phase only"
    )
    beyond_small: ClassVar[bool] = True
    in_margins: ClassVar[bool] = True
    beside_small: ClassVar[str] = "the compensator's energy layer"
    lead: Scalar = parameter("s", "a time", tuned=True)  # l₁
    second_lead: Scalar = parameter("s**2", "a time squared", tuned=True)  # l₂
    layer: EnergyLayer = EnergyLayer()

    def init(self, position: Axes, velocity: Axes) -> HalfCycle:
        return self.layer.init(position, velocity)

    def small(self) -> LinearCompensator:
        return LinearCompensator.of(lead=self.lead, second_lead=self.second_lead)

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return command_leads(problem)

    def on(self, held: bool) -> LeadEnergy:
        return replace(self, layer=self.layer.on(held))

    def step(self, memory: HalfCycle, seen: CompensatorInput) -> tuple[HalfCycle, Compensation]:
        memory, action = self.layer.step(memory, seen)
        return memory, action._replace(lead=self.lead, second_lead=self.second_lead)

    def report(self, memory: HalfCycle) -> dict[str, Scalar]:
        return self.layer.report(memory)
