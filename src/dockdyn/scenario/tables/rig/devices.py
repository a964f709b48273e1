"""The tables `[rig.device.sensor]` and `[rig.device.robot]`: how the devices of a rig are reached and how they speak."""

from __future__ import annotations

from ipaddress import IPv4Address
from math import radians
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse


def _address(text: str) -> str:
    """An address of the Internet's fourth version; names are not looked up in real time."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        refuse(f"{text!r}: must be an address such as 192.168.0.10")


Host = Annotated[str, AfterValidator(_address)]
Port = Annotated[int, Field(ge=1, le=65535)]
PerUnit = quantity("", "a number of counts", above=0)


class PacketFieldSection(Section):
    """A number in a packet: its name, its type, at which byte, in which unit."""

    name: str
    type: Literal["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]
    at: Annotated[int, Field(ge=0)]
    unit: str = ""
    zero: quantity("", "a number") = 0.0
    value: int = 0


class PacketSection(Section):
    """A packet of so many bytes, and what is in it."""

    length: Annotated[int, Field(ge=1)]
    big_endian: bool = False
    rotation: Literal["vector", "quaternion", "angles"] = "vector"
    field: Annotated[list[PacketFieldSection], Field(min_length=1)]


class NetFTSection(Section):
    """A force sensor of ATI, Net F/T: where it is asked, and its calibration."""

    kind: Literal["ati-netft"]
    host: Host = "127.0.0.1"
    port: Port = 49152
    counts_per_force: PerUnit = 1e6
    counts_per_torque: PerUnit = 1e6


class RawSensorSection(Section):
    """A force sensor whose packets are stated; it sends to this computer at `port`."""

    kind: Literal["raw-udp"] = "raw-udp"
    host: Host = "127.0.0.1"
    port: Port = 49152
    packet: PacketSection | None = None


class RSISection(Section):
    """A robot of KUKA with RobotSensorInterface, which speaks to this computer at `port`.

    From `precision` on the keys say what is set on its controller; without them what KUKA's objects have by default.
    """

    kind: Literal["kuka-rsi"]
    host: Host = "127.0.0.1"
    port: Port = 49153
    sensor_type: str = "ImFree"
    correction: str = "RKorr"
    relative: bool = False
    decimals: Annotated[int, Field(ge=0, le=6)] = 6
    precision: Annotated[int, Field(ge=0, le=32)] = 1
    timeout: Annotated[int, Field(ge=1)] = 10
    correction_limit: quantity("m", "a distance", above=0) = 5e-3
    correction_turn_limit: quantity("rad", "an angle", above=0) = radians(5)
    monitor_limit: quantity("m", "a distance", above=0) = 6e-3
    monitor_turn_limit: quantity("rad", "an angle", above=0) = radians(6)


class EGMSection(Section):
    """A robot of ABB in externally guided motion, which speaks to this computer at `port`.

    From `comm_timeout` on the keys say what its RAPID program states; without them what RAPID takes.
    """

    kind: Literal["abb-egm"]
    host: Host = "127.0.0.1"
    port: Port = 6510
    comm_timeout: quantity("s", "a time", above=0) = 1.0
    condition_time: quantity("s", "a time", above=0) = 1.0
    convergence: quantity("m", "a distance", least=0) = 1e-3
    convergence_turn: quantity("rad", "an angle", least=0) = radians(0.5)


class FanucSection(Section):
    """A robot of FANUC with Stream Motion: where it is asked, the protocol's version, how many commands are sent in advance."""

    kind: Literal["fanuc-stream-motion"]
    host: Host = "127.0.0.1"
    port: Port = 60015
    version: Annotated[int, Field(ge=1, le=3)] = 1
    lead: Annotated[int, Field(ge=0, le=8)] = 0


class URSection(Section):
    """A robot of Universal Robots: where it tells its state, and where its program takes commands from this computer.

    The program opens connections to three ports of this computer; an e-Series has 500 cycles a second, a CB3 125.
    """

    kind: Literal["ur-rtde"]
    host: Host = "127.0.0.1"
    port: Port = 30004
    reverse_port: Port = 50001
    trajectory_port: Port = 50003
    script_command_port: Port = 50004
    controller: Literal["e-series", "cb3"] = "e-series"
    version: Annotated[int, Field(ge=1, le=2)] = 2
    patience: quantity("s", "a time", above=0) = 0.02

    @property
    def program_ports(self) -> tuple[int, int, int]:
        """The ports of this computer that the program connects to, in its order."""
        return self.trajectory_port, self.script_command_port, self.reverse_port


class RawRobotSection(Section):
    """A robot whose packets are stated, which speaks to this computer at `port`; it is answered, or told by the clock."""

    kind: Literal["raw-udp"] = "raw-udp"
    host: Host = "127.0.0.1"
    port: Port = 49153
    pace: Literal["robot", "clock"] = "robot"
    pose: PacketSection | None = None
    command: PacketSection | None = None


SensorDevice = Annotated[NetFTSection | RawSensorSection, Field(discriminator="kind")]
RobotDevice = Annotated[
    RSISection | EGMSection | FanucSection | URSection | RawRobotSection, Field(discriminator="kind")
]


class DevicesSection(Section):
    """The tables of a rig's devices."""

    sensor: SensorDevice = RawSensorSection()
    robot: RobotDevice = RawRobotSection()
