"""Universal Robots: real-time data exchange (RTDE) over TCP, and the reverse interface for commands; both sides of both.

In C, `rtde.c` has what a cycle needs; versions and recipes are agreed on here. Sources: docs/devices.md.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from dockdyn.realtime.devices.device import (
    BadPacket,
    Codec,
    Command,
    Counts,
    PacketError,
    Pose,
    Reading,
    Sequence,
    check_range,
)

PORT = 30004
REVERSE_PORT = 50001
# types of a package
VERSION, SETUP_OUTPUTS, START, PAUSE, DATA = b"VOSPU"
OUTPUTS = {
    "timestamp": "DOUBLE",
    "actual_TCP_pose": "VECTOR6D",
    "actual_q": "VECTOR6D",
    "actual_TCP_force": "VECTOR6D",
    "robot_status_bits": "UINT32",
    "safety_status_bits": "UINT32",
}
# bits of a pose's status: the first two are what the robot does not tell to be so, those from 4 on are its safety bits
NOT_POWERED, NO_PROGRAM, UNSAFE = 1, 2, 0x7FC
PROTECTIVE_STOP, EMERGENCY_STOP = 1 << 2, 1 << 7
_HEAD = struct.Struct(">HB")
_CONTENT = struct.Struct(">d6d6d6dII")
_COMMAND = struct.Struct(">i6ii")
_PER_UNIT = 1e6  # of the numbers of commands: 1 µm, 1 µrad
_MODE_POSE = 5
_POWERED, _PROGRAM_RUNS, _NORMAL = 1, 2, 1


@dataclass(frozen=True)
class RTDESettings:
    """Version of the protocol, packages per second, ms without a command after which the robot stops, the recipe's number.

    The robot gives the number of a recipe, of which `RTDE` takes note; in C it is the setting. ValueError for what cannot be.
    """

    version: int = 2
    frequency: float = 500.0
    timeout: int = 20
    recipe: int = 1

    def __post_init__(self) -> None:
        if self.version not in (1, 2):
            raise ValueError(f"version must be 1 or 2, not {self.version}")
        if not 1 <= self.frequency <= 500:
            raise ValueError(f"frequency must be 1 to 500 Hz, not {self.frequency}")
        if not 0 < self.timeout < 2**31 or not 0 <= self.recipe < 256:
            raise ValueError(f"timeout must be positive, recipe a byte: {self}")


class RTDE(Codec):
    """Codec of packages and commands. TCP is a stream: `split_packages` finds the packages in it."""

    def __init__(self, settings: RTDESettings | None = None) -> None:
        self.settings = settings or RTDESettings()
        self.counts = Counts()
        self.recipe = self.settings.recipe
        self.forget()

    def forget(self) -> None:
        """Forget a connection: the next package is the first."""
        self.sequence = Sequence(64)

    def encode_requests(self) -> list[bytes]:
        """What a client sends after connecting, each after the answer to the one before: version, recipe, start."""
        frequency = struct.pack(">d", self.settings.frequency) if self.settings.version > 1 else b""
        recipe = frequency + ",".join(OUTPUTS).encode()
        version = struct.pack(">H", self.settings.version)
        return [write_package(VERSION, version), write_package(SETUP_OUTPUTS, recipe), write_package(START)]

    def decode_answer(self, packet: bytes) -> None:
        """Take the robot's answer to a request; BadPacket where it refuses, or has not what is asked for."""
        kind, content = open_package(packet)
        if kind == SETUP_OUTPUTS:
            number, types = (1, content) if self.settings.version == 1 else (content[0] if content else 0, content[1:])
            if number == 0 or types != ",".join(OUTPUTS.values()).encode():
                raise BadPacket(PacketError.MISSING_FIELD)
            self.recipe = number
        elif kind not in (VERSION, START, PAUSE):
            raise BadPacket(PacketError.WRONG_HEADER)
        elif content != b"\x01":
            raise BadPacket(PacketError.WRONG_HEADER if len(content) == 1 else PacketError.WRONG_LENGTH)

    def decode_data(self, packet: bytes) -> tuple[Pose, Reading]:
        """Where the robot is and the force at its tool; BadPacket for what is no package of the recipe."""
        head = self._head()
        try:
            if len(packet) != len(head) + _CONTENT.size or packet[:2] != head[:2]:
                raise BadPacket(PacketError.WRONG_LENGTH)
            if packet[2 : len(head)] != head[2:]:
                raise BadPacket(PacketError.WRONG_HEADER)
            time, *values, robot, safety = _CONTENT.unpack(packet[len(head) :])
            check_range((time, *values))
            if time < 0:
                raise BadPacket(PacketError.OUT_OF_RANGE)
            self.sequence.advance(round(time * self.settings.frequency), self.counts)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        status = NOT_POWERED * (not robot & _POWERED) | NO_PROGRAM * (not robot & _PROGRAM_RUNS) | safety & UNSAFE
        number = self.sequence.last or 0
        pose = Pose(tuple(values[:3]), tuple(values[3:6]), (*values[6:12], 0.0, 0.0), number, status)
        return pose, Reading(tuple(values[12:15]), tuple(values[15:18]), number, status)

    def encode_command(self, command: Command) -> bytes:
        """A command of the reverse interface, to 1 µm and 1 µrad; BadPacket for what does not fit into 32 bits."""
        try:
            units = [round(each * _PER_UNIT) for each in command.position + command.rotation_vector]
            return _COMMAND.pack(self.settings.timeout, *units, _MODE_POSE)
        except (ValueError, OverflowError, struct.error):
            raise BadPacket(PacketError.OUT_OF_RANGE) from None

    def decode_command(self, packet: bytes) -> tuple[Command, int]:
        """The robot's side: a command, and the ms without another after which it stops; BadPacket where it is none."""
        if len(packet) != _COMMAND.size:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        timeout, *units, mode = _COMMAND.unpack(packet)
        if mode != _MODE_POSE:
            raise self.counts.refuse(PacketError.WRONG_HEADER)
        if timeout < 0:
            raise self.counts.refuse(PacketError.OUT_OF_RANGE)
        self.counts.good += 1
        numbers = tuple(each / _PER_UNIT for each in units)
        return Command(numbers[:3], numbers[3:]), timeout

    def encode_data(self, time: float, pose: Pose, reading: Reading) -> bytes:
        """The robot's side: a package of the recipe."""
        check_range(pose.position + pose.rotation_vector + pose.joints[:6])
        robot = (0 if pose.status & NOT_POWERED else _POWERED) | (0 if pose.status & NO_PROGRAM else _PROGRAM_RUNS)
        values = (*pose.position, *pose.rotation_vector, *pose.joints[:6], *reading.force, *reading.torque)
        return self._head() + _CONTENT.pack(time, *values, robot, pose.status & UNSAFE or _NORMAL)

    def _head(self) -> bytes:
        recipe = b"" if self.settings.version == 1 else bytes([self.recipe])
        return _HEAD.pack(_HEAD.size + len(recipe) + _CONTENT.size, DATA) + recipe


def write_package(kind: int, content: bytes = b"") -> bytes:
    """A package: its size, its type, its content."""
    return _HEAD.pack(_HEAD.size + len(content), kind) + content


def open_package(packet: bytes) -> tuple[int, bytes]:
    """The type and the content of a whole package; BadPacket where it is none."""
    if len(packet) < _HEAD.size or int.from_bytes(packet[:2]) != len(packet):
        raise BadPacket(PacketError.WRONG_LENGTH)
    return packet[2], packet[_HEAD.size :]


def split_packages(stream: bytes) -> tuple[list[bytes], bytes]:
    """The whole packages that a stream begins with, and its rest; BadPacket for a stream that is none."""
    packages = []
    while size := find_package(stream):
        packages.append(stream[:size])
        stream = stream[size:]
    return packages, stream


def find_package(stream: bytes) -> int:
    """The size of the package that a stream begins with, zero where more must come; BadPacket for one that is none."""
    if len(stream) < 2:
        return 0
    size = int.from_bytes(stream[:2])
    if size < _HEAD.size:
        raise BadPacket(PacketError.WRONG_LENGTH)
    return size if size <= len(stream) else 0
