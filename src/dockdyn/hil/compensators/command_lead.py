"""A command that is ahead of the model by what the loop will lag.

Units: leads s and s², positions m.
Source: own construction: a lead fitted to the monodromy of robot, hold and delay.
"""

from __future__ import annotations

from typing import ClassVar

from dockdyn.hil.compensators.compensator import Axes, Compensation, Compensator, CompensatorInput, TuningProblem
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.compensators.tuned import command_leads
from dockdyn.integrate.model import Scalar
from dockdyn.parameters import parameter


class CommandLead(Compensator):
    """X_c = X + l₁ V + l₂ A: the robot is sent to where the model will be when the force has come back.

    The model's position, velocity and acceleration are its own states, so the lead adds no noise but that of the measured
    force in A; l₁ and l₂ follow from robot, hold, delay and period and hardly depend on the stiffness.
    At a first touch A is that of a moment ago; a lead that is wrong by δ leaves damping of K δ in excess or wanting.
    """

    knows: ClassVar[str] = (
        "robot, hold, delay and period, none of the contact; a wrong lead leaves an error that grows with stiffness"
    )
    in_margins: ClassVar[bool] = True
    lead: Scalar = parameter("s", "a time", tuned=True)  # l₁
    second_lead: Scalar = parameter("s**2", "a time squared", tuned=True)  # l₂

    def init(self, position: Axes, velocity: Axes) -> tuple[()]:
        return ()

    def small(self) -> LinearCompensator:
        return LinearCompensator.of(lead=self.lead, second_lead=self.second_lead)

    def tune(self, problem: TuningProblem) -> dict[str, float]:
        return command_leads(problem)

    def step(self, memory: tuple[()], seen: CompensatorInput) -> tuple[tuple[()], Compensation]:
        return memory, Compensation.nothing(seen.force.size)._replace(lead=self.lead, second_lead=self.second_lead)
