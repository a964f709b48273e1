"""From the tables of a rig to how its sensor is mounted, and to the tool's mass along a contact's normal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dockdyn.deferred import Array, jnp
from dockdyn.hil.mounting import Known, Mounting, SensorFrame, Tool
from dockdyn.integrate.model import State
from dockdyn.rig.model.plant import Axes, Plant
from dockdyn.rig.numbers import number
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.tables.attitude import quaternion_of
from dockdyn.scenario.tables.rig.mounting import SensorFrameSection, ToolSection
from dockdyn.stability.encoder_history import rows_needed
from dockdyn.stability.loop import Loop


def mounting_of(content: RigContent, delay: float, loop: Loop) -> Mounting | None:
    """Return how the sensor, whose force is `delay` (s) old, is mounted; None where it feels the contact alone."""
    tool, frame = content.loop.tool, content.loop.sensor_frame
    if tool is None and frame is None:
        return None
    gravity = None if tool is None else tool.gravity
    compensated = tool is not None and tool.compensation != "none"
    return Mounting(
        tool=None if tool is None else Tool(number(tool.mass), number(tool.centre), number(tool.inertia)),
        believed=believed_tool(tool) if tool is not None and compensated else None,
        gravity=number(gravity if gravity is not None else [0.0] * min(content.axes, 3)),
        frame=None if frame is None else _sensor_frame(frame),
        believed_frame=None if frame is None else _believed_frame(frame),
        inertia=tool is not None and tool.compensation == "weight-and-inertia",
        rows=rows_needed(delay, loop.steps_period()),
    )


def believed_tool(section: ToolSection) -> Tool:
    """Return the tool as the computer takes it to be."""

    def either(name: str) -> Any:  # noqa: ANN401, as `number`
        believed = getattr(section, f"believed_{name}")
        return number(getattr(section, name) if believed is None else believed)

    return Tool(either("mass"), either("centre"), either("inertia"))


def _sensor_frame(section: SensorFrameSection) -> SensorFrame:
    return SensorFrame(number(section.position or [0.0] * 3), quaternion_of(section.attitude))


def _believed_frame(section: SensorFrameSection) -> SensorFrame:
    position = section.position if section.believed_position is None else section.believed_position
    attitude = section.attitude if section.believed_attitude is None else section.believed_attitude
    return SensorFrame(number(position or [0.0] * 3), quaternion_of(attitude))


def along_normal(mounting: Mounting | None, loop: Loop) -> Mounting | None:
    """Return the tool as its inertia counts along the normal of a contact: masses of the loop, without weight."""
    if mounting is None or loop.tool_mass is None:
        return None
    believed = None if loop.compensated_mass is None else Tool(number(loop.compensated_mass))
    return replace(
        mounting,
        tool=Tool(number(loop.tool_mass)),
        believed=believed,
        gravity=number([0.0]),
        frame=None,
        believed_frame=None,
        inertia=believed is not None,
    )


def with_tool(loop: Loop, content: RigContent, resting: tuple[Plant, State, Axes]) -> Loop:
    """Return the loop with the tool of a rig, whose masses are those that accelerations along the normal feel; can be traced.

    `resting` is the plant, its motion at rest in its contact and the load (N, N m) of a unit force along the normal.
    That load moves the robot's axes in some way; the mass is the tool's inertia against that motion, twice projected on
    it. What the tool does to other motions is left out.
    """
    section = content.loop.tool
    if section is None:
        return loop

    def mass(tool: Tool) -> Array:
        plant, motion, direction = resting
        still = jnp.zeros(plant.axes)
        moved = loop.effective_mass * (plant.acceleration(motion, direction) - plant.acceleration(motion, still))
        load = plant.tool_load(tool, jnp.zeros(plant.port_axes), Known(plant.pose(motion), still, moved))
        return -(load @ moved)

    tool = mass(Tool(number(section.mass), number(section.centre), number(section.inertia)))
    compensates = section.compensation == "weight-and-inertia"
    return replace(loop, tool_mass=tool, compensated_mass=mass(believed_tool(section)) if compensates else None)
