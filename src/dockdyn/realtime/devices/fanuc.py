"""FANUC Stream Motion (J519): packets of fixed fields over UDP, the codec of both sides. In C it is `fanuc.c`.

Positions in mm and W, P, R in degrees are singles: 24 bits, so that 2 m are told to 0.06 µm. Sources: docs/devices.md.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dockdyn.parameters import parameter
from dockdyn.realtime.devices.decimals import DEGREE
from dockdyn.realtime.devices.device import BadPacket, Counts, PacketError, Sequence, ToolCommand, ToolPose, check_range
from dockdyn.realtime.devices.roles import Keys, Port, Robot
from dockdyn.realtime.devices.rotations import (
    Numbers,
    angles_of_quaternion,
    quaternion_of_angles,
    quaternion_of_vector,
    vector_of_quaternion,
)
from dockdyn.records import record
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.realtime.devices.emulated.fanuc import EmulatedFanuc

PORT = 60015
CYCLES = (2, 4, 8)  # ms, of the controllers
STACK = 10  # commands that a controller keeps at most ($STMO.$PKT_STACK)
GRACE = STACK  # messages in which a robot that is told to move may not wait for commands: its filter and queue lag
_HEAD = struct.Struct(">II")  # type, version
_CAPABILITY = struct.Struct(">7I")  # type, version, number, cycle in ms, buffered before a start, version, tool
REQUEST_SIZES = (_HEAD.size, _CAPABILITY.size)
_STATUS = struct.Struct(">IIIBBHHHI9f9f9f")  # sequence, state, an I/O, time, frame, joints, currents
_COMMAND_HEAD, _TARGET = struct.Struct(">IIIBBHHBBHHHH"), struct.Struct(">9f")
_COMMAND = struct.Struct(">IIIBBHHBBHHHH9f")  # sequence, last, an I/O read, style, an I/O written, unused, frame
_OF_STATUS, _OF_COMMAND, _CARTESIAN = 0, 1, 0
WAITING, RECEIVED, SYSTEM_READY, MOVING = 1, 2, 4, 8  # bits of the state
_NONE = (0.0,) * 9
_WHOLE = 2**32
# bits of a pose's status: what the robot does not tell to be so
NOT_WAITING, NOT_READY = 1, 2


class FanucRequest(IntEnum):
    """What starts and ends the robot's messages, and what asks for its version and its cycle."""

    START = 0
    STOP = 2
    VERSION = 6
    CAPABILITY = 7


_SHORT = (FanucRequest.START, FanucRequest.STOP, FanucRequest.VERSION)
# what is asked in each version of the protocol: older software has no answer to the others
_REQUESTS = {
    1: (FanucRequest.START,),
    2: (FanucRequest.VERSION, FanucRequest.START),
    3: (FanucRequest.VERSION, FanucRequest.CAPABILITY, FanucRequest.START),
}


@record
class FanucSettings:
    """Version of the protocol, cycle in ms that the robot must have (0: any), commands that are sent in advance.

    ValueError for what cannot be.
    """

    version: int = 1
    cycle: int = 0
    lead: int = 0

    def __post_init__(self) -> None:
        if self.version not in _REQUESTS:
            raise ValueError(f"version must be 1 to 3, not {self.version}")
        if self.cycle not in (0, *CYCLES):
            raise ValueError(f"cycle must be 2, 4 or 8 ms, not {self.cycle}")
        if not 0 <= self.lead <= STACK - 2:
            raise ValueError(f"lead must be 0 to {STACK - 2}, not {self.lead}")


