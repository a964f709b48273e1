"""The tables `[loop.tool]` and `[loop.sensor_frame]`: what is behind a rig's force sensor, and where that is."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.attitude import Attitude
from dockdyn.scenario.tables.geometry import Point
from dockdyn.scenario.tables.inertia import Inertia
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.rig.loop import LoopSection, SensorSection
from dockdyn.scenario.tables.rig.robot import RobotSection, RobotWithAxesSection

NEAR = 1e-9  # relative: periods that are the same
Gravity = Annotated[list[quantity("m/s**2", "an acceleration", component=True)], Field(min_length=1, max_length=3)]
IN_SPACE = ("centre", "inertia", "believed_centre", "believed_inertia")


class ToolSection(Section):
    """The tool that the sensor carries: its mass and, in space, where and how; what of it the computer takes away."""

    mass: quantity("kg", "a mass", above=0)
    centre: Point | None = None
    inertia: Inertia | None = None
    gravity: Gravity | None = None
    compensation: Literal["none", "weight", "weight-and-inertia"] = "weight"
    believed_mass: quantity("kg", "a mass", least=0) | None = None
    believed_centre: Point | None = None
    believed_inertia: Inertia | None = None

    @model_validator(mode="after")
    def check_believed_tool(self) -> Self:
        if self.compensation == "none":
            for name in ("believed_mass", "believed_centre", "believed_inertia"):
                if getattr(self, name) is not None:
                    refuse(f"{name}: counts with compensation = 'weight' or 'weight-and-inertia' only")
        return self

    def check_axes(self, axes: int) -> None:
        """Refuse what is not of a robot with so many `axes`."""
        if self.gravity is not None and len(self.gravity) != (needed := min(axes, 3)):
            refuse(
                f"loop.tool.gravity: has {len(self.gravity)} numbers; must have {needed}, one for each axis that moves"
            )
        for name in IN_SPACE:
            if axes == 1 and getattr(self, name) is not None:
                refuse(f"loop.tool.{name}: a robot along one direction has none")


class SensorFrameSection(Section):
    """Where the sensor is, and its axes, in those of what is carried; and where the computer takes it to be."""

    position: Point | None = None
    attitude: Attitude | None = None
    believed_position: Point | None = None
    believed_attitude: Attitude | None = None


class RigLoopSection(LoopSection):
    """The loop of a rig, with what its sensor carries."""

    robot: OrNone[RobotWithAxesSection] = None
    tool: OrNone[ToolSection] = None
    sensor_frame: OrNone[SensorFrameSection] = None

    @model_validator(mode="after")
    def stepped_together(self) -> Self:
        """Return what is read has one meaning where each step has a sample, and each command a step, of its own."""
        name = "tool" if self.tool is not None else "sensor_frame" if self.sensor_frame is not None else None
        if name is None:
            return self
        if self.dynamics is None or not self.dynamics.stepped:
            refuse(f"{name}: needs [loop.dynamics] with a period and a digital method: a sensor is read at steps")
        step = self.dynamics.period or 0.0
        sample = (self.sensor or SensorSection()).period or step
        hold = step if self.hold is None else self.hold.period
        for longer, shorter, words in ((step, sample, "a step of the samples"), (hold, step, "a hold of the steps")):
            ratio = longer / shorter
            if round(ratio) < 1 or abs(ratio - round(ratio)) > NEAR * ratio:
                refuse(f"{name}: {words} must be a whole number; it is {ratio:g}")
        return self

    @model_validator(mode="after")
    def check_tool_loop(self) -> Self:
        if self.tool is None:
            return self
        if self.robot is None:
            refuse("tool: needs [loop.robot]: one that follows at once has no finite acceleration")
        self.check_robot(self.robot, "loop.robot")
        if (self.sensor or SensorSection()).threshold is None:
            refuse(
                "tool: needs sensor.threshold, above which a force counts as contact: with a tool no sensor reads zero"
            )
        return self

    def check_robot(self, robot: RobotSection, key: str) -> None:
        """Refuse a tool on a robot whose acceleration the samples would miss."""
        sensor = self.sensor or SensorSection()
        if self.tool is None:
            return
        period = sensor.period or (None if self.dynamics is None else self.dynamics.period)
        if sensor.averaging is not None and period is not None and abs(sensor.averaging / period - 1) > NEAR:
            refuse(f"tool: sensor.averaging = {sensor.averaging:g} s: must be the period of the samples, {period:g} s")
        if sensor.averaging is None and robot.transfer().relative_degree() < 2:
            refuse(
                f"tool: {key}: its velocity jumps with each command, and samples at instants miss the force of that; "
                f"state sensor.averaging, the period of the samples"
            )
