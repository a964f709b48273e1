"""Scenario kind `rig`: a hardware-in-the-loop rig along one direction."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dockdyn.contact.normal_law import NormalLaw
from dockdyn.scenario.loop import LoopSection
from dockdyn.scenario.parts import NormalLawSection
from dockdyn.scenario.section import Section
from dockdyn.scenario.units import quantity


class RigContactSection(Section):
    """What the robot's mock-up touches."""

    normal: NormalLawSection


class PressedSection(Section):
    """The table `[stability]` of a rig: where on the law's curve the contact is taken to rest."""

    depth: quantity("m", "a penetration depth", least=0) = 0.0


class RigSection(Section):
    """A virtual mass, a robot that carries its mock-up, and the contact of that with a sensor."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["rig"] = "rig"
    title: str = "Rig"
    mode: Literal["1-dof"] = "1-dof"
    mass: quantity("kg", "a mass", above=0)
    contact: RigContactSection
    loop: LoopSection = LoopSection()
    stability: PressedSection = PressedSection()

    def law(self) -> NormalLaw:
        return self.contact.normal.make()