class Fanuc:
    """Codec of a robot's messages and of the commands to it."""

    def __init__(self, settings: FanucSettings | None = None) -> None:
        self.settings = settings or FanucSettings()
        self.counts = Counts()
        self._asked = self._blocked = 0
        self.forget()

    def forget(self) -> None:
        """Forget a connection: the next packet is the first."""
        self.sequence = Sequence(32)
        self._time = self._low = 0
        self._extended = (0.0, 0.0, 0.0)
        self._command: int | None = None
        self._target = b""
        self._moved = False

    def encode_request(self, request: int) -> bytes:
        """Ask for messages, which begins a connection, for their end, or for what the robot can."""
        if request == FanucRequest.START:
            self.forget()
        if request == FanucRequest.CAPABILITY:
            return _CAPABILITY.pack(request, self.settings.version, 1, 0, 0, 0, 0)
        return _HEAD.pack(request, self.settings.version)

    def encode_next_request(self) -> bytes:
        """Return what is to be asked next, in turn; no bytes in place of a start that the robot's answers forbid."""
        requests = _REQUESTS[self.settings.version]
        request = requests[self._asked % len(requests)]
        self._asked += 1
        return b"" if request == FanucRequest.START and self._blocked else self.encode_request(request)

    def decode_robot(self, packet: bytes) -> ToolPose:
        """Return where the robot is; BadPacket for what is no message of it, an answer too."""
        try:
            self._read_answer(packet)
            pose = self._read_status(packet)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return pose

    def _read_answer(self, packet: bytes) -> None:
        """Look whether the robot has the version and the cycle. BadPacket for an answer, by what it says."""
        if len(packet) < _HEAD.size:
            return
        type, version = _HEAD.unpack_from(packet)
        if type == FanucRequest.VERSION:
            self._note_answer(FanucRequest.VERSION, version >= self.settings.version, PacketError.WRONG_HEADER)
        if type == FanucRequest.CAPABILITY and len(packet) == _CAPABILITY.size:
            cycle = _CAPABILITY.unpack(packet)[3]
            self._note_answer(FanucRequest.CAPABILITY, self.settings.cycle in (0, cycle), PacketError.OUT_OF_RANGE)

    def _note_answer(self, request: FanucRequest, good: bool, error: PacketError) -> None:
        bit = 1 << request
        self._blocked = self._blocked & ~bit | (0 if good else bit)
        raise BadPacket(PacketError.OTHER_MESSAGE if good else error)

    def _read_status(self, packet: bytes) -> ToolPose:
        if len(packet) != _STATUS.size:
            raise BadPacket(PacketError.WRONG_LENGTH)
        fields = _STATUS.unpack(packet)
        if fields[0] != _OF_STATUS or fields[1] not in _REQUESTS:
            raise BadPacket(PacketError.WRONG_HEADER)
        position, rotation = _read_frame(fields[9:15])
        joints = tuple(each * DEGREE for each in fields[18:26])
        check_range(joints)
        check_range(fields[15:18])
        self._check_time(fields[2], fields[8])
        self.sequence.advance(fields[2], self.counts)
        self._time = fields[8]
        if self._command is None:
            self._extended = fields[15:18]
        status = NOT_WAITING * self._waits_no_more(fields[3]) | NOT_READY * (not fields[3] & SYSTEM_READY)
        return ToolPose(position, rotation, joints, self.sequence.last or 0, status)

    def _check_time(self, number: int, time: int) -> None:
        """Refuse a message whose time stamp is not as many cycles after the one before as its sequence says."""
        if self.sequence.last is None or not self.settings.cycle:
            return
        step = (number - self.sequence.last) % _WHOLE
        expected = step * self.settings.cycle
        if step < _WHOLE // 2 and 2 * abs((time - self._time) % _WHOLE - expected) >= expected > 0:
            raise BadPacket(PacketError.OUT_OF_RANGE)

    def _waits_no_more(self, state: int) -> bool:
        """Return whether the robot does not take commands. At rest it may say so: that counts only while it is told to move."""
        if state & WAITING or (self._command is not None and not self._moved):
            self._low = 0
            return False
        self._low += 1
        return self._command is None or self._low > GRACE

    def encode_fill(self, command: ToolCommand) -> bytes:
        """Return a command that must go out before the one that is wanted: the last one again, in place of one that was missed.

        Before the first one, so many as shall be ahead. No bytes where none is left.
        """
        if self.sequence.last is None:
            return b""
        now = self.sequence.last if self._command is None else self._command
        missing = (self.sequence.last + self.settings.lead - now) % _WHOLE
        if not 0 < missing < _WHOLE // 2:
            return b""
        target = self._target or self._target_of(command)
        self._command = now + max(missing - (STACK - 1), 0)
        return self._pack(target, False)

    def encode_command(self, command: ToolCommand, last: bool = False) -> bytes:
        """Return a command: the first with the sequence of the message before, each further one with the next."""
        if self.sequence.last is None:
            raise BadPacket(PacketError.MISSING_FIELD)
        target = self._target_of(command)
        if self._command is None:
            self._command = self.sequence.last
        return self._pack(target, last)

    def _target_of(self, command: ToolCommand) -> bytes:
        """Return the nine numbers of a command; extended axes stay where they were before the first one."""
        return _TARGET.pack(*_frame_numbers(command.position, command.rotation_vector), *self._extended)

    def _pack(self, target: bytes, last: bool) -> bytes:
        assert self._command is not None
        sequence = self._command % _WHOLE
        self._moved = self._target not in (b"", target)
        self._command, self._target = sequence + 1, target
        head = (_OF_COMMAND, self.settings.version, sequence, last)
        return _COMMAND_HEAD.pack(*head, 0, 0, 0, _CARTESIAN, 0, 0, 0, 0, 0) + target

    def decode_request(self, packet: bytes) -> FanucRequest:
        """Return the robot's side: a request; BadPacket where it is none."""
        if len(packet) not in REQUEST_SIZES:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        type, version = _HEAD.unpack_from(packet)
        right = type == FanucRequest.CAPABILITY if len(packet) > _HEAD.size else type in _SHORT
        if not right or version != self.settings.version:
            raise self.counts.refuse(PacketError.WRONG_HEADER)
        self.counts.good += 1
        return FanucRequest(type)

    def decode_command(self, packet: bytes) -> tuple[ToolCommand, int]:
        """Return the robot's side: a command, and whether it is the last; BadPacket where it is none, or in joints."""
        try:
            fields = self._unpack(_COMMAND, _OF_COMMAND, packet)
            if fields[7] != _CARTESIAN:
                raise BadPacket(PacketError.WRONG_HEADER)
            command = ToolCommand(*_read_frame(fields[13:19]))
            self.sequence.advance(fields[2], self.counts)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return command, fields[3]

    def encode_robot(
        self, pose: ToolPose, milliseconds: int = 0, state: int | None = None, extended: Numbers = (0.0, 0.0, 0.0)
    ) -> bytes:
        """Return the robot's side; motor currents and the ninth axis are zero. Its state is that of the pose unless it is
        given."""
        check_range(pose.joints)
        frame = _frame_numbers(pose.position, pose.rotation_vector)
        joints = tuple(each / DEGREE for each in pose.joints)
        if state is None:
            state = (0 if pose.status & NOT_WAITING else WAITING) | (0 if pose.status & NOT_READY else SYSTEM_READY)
        head = (_OF_STATUS, self.settings.version, pose.sequence % _WHOLE, state, 0, 0, 0, 0, milliseconds % _WHOLE)
        return _STATUS.pack(*head, *frame, *extended, *joints, 0.0, *_NONE)

    def encode_answer(self, request: FanucRequest, version: int, cycle: int) -> bytes:
        """Return the robot's side: the highest version that it has, or its cycle (ms)."""
        if request == FanucRequest.VERSION:
            return _HEAD.pack(request, version)
        return _CAPABILITY.pack(request, self.settings.version, 1, cycle, 1, version, 1)

    def _unpack(self, layout: struct.Struct, type: int, packet: bytes) -> tuple:
        if len(packet) != layout.size:
            raise BadPacket(PacketError.WRONG_LENGTH)
        fields = layout.unpack(packet)
        if fields[:2] != (type, self.settings.version):
            raise BadPacket(PacketError.WRONG_HEADER)
        return fields


