"""A robot of Universal Robots that is not there: RTDE on one connection, commands of the reverse interface on another.

Units: m, rad, N, N m, s.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import replace

from dockdyn.realtime.devices.device import BadPacket, Command, Pose, Reading
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.rtde import (
    EMERGENCY_STOP,
    NOT_POWERED,
    OUTPUTS,
    PAUSE,
    PROTECTIVE_STOP,
    RTDE,
    SETUP_OUTPUTS,
    START,
    VERSION,
    RTDESettings,
    open_package,
    split_packages,
    write_package,
)

_COMMAND_SIZE = 32
_OLD_RATE = 125.0  # Hz, of version 1
_UNLIMITED = 2**62


class EmulatedUR:
    """The robot: agrees on a version up to `newest` and on recipes, then tells where it is at the rate asked for.

    It goes where the last command says, and comes to a protective stop when the time that a command states passes without
    another. A stopped robot goes on telling where it is, with the bits of its safety.
    """

    def __init__(self, start: Pose, newest: int = 2, applies_after: int = 1) -> None:
        self.newest = newest
        self.ignored: Counter[str] = Counter()
        self.status = 0
        self._applies_after = applies_after
        self._begin(0.0, start)

    def reconnect(self, time: float, start: Pose) -> None:
        """Wait for both connections anew where the robot is, without a stop."""
        self.status = 0
        self._begin(time, start)

    def _begin(self, time: float, start: Pose) -> None:
        self.codec = RTDE(RTDESettings(version=1, frequency=_OLD_RATE))
        self.started = self._agreed = False
        self._requests = self._commands = b""
        self._deadline, self._next = float("inf"), time
        self.cycle = MasterCycle(
            CycleSettings(1 / _OLD_RATE, _UNLIMITED, False, self._applies_after),
            Command(start.position, start.rotation_vector),
        )
        self.cycle.restart(time, self.cycle.setpoint, waiting=True)

    def stop(self, cause: str, bit: int = EMERGENCY_STOP) -> None:
        """Stop where the robot is, and set a bit of its safety."""
        if not self.cycle.stopped:
            self.status |= bit
        self.cycle.stop(cause)

    def receive(self, time: float, stream: bytes) -> list[bytes]:
        """Take bytes of RTDE and answer the requests in them; a stream that is none ends it."""
        try:
            packages, self._requests = split_packages(self._requests + stream)
            return [answer for each in packages for answer in self._answer(time, *open_package(each))]
        except BadPacket as bad:
            self.ignored[bad.error.words] += 1
            self.started, self._requests = False, b""
            return []

    def receive_commands(self, time: float, stream: bytes) -> None:
        """Take bytes of the reverse interface."""
        self._commands += stream
        while len(self._commands) >= _COMMAND_SIZE:
            packet, self._commands = self._commands[:_COMMAND_SIZE], self._commands[_COMMAND_SIZE:]
            if self.cycle.stopped:
                self.ignored["stopped"] += 1
                continue
            try:
                command, timeout = self.codec.decode_command(packet)
            except BadPacket as bad:
                self.ignored[bad.error.words] += 1
                continue
            self._deadline = time + 1e-3 * timeout
            self.cycle.answer(command)

    def tick(self, time: float, actual: Pose, reading: Reading) -> list[bytes]:
        """The package that is due at a time: where the robot is, and the force at its tool."""
        if time > self._deadline:
            self.stop("no commands", PROTECTIVE_STOP)
        self.cycle.begin(time)
        if time < self._next - 1e-9:
            return []
        self._next += self.cycle.settings.period
        return self.started * [self.codec.encode_data(time, replace(actual, status=self.status), reading)]

    def _answer(self, time: float, kind: int, content: bytes) -> list[bytes]:
        if kind == VERSION and len(content) == 2:
            version = int.from_bytes(content)
            taken = 1 <= version <= self.newest
            if taken:
                self.codec = RTDE(RTDESettings(version=version, frequency=_OLD_RATE))
            return [write_package(VERSION, bytes([taken]))]
        if kind == SETUP_OUTPUTS:
            return [write_package(SETUP_OUTPUTS, self._set_up(time, content))]
        if kind in (START, PAUSE):
            self.started = kind == START and self._agreed
            return [write_package(kind, bytes([kind == PAUSE or self._agreed]))]
        self.ignored["wrong-header"] += 1
        return []

    def _set_up(self, time: float, content: bytes) -> bytes:
        version, frequency = self.codec.settings.version, _OLD_RATE
        if version > 1 and len(content) > 8:
            (frequency,), content = struct.unpack(">d", content[:8]), content[8:]
        types = [OUTPUTS.get(name, "NOT_FOUND") for name in content.decode("ascii", "replace").split(",")]
        self._agreed = types == list(OUTPUTS.values()) and 1 <= frequency <= 500
        if self._agreed:
            self.codec = RTDE(RTDESettings(version=version, frequency=frequency))
            self.cycle = MasterCycle(replace(self.cycle.settings, period=1 / frequency), self.cycle.setpoint)
            self.cycle.restart(time, self.cycle.setpoint, waiting=True)
            self._next = time
        return (b"" if version == 1 else bytes([self._agreed])) + ",".join(types).encode()


class URInPackets:
    """The robot as others are: it says where it is in packets, and takes commands; with a force of zero at its tool.

    Its requests are those of `robot`, which `settings` agree with at once where there is no connection that does.
    """

    def __init__(self, start: Pose, settings: RTDESettings | None = None) -> None:
        self.robot, self.settings = EmulatedUR(start), settings
        self._agree(0.0)

    def _agree(self, time: float) -> None:
        if self.settings is not None:
            client = RTDE(self.settings)
            for request in client.encode_requests():
                for answer in self.robot.receive(time, request):
                    client.decode_answer(answer)

    @property
    def cycle(self) -> MasterCycle:
        """Its cycle, a new one with each agreement."""
        return self.robot.cycle

    @property
    def ignored(self) -> Counter[str]:
        """What it did not take, by the reason."""
        return self.robot.ignored

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that its power is off."""
        self.robot.status = NOT_POWERED if failed else 0

    def stop(self, cause: str) -> None:
        """Stop where the robot is, and say so."""
        self.robot.stop(cause)

    def reconnect(self, time: float, start: Pose) -> None:
        """Begin anew where the robot is."""
        self.robot.reconnect(time, start)
        self._agree(time)

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take bytes of commands."""
        self.robot.receive_commands(time, packet)
        return []

    def tick(self, time: float, actual: Pose) -> list[bytes]:
        """The package that is due at a time: where the robot is."""
        return self.robot.tick(time, actual, Reading())
