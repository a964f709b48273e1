"""The devices by the names that scenarios, Python and C have for them: where a new one is added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dockdyn.realtime.devices import egm, fanuc, netft, raw_udp, rsi, rtde
from dockdyn.realtime.devices.device import HERE, Codec


@dataclass(frozen=True)
class Device:
    """A kind of device: its settings and codec in Python, its struct in C, where it listens or sends to unless told otherwise.

    In C the header is named as the struct, which `c_initialiser` of the settings begins, and its calls are those that
    `dd_find_sensor` or `dd_find_robot` of `calls.h` has by the same name.
    """

    name: str
    role: Literal["sensor", "robot"]
    settings: type
    codec: type[Codec]
    struct: str
    port: int | None
    transport: Literal["udp", "tcp"] = "udp"


SENSORS = {
    each.name: each
    for each in (
        Device("ati-netft", "sensor", netft.NetFTSettings, netft.NetFT, "netft", netft.PORT),
        Device("raw-udp", "sensor", raw_udp.RawUDPSettings, raw_udp.RawUDP, "raw_udp", None),
    )
}
ROBOTS = {
    each.name: each
    for each in (
        Device("kuka-rsi", "robot", rsi.RSISettings, rsi.RSI, "rsi", rsi.PORT),
        Device("raw-udp", "robot", raw_udp.RawUDPSettings, raw_udp.RawUDP, "raw_udp", None),
        Device("abb-egm", "robot", egm.EGMSettings, egm.EGM, "egm", egm.PORT),
        Device("fanuc-stream-motion", "robot", fanuc.FanucSettings, fanuc.Fanuc, "fanuc", fanuc.PORT),
        Device("ur-rtde", "robot", rtde.RTDESettings, rtde.RTDE, "rtde", rtde.PORT, "tcp"),
    )
}
C_FILES = tuple(
    sorted(HERE.glob("*.c"))
)  # what a program with these devices is compiled from, with `HERE` to include from
