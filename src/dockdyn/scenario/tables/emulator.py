"""The table `[rig.emulator]`: what emulated devices do by themselves, what goes wrong with them, on their wires and when."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse

Share = Annotated[float, Field(ge=0, le=1)]


class NetworkSection(Section):
    """What the network does to each packet, of both devices and both ways."""

    latency: quantity("s", "a time", least=0) = 0.0
    jitter: quantity("s", "a time", least=0) = 0.0
    loss: Share = 0.0
    duplicates: Share = 0.0
    reordering: Share = 0.0


def _three(unit: str, what: str) -> Any:  # noqa: ANN401, a type
    """Field type: three numbers."""
    return Annotated[list[quantity(unit, what, component=True)], Field(min_length=3, max_length=3)]


NONE = [0.0, 0.0, 0.0]


class EmulatedSensorSection(Section):
    """What the sensor makes of the force and torque; along one direction the first number of three counts."""

    bias: _three("N", "a force") = NONE
    drift: _three("N/s", "a force per time") = NONE
    resolution: quantity("N", "a force", least=0) = 0.0
    saturation: quantity("N", "a force", above=0) | None = None
    torque_bias: _three("N*m", "a torque") = NONE
    torque_drift: _three("N*m/s", "a torque per time") = NONE
    torque_resolution: quantity("N*m", "a torque", least=0) = 0.0
    torque_saturation: quantity("N*m", "a torque", above=0) | None = None
    measuring_rate: quantity("Hz", "a rate", above=0) = 7000.0


class EmulatedRSISection(Section):
    """What a robot of KUKA does besides what `[rig.device.robot]` says of its controller."""

    kind: Literal["kuka-rsi"]
    in_a_row: bool = True
    hold: bool = True
    applies_after: Annotated[int, Field(ge=1, le=1000)] = 1
    told_corrected: bool = False
    first_ipoc: Annotated[int, Field(ge=0, lt=2**32)] = 4208000000
    clock_bits: Literal[32, 64] = 32


class EmulatedEGMSection(Section):
    """What a robot of ABB does besides what `[rig.device.robot]` says of its program."""

    kind: Literal["abb-egm"]
    takes: Literal["next", "newest"] = "next"


class EmulatedFanucSection(Section):
    """What a robot of FANUC does; extended axes are in mm or degrees, and a `newest_version` of 0 has no answer."""

    kind: Literal["fanuc-stream-motion"]
    packet_stack: Annotated[int, Field(ge=2, le=10)] = 10
    start_move: Annotated[int, Field(ge=1, le=10)] = 1
    coast: quantity("s", "a time", least=0) = 0.0
    refills: bool = False
    newest_version: Annotated[int, Field(ge=0, le=3)] = 3
    waits_at_rest: bool = False
    silent_when_stopped: bool = False
    extended: _three("", "a number") = NONE

    @model_validator(mode="after")
    def a_queue_that_can_begin(self) -> Self:
        if self.start_move > self.packet_stack:
            refuse(
                f"start_move: {self.start_move}: must be at most packet_stack, {self.packet_stack}, or no motion begins"
            )
        return self


class EmulatedURSection(Section):
    """What a robot of Universal Robots does."""

    kind: Literal["ur-rtde"]
    newest_version: Annotated[int, Field(ge=1, le=2)] = 2
    applies_after: Annotated[int, Field(ge=1, le=1000)] = 1
    extrapolates: bool = True
    stopping: quantity("rad/s**2", "an angular acceleration", above=0) = 4.0
    lever: quantity("m", "a distance", above=0) = 0.5
    ignored_speed: quantity("rad/s", "an angular velocity", above=0) = 20.0
    text_period: quantity("s", "a time", above=0) = 1.0


EmulatedRobotSection = Annotated[
    EmulatedRSISection | EmulatedEGMSection | EmulatedFanucSection | EmulatedURSection, Field(discriminator="kind")
]


class FaultSection(Section):
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
    fault: list[FaultSection] = []  # noqa: RUF012
