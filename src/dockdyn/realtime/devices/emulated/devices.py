"""What stands for a device of a rig, to those who let it speak: time is given, bytes come and go.

Units: N, N m, m, rad, s.
"""

from __future__ import annotations

from typing import Protocol

from dockdyn.realtime.devices.device import ToolPose
from dockdyn.realtime.devices.emulated.cycle import MasterCycle
from dockdyn.realtime.devices.emulated.queue import QueuedCycle
from dockdyn.realtime.devices.emulated.sensor import SensorErrors, Three


class EmulatedSensor(Protocol):
    """A sensor that is not there."""

    errors: SensorErrors
    rate: float  # 1/s

    @property
    def next(self) -> float: ...
    def fail(self, failed: bool) -> None: ...
    def stall(self, stalled: bool) -> None: ...
    def restart(self, time: float) -> None: ...
    def receive(self, time: float, packet: bytes) -> list[bytes]: ...
    def tick(self, time: float, force: Three, torque: Three, ahead: float = 0.0) -> list[bytes]: ...


class EmulatedRobot(Protocol):
    """A robot that is not there; its cycle has the newest command."""

    @property
    def cycle(self) -> MasterCycle | QueuedCycle: ...
    def fail(self, failed: bool) -> None: ...
    def stop(self, cause: str) -> None: ...
    def reconnect(self, time: float, start: ToolPose) -> None: ...
    def receive(self, time: float, packet: bytes) -> list[bytes]: ...
    def tick(self, time: float, actual: ToolPose) -> list[bytes]: ...