def stop_distance(speed: float, settings: FanucSettings, period: float, coast: float = 0.0) -> float:
    """Return how far (m) the tool goes on at a `speed` (m/s) once commands fail, until its queue is empty and it stops.

    It has the command of a cycle (`period`, s) and those in advance, and goes on for the `coast` (s) of its controller. How far
    the stop itself takes it is told by nobody and comes on top.
    """
    return speed * ((settings.lead + 1) * period + coast)


def _read_frame(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the position and rotation vector of X Y Z in mm and W P R in degrees: R about z, then P about y', then W about
    x''."""
    position = tuple(each / 1000.0 for each in numbers[:3])
    angles = tuple(each * DEGREE for each in reversed(numbers[3:]))
    check_range(position)
    check_range(angles)
    return position, vector_of_quaternion(quaternion_of_angles(angles))


def _frame_numbers(position: Numbers, rotation_vector: Numbers) -> Numbers:
    check_range(position + rotation_vector)
    angles = angles_of_quaternion(quaternion_of_vector(rotation_vector))
    return tuple(each * 1000.0 for each in position) + tuple(each / DEGREE for each in reversed(angles))


Three: Any = Annotated[list[quantity("", "a number", component=True)], Field(min_length=3, max_length=3)]  # type: ignore[misc]
NOT_MOVED = [0.0, 0.0, 0.0]


class FanucBehaviour(Keys):
    """What a robot of FANUC does; the defaults are those of the sources, of several the stricter one.

    `packet_stack` is its $PKT_STACK, `start_move` its $START_MOVE; an empty queue stops it after a `coast`. Where it
    `refills`, a number that was left out counts as a repetition of the command before. Its software knows versions up to
    `newest_version`; 0: it has no answer to that question. It tells that it waits for commands only while it moves, unless
    `waits_at_rest`, and goes on telling when it has stopped, unless it is `silent_when_stopped`. Its `extended` axes are
    there (mm or degrees).
    """

    kind: Literal["fanuc-stream-motion"] = "fanuc-stream-motion"
    packet_stack: Annotated[int, Field(ge=2, le=STACK)] = STACK
    start_move: Annotated[int, Field(ge=1, le=STACK)] = 1
    coast: float = parameter("s", "a time", default=0.0, least=0)
    refills: bool = False
    newest_version: Annotated[int, Field(ge=0, le=3)] = 3
    waits_at_rest: bool = False
    silent_when_stopped: bool = False
    extended: Three = NOT_MOVED

    @model_validator(mode="after")
    def a_queue_that_can_begin(self) -> Self:
        if self.start_move > self.packet_stack:
            refuse(
                f"start_move: {self.start_move}: must be at most packet_stack, {self.packet_stack}, or no motion begins"
            )
        return self


class FanucRobot(Robot):
    """A robot of FANUC with Stream Motion: where it is asked, the protocol's version, how many commands are sent in advance."""

    struct = "fanuc"
    Emulated = FanucBehaviour
    asked = True
    controller_settings = (
        (
            "a program at IBGN start[…], in AUTO, override 100 %, $PARAM_GROUP[1].$SV_OFF_ENB FALSE, no resume offset",
            "only then the controller takes commands; else it raises MOTN-615, MOTN-623 or stays silent",
        ),
        (
            "UFRAME 0, and UTOOL of the mock-up told by the status too (capability rob_status_use_tcp 1, or UTOOL of zeros)",
            "the status may be of the face plate while commands are of the tool: the first command would jump by the tool",
        ),
        (
            "$STMO.$COM_INT equal to the cycle of the rig",
            "else the rig moves faster or slower than it computes; dockdyn stops where the time stamps say so",
        ),
        (
            "$STMO.$PKT_STACK at least two above `lead`, $STMO.$START_MOVE at most one above it",
            "the queue must hold what is sent in advance; an empty queue is MOTN-603 and stops the robot",
        ),
        (
            "the limits $STMO_GRP[1].$JNT_VEL_LIM, $JNT_ACC_LIM and $JNT_JRK_LIM above those of the rig",
            "a step beyond them stops the robot (MOTN-720 to 722); the filter $FLTR_LN delays the path",
        ),
        (
            "extended axes of group 1 free to stay where they are",
            "dockdyn sends them where they were before its first command",
        ),
    )
    unconfirmed = (
        "what the controller does with a sequence number that is left out; dockdyn fills each with the last command",
        "how long a robot goes on without commands: by the alarm MOTN-603 not at all; 71 to 121 ms at its last speed as one"
        " author measured with newer packets",
        "whether the bit that says that it waits for commands comes back by itself after a rest",
        "how the status bits 4 to 7 tell the cycle: dockdyn compares the time stamps",
        "whether a robot that has stopped goes on telling its status in these packets, as two authors saw",
        "the layout of the answer to a request for the version, of which one author reads the head alone",
    )

    kind: Literal["fanuc-stream-motion"]
    port: Port = PORT
    version: Annotated[int, Field(ge=1, le=3)] = 1
    lead: Annotated[int, Field(ge=0, le=STACK - 2)] = 0

    def settings(self, period: float) -> FanucSettings:
        milliseconds = round(1000 * period)
        if milliseconds not in CYCLES or abs(period - milliseconds / 1000) > 1e-9:
            raise ValueError(
                f"a cycle of {period:g} s: must be 2, 4 or 8 ms, that of the robot's controller ($STMO.$COM_INT)"
            )
        return FanucSettings(self.version, milliseconds, self.lead)

    def stated(self) -> tuple[tuple[str, str], ...]:
        room, begins = self.lead + 2, self.lead + 1
        return (
            (f"$STMO.$PKT_STACK {room} or more, $STMO.$START_MOVE {begins} or less", "lead"),
            (f"$STMO.$USABLE_VER {self.version} or more", "version"),
        )

    def emulate(
        self, settings: FanucSettings, start: ToolPose, period: float, stated: FanucBehaviour | None, connected: bool
    ) -> EmulatedFanuc:
        from dockdyn.realtime.devices.emulated.fanuc import EmulatedFanuc

        return EmulatedFanuc(settings, period, start, stated)
