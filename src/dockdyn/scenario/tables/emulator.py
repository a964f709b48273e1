"""The table `[rig.emulator]`: what emulated devices do by themselves, what goes wrong with them, on their wires and when."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.rig.devices import EmulatedRobotSection

Share = Annotated[float, Field(ge=0, le=1)]


class NetworkSection(Section):
    """What the network does to each packet, of both devices and both ways."""

    latency: quantity("s", "a time", least=0) = 0.0
    jitter: quantity("s", "a time", least=0) = 0.0
    loss: Share = 0.0
    duplicates: Share = 0.0
    reordering: Share = 0.0


def _three_numbers(unit: str, what: str) -> Any:  # noqa: ANN401, a type
    """Return the field type: three numbers."""
    return Annotated[list[quantity(unit, what, component=True)], Field(min_length=3, max_length=3)]


NONE = [0.0, 0.0, 0.0]


class EmulatedSensorSection(Section):
    """What the sensor makes of the force and torque; along one direction the first number of three counts."""

    bias: _three_numbers("N", "a force") = NONE
    drift: _three_numbers("N/s", "a force per time") = NONE
    resolution: quantity("N", "a force", least=0) = 0.0
    saturation: quantity("N", "a force", above=0) | None = None
    torque_bias: _three_numbers("N*m", "a torque") = NONE
    torque_drift: _three_numbers("N*m/s", "a torque per time") = NONE
    torque_resolution: quantity("N*m", "a torque", least=0) = 0.0
    torque_saturation: quantity("N*m", "a torque", above=0) | None = None
    measuring_rate: quantity("Hz", "a rate", above=0) = 7000.0


class FaultSection(NamedSection):
    """A fault: what, when after the robot first moved, and for how long."""

    kind: Literal[
        "sensor-silent",
        "sensor-frozen",
        "sensor-nan",
        "sensor-status",
        "sensor-stalled",
        "sensor-restart",
        "robot-silent",
        "robot-deaf",
        "robot-status",
        "robot-restart",
        "emergency-stop",
    ]
    at: quantity("s", "a time", least=0)
    lasts: quantity("s", "a time", above=0) | None = None


class EmulatorSection(Section):
    """The table `[rig.emulator]`; nothing goes wrong without it."""

    seed: Annotated[int, Field(ge=0)] = 0
    network: NetworkSection = NetworkSection()
    sensor: EmulatedSensorSection = EmulatedSensorSection()
    robot: EmulatedRobotSection | None = None
    fault: named_tables(FaultSection) = []  # noqa: RUF012
