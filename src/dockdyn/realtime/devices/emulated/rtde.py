"""A robot of Universal Robots that is not there: RTDE on one connection, commands of the reverse interface on another.

Units: m, rad, N, N m, s.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import replace

from dockdyn.realtime.devices.device import BadPacket, Reading, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.emulated.motion import ToolStep
from dockdyn.realtime.devices.rtde import (
    E_SERIES,
    EMERGENCY_STOP,
    NO_PROGRAM,
    NOT_POWERED,
    OLD_RATE,
    OUTPUTS,
    PAUSE,
    RTDE,
    SETUP_OUTPUTS,
    START,
    VERSION,
    RTDESettings,
    URBehaviour,
    open_package,
    split_packages,
    write_package,
    write_text,
)

_COMMAND_SIZE = 32
_UNLIMITED = 2**62


class EmulatedUR:
    """The robot: agrees on a version and on recipes, then tells where it is, each ⌊rate/frequency⌋ of its cycles.

    It goes where the last command says. A stopped robot goes on telling where it is, with the bits of its safety, or that no
    program runs. Its joints are not emulated: the tool's speed over the lever, and its angular velocity, stand for theirs.
    """

    def __init__(self, start: ToolPose, behaviour: URBehaviour | None = None, rate: int = E_SERIES) -> None:
        self.behaviour, self.rate = behaviour or URBehaviour(), rate
        self.ignored: Counter[str] = Counter()
        self.status = 0
        self._begin(0.0, start)

    def reconnect(self, time: float, start: ToolPose) -> None:
        """Wait for the connections anew where the robot is, without a stop."""
        self.status = 0
        self._begin(time, start)

    def _begin(self, time: float, start: ToolPose) -> None:
        self.codec = RTDE(self._settings(1, OLD_RATE))
        self.started = self._agreed = False
        self._requests = self._commands = b""
        self._deadline, self._next_text = float("inf"), time + self.behaviour.text_period
        self._last = self._actual = ToolCommand(start.position, start.rotation_vector)
        self._step = ToolStep()  # of the last cycle
        self._stopping = False
        self._set_period(time, 1 / OLD_RATE)

    def _set_period(self, time: float, period: float) -> None:
        settings = CycleSettings(period, _UNLIMITED, False, self.behaviour.applies_after)
        self.cycle = MasterCycle(settings, self._last)
        self.cycle.restart(time, self._last, waiting=True)
        self._next = time

    def stop(self, cause: str, bit: int = EMERGENCY_STOP) -> None:
        """Stop where the robot is, and set a bit of its status."""
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
            if self.cycle.stopped or self._stopping:
                self.ignored["stopped"] += 1
                continue
            try:
                command, timeout = self.codec.decode_command(packet)
            except BadPacket as bad:
                self.ignored[bad.error.words] += 1
                continue
            self._deadline = time + 1e-3 * timeout if timeout else float("inf")  # zero: without end
            if not (self._is_reachable(self._last, command) or self._is_reachable(self._actual, command)):
                self.ignored["joint speed"] += 1
                command = self._last  # it neither follows nor goes on by itself
            self.cycle.answer(command)

    def _is_reachable(self, place: ToolCommand, target: ToolCommand) -> bool:
        """Return whether no joint would be too fast from a place to a target within a cycle of the controller."""
        length, angle = ToolStep.between(place, target).sizes
        return max(length / self.behaviour.lever, angle) * self.rate <= self.behaviour.ignored_speed

    def tick(self, time: float, actual: ToolPose, reading: Reading) -> list[bytes]:
        """Return the packages that are due at a time: where the robot is, and the force at its tool; now and then a text."""
        self._actual = ToolCommand(actual.position, actual.rotation_vector)
        if time > self._deadline and not self.cycle.stopped:
            self._stopping = True
        if self.cycle.begin(time):
            self._go_on()
        if time < self._next - 1e-9:
            return []
        self._next += self.cycle.settings.period
        if not self.started:
            return []
        packages = [self.codec.encode_data(time, replace(actual, status=self.status), reading)]
        if time >= self._next_text:
            self._next_text += self.behaviour.text_period
            packages.insert(0, write_text(self.codec.settings.version, "a text by itself"))
        return packages

    def _go_on(self) -> None:
        """Note what the cycle before was, and where this one leads without a command."""
        self.cycle.unanswered = None
        newest = self.cycle.wanted
        self._step, self._last = ToolStep.between(self._last, newest), newest
        if self._stopping:
            self._slow_down()
        elif self.behaviour.extrapolates and not self.cycle.waiting:
            self.cycle.unanswered = self._step.from_pose(newest)

    def _slow_down(self) -> None:
        period = self.cycle.settings.period
        length, angle = self._step.sizes
        speed, slower = max(length / self.behaviour.lever, angle) / period, self.behaviour.stopping * period
        if speed <= slower:
            self.stop("no commands", NO_PROGRAM)
        else:
            self.cycle.unanswered = self._step.scaled(1 - slower / speed).from_pose(self._last)

    def _answer(self, time: float, kind: int, content: bytes) -> list[bytes]:
        if kind == VERSION and len(content) == 2:
            version = int.from_bytes(content)
            taken = 1 <= version <= self.behaviour.newest_version
            if taken:
                self.codec = RTDE(self._settings(version, OLD_RATE))
            return [write_package(VERSION, bytes([taken]))]
        if kind == SETUP_OUTPUTS:
            return [write_package(SETUP_OUTPUTS, self._set_up(time, content))]
        if kind in (START, PAUSE):
            self.started = kind == START and self._agreed
            return [write_package(kind, bytes([kind == PAUSE or self._agreed]))]
        self.ignored["wrong-header"] += 1
        return []

    def _settings(self, version: int, frequency: float) -> RTDESettings:
        return RTDESettings(version, max(int(self.rate / frequency), 1), rate=self.rate)

    def _set_up(self, time: float, content: bytes) -> bytes:
        version, frequency = self.codec.settings.version, float(OLD_RATE)
        if version > 1 and len(content) > 8:
            (frequency,), content = struct.unpack(">d", content[:8]), content[8:]
        types = [OUTPUTS.get(name, "NOT_FOUND") for name in content.decode("ascii", "replace").split(",")]
        self._agreed = types == list(OUTPUTS.values()) and 1 <= frequency <= self.rate
        if self._agreed:
            self.codec = RTDE(self._settings(version, frequency))
            self._set_period(time, self.codec.settings.cycles / self.rate)
        return (b"" if version == 1 else bytes([self._agreed])) + ",".join(types).encode()


class URInPackets:
    """The robot as others are: it says where it is in packets, and takes commands; with a force of zero at its tool.

    Its requests are those of `robot`, which `settings` agree with at once where there is no connection that does.
    """

    def __init__(
        self,
        start: ToolPose,
        settings: RTDESettings,
        behaviour: URBehaviour | None = None,
        connected: bool = False,
    ) -> None:
        self.robot = EmulatedUR(start, behaviour, settings.rate)
        self.settings = None if connected else settings
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
        """Return the counts of what it did not take, by the reason."""
        return self.robot.ignored

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that its power is off."""
        self.robot.status = NOT_POWERED if failed else 0

    def stop(self, cause: str) -> None:
        """Stop where the robot is, and say so."""
        self.robot.stop(cause)

    def reconnect(self, time: float, start: ToolPose) -> None:
        """Begin anew where the robot is."""
        self.robot.reconnect(time, start)
        self._agree(time)

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take bytes of commands."""
        self.robot.receive_commands(time, packet)
        return []

    def tick(self, time: float, actual: ToolPose) -> list[bytes]:
        """Return the package that is due at a time: where the robot is."""
        return self.robot.tick(time, actual, Reading())
