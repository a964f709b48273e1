"""FANUC Stream Motion (J519): packets of fixed fields over UDP, the codec of both sides. In C it is `fanuc.c`.

Positions in mm and W, P, R in degrees are singles: 24 bits, so that 2 m are told to 0.06 µm. Sources: docs/devices.md.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from dockdyn.realtime.devices.decimals import DEGREE
from dockdyn.realtime.devices.device import BadPacket, Codec, Command, Counts, PacketError, Pose, Sequence, check_range
from dockdyn.realtime.devices.rotations import (
    Numbers,
    angles_of_quaternion,
    quaternion_of_angles,
    quaternion_of_vector,
    vector_of_quaternion,
)

PORT = 60015
_HEAD = struct.Struct(">II")  # type, version
REQUEST_SIZE = _HEAD.size
_STATUS = struct.Struct(">IIIBBHHHI9f9f9f")  # sequence, state, an I/O, time, frame, joints, currents
_COMMAND = struct.Struct(">IIIBBHHBBHHHH9f")  # sequence, last, an I/O read, style, an I/O written, unused, frame
_OF_STATUS, _OF_COMMAND, _CARTESIAN = 0, 1, 0
_WAITING, _SYSTEM_READY = 1, 4
_NONE = (0.0,) * 9
# bits of a pose's status: what the robot does not tell to be so
NOT_WAITING, NOT_READY = 1, 2


class FanucRequest(IntEnum):
    """What starts and ends the robot's messages."""

    START = 0
    STOP = 2


@dataclass(frozen=True)
class FanucSettings:
    """The version of the protocol that both sides name; ValueError for none of those with these packets."""

    version: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.version <= 3:
            raise ValueError(f"version must be 1 to 3, not {self.version}")


class Fanuc(Codec):
    """Codec of a robot's messages and of the commands to it."""

    def __init__(self, settings: FanucSettings | None = None) -> None:
        self.settings = settings or FanucSettings()
        self.counts = Counts()
        self.forget()

    def forget(self) -> None:
        """Forget a connection: the next packet is the first."""
        self.sequence = Sequence(32)
        self._command: int | None = None

    def encode_request(self, request: int) -> bytes:
        """Ask for messages, which begins a connection, or for their end."""
        if request == FanucRequest.START:
            self.forget()
        return _HEAD.pack(request, self.settings.version)

    def decode_robot(self, packet: bytes) -> Pose:
        """Where the robot is; BadPacket for what is no message of it."""
        try:
            fields = self._unpack(_STATUS, _OF_STATUS, packet)
            joints = tuple(each * DEGREE for each in fields[18:26])
            position, rotation = _read_frame(fields[9:15])
            check_range(joints)
            self.sequence.advance(fields[2], self.counts)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        status = NOT_WAITING * (not fields[3] & _WAITING) | NOT_READY * (not fields[3] & _SYSTEM_READY)
        return Pose(position, rotation, joints, self.sequence.last or 0, status)

    def encode_command(self, command: Command, last: bool = False) -> bytes:
        """A command: the first with the sequence of the message before, each further one with the next."""
        if self.sequence.last is None:
            raise BadPacket(PacketError.MISSING_FIELD)
        frame = _frame(command.position, command.rotation_vector)
        sequence = (self.sequence.last if self._command is None else self._command) % 2**32
        self._command = sequence + 1
        head = (_OF_COMMAND, self.settings.version, sequence, last)
        return _COMMAND.pack(*head, 0, 0, 0, _CARTESIAN, 0, 0, 0, 0, 0, *frame, 0.0, 0.0, 0.0)

    def decode_request(self, packet: bytes) -> FanucRequest:
        """The robot's side: a request; BadPacket where it is none."""
        if len(packet) != _HEAD.size:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        type, version = _HEAD.unpack(packet)
        if type not in tuple(FanucRequest) or version != self.settings.version:
            raise self.counts.refuse(PacketError.WRONG_HEADER)
        self.counts.good += 1
        return FanucRequest(type)

    def decode_command(self, packet: bytes) -> tuple[Command, int]:
        """The robot's side: a command, and whether it is the last; BadPacket where it is none, or in joints."""
        try:
            fields = self._unpack(_COMMAND, _OF_COMMAND, packet)
            if fields[7] != _CARTESIAN:
                raise BadPacket(PacketError.WRONG_HEADER)
            command = Command(*_read_frame(fields[13:19]))
            self.sequence.advance(fields[2], self.counts)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return command, fields[3]

    def encode_robot(self, pose: Pose, milliseconds: int = 0) -> bytes:
        """The robot's side; motor currents and the ninth axis are zero."""
        check_range(pose.joints)
        frame = _frame(pose.position, pose.rotation_vector)
        joints = tuple(each / DEGREE for each in pose.joints)
        state = (0 if pose.status & NOT_WAITING else _WAITING) | (0 if pose.status & NOT_READY else _SYSTEM_READY)
        head = (_OF_STATUS, self.settings.version, pose.sequence % 2**32, state, 0, 0, 0, 0, milliseconds % 2**32)
        return _STATUS.pack(*head, *frame, 0.0, 0.0, 0.0, *joints, 0.0, *_NONE)

    def _unpack(self, layout: struct.Struct, type: int, packet: bytes) -> tuple:
        if len(packet) != layout.size:
            raise BadPacket(PacketError.WRONG_LENGTH)
        fields = layout.unpack(packet)
        if fields[:2] != (type, self.settings.version):
            raise BadPacket(PacketError.WRONG_HEADER)
        return fields


def _read_frame(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Position and rotation vector of X Y Z in mm and W P R in degrees: R about z, then P about y', then W about x''."""
    position = tuple(each / 1000.0 for each in numbers[:3])
    angles = tuple(each * DEGREE for each in reversed(numbers[3:]))
    check_range(position)
    check_range(angles)
    return position, vector_of_quaternion(quaternion_of_angles(angles))


def _frame(position: Numbers, rotation_vector: Numbers) -> Numbers:
    check_range(position + rotation_vector)
    angles = angles_of_quaternion(quaternion_of_vector(rotation_vector))
    return tuple(each * 1000.0 for each in position) + tuple(each / DEGREE for each in reversed(angles))
