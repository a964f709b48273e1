"""A sensor and a robot that send packets of stated fields, which are not there.

Units: m, rad, N, N m, s.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dockdyn.realtime.devices.device import BadPacket, Command, Pose, Reading
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.emulated.sensor import SensorErrors, Three
from dockdyn.realtime.devices.raw_udp import RawUDP, RawUDPSettings


class EmulatedRawSensor:
    """The sensor: streams at its rate (readings/s) from the beginning; a saturated reading has the lowest status bit."""

    SATURATED = 1

    def __init__(self, settings: RawUDPSettings, errors: SensorErrors | None = None, rate: float = 1000.0) -> None:
        self.codec = RawUDP(settings)
        self.errors = errors or SensorErrors()
        self.rate = rate
        self._told = 0

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """It takes nothing."""
        return []

    def tick(self, time: float, force: Three, torque: Three) -> list[bytes]:
        """The reading that is due at a time, of the true force and torque."""
        if time < self._told / self.rate - 1e-9:
            return []
        self._told += 1
        told_force, told_torque = self.errors.measure(time, force, torque)
        status = self.SATURATED if self.errors.saturated else 0
        return [self.codec.encode_reading(Reading(told_force, told_torque, self._told, status))]


class EmulatedRawRobot:
    """The robot: sends its pose each cycle and takes any newer command in it; its status counts the late ones."""

    def __init__(self, settings: RawUDPSettings, cycle: CycleSettings, start: Pose) -> None:
        self.codec = RawUDP(settings)
        self.ignored: Counter[str] = Counter()
        self.cycle = MasterCycle(cycle, Command(start.position, start.rotation_vector))
        self._told = 0

    def reconnect(self, time: float, start: Pose) -> None:
        """Begin anew where the robot is; commands may count from any number."""
        if self.codec.sequence:
            self.codec.sequence.last = None
        self.cycle.restart(time, Command(start.position, start.rotation_vector))

    def tick(self, time: float, actual: Pose) -> list[bytes]:
        """The message of a cycle that begins, if one is due: where the robot is."""
        if not self.cycle.begin(time):
            return []
        self._told += 1
        return [self.codec.encode_pose(replace(actual, sequence=self._told, status=self.cycle.late))]

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take a command; bad, stale and those after a stop are counted by their names."""
        if self.cycle.stopped:
            self.ignored["stopped"] += 1
            return []
        try:
            command, _ = self.codec.decode_command(packet)
        except BadPacket as bad:
            self.ignored[bad.error.words] += 1
            return []
        self.cycle.answer(command)
        return []
