"""Scenario kind `rig`: a hardware-in-the-loop rig along one direction, or with two bodies in space."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.kinds.free_flight.model import FreeFlight
from dockdyn.kinds.free_flight.schema import TwoBodiesSection
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.compensators import CompensatorSection
from dockdyn.scenario.tables.loop import LoopSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import NormalLawSection
from dockdyn.scenario.tables.robot import RobotSection
from dockdyn.scenario.tables.run import Duration, IntegratorSection, OutputSection

SECONDS = 60.0  # s, of a run that states no duration


class RigContactSection(Section):
    """What the robot's mock-up touches."""

    bilateral: bool = False
    normal: NormalLawSection

    @model_validator(mode="after")
    def linear(self) -> Self:
        if self.bilateral and self.normal.law != "spring-dashpot":
            refuse(
                f"bilateral = true: a {self.normal.law} contact does not act both ways; must be law = 'spring-dashpot'"
            )
        return self


class RigStartSection(Section):
    """Where and how fast the model starts, and the robot with it."""

    position: quantity("m", "a position") = 0.0
    velocity: quantity("m/s", "a velocity") = 0.0
    robot: Literal["following", "at-rest"] = "following"


class PressedSection(Section):
    """The table `[stability]` of a rig: where on the law's curve the contact is taken to rest."""

    depth: quantity("m", "a penetration depth", least=0) = 0.0


def fits(loop: LoopSection, duration: float) -> None:
    """Refuses a delay that outlasts the run."""
    if not loop.latest() < duration:
        refuse(
            f"loop.delay, loop.sensor: delays of up to {loop.latest():g} s; must be shorter than the run of {duration:g} s"
        )


class RigSection(Section):
    """A virtual mass, a robot that carries its mock-up, and the contact of that with a sensor."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["rig"] = "rig"
    title: str = "Rig"
    mode: Literal["1-dof"] = "1-dof"
    duration: Duration = SECONDS
    seed: int = Field(0, ge=0, lt=2**63)
    mass: quantity("kg", "a mass", above=0)
    compare: list[CompensatorSection] = []  # noqa: RUF012
    start: RigStartSection = RigStartSection()
    contact: RigContactSection
    loop: LoopSection = LoopSection()
    stability: PressedSection = PressedSection()

    @model_validator(mode="after")
    def in_time(self) -> Self:
        fits(self.loop, self.duration)
        return self

    @property
    def bilateral(self) -> bool:
        """Whether the contact acts both ways."""
        return self.contact.bilateral

    def law(self) -> NormalLaw:
        return self.contact.normal.make()


AXES = (
    "x",
    "y",
    "z",
    "rx",
    "ry",
    "rz",
)  # of the robot: where the chaser is, and how it has turned, seen from the target


class RobotAxisSection(RobotSection):
    """The robot of one axis, where it is not that of `[loop.robot]`."""

    axis: Literal["x", "y", "z", "rx", "ry", "rz"]


class RigBodiesSection(TwoBodiesSection):
    """Two bodies as in free flight, whose relative motion a robot carries out, an axis at a time."""

    kind: Literal["rig"] = "rig"
    title: str = "Rig with two bodies"
    mode: Literal["6-dof"]
    seed: int = Field(0, ge=0, lt=2**63)
    compare: list[CompensatorSection] = []  # noqa: RUF012
    robot_axis: list[RobotAxisSection] = []  # noqa: RUF012
    # of the motion without rig
    integrator: ClassVar = IntegratorSection()
    output: ClassVar = OutputSection()
    controlled: ClassVar = False
    bilateral: ClassVar = False

    @model_validator(mode="after")
    def in_time(self) -> Self:
        fits(self.loop, self.duration)
        return self

    @model_validator(mode="after")
    def every_axis(self) -> Self:
        stated = [each.axis for each in self.robot_axis]
        for axis in stated:
            if stated.count(axis) > 1:
                refuse(f"robot_axis: {axis} is stated {stated.count(axis)} times; must be once")
        if self.robot_axis and self.loop.robot is None:
            refuse("robot_axis: needs [loop.robot], too: the robot of the axes that are not stated")
        return self

    def model(self) -> FreeFlight:
        """The motion without rig: the model of the bodies alone."""
        return self.bodies()


RigContent = RigSection | RigBodiesSection  # of a scenario
MODES: dict[str, type[Section]] = {"1-dof": RigSection, "6-dof": RigBodiesSection}
