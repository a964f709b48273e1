"""The table `[rig]`: what its robots carry, what it must keep to when it is driven, and the devices that it has."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.emulator import EmulatorSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.rig.devices import DevicesSection

OF_ANGLES = ("torque", "turn", "turning_speed", "turning_acceleration", "tracking_turn")


class LimitsSection(Section):
    """The table `[rig.limits]`: beyond any number in it the rig is stopped. Limits of angles are of a robot in space."""

    lowest: Annotated[list[Coordinate], Field(min_length=1, max_length=3)]
    highest: Annotated[list[Coordinate], Field(min_length=1, max_length=3)]
    speed: quantity("m/s", "a speed", above=0)
    acceleration: quantity("m/s**2", "an acceleration", above=0)
    tracking: quantity("m", "a distance", above=0)
    force: quantity("N", "a force", above=0)
    torque: quantity("N*m", "a torque", above=0) | None = None
    turn: quantity("rad", "an angle", above=0) | None = None
    turning_speed: quantity("rad/s", "an angular velocity", above=0) | None = None
    turning_acceleration: quantity("rad/s**2", "an angular acceleration", above=0) | None = None
    tracking_turn: quantity("rad", "an angle", above=0) | None = None
    saturation: quantity("N", "a force", above=0) | None = None
    sensor_silence: quantity("s", "a time", least=0) = 0.0
    sensor_frozen: Annotated[int, Field(ge=1)] | None = None
    robot_silence: quantity("s", "a time", least=0) = 0.0
    late_cycles: Annotated[int, Field(ge=0)] = 0
    injected_energy: quantity("J", "an energy", least=0) | None = None
    passivity: quantity("J", "an energy", least=0) | None = None

    @model_validator(mode="after")
    def a_box(self) -> Self:
        if len(self.lowest) != len(self.highest):
            refuse(f"lowest, highest: have {len(self.lowest)} and {len(self.highest)} numbers; must have as many")
        for low, high in zip(self.lowest, self.highest, strict=True):
            if low >= high:
                refuse(f"lowest, highest: {low:g} m and {high:g} m: the lowest must be below the highest")
        return self

    def check_axes(self, axes: int) -> None:
        """Refuse limits that are not those of a robot with so many `axes`."""
        if len(self.lowest) != (needed := min(axes, 3)):
            refuse(
                f"rig.limits.lowest: has {len(self.lowest)} numbers; must have {needed}, one for each axis that moves"
            )
        for name in OF_ANGLES:
            if (getattr(self, name) is None) == (axes > 1):
                words = "missing; a robot in space has it" if axes > 1 else "a robot along one direction has none"
                refuse(f"rig.limits.{name}: {words}")


class DrivenRig(NamedTuple):
    """What counts of a rig that is driven."""

    limits: LimitsSection
    device: DevicesSection


class RigTableSection(Section):
    """Two bodies are in hardware: a robot carries one, as seen from the other. What else there is, but for `robot`, counts when
    the rig is driven: simulations leave it out."""

    carries: str
    against: str
    robot: Literal["following", "at-rest"] = "following"  # as the run begins
    settle: quantity("s", "a time", least=0) = 1.0
    limits: OrNone[LimitsSection] = None
    device: OrNone[DevicesSection] = None
    emulator: OrNone[EmulatorSection] = None

    @model_validator(mode="after")
    def complete_driven_rig(self) -> Self:
        """Return it with devices and emulator where the rig can be driven."""
        if self.limits is None:
            for name in ("device", "emulator"):
                if getattr(self, name) is not None:
                    refuse(
                        f"{name}: of a rig that is driven, which needs limits; must state [rig.limits], or be left out"
                    )
            return self
        there = {"device": self.device or DevicesSection(), "emulator": self.emulator or EmulatorSection()}
        whole = self.model_copy(update=there)
        whole.check_emulator()
        return whole

    def driven(self) -> DrivenRig | None:
        """Return limits and devices of a rig that can be driven; None of one that is only simulated."""
        return None if self.limits is None or self.device is None else DrivenRig(self.limits, self.device)

    def check_emulator(self) -> None:
        """Refuse an emulator of another sort than the robot."""
        assert self.device is not None
        assert self.emulator is not None
        emulated = self.emulator.robot
        if emulated is not None and emulated.kind != (kind := self.device.robot.kind):
            refuse(
                f"emulator.robot.kind: {emulated.kind!r}: must be {kind!r}, that of rig.device.robot, which it stands for"
            )
